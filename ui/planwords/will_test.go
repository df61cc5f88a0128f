package planwords

import (
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
)

func TestWillSaysWhatHappens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    int
		p    queue.NewPlan
		want string
	}{
		{40_112, queue.NewPlan{Canary: 5, Wait: true, Pace: 50, StopAt: new(20)}, "5 first. When all of them have ended, and at most 20 % died again, it waits for somebody to say go on; then 40,107 jobs, 50 a second: about 13 min. It stops by itself when more than 20 % of those that ended are dead again, and begins with a canary again when somebody has it go on."},
		{40_112, queue.NewPlan{Canary: 1, Pace: 0.5}, "1 first. When it has ended, it goes on by itself with 40,111 jobs, 0.5 a second: about 22 h. It does not stop when they die again."},
		{31, queue.NewPlan{Canary: 5, StopAt: new(0)}, "5 first. When all of them have ended, and none died again, it goes on by itself with 26 jobs, as fast as the database takes them. It stops by itself when one of them is dead again, and begins with a canary again when somebody has it go on."},
		{31, queue.NewPlan{}, "31 jobs, as fast as the database takes them. It does not stop when they die again."},
		{3, queue.NewPlan{Canary: 5, Wait: true, Pace: 50, StopAt: new(20)}, "3 jobs, 50 a second: within a second. It stops by itself when more than 20 % of those that ended are dead again, and begins with a canary again when somebody has it go on."},
		{1, queue.NewPlan{}, "1 job, as fast as the database takes them. It does not stop when they die again."},
	} {
		if got := Will(c.p, c.n); got != c.want {
			t.Errorf("%d of %+v:\n got %s\nwant %s", c.n, c.p, got, c.want)
		}
	}
}

func TestGoingOnAfterAStopIsSaidToBeginWithACanary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    queue.Plan
		want string
	}{
		{queue.Plan{Canary: 5, CanaryLeft: 5}, "goes on"},
		{queue.Plan{Canary: 5, CanaryAfter: 9}, "goes on"},
		{queue.Plan{CanaryAfter: 9, CanaryLeft: 10}, "goes on with a canary again, since it had stopped: 10 jobs, and when all of these have ended it goes on by itself"},
		{queue.Plan{CanaryAfter: 9, CanaryLeft: 1, Wait: true}, "goes on with a canary again, since it had stopped: 1 job, and when all of these have ended it waits for somebody to say go on"},
	} {
		if got := GoesOn(c.p); got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

func TestAboutIsRounded(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "about a second", 12 * time.Second: "about 12 s", 13*time.Minute + 22*time.Second: "about 13 min",
		5 * time.Hour: "about 5 h", 240 * time.Hour: "about 10 days", 300_000 * time.Hour: "about 12,500 days",
	} {
		if got := About(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
