package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/term"
	"github.com/leasetop/leasetop/workers"
)

// noon is the moment at which the samples stand still.
var noon = time.Date(2026, 7, 1, 12, 4, 31, 0, time.UTC)

const sampleProcess = "shop1:4711:9f3c01aa"

func owner(worker string, claim int) string {
	return fmt.Sprintf("%s/%s#%d", sampleProcess, worker, claim)
}

// sampleState is a shop at work: three queues, leases in every condition, dead
// letters, events.
func sampleState() *watch.State {
	ok := watch.Link{OK: true, Since: noon.Add(-time.Hour), Heard: noon}
	s := &watch.State{
		Version: 7,
		Server:  watch.Server{Version: "15.18", User: "app", Host: "db1", Database: "shop", Schema: "leasetop"},
		Clock:   watch.Clock{Skew: 0, Known: true},
		WAL:     ok, Notify: ok, Polling: ok,
	}
	wave := func(base, swing, speed float64) []float64 {
		out := make([]float64, 60)
		for i := range out {
			out[i] = max(0, math.Round(base+swing*math.Sin(float64(i)*speed)+swing/2*math.Sin(float64(i)*speed*2.7)))
		}
		return out
	}
	s.Depths = watch.Depths{Source: watch.FromWAL, At: noon, Read: noon, Queues: []watch.QueueDepth{
		{QueueDepth: queue.QueueDepth{Queue: "emails", Ready: 1204, Scheduled: 310, Processing: 4, Completed: 184223, CompletedExact: true, Failed: 7, Dead: 31, OldestReady: 134 * time.Second}, Finished: 61_344, Rates: watch.FromWAL, Rate: watch.Rate{In: 41, Out: 39.5, Failed: 2.1, Dead: 0.1}, Spark: wave(38, 14, 0.21), SparkIn: wave(41, 22, 0.12)},
		{QueueDepth: queue.QueueDepth{Queue: "images", Ready: 12, Processing: 3, Completed: 9310, CompletedExact: true, Dead: 2, OldestReady: 3 * time.Second}, Finished: 1214, Rates: watch.FromWAL, Rate: watch.Rate{In: 2.2, Out: 2.4, Reclaimed: 0.1}, Spark: wave(3, 3, 0.5), SparkIn: wave(3, 2, 0.4)},
		{QueueDepth: queue.QueueDepth{Queue: "reports", Ready: 50_317, Scheduled: 9, Completed: 412, OldestReady: 41*time.Minute + 2*time.Second}, Rates: watch.FromWAL, Spark: make([]float64, 60), SparkIn: make([]float64, 60)},
	}}
	s.Traffic = watch.Traffic{
		Source: watch.FromWAL, Rate: watch.Rate{In: 43.2, Out: 41.9, Failed: 2.1, Reclaimed: 0.1, Dead: 0.1}, Changes: 128,
		Window: 10 * time.Minute, DeadPerMinute: 0.4, Expired: 2, Pickup: watch.Latency{Count: 2511, P50: 3 * time.Millisecond, P99: 40 * time.Millisecond},
	}
	addTraffic(s)
	s.Pauses = watch.Pauses{Source: watch.Polled, Read: noon}
	s.Every = time.Second
	lease := func(id int64, q, kind, worker string, attempts int, age, left time.Duration) watch.Lease {
		return watch.Lease{JobID: id, Queue: q, Kind: kind, Attempts: attempts, MaxAttempts: 5, Owner: owner(worker, int(id%97)), LockedAt: noon.Add(-age), ExpiresAt: noon.Add(left)}
	}
	s.Leases = watch.Leases{Source: watch.FromWAL, At: noon, Read: noon, List: []watch.Lease{
		lease(87002, "images", "render", "w5", 1, 31*time.Second, -time.Second),
		lease(88123, "emails", "send", "w3", 2, 27*time.Second, 3*time.Second),
		lease(88131, "images", "render", "w6", 1, 19*time.Second, 11*time.Second),
		lease(88140, "emails", "charge", "w1", 1, 6*time.Second, 24*time.Second),
		lease(88141, "emails", "send", "w1", 1, 4*time.Second, 26*time.Second),
		lease(88142, "emails", "send", "w2", 3, 1*time.Second, 29*time.Second),
	}}
	s.Leases.List = append(s.Leases.List, watch.Lease{JobID: 88150, Queue: "images", Kind: "render", Attempts: 1, MaxAttempts: 5, Owner: "node-worker-17", LockedAt: noon.Add(-time.Second), ExpiresAt: noon.Add(59 * time.Second)})
	s.Leases.Total = len(s.Leases.List)
	errors := []string{
		"SMTP 421 rate limited by mx1.example.com, try again later",
		"charge declined: insufficient_funds (request req_8s7df6g)",
		"panic: runtime error: index out of range [3] with length 3",
		"worker lost 5 times",
		"Post \"https://hooks.example.com/v2/orders\": dial tcp 10.1.4.7:443: connect: connection refused",
	}
	s.Dead = watch.Dead{Source: watch.Notice, At: noon, Read: noon, Signal: 3, Total: 40}
	for i := range 40 {
		died := noon.Add(-time.Duration(4+i*i*7) * time.Second)
		j := queue.Job{ID: int64(88007 - 13*i), Queue: "emails", Kind: "send", Status: queue.Dead, Attempts: 5, MaxAttempts: 5, LastError: errors[i*i%len(errors)], DiedAt: &died, CreatedAt: died.Add(-time.Hour), UpdatedAt: died}
		if i%3 == 1 {
			j.Kind, j.Status = "charge", queue.Failed
		}
		if i%7 == 2 {
			j.Queue, j.Kind, j.Attempts = "images", "render", 1
		}
		s.Dead.Latest = append(s.Dead.Latest, j)
	}
	event := func(ago float64, what watch.What, id int64, q, kind, by string, attempt int, note string) {
		e := watch.Event{At: noon.Add(-time.Duration(ago * float64(time.Second))), Source: watch.FromWAL, What: what, Seq: uint64(len(s.Events) + 1), Count: 1, JobID: id, Queue: q, Kind: kind, Attempt: attempt, Note: note}
		if by != "" {
			e.Owner = owner(by, 3)
		}
		s.Events = append(s.Events, e)
	}
	for i := 12; i > 0; i-- {
		event(float64(i)*3+1.4, watch.Claimed, int64(88100-i), "emails", "send", "w2", 1, "")
		event(float64(i)*3, watch.Completed, int64(88100-i), "emails", "send", "w2", 1, "")
	}
	event(2.6, watch.Enqueued, 88151, "emails", "send", "", 0, "")
	event(2.2, watch.Retried, 88120, "emails", "charge", "w1", 1, "attempt 1 of 5, again in 2m")
	event(1.9, watch.Completed, 88119, "emails", "send", "w2", 1, "")
	event(1.2, watch.Buried, 88007, "emails", "send", "w3", 5, "attempt 5 of 5")
	event(0.8, watch.Claimed, 88142, "emails", "send", "w2", 3, "")
	event(0.3, watch.Redriven, 87990, "emails", "charge", "", 0, "by ann@shop1")
	return s
}

// addTraffic makes the rates of all queues together those of the queues there are.
func addTraffic(s *watch.State) {
	var sum totals
	sum.count(s.Depths.Queues)
	s.Traffic.Rate, s.Traffic.Spark, s.Traffic.SparkIn = sum.sum.Rate, sum.sum.Spark, sum.sum.SparkIn
}

// noStream is why a feed without a stream polls.
const noStream = "wal_level is replica: ALTER SYSTEM SET wal_level = 'logical' and restart PostgreSQL"

// polled makes of the state what it is without a stream: counts that are read now and
// then and go no further than a cap, differences of them instead of rates.
func polled(s *watch.State, reason string) {
	s.WAL = watch.Link{Since: noon.Add(-time.Hour), Reason: reason}
	s.Traffic, s.Every = watch.Traffic{}, 1030*time.Millisecond
	s.Depths.Source, s.Leases.Source = watch.Polled, watch.Polled
	for i := range s.Depths.Queues {
		q := &s.Depths.Queues[i]
		q.Finished, q.Rates, q.Rate = 0, watch.Polled, watch.Rate{In: q.Rate.In, Out: q.Rate.Out}
		if most := int64(50_000); q.Ready > most {
			q.Ready, q.AtLeast.Ready = most, true
			q.Rates, q.Rate, q.Spark, q.SparkIn = watch.Unknown, watch.Rate{}, nil, nil
		}
	}
}

// silent makes a connection one that was lost so long ago.
func silent(l *watch.Link, ago time.Duration, reason string) {
	*l = watch.Link{Since: noon.Add(-ago), Heard: noon.Add(-ago), Reason: reason}
}

func sampleWorkers() []workers.Snapshot {
	run := func(id int64, q, kind string, attempt int, ran, trust time.Duration) workers.Running {
		return workers.Running{JobID: id, Queue: q, Kind: kind, Attempt: attempt, Since: noon.Add(-ran), Trust: noon.Add(trust)}
	}
	worker := func(n int, state workers.State, since time.Duration, queues string, slots int, done, failed uint64, running ...workers.Running) workers.Snapshot {
		name := fmt.Sprintf("w%d", n)
		return workers.Snapshot{Name: name, State: state, Since: noon.Add(-since), Queues: strings.Split(queues, ","), Slots: slots, Running: running, Completed: done, Failed: failed, Processed: done + failed, Owner: sampleProcess + "/" + name}
	}
	all := []workers.Snapshot{
		worker(1, workers.Busy, 6*time.Second, "emails,images", 4, 61230, 41, run(88140, "emails", "charge", 1, 6*time.Second, 21*time.Second), run(88141, "emails", "send", 1, 4*time.Second, 23*time.Second)),
		worker(2, workers.Busy, time.Second, "emails", 2, 60114, 12, run(88142, "emails", "send", 3, time.Second, 26*time.Second)),
		worker(3, workers.Draining, 22*time.Second, "emails", 2, 51002, 9, run(88123, "emails", "send", 2, 27*time.Second, time.Second)),
		worker(4, workers.Idle, 3*time.Minute, "images", 2, 812, 0),
		worker(5, workers.Crashed, 31*time.Second, "images,reports", 3, 4011, 3),
		worker(6, workers.Frozen, 19*time.Second, "images", 1, 402, 1, run(88131, "images", "render", 1, 19*time.Second, 8*time.Second)),
	}
	all[4].Lost = 1
	all[5].Lost, all[5].Fenced = 2, 2
	return all
}

func sampleNews() []workers.Event {
	return []workers.Event{
		{Seq: 1, At: noon.Add(-31 * time.Second), Worker: "w5", What: workers.Killed, Text: "1 job abandoned without clean-up, lease runs out in 5.6s"},
		{Seq: 2, At: noon.Add(-19 * time.Second), Worker: "w6", What: workers.Froze},
		{Seq: 3, At: noon.Add(-1500 * time.Millisecond), What: workers.ReapedBack, JobID: 87001, Queue: "images", Owner: owner("w5", 9), Late: 121 * time.Millisecond},
		{Seq: 4, At: noon.Add(-500 * time.Millisecond), Worker: "w6", What: workers.StaleFenced, JobID: 86990, Queue: "images", Owner: owner("w1", 12), Text: "late complete of job 86990 fenced: now owned by " + owner("w1", 12)},
	}
}

// sampleJob is one dead letter in full.
func sampleJob(id int64) *queue.Job {
	died := noon.Add(-4 * time.Second)
	at := func(ago time.Duration) time.Time { return died.Add(-ago) }
	smtp := "SMTP 421 rate limited by mx1.example.com, try again later"
	return &queue.Job{
		ID: id, Queue: "emails", Kind: "send", Status: queue.Dead, Attempts: 5, MaxAttempts: 5, RunAt: queue.At(at(time.Hour)),
		LastError: smtp, DiedAt: &died, CreatedAt: at(3 * time.Hour), UpdatedAt: died, IdempotencyKey: "order-77123/receipt",
		Errors: []queue.Attempt{
			{Attempt: 1, At: at(62 * time.Minute), Worker: owner("w1", 2), Outcome: "retry", Error: "dial tcp 10.1.4.7:25: connect: connection refused"},
			{Attempt: 2, At: at(60 * time.Minute), Worker: owner("w2", 2), Outcome: "retry", Error: "dial tcp 10.1.4.8:25: connect: connection refused"},
			{Attempt: 3, At: at(31 * time.Minute), Worker: owner("w5", 2), Outcome: "lost", Error: "lease ran out, worker lost"},
			{Attempt: 4, At: at(15 * time.Minute), Worker: owner("w1", 8), Outcome: "retry", Error: smtp},
			{Attempt: 5, At: died, Worker: owner("w3", 11), Outcome: "buried", Error: smtp},
		},
		Payload: json.RawMessage(`{"to": "jane@example.com", "order": {"id": 1970670598291982290, "total": 129.90, "currency": "EUR", "lines": [{"sku": "A-17", "qty": 2}]}, "template": "receipt", "smtp": {"user": "shop", "password": "hunter2"}, "attachments": [], "retry": null, "priority": true, "weights": [1e400, -0]}`),
	}
}

// world is what the dashboard acts on in tests. It keeps no database and no
// clock: what was asked of it is written down.
type world struct {
	archive []queue.Job
	mu      sync.Mutex
	state   *watch.State
	past    []watch.Event // what the feed keeps beside the State's
	crew    []workers.Snapshot
	asked   []string    // "redrive 1 2", "kill w3" …
	acts    []queue.Act // the operator log

	deadLooks  []queue.DeadStretch // what was asked about the dead letters
	groupings  int                 // how often they were grouped
	discarding func()              // called after every batch
	skip       map[int64]string
	now        time.Time
	stats      *Ledger
	plans      plans

	jobs  []queue.Job // of the table, newest first
	looks []question  // what was asked about them

	oneJobs

	down   error    // what the database answers instead
	broken []string // what Update or View asked for, which they must not
}

func newWorld() *world {
	return &world{state: sampleState(), crew: sampleWorkers(), now: noon, stats: &Ledger{Effects: 194_321}, jobs: sampleJobs(), oneJobs: oneJobs{entries: sampleActs()}}
}

func (w *world) note(format string, args ...any) {
	w.touch(format)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, fmt.Sprintf(format, args...))
}

// touch is called by all that would be I/O. It looks who called.
func (w *world) touch(what string) {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "ui.(*app).Update") || strings.HasSuffix(f.Function, "ui.(*app).View") {
			w.mu.Lock()
			w.broken = append(w.broken, what)
			w.mu.Unlock()
			return
		}
		if !more {
			return
		}
	}
}

func (w *world) log() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.asked, "; ")
}

func (w *world) State() *watch.State            { w.touch("state"); return w.state }
func (w *world) Changed(uint64) <-chan struct{} { w.touch("changed"); return nil }
func (w *world) Refresh()                       { w.touch("refresh") }

// Events are those of the past and of the State; what came before them is missing.
func (w *world) Events(seq uint64) (events []watch.Event, missed uint64) {
	w.touch("events")
	events = append(w.past[:len(w.past):len(w.past)], w.state.Events...)
	for len(events) > 0 && events[0].Seq <= seq {
		events = events[1:]
	}
	if len(events) > 0 {
		missed = events[0].Seq - seq - 1
	}
	return events, missed
}

func (w *world) Reconcile(context.Context) (watch.Drift, error) {
	w.note("reconcile")
	return watch.Drift{Checked: w.now, Jobs: 1204}, w.down
}

func (w *world) List(_ context.Context, f queue.Filter, p queue.Page) ([]queue.Job, *queue.Cursor, error) {
	w.touch("list")
	if w.down != nil {
		w.note("list")
		return nil, nil, w.down
	}
	jobs := w.state.Dead.Latest
	if p.After != nil {
		for i := range jobs {
			if jobs[i].ID == p.After.ID {
				jobs = jobs[i+1:]
				break
			}
		}
	}
	if len(jobs) > p.Limit {
		last := jobs[p.Limit-1]
		return jobs[:p.Limit], &queue.Cursor{ID: last.ID, DiedAt: last.DiedAt}, nil
	}
	return jobs, nil, nil
}

func (w *world) Preview(_ context.Context, id int64, n int) (*queue.Job, int, error) {
	w.touch("preview")
	if w.down != nil {
		w.note("preview")
		return nil, 0, w.down
	}
	j := w.job(id)
	length := len(j.Payload)
	j.Payload = j.Payload[:min(n, length)]
	return j, length, nil
}

func (w *world) Redrive(_ context.Context, by string, ids ...int64) (queue.Done, error) {
	w.note("redrive %v by %s", ids, by)
	var done queue.Done
	for _, id := range ids {
		if reason, ok := w.skip[id]; ok {
			done.Skipped = append(done.Skipped, queue.Skip{ID: id, Reason: reason})
			continue
		}
		done.IDs = append(done.IDs, id)
	}
	return done, nil
}

func (w *world) Cancel(_ context.Context, by string, ids ...int64) (queue.Cancelled, error) {
	w.note("cancel %v by %s", ids, by)
	var done queue.Cancelled
	for _, id := range ids {
		if reason, ok := w.skip[id]; ok {
			done.Skipped = append(done.Skipped, queue.Skip{ID: id, Reason: reason})
			continue
		}
		done.Asked = append(done.Asked, id)
		for i := range w.state.Leases.List {
			if l := &w.state.Leases.List[i]; l.JobID == id {
				l.CancelledBy = by
			}
		}
	}
	return done, w.down
}

func (w *world) Pause(_ context.Context, by, why string, queues ...string) ([]string, error) {
	w.note("pause %v by %s", queues, by)
	return w.paused(queues, false)
}

func (w *world) Resume(_ context.Context, queues ...string) ([]string, error) {
	w.note("resume %v", queues)
	return w.paused(queues, true)
}

// paused returns the queues that were, or were not.
func (w *world) paused(queues []string, were bool) (names []string, err error) {
	for _, name := range queues {
		if _, ok := w.state.Pauses.Of(name); ok == were {
			names = append(names, name)
		}
	}
	return names, w.down
}

func (w *world) Workers() []workers.Snapshot { w.touch("workers"); return w.crew }

func (w *world) Fenced() uint64 {
	n := uint64(0)
	for _, one := range w.Workers() {
		n += one.Fenced
	}
	return n
}

func (w *world) ClaimLatency() workers.Latency {
	return workers.Latency{P50: 420 * time.Microsecond, P99: 2100 * time.Microsecond, Count: 99}
}

func (w *world) Spawn(queues []string, slots int) (string, error) {
	w.note("spawn %s %d", strings.Join(queues, ","), slots)
	return "w7", nil
}
func (w *world) Drain(name string) error  { w.note("drain %s", name); return nil }
func (w *world) Kill(name string) error   { w.note("kill %s", name); return nil }
func (w *world) Freeze(name string) error { w.note("freeze %s", name); return nil }
func (w *world) Remove(name string) error { w.note("remove %s", name); return nil }

func (w *world) Burst(context.Context) (int, error)     { w.note("burst"); return 500, nil }
func (w *world) Poison(context.Context) (int64, error)  { w.note("poison"); return 88200, nil }
func (w *world) Ledger(context.Context) (Ledger, error) { return *w.stats, nil }

// crewOf is the world's workers under the interface's method names; the feed
// has a Changed and Events of its own.
type crewOf struct{ *world }

func (crewOf) Changed() <-chan struct{} { return nil }

func (crewOf) Events(after uint64) ([]workers.Event, uint64) {
	news := sampleNews()
	return news[min(int(after), len(news)):], uint64(len(news))
}

// stage is a dashboard without a program: messages go in, the screen comes out.
// Commands run at once, except those that wait for time.
type stage struct {
	t testing.TB
	*world
	app  *app
	held []aloneMsg // keys that wait whether others follow
	sent string     // to the terminal, beside the screen

	astray bool // cursors are not where they would be, so keys may open something else

	clipboard string // what the terminal was given to copy
	editor    int    // how often the terminal was given to an editor
}

type stageOption func(*Config)

func watchingOnly(c *Config) { c.Workers, c.Demo = nil, nil }
func noDemo(c *Config)       { c.Demo = nil }

func newStage(t testing.TB, w *world, width, height int, options ...stageOption) *stage {
	t.Helper()
	cfg := Config{Feed: w, Jobs: w, Workers: crewOf{w}, Demo: w, Origin: "local server", By: "ann@shop1", Serves: []string{"emails", "images", "reports"}}
	for _, o := range options {
		o(&cfg)
	}
	s := &stage{t: t, world: w, app: newApp(t.Context(), cfg)}
	s.app.now = func() time.Time { return w.now }
	s.app.sleep = func(_ context.Context, d time.Duration) bool { return d == alone } // else time does not pass by itself
	s.send(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	s.pull()
	if cfg.Demo != nil {
		s.send(ledgerMsg{ledger: *w.stats})
	}
	return s
}

// send delivers a message, runs what it asked for, and delivers the answers.
func (s *stage) send(msg tea.Msg) {
	s.t.Helper()
	_, cmd := s.app.Update(msg)
	if s.app.fault != nil {
		s.t.Fatalf("%v\n%s", s.app.fault, s.app.fault.(*panicError).stack)
	}
	s.run(cmd)
}

func (s *stage) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			s.run(c)
		}
	case aloneMsg:
		s.held = append(s.held, msg)
	case tea.RawMsg:
		s.sent += fmt.Sprint(msg.Msg)
	case archivedMsg, restoredMsg, revealedMsg, originalsMsg, copyMsg, editMsg, reviewMsg, editedMsg, actedMsg, actsMsg:
		s.send(msg)
	case jobsMsg, deadMsg, groupsMsg, gatherMsg, discardMsg, eventsMsg, jobMsg, planStartedMsg, planRanMsg, planActedMsg, undoAskedMsg, planMsg, plansMsg, planJobsMsg, rehearsedMsg, orderedMsg, pausedMsg, cancelledMsg, comparedMsg, faultMsg:
		s.send(msg)
	default:
		switch fmt.Sprintf("%T", msg) {
		case "tea.setClipboardMsg":
			s.clipboard = fmt.Sprint(msg)
		case "tea.execMsg":
			s.editor++
		}
	}
}

// pull hands the dashboard the world as it is now.
func (s *stage) pull() {
	m := pulledMsg{state: s.state}
	if s.app.cfg.Workers != nil {
		m.workers, m.claims, m.fenced = s.Workers(), s.ClaimLatency(), s.Fenced()
		m.news, m.last = crewOf{s.world}.Events(s.app.latest.last)
	}
	s.send(m)
	s.send(secondMsg{})
}

// pass lets time pass, then delivers the second.
func (s *stage) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.send(secondMsg{})
}

// press presses keys one after the other, without time between them. No others come
// shortly before and after them.
func (s *stage) press(keys ...string) {
	s.t.Helper()
	s.app.presses.last = time.Time{}
	for _, k := range keys {
		s.send(keyPress(k))
	}
	held := s.held
	s.held = nil
	for _, m := range held {
		s.send(m)
	}
}

// later presses a key when dialogs listen again.
func (s *stage) later(keys ...string) {
	s.t.Helper()
	s.now = s.now.Add(swallow + time.Millisecond)
	s.press(keys...)
}

// discards answers the question about a discard: with no reason but that given before,
// and with the number where that is asked for.
func (s *stage) discards() {
	s.t.Helper()
	d := s.app.dialogs.Top().(*discardDialog)
	s.later("enter")
	if d.set.vast() {
		s.press(strings.Split(strconv.Itoa(len(d.set.ids)), "")...)
		s.press("enter")
	}
	s.press("y")
}

// starts answers the form of a plan as it is, from any field but the reason.
func (s *stage) starts() {
	s.t.Helper()
	s.press("y")
	s.press("y")
}

func keyPress(name string) tea.KeyPressMsg {
	special := map[string]rune{"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEsc, "space": tea.KeySpace, "backspace": tea.KeyBackspace, "down": tea.KeyDown, "up": tea.KeyUp}
	if code, ok := special[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	if name == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// screen is what a person sees; it fails the test when it does not fit.
func (s *stage) screen() *term.Frame {
	s.t.Helper()
	view := s.app.View().Content
	if s.app.fault != nil {
		s.t.Fatalf("%v\n%s", s.app.fault, s.app.fault.(*panicError).stack)
	}
	if len(s.broken) > 0 {
		s.t.Fatalf("Update or View asked for %v", s.broken)
	}
	f := term.Render(view, s.app.w, s.app.h)
	if err := f.Err(); err != nil && s.app.h > 0 {
		s.t.Fatalf("the screen does not fit: %v\n%s", err, f.Text())
	}
	return f
}

func (s *stage) sees(texts ...string) {
	s.t.Helper()
	screen := s.screen().Text()
	for _, text := range texts {
		if !strings.Contains(screen, text) {
			s.t.Fatalf("no %q on\n%s", text, screen)
		}
	}
}

func (s *stage) seesNot(texts ...string) {
	s.t.Helper()
	screen := s.screen().Text()
	for _, text := range texts {
		if strings.Contains(screen, text) {
			s.t.Fatalf("%q on\n%s", text, screen)
		}
	}
}

// detail is the job's page in front; nil when there is none.
func (s *stage) detail() *detail {
	d, _ := s.app.page().(*detail)
	return d
}
