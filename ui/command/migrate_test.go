package command

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
)

// CASES "Ten processes start on an empty database", as ten containers would: each
// migrates, then enqueues.
func TestTenProcessesStartOnAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	url := testdb.Empty(t)
	type process struct {
		*exec.Cmd
		out, err bytes.Buffer
	}
	var started []*process
	for range 10 {
		p := &process{Cmd: exec.Command("sh", "-c", "leasetop migrate up && leasetop enqueue --queue emails")}
		p.Env = append(os.Environ(), "DATABASE_URL="+url)
		p.Stdout, p.Stderr = &p.out, &p.err
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		started = append(started, p)
	}
	var printed strings.Builder
	for _, p := range started {
		if err := p.Wait(); err != nil || p.err.Len() > 0 {
			t.Errorf("%v: %s", err, &p.err)
		}
		printed.WriteString(p.out.String())
	}
	q, err := queue.Open(t.Context(), url, queue.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if depths, err := q.Depth(t.Context(), 0); err != nil || len(depths.Queues) != 1 || depths.Queues[0].Ready != 10 {
		t.Errorf("%+v, %v", depths, err)
	}
	if n := strings.Count(printed.String(), "applied 00001_jobs.sql\n"); n != 1 {
		t.Errorf("the first step was taken %d times:\n%s", n, &printed)
	}
}
