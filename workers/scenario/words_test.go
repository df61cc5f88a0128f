package scenario

import (
	"testing"

	"github.com/leasetop/leasetop/workers"
)

func TestEventsAreToldInTheWordsOfTheStory(t *testing.T) {
	t.Parallel()
	const owner = "vm:4475:8bc2eccf/w1#1"
	for _, one := range []struct {
		what       workers.What
		says, want string // "" is not told
	}{
		{workers.DBTrouble, "claims fail: dial unix /tmp/x/.s.PGSQL.5432: connect: no such file\nand more", "claims fail"},
		{workers.DBTrouble, "claims still fail: dial unix /tmp/x", ""},
		{workers.DBTrouble, "claims work again", "claims work again"},
		{workers.DBTrouble, "the completion cannot be written, the lease will run out: unexpected EOF", "the completion cannot be written, the lease will run out"},
		{workers.DBTrouble, "round trips take 2s: leases of 3s are stretched to 6s", "round trips take 2s: leases of 3s are stretched to 6s"},
		{workers.TrustEnded, "the completion could not be written in time: unexpected EOF", "the completion could not be written in time"},
		{workers.ReapedBack, "job 1: lease lost by " + owner + ", back to pending after attempt 1", "job 1: lease lost by w1, back to pending after attempt 1"},
		{workers.StaleFenced, "late completion of job 3 fenced: now owned by " + owner, "late completion of job 3 fenced: now owned by w1#1"},
		{workers.StaleFenced, "late completion of job 3 fenced: now dead", "late completion of job 3 fenced: now dead"},
		{workers.Killed, "1 job abandoned without clean-up, lease runs out in 100 years", "1 job abandoned without clean-up, its lease never runs out"},
		{workers.Killed, "1 job abandoned without clean-up, lease runs out in 1.8s", "1 job abandoned without clean-up, lease runs out in 1.8s"},
		{workers.Spawned, "1 slot on " + owner, "1 slot on " + owner},
	} {
		var o troubles
		text, told := o.inStory(nil, workers.Event{What: one.what, Text: one.says, Owner: owner})
		if text != one.want || told != (one.want != "") {
			t.Errorf("%s %q is told as %q (%v), not as %q", one.what, one.says, text, told, one.want)
		}
	}
}

func TestOutageIsToldAtItsBeginningAndItsEnd(t *testing.T) {
	t.Parallel()
	var o troubles
	for _, one := range []struct {
		says string
		told bool
	}{
		{"claims fail: unexpected EOF", true},
		{"heartbeats fail: unexpected EOF", false},
		{"claims still fail: connection refused", false},
		{"claims work again", false},
		{"heartbeats work again", true},
		{"claims fail: unexpected EOF", true},
	} {
		if _, told := o.inStory(nil, workers.Event{What: workers.DBTrouble, Text: one.says}); told != one.told {
			t.Errorf("%q is told: %v", one.says, told)
		}
	}
}

// A process that dies in an outage does not tell of its end. The next outage is told all the same.
func TestOutageOfOneThatIsGoneIsOver(t *testing.T) {
	t.Parallel()
	var o troubles
	fails := workers.Event{What: workers.DBTrouble, Text: "claims fail: unexpected EOF"}
	if _, told := o.inStory("p1", fails); !told {
		t.Error("the first is not told")
	}
	o.inStory("p2", fails)
	o.forget("p1")
	if text, told := o.inStory("p2", workers.Event{What: workers.DBTrouble, Text: "claims work again"}); !told {
		t.Errorf("that p2's %s is not told: all others are gone", text)
	}
	if _, told := o.inStory("p2", fails); !told {
		t.Error("the next outage is not told")
	}
}
