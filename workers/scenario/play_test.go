package scenario

import (
	"context"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// ground is a database of the test's own, marked for demonstrations.
func ground(t *testing.T) Ground {
	t.Helper()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return Ground{Queue: q, Dir: testdb.Home(t)}
}

// perform plays a scenario to its end.
func perform(ctx context.Context, t *testing.T, name string, g Ground, patience int) Result {
	t.Helper()
	sc, ok := ByName(name)
	if !ok {
		t.Fatalf("there is no scenario %q", name)
	}
	play := Start(ctx, sc, g, Options{Seed: 1, Patience: patience})
	r := play.Result()
	t.Logf("%+v", r)
	return r
}

func TestQuickScenariosPass(t *testing.T) {
	t.Parallel()
	for _, sc := range All() {
		if !sc.Quick {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			t.Parallel()
			if r := perform(t.Context(), t, sc.Name, ground(t), 10); !r.OK {
				t.Errorf("%v", r.Err)
			}
		})
	}
}
