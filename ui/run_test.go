package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/term"
)

// asProgram has the test binary be the dashboard: how it behaves as a program is
// tested on the real thing, in a terminal.
const asProgram = "LEASETOP_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if fault := os.Getenv(asProgram); fault != "" {
		os.Exit(program(fault))
	}
	os.Exit(m.Run())
}

// program runs the dashboard over the sample world, in which one thing is wrong.
func program(fault string) int {
	w := &moving{world: newWorld()}
	switch fault {
	case "leases":
		w.fortyLeases()
	case "lanes":
		w.fortyLeases()
		w.turns = true
	case "hostile leases":
		w.fortyLeases()
		w.poisonInTurn()
	case "alert":
		w.poisonInTurn()
		w.state.Depths.Queues[2].Queue = "\a;\x1b]0;owned\a\nreports"
	case "idle":
		w.crew = nil
		w.state.Leases.List, w.state.Dead.Latest, w.state.Events, w.state.Depths.Queues = nil, nil, nil, nil
	}
	config := Config{Feed: w, Jobs: w, Workers: crewOf{w.world}, Demo: w, Origin: "local server", By: "ann@shop1"}
	switch fault {
	case "alert":
		config.Alerts = Alerts{Limits: alert.Limits{alert.Age: 60}, Notify: OSC777}
	case "panic in a command":
		config.Jobs = panics{w}
	case "panic in Update":
		config.Feed = broken{w}
	case "stray output":
		go func() {
			for range 64 {
				os.Stdout.WriteString(strings.Repeat("stray \x1b[2J output\n", 512))
				os.Stderr.WriteString(strings.Repeat("stray \x1b]0;error\a\n", 512))
			}
			child := exec.Command("sh", "-c", "i=0; while [ $i -lt 2000 ]; do echo child; echo child >&2; i=$((i+1)); done; echo last words of the child >&2")
			child.Stdout, child.Stderr = os.Stdout, os.Stderr
			_ = child.Run()
			w.mu.Lock()
			w.world.state.Server.Database = "flooded"
			w.mu.Unlock()
		}()
	case "panic in a goroutine":
		time.AfterFunc(time.Second, func() { panic("a goroutine broke") })
	case "leases", "lanes", "hostile leases", "idle":
		config.Workers, config.Demo = nil, nil
	}
	if err := Run(context.Background(), config); err != nil {
		fmt.Fprintln(os.Stderr, "ended with:", err)
		return 1
	}
	fmt.Println("ended well, asked for:", pick(w.log() != "", w.log(), "nothing"))
	return 0
}

// fortyLeases leaves nothing going on but forty leases that count down.
func (w *world) fortyLeases() {
	w.state.Events, w.crew = nil, nil
	w.state.Leases.List = nil
	for i := range 40 {
		w.state.Leases.List = append(w.state.Leases.List, watch.Lease{JobID: int64(88000 + i), Queue: "emails", Kind: "send", Attempts: 1, MaxAttempts: 5, Owner: owner("w9", i)})
	}
}

// moving is the world with a clock: every reading is of now.
type moving struct {
	*world
	mu      sync.Mutex
	version uint64
}

func (m *moving) State() *watch.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.version++
	now := time.Now()
	s := *m.world.state
	s.Version = m.version
	s.Depths.Read, s.Leases.Read, s.Dead.Read = now, now, now
	s.Leases.At = now
	s.Leases.List = append([]watch.Lease(nil), s.Leases.List...)
	for i := range s.Leases.List {
		// Thirty seconds each, given in turns and renewed when they are over.
		at := now.Truncate(30 * time.Second).Add(time.Duration(i*750) * time.Millisecond)
		if at.After(now) {
			at = at.Add(-30 * time.Second)
		}
		if m.turns { // 20 workers, of which each slot has another job every few seconds
			long := time.Duration(2000+i%8*500) * time.Millisecond
			at = now.Truncate(long)
			s.Leases.List[i].JobID, s.Leases.List[i].Owner = at.UnixMilli()*100+int64(i), owner(fmt.Sprintf("w%d", 1+i/2), i)
		}
		s.Leases.List[i].LockedAt, s.Leases.List[i].ExpiresAt = at, at.Add(30*time.Second)
	}
	return &s
}

func (m *moving) Changed(uint64) <-chan struct{} {
	changed := make(chan struct{})
	time.AfterFunc(time.Second, func() { close(changed) }) // polled once a second
	return changed
}

type panics struct{ *moving }

func (panics) Preview(context.Context, int64, int) (*queue.Job, int, error) {
	panic("the preview broke")
}

type broken struct{ *moving }

// State is no State at all after a while.
func (b broken) State() *watch.State {
	if s := b.moving.State(); s.Version < 3 {
		return s
	}
	return nil
}

func open(t *testing.T, fault string, o term.Options) *term.Test {
	t.Helper()
	o.Args = []string{os.Args[0]}
	o.Env = append(o.Env, asProgram+"="+fault)
	if o.Width == 0 {
		o.Width, o.Height = 120, 36
	}
	return term.Open(t, o)
}

func TestQuitPutsTheTerminalBack(t *testing.T) {
	t.Parallel()
	tm := open(t, "none", term.Options{})
	tm.Expect("QUEUES", "LEASES", "DEAD LETTERS", "EVENTS", "INVARIANTS")
	if !tm.Alt() {
		t.Error("not in the alternate screen")
	}
	tm.Until("the database in the window's title", func(*term.Frame) bool { return tm.Title() == "leasetop · shop" })
	tm.Press("3")
	tm.Expect("in 9 groups", "newest #")
	tm.Press("4")
	tm.Expect("w1 RUNS")
	tm.Press("q")
	if code := tm.Exit(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	if tm.Alt() {
		t.Error("left in the alternate screen")
	}
	tm.Expect("ended well")
}

func TestSignalsEndItInGoodOrder(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			tm := open(t, "none", term.Options{})
			tm.Expect("QUEUES")
			if err := tm.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := tm.Exit(); code != 0 {
				t.Errorf("exit status %d", code)
			}
			if tm.Alt() {
				t.Error("left in the alternate screen")
			}
			tm.Expect("ended well")
		})
	}
}

func TestPanicsPutTheTerminalBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault string
		keys  []string
		says  string
	}{
		{"panic in a command", []string{"3", "tab", "enter"}, "panic: the preview broke"},
		{"panic in Update", nil, "nil pointer"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			tm := open(t, c.fault, term.Options{Height: 60, Width: 160})
			if c.keys != nil {
				tm.Expect("QUEUES", "EVENTS", "INVARIANTS") // all of it: a screen comes in pieces
				tm.Press(c.keys[0])
				tm.Gone("EVENTS")
				tm.Expect("in 9 groups") // they have been read
				tm.Press(c.keys[1])
				tm.Expect("newest first")
				tm.Press(c.keys[2])
			}
			if code := tm.Exit(); code != 1 {
				t.Errorf("exit status %d", code)
			}
			if tm.Alt() {
				t.Error("left in the alternate screen")
			}
			tm.Expect(c.says, "goroutine", "ended with: dashboard: panic")
		})
	}
}

func TestStrayOutputHarmsNothing(t *testing.T) {
	t.Parallel()
	tm := open(t, "stray output", term.Options{})
	tm.Expect("flooded", "QUEUES", "INVARIANTS")
	f := tm.Frame()
	if strings.Contains(f.Text(), "stray") || strings.Contains(f.Text(), "child") || tm.Title() != "leasetop · flooded" {
		t.Errorf("stray output on the screen, titled %q:\n%s", tm.Title(), f.Text())
	}
	tm.Press("q")
	if code := tm.Exit(); code != 0 {
		t.Errorf("exit status %d", code)
	}
	tm.Expect("last words of the child", "ended well")
}

// The bell and the notification reach the terminal, each once, and nothing of them the screen.
func TestACallHarmsNothing(t *testing.T) {
	t.Parallel()
	tm := open(t, "alert", term.Options{})
	const call = "\a\x1b]777;notify;leasetop · shop;the oldest ready job has waited 41m2s in ␇,␛]0,owned␇␊reports, more than 1m\x1b\\"
	tm.Expect("QUEUES", "! 1 alert", "INVARIANTS", "q quit")
	tm.Until("the call", func(f *term.Frame) bool { return strings.Contains(tm.Recent(), call) })
	tm.Press("2", "1") // whatever is still to come, comes
	tm.Expect("INVARIANTS")
	if n := strings.Count(tm.Recent(), call); n != 1 {
		t.Errorf("it called %d times", n)
	}
	if f := tm.Frame(); strings.Contains(f.Text(), "notify") || tm.Title() != "leasetop · shop" {
		t.Errorf("titled %q:\n%s", tm.Title(), f.Text())
	}
	tm.Press("q")
	if code := tm.Exit(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

func TestDyingAtOncePutsTheTerminalBack(t *testing.T) {
	t.Parallel()
	t.Run("a panic in a goroutine", func(t *testing.T) {
		t.Parallel()
		tm := open(t, "panic in a goroutine", term.Options{Height: 60, Width: 160})
		tm.Expect("QUEUES")
		if code := tm.Exit(); code != 2 {
			t.Errorf("exit status %d", code)
		}
		tm.Until("the main screen", func(*term.Frame) bool { return !tm.Alt() })
		tm.Expect("panic: a goroutine broke", "goroutine")
	})
	t.Run("kill -9", func(t *testing.T) {
		t.Parallel()
		tm := open(t, "none", term.Options{})
		tm.Expect("QUEUES")
		if err := tm.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		tm.Exit()
		tm.Until("the main screen and its cursor", func(f *term.Frame) bool { return !tm.Alt() && f.Cursor != nil })
	})
}

func TestSuspendAndComeBack(t *testing.T) {
	t.Parallel()
	tm := open(t, "none", term.Options{})
	tm.Expect("QUEUES")
	tm.Press("ctrl+z")
	tm.Until("the main screen", func(*term.Frame) bool { return !tm.Alt() })
	back := func(f *term.Frame) bool { return tm.Alt() && strings.Contains(f.Text(), "QUEUES") }
	for deadline := time.Now().Add(term.Patience); ; {
		// It may not have been stopped yet, and then the signal means nothing.
		if err := tm.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if err := tm.Wait("the dashboard", 200*time.Millisecond, back); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	tm.Press("q")
	if code := tm.Exit(); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

func TestNoColorStillReads(t *testing.T) {
	t.Parallel()
	tm := open(t, "none", term.Options{Env: []string{"NO_COLOR=1"}})
	tm.Expect("[1 Overview]", "▸ QUEUES", "w5 crashed", "LIVE")
	if f := tm.Frame(); hasColour(f) {
		t.Error("there is colour although NO_COLOR is set")
	}
}

func hasColour(f *term.Frame) bool {
	for y := range f.Height {
		for x := range f.Width {
			if c := f.Cell(x, y); c.Style.Fg != nil || c.Style.Bg != nil {
				return true
			}
		}
	}
	return false
}

func TestLightTerminalGetsLightInks(t *testing.T) {
	t.Parallel()
	brand := func(f *term.Frame) string { return fmt.Sprint(f.Cell(1, 0).Style.Fg) }
	dark := open(t, "none", term.Options{})
	dark.Expect("QUEUES", "LIVE")
	inDark := brand(dark.Frame())
	light := open(t, "none", term.Options{Light: true})
	light.Until("other inks than in the dark", func(f *term.Frame) bool {
		return strings.Contains(f.Text(), "LIVE") && brand(f) != inDark
	})
}

func TestTerminalGone(t *testing.T) {
	t.Parallel()
	tm := open(t, "none", term.Options{})
	tm.Expect("QUEUES")
	if err := tm.Hangup(); err != nil {
		t.Fatal(err)
	}
	tm.Exit() // fails when it goes on without its terminal
}

func TestRunNeedsWhatItShows(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, {Feed: newWorld()}} {
		if err := Run(t.Context(), c); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("Run with nothing to show: %v", err)
		}
	}
}

// BenchmarkCountdown measures what 40 leases counting down cost: bytes to the
// terminal and processor time, a second each.
func BenchmarkCountdown(b *testing.B) { benchmarkProgram(b, "leases", "", "00:2") }

// BenchmarkLanes measures what the swim-lanes of 40 leases of 20 workers cost.
func BenchmarkLanes(b *testing.B) { benchmarkProgram(b, "lanes", "4", "w20@") }

// BenchmarkHostileCountdown measures the same where every name is a stranger's.
func BenchmarkHostileCountdown(b *testing.B) { benchmarkProgram(b, "hostile leases", "", "00:2") }

// BenchmarkIdle measures the same of a queue in which nothing happens.
func BenchmarkIdle(b *testing.B) { benchmarkProgram(b, "idle", "", "no jobs yet") }

func benchmarkProgram(b *testing.B, fault, press, shows string) {
	for b.Loop() {
		const long = 10 * time.Second
		tm := term.Open(b, term.Options{Args: []string{os.Args[0]}, Env: []string{asProgram + "=" + fault}, Width: 120, Height: 36})
		if press != "" {
			tm.Expect("QUEUES", "q quit")
			tm.Press(press)
		}
		tm.Expect(shows)
		time.Sleep(2 * time.Second)
		bytes, before := tm.Written(), spent(b, tm)
		time.Sleep(long)
		b.ReportMetric(float64(tm.Written()-bytes)/long.Seconds(), "B/s")
		b.ReportMetric(100*float64(spent(b, tm)-before)/float64(long), "%cpu")
		tm.Close()
	}
}

// spent is the processor time the program has used.
func spent(b *testing.B, tm *term.Test) time.Duration {
	d, err := tm.Spent()
	if err != nil {
		b.Skip(err)
	}
	return d
}

func TestPanicInViewEndsTheProgram(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.app.overview.pic = nil
	s.app.frame = ""
	s.app.View()
	_, cmd := s.app.Update(secondMsg{})
	if s.app.fault == nil || !quits(cmd) {
		t.Errorf("fault %v, quits %v", s.app.fault, quits(cmd))
	}
}
