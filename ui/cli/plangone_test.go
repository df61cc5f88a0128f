package cli

import (
	"io"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// A job that is gone by the time its plan comes to it is a failure only of who named it.
func TestPlanOfAJobThatIsGone(t *testing.T) {
	t.Parallel()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	for _, named := range []bool{false, true} {
		err := StartPlan(t.Context(), Printer{Out: io.Discard, Err: io.Discard}, q, queue.NewPlan{IDs: []int64{1 << 40}}, named)
		if (err != nil) != named {
			t.Errorf("named %v: %v", named, err)
		}
	}
}
