package ui

import (
	"context"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
)

// sampleJobs is the table of the sample: the leases and dead letters that the feed tells
// of, a few jobs that wait, and what was completed before.
func sampleJobs() (jobs []queue.Job) {
	state := sampleState()
	leases := map[int64]watch.Lease{}
	for _, l := range state.Leases.List {
		leases[l.JobID] = l
	}
	dead := map[int64]queue.Job{}
	for _, j := range state.Dead.Latest {
		dead[j.ID] = j
	}
	jobs = make([]queue.Job, 0, 1256)
	for id := int64(88156); id > 86900; id-- {
		where := []string{"emails", "emails", "images"}[id%3]
		ago := time.Duration(88160-id) * 700 * time.Millisecond
		j := queue.Job{ID: id, Queue: where, Kind: map[string]string{"emails": "send", "images": "render"}[where], Status: queue.Completed, Attempts: 1, MaxAttempts: 5, CreatedAt: noon.Add(-ago - time.Minute), UpdatedAt: noon.Add(-ago), RunAt: queue.At(noon.Add(-ago - time.Minute))}
		lease, leased := leases[id]
		letter, died := dead[id]
		switch {
		case leased:
			j.Queue, j.Kind, j.Status, j.Attempts = lease.Queue, lease.Kind, queue.Processing, lease.Attempts
			j.LockedBy, j.LockedAt, j.LeaseExpiresAt = lease.Owner, &lease.LockedAt, &lease.ExpiresAt
		case died:
			j = letter
		case id == 88156:
			j.Status, j.Attempts, j.RunAt = queue.Pending, 0, queue.At(noon.Add(3*time.Hour))
		case id > 88143 && id%2 == 0:
			j.Status, j.Attempts = queue.Pending, 0
		case id%100 == 20:
			j.Status, j.Attempts, j.RunAt, j.LastError = queue.Pending, 1, queue.At(noon.Add(2*time.Minute+4*time.Second)), "SMTP 421 rate limited by mx1.example.com, try again later\nat line 3"
		case id%50 == 7:
			j.Attempts, j.LastError = 2, "dial tcp 10.1.4.7:25: connect: connection refused"
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// Scan looks through the world's jobs as the database would.
func (w *world) Scan(_ context.Context, f queue.Filter, s queue.Stretch) (found queue.Found, err error) {
	w.touch("scan")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks = append(w.looks, question{filter: f, stretch: s})
	if w.down != nil {
		w.asked = append(w.asked, "scan")
		return found, w.down
	}
	at := func(i int) *queue.Job {
		if s.Up {
			i = len(w.jobs) - 1 - i
		}
		return &w.jobs[i]
	}
	for i := range w.jobs {
		j := at(i)
		if s.From != nil && (s.Up && j.ID <= s.From.ID || !s.Up && j.ID >= s.From.ID) {
			continue
		}
		if found.Looked == s.Look || len(found.Jobs) == s.Limit {
			found.Next = &queue.Cursor{ID: at(i - 1).ID}
			break
		}
		found.Looked++
		found.Newest = max(found.Newest, j.ID)
		waits := j.Status == queue.Pending && standingOf(j, w.now) == &standsScheduled
		if passes(f.Where, j) && (f.Queue == "" || f.Queue == j.Queue) && (f.Statuses == nil || slices.Contains(f.Statuses, j.Status)) &&
			!(j.Status == queue.Pending && (f.Due == queue.DueNow && waits || f.Due == queue.DueLater && !waits)) {
			found.Jobs = append(found.Jobs, *j)
		}
	}
	if s.Up {
		slices.Reverse(found.Jobs)
	}
	return found, nil
}

// ByID finds the world's jobs.
func (w *world) ByID(_ context.Context, ids ...int64) (jobs []queue.Job, err error) {
	w.touch("by id")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks = append(w.looks, question{why: ofRows, ids: ids})
	for _, j := range w.jobs {
		if slices.Contains(ids, j.ID) {
			jobs = append(jobs, j)
		}
	}
	return jobs, w.down
}

// rows are the ids that the tab has loaded.
func (s *stage) rows() []int64 { return s.app.jobsTab.list.keys }

// under is the job under the tab's cursor.
func (s *stage) under() int64 {
	s.t.Helper()
	job, ok := s.app.jobsTab.Job()
	if !ok {
		s.t.Fatalf("no job under the cursor on\n%s", s.screen().Text())
	}
	return job.ID
}

// told has the feed tell of an event.
func (w *world) told(what watch.What, id int64, queue string) {
	state := *w.state
	state.Version++
	state.Events = append(slices.Clip(state.Events), watch.Event{Seq: state.Events[len(state.Events)-1].Seq + 1, At: w.now, What: what, JobID: id, Queue: queue, Count: 1})
	w.state = &state
}

// enqueues puts a new job on top of the table, and the feed tells of it.
func (w *world) enqueues(queueName string) int64 {
	id := w.jobs[0].ID + 1
	w.jobs = append([]queue.Job{{ID: id, Queue: queueName, Kind: "send", Status: queue.Pending, MaxAttempts: 5, RunAt: queue.At(w.now), CreatedAt: w.now, UpdatedAt: w.now}}, w.jobs...)
	w.told(watch.Enqueued, id, queueName)
	return id
}

// changes changes one job of the table, and the feed tells of it.
func (w *world) changes(id int64, change func(*queue.Job)) {
	w.jobs = slices.Clone(w.jobs)
	for i := range w.jobs {
		if w.jobs[i].ID == id {
			change(&w.jobs[i])
			w.told(watch.Edited, id, w.jobs[i].Queue)
		}
	}
}

// deletes takes jobs off the table without a word.
func (w *world) deletes(gone func(*queue.Job) bool) {
	w.jobs = slices.DeleteFunc(slices.Clone(w.jobs), func(j queue.Job) bool { return gone(&j) })
}

// settle lets time pass until the tab reads again by itself.
func (s *stage) settle() {
	s.now = s.now.Add(jobsBetween)
	s.pull()
}

func TestJobsAreChosenByStatusAndQueue(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.press("2")
	s.sees("JOBS all ~245,8", "88156  emails/send", "○ ready", "… scheduled   0/5  in 3h00m", "✓ completed   1/5  3s ago", "● processing", "read 0s ago")
	for _, c := range []struct{ key, heading string }{
		{"s", "all queues · ready 51,533"},
		{"s", "all queues · scheduled 319"},
		{"]", "emails · scheduled 310"},
		{"right", "images · scheduled 0"},
		{"s", "images · processing 3"},
		{"S", "images · scheduled 0"},
		{"left", "emails · scheduled 310"},
		{"[", "all queues · scheduled 319"},
		{"[", "reports · scheduled 9"},
		{"]", "all queues · scheduled 319"},
		{"S", "all queues · ready"},
		{"S", "JOBS all ~"},
		{"S", "all queues · dead 33"},
		{"s", "JOBS all ~"},
	} {
		s.press(c.key)
		s.sees(c.heading)
	}
	f := func(name string, due queue.Due, statuses ...queue.Status) queue.Filter {
		return queue.Filter{Queue: name, Due: due, Statuses: statuses}
	}
	var asked []queue.Filter
	for _, q := range s.looks {
		if len(asked) == 0 || !slices.Equal(asked[len(asked)-1].Statuses, q.filter.Statuses) || asked[len(asked)-1].Queue != q.filter.Queue || asked[len(asked)-1].Due != q.filter.Due {
			asked = append(asked, q.filter)
		}
	}
	want := []queue.Filter{
		{},
		f("", queue.DueNow, queue.Pending), f("", queue.DueLater, queue.Pending), f("emails", queue.DueLater, queue.Pending),
		f("images", queue.DueLater, queue.Pending), f("images", queue.DueOrNot, queue.Processing),
	}
	for i := range want {
		if !slices.Equal(asked[i].Statuses, want[i].Statuses) || asked[i].Queue != want[i].Queue || asked[i].Due != want[i].Due {
			t.Errorf("question %d was for %+v, want %+v", i, asked[i], want[i])
		}
	}
}

func TestEnterOnAQueueListsItsJobs(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 120, 36)
	s.sees("enter jobs")
	s.press("2", "s", "1", "j", "enter")
	s.sees("JOBS images · any status", "88154  render")
	s.seesNot("88155 ")
}

// The names are narrowed literally, however many there are.
func TestQueueIsFoundAmongTenThousand(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.state.Depths.Queues = nil
	for i := range 10_000 {
		w.state.Depths.Queues = append(w.state.Depths.Queues, watch.QueueDepth{QueueDepth: queue.QueueDepth{Queue: "tenant-" + itoa(int64(i)) + ".mail", CompletedExact: true}})
	}
	w.state.Depths.Queues[4711].Queue = "50%_[off]"
	s := newStage(t, w, 80, 24)
	s.press("2", "Q")
	s.sees("JOBS OF WHICH QUEUE", "all queues", "9,986 below")
	s.press("9", "9", "7", "1")
	s.sees("/ 9971", "▸ tenant-9971.mail", "9971  by this very name")
	s.press("enter")
	s.sees("JOBS tenant-9971.mail · any status 0", "no job in tenant-9971.mail")
	s.press("Q", "%", "_", "[", "enter")
	s.sees("JOBS 50%_[off] · any status")
	// A queue that the counts leave out is chosen by its very name.
	s.press("Q", "e", "m", "x", "backspace", "a", "i", "l", "s", "enter")
	s.sees("JOBS emails · any status", "88155  send")
	s.press("Q", "g", "esc", "]")
	s.sees("JOBS tenant-0.mail")
	// All of them are found like one.
	s.press("Q", "a", "l", "l")
	s.sees("▸ all queues", "  all  by this very name")
	s.press("enter")
	s.sees("JOBS all")
	s.press("]")
	// One that comes while the question stands is there.
	s.press("Q", "n", "e", "w")
	state := *s.state
	state.Version++
	state.Depths.Queues = append(slices.Clone(state.Depths.Queues), watch.QueueDepth{QueueDepth: queue.QueueDepth{Queue: "newcomers"}})
	s.state = &state
	s.settle()
	s.sees("▸ newcomers", "  new  by this very name")
	s.press("down") // now the cursor stays on its name
	later := state
	later.Version++
	later.Depths.Queues = append(slices.Clone(state.Depths.Queues), watch.QueueDepth{QueueDepth: queue.QueueDepth{Queue: "newer"}})
	s.state = &later
	s.settle()
	s.sees("  newcomers", "  newer", "▸ new  by this very name")
}

// What is pasted narrows the names, and chooses none of them.
func TestPastedTextChoosesNoQueue(t *testing.T) {
	t.Parallel()
	s := newStage(t, newWorld(), 100, 30)
	s.press("2", "Q")
	s.send(tea.PasteMsg{Content: "ima\n"})
	s.sees("JOBS all", "JOBS OF WHICH QUEUE", "/ ima")
	s.press("backspace", "enter")
	s.sees("JOBS images")
}

// Every act names the job that was under the cursor, and is done to that alone.
func TestActsOnAJobOfTheList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys      []string
		asks, did string
	}{
		{[]string{"s", "s", "s", "j", "C"}, "CANCEL JOB 88142", "cancel [88142] by ann@shop1"},
		{[]string{"s", "s", "j", "C"}, "CANCEL JOB 88120", "cancel [88120] by ann@shop1"},
		{[]string{"S", "r"}, "REDRIVE JOB 88007", "redrive [88007] by ann@shop1"},
		{[]string{"S", "S", "j", "r"}, "REDRIVE JOB 87955", "redrive [87955] by ann@shop1"},
	} {
		s := newStage(t, newWorld(), 120, 36)
		s.press("2")
		s.press(c.keys...)
		s.sees(c.asks)
		for range 40 { // the list goes on under the question
			s.enqueues("emails")
		}
		s.settle()
		s.later("y")
		if got := s.log(); got != c.did {
			t.Errorf("%v did %q, want %q", c.keys, got, c.did)
		}
	}
}

func TestActsOnAJobAreGreyedWithTheReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys []string
		says string
	}{
		{[]string{"j", "r"}, "redrive: not a dead letter: completed"},
		{[]string{"j", "C"}, "cancel: nothing to stop: completed"},
		{[]string{"r"}, "redrive: not a dead letter: pending"},
		{[]string{"S", "C"}, "cancel: nothing to stop: dead"},
		{[]string{"]", "]", "]", "C"}, "cancel: no job under the cursor"},
		{[]string{"]", "]", "]", "enter"}, "open: no job under the cursor"},
	} {
		s := newStage(t, newWorld(), 120, 36)
		s.press("2")
		s.press(c.keys...)
		s.sees(c.says)
		if got := s.log(); got != "" {
			t.Errorf("%v did %s", c.keys, got)
		}
	}
	w := newWorld()
	w.state.Server.ReadOnly = true
	s := newStage(t, w, 120, 36)
	s.press("2", "C")
	s.sees("cancel: this database is read-only for app")
}

// The detail opens on a job of any status, and esc comes back to the list.
func TestAnyJobOpens(t *testing.T) {
	t.Parallel()
	for status, c := range map[queue.Status]struct{ keys, sees []string }{
		queue.Pending:    {[]string{"s"}, []string{"due", "C cancel"}},
		queue.Processing: {[]string{"s", "s", "s"}, []string{"lease", "held by", "node-worker-17"}},
		queue.Completed:  {[]string{"j"}, []string{"updated"}},
		queue.Failed:     {[]string{"S", "S"}, []string{"died", "r redrive"}},
	} {
		s := newStage(t, newWorld(), 120, 36)
		s.press("2")
		s.press(c.keys...)
		id := s.under()
		s.press("enter")
		job := sampleJob(id)
		listed := s.jobs[slices.IndexFunc(s.jobs, func(j queue.Job) bool { return j.ID == id })]
		listed.Payload, listed.Errors = job.Payload, job.Errors
		s.send(jobMsg{id: id, job: &listed, length: len(job.Payload)})
		s.sees(append(c.sees, "JOB "+itoa(id), string(status), "1970670598291982290")...)
		s.press("esc")
		if s.under() != id {
			t.Errorf("%s: back on job %d, opened was %d", status, s.under(), id)
		}
	}
}
