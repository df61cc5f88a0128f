// Package scenariotest is what tests that play scenarios have in common: a ground for the
// play, an audience that waits for what it is to see, and a look at what was left behind.
package scenariotest

import (
	"context"
	"flag"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

// abreast is how many plays a processor has at a time: they wait for leases to run out,
// most of the time, but more than other tests keep it busy.
const abreast = 3

// Main runs a package's tests, as testdb.Main does, several plays at a time. Its binary is
// a worker process, too.
func Main(m *testing.M) {
	faults.ChildMain() // this may be a worker process
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(abreast*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testdb.Main(m)
}

// Ground is where a test plays: a database of the test's own, marked for demonstrations as the server is.
func Ground(t *testing.T) scenario.Ground {
	t.Helper()
	q, err := queue.Open(t.Context(), testdb.New(t), queue.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return scenario.Ground{Queue: q, Dir: testdb.Home(t)}
}

// Try plays one act by itself, in a queue of its own.
func Try(t *testing.T, g scenario.Ground, act func(ctx context.Context, s *scenario.Stage) error) {
	t.Helper()
	story := scenario.Scenario{Name: "try", Needs: scenario.Queue, Steps: []scenario.Step{{Do: act}}}
	if r := scenario.Start(t.Context(), story, g, scenario.Options{Seed: 1}).Result(); r.Err != nil {
		t.Error(r.Err)
	}
}

// Reach plays until a step waits for the audience, the first being 0.
func Reach(t *testing.T, play *scenario.Play, step int) {
	t.Helper()
	Await(t, play, "it waits for a step", func(p scenario.Picture) bool {
		if p.Step < step && p.State == scenario.Waiting {
			play.Next()
		}
		return p.State == scenario.Waiting && p.Step == step
	})
}

// Await waits for a picture of which something holds; what says it in words. The play must not
// end before.
func Await(t *testing.T, play *scenario.Play, what string, is func(scenario.Picture) bool) {
	t.Helper()
	timeout := time.After(4 * time.Minute) // the play's own deadlines are shorter
	for {
		p := play.Picture()
		if is(p) {
			return
		}
		if !p.Ended.IsZero() {
			t.Fatalf("it ended before %s: %s %s", what, p.State, p.Err)
		}
		select {
		case <-play.Changed(p.Version):
		case <-timeout:
			t.Fatalf("it did not come to pass that %s", what)
		}
	}
}
