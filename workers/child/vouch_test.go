package child

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/workers"
)

// The guard hears what the worker said before it looks who is overdue.
func TestGuardKillsWhatIsOverdueOnceEachTime(t *testing.T) {
	t.Parallel()
	now, ok := bootClock()
	if !ok {
		t.Skip("there is no clock for it here")
	}
	past, later := now-time.Second, now+time.Hour
	var killed []int
	var waits []time.Duration
	r := remains{groups: map[int]time.Duration{}, starting: map[string]bool{}, kill: func(group int) { killed = append(killed, group) }}
	told := []string{
		fmt.Sprintf("+17 %d\n+18 0\n+19\n+20 %d\n+21 %d\n-21\n", past, later, past), "", "",
		fmt.Sprintf("+17 %d\n", later), "", fmt.Sprintf("+17 %d\n", past), "",
	}
	pipe, lines := io.Pipe()
	r.listen(pipe, func(most time.Duration) bool {
		if len(told) == 0 {
			_ = lines.Close()
			return true
		}
		waits = append(waits, most)
		next := told[0]
		told = told[1:]
		if next != "" {
			go func() { _, _ = io.WriteString(lines, next) }()
		}
		return next != ""
	})
	if !slices.Equal(killed, []int{17, 17}) {
		t.Errorf("killed %v", killed)
	}
	if want := []time.Duration{time.Hour, 0, look, look, look, look, 0}; !slices.Equal(waits, want) {
		t.Errorf("waited for at most %v, want %v", waits, want)
	}
}

// What the worker says before the time has come is heard, however slow the guard is.
func TestGuardSparesWhatIsProlongedInTime(t *testing.T) {
	t.Parallel()
	began, ok := bootClock()
	if !ok {
		t.Skip("there is no clock for it here")
	}
	r := remains{groups: map[int]time.Duration{17: began + time.Hour}, starting: map[string]bool{}, kill: func(group int) { t.Errorf("killed %d", group) }}
	pipe, lines := io.Pipe()
	looks := 0
	r.listen(pipe, func(time.Duration) bool {
		looks++
		switch looks {
		case 1: // nothing to read; then the worker speaks, and the guard gets no processor
			go func() { _, _ = fmt.Fprintf(lines, "+17 %d\n", began+2*time.Hour) }()
			now, _ := bootClock()
			soon := now + time.Millisecond
			r.groups[17] = soon
			for now < soon {
				now, _ = bootClock()
			}
			return false
		case 3:
			_ = lines.Close()
		}
		return true
	})
}

// Without a heartbeat it would be killed after three seconds.
func TestChildLivesForAsLongAsItsLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("nobody else is told a time")
	}
	var out printed
	settled := make(chan workers.Settled, 1)
	q, _ := pool(t, sh(`echo "child $$"; exec sleep 1000`, &out), workers.Options{
		Lease: 3 * time.Second, Settled: func(s workers.Settled) { settled <- s },
	})
	id := enqueue(t, q)
	child := out.pid(t, "out child ")
	first := held(child)
	if first == 0 {
		t.Fatal("the guard does not know by when it must have ended")
	}
	for now, _ := bootClock(); now < first+500*time.Millisecond; now, _ = bootClock() {
		time.Sleep(50 * time.Millisecond)
	}
	if !alive(child) || held(child) <= first {
		t.Errorf("alive %v, to end by %v, then %v", alive(child), first, held(child))
	}
	if _, err := q.Cancel(t.Context(), "test", id); err != nil {
		t.Fatal(err)
	}
	receive(t, "the outcome", settled)
	if left := held(child); left != 0 {
		t.Errorf("the guard still knows it: %v", left)
	}
}

// held is by when a group must have ended, as far as the guard was told.
func held(group int) time.Duration {
	groups.mu.Lock()
	defer groups.mu.Unlock()
	return groups.held[group]
}

func TestGuardKillsAChildInTimeAndThatIsNoPoison(t *testing.T) {
	t.Parallel()
	now, ok := bootClock()
	if !ok {
		t.Skip("there is no clock for it here")
	}
	var out printed
	ctx, _ := cancelled(t)
	done := begin(ctx, sh(stubborn, &out))
	child, grandchild := out.pid(t, "out child "), out.pid(t, "out grandchild ")
	for held(child) == 0 && alive(child) { // until the guard has been told of it, or has killed it already
		groups.prolong(child, now)
		runtime.Gosched()
	}
	if err := receive(t, "the handler", done); !retryable(err) || !errors.Is(err, workers.ErrTrustEnded) || !strings.Contains(err.Error(), "killed by SIGKILL") {
		t.Errorf("%v, want the job tried again", err)
	}
	dies(t, "the grandchild", grandchild)
}

// A worker that wakes may learn of the heartbeat before it learns of the death.
func TestDeathByTheGuardIsNoPoisonThoughTheLeaseWasRenewedSince(t *testing.T) {
	t.Parallel()
	now, ok := bootClock()
	if !ok {
		t.Skip("there is no clock for it here")
	}
	for _, c := range []struct {
		name         string
		told, renews time.Duration
		want         bool
	}{
		{"renewed in time", now + time.Hour, now + 2*time.Hour, false},
		{"renewed too late", now - time.Second, now + time.Hour, true},
		{"no time was known", 0, now + time.Hour, false},
	} {
		cmd := exec.Command("sh", "-c", "kill -KILL $$")
		_ = cmd.Run()
		g := guard{held: map[int]time.Duration{17: c.told}, lapsed: map[int]time.Duration{}}
		g.prolong(17, c.renews)
		g.prolong(17, c.renews+time.Minute)
		if got := overdue(cmd.ProcessState, g.release(17)); got != c.want {
			t.Errorf("%s: may be the guard: %v", c.name, got)
		}
		if len(g.held)+len(g.lapsed) != 0 {
			t.Errorf("%s: the group is not forgotten", c.name)
		}
	}
}

func TestWhichDeathsMayBeByTheGuard(t *testing.T) {
	t.Parallel()
	now, ok := bootClock()
	if !ok {
		t.Skip("there is no clock for it here")
	}
	for _, c := range []struct {
		script string
		until  time.Duration
		want   bool
	}{
		{"kill -KILL $$", now, true},
		{"kill -KILL $$", now + time.Hour, false},
		{"kill -KILL $$", 0, false},
		{"kill -SEGV $$", now, false},
		{"exit 1", now, false},
	} {
		cmd := exec.Command("sh", "-c", c.script)
		_ = cmd.Run()
		if got := overdue(cmd.ProcessState, c.until); got != c.want {
			t.Errorf("%s, to end by %v: %v", c.script, c.until, got)
		}
	}
}
