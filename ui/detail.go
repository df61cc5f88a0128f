package ui

import (
	"context"
	"errors"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/mask"
)

// detail is everything about one job: what it is, why it waits or died, how each attempt
// ended, what it was to do. It opens over any tab. detailview.go draws it, reveal.go
// shows its secrets, copy.go copies from it, jobacts.go and edit.go act on it.
type detail struct {
	panes
	pic *picture

	id      int64
	job     *queue.Job
	length  int            // characters of the whole payload
	waiting *queue.Waiting // of a pending job
	holder  int64          // the live job that has a dead letter's idempotency key; 0 none
	refused *queue.Refused // why the server does not let it be changed; nil: it does
	gone    bool
	err     error
	loading bool
	asked   time.Time // zero: ask at once
	signal  uint64

	revealed  bool
	masked    int // secrets in what is shown
	payload   []jsonLine
	past      []ending
	folds     folding
	opened    map[int64]bool   // long errors, by their time
	originals []queue.Original // newest first, once they were asked for
	original  int              // which of them is shown; 0 is the payload as it is now

	drawn  *theme // that the payload was made for
	layout int    // counts up with what was folded, opened or revealed
	laid   laid
}

func newDetail(id int64, p *picture) *detail {
	d := &detail{id: id, pic: p}
	d.all = []pane{&foldPane{name: "HISTORY"}, &foldPane{name: "PAYLOAD"}}
	d.all[0].Focus(true)
	return d
}

func (d *detail) history() *foldPane { return d.all[0].(*foldPane) }
func (d *detail) body() *foldPane    { return d.all[1].(*foldPane) }

// Show takes a new picture.
func (d *detail) Show(p *picture) {
	d.pic = p
	d.panes.Show(p)
	if d.job != nil && d.drawn != p.theme {
		d.prepare()
	}
}

// Name is what the help calls it.
func (d *detail) Name() string { return "Job" }

// Stale has the job read again.
func (d *detail) Stale() { d.asked = time.Time{} }

// jobAgain is how old the picture of a job may be, when nothing says it changed.
const jobAgain = 2 * time.Second

// jobMsg is an answer.
type jobMsg struct {
	id      int64
	job     *queue.Job
	length  int
	waiting *queue.Waiting
	holder  int64
	refused *queue.Refused
	err     error
}

// Load returns the command that reads the job, again when it may have changed.
func (d *detail) Load(a *app) tea.Cmd {
	now, signal := a.now(), d.pic.state.Dead.Signal
	old := now.Sub(d.asked)
	if d.loading || d.gone || old < deadBetween || old < jobAgain && (d.err != nil || signal == d.signal) {
		return nil
	}
	d.loading, d.asked, d.signal = true, now, signal
	id := d.id
	return a.io(func(ctx context.Context) tea.Msg {
		m := jobMsg{id: id}
		if m.job, m.length, m.err = a.cfg.Jobs.Preview(ctx, id, payloadCharacters); m.err != nil {
			return m
		}
		m.refused, _ = a.cfg.Jobs.RefusedJob(ctx, id)
		switch {
		case m.job.Status == queue.Pending:
			// Beside the job, it is no reason not to show it.
			if waiting, err := a.cfg.Jobs.WhyWaiting(ctx, id); err == nil {
				m.waiting = &waiting
			}
		case m.job.Status.IsDeadLetter() && m.job.IdempotencyKey != "":
			m.holder, _ = a.cfg.Jobs.KeyHolder(ctx, m.job.Queue, m.job.IdempotencyKey)
		}
		return m
	})
}

// Took takes an answer; one about another job is too late.
func (d *detail) Took(m jobMsg) {
	if m.id != d.id {
		return
	}
	d.loading, d.err = false, m.err
	switch {
	case m.err == nil:
		d.job, d.length, d.waiting, d.holder, d.refused = m.job, m.length, m.waiting, m.holder, m.refused
		d.prepare()
	case errors.Is(m.err, queue.ErrNotFound):
		d.gone = true
	}
}

// prepare makes of the job what its picture is laid out from.
func (d *detail) prepare() {
	d.drawn = d.pic.theme
	text := d.payloadShown()
	masked, secrets := mask.JSON(text)
	if !d.revealed {
		text = masked
	}
	d.payload = pretty(text, d.drawn)
	var more int
	d.past, more = endings(d.job.Errors, d.revealed)
	_, last := mask.Text(d.job.LastError)
	d.masked = secrets + max(more, last)
	d.layout++
}

// payloadShown is the payload as it is now, or the original that is looked at, as far as
// it is shown.
func (d *detail) payloadShown() string {
	if d.original == 0 {
		return string(d.job.Payload)
	}
	text := []rune(string(d.originals[d.original-1].Payload))
	return string(text[:min(len(text), payloadCharacters)])
}

// Keys are what the detail's keys do.
func (d *detail) Keys(a *app) []action {
	over := ""
	switch {
	case d.gone:
		over = "the job is gone"
	case d.job == nil:
		over = "not read yet"
	}
	keys := []action{a.backKey()}
	keys = append(keys, actsOn(a, d.job, over)...)
	keys = append(keys, d.foldKeys()...)
	keys = append(keys, d.revealKey(a, over))
	if n := d.edits(); n > 0 || d.original > 0 {
		keys = append(keys, d.originalsKey(a, n))
	}
	keys = append(keys, d.copyKeys(a, over)...)
	for i := range keys { // what cannot be done any more is not offered; pressed, it says why
		keys[i].out = keys[i].out || d.gone && keys[i].why == over
	}
	return keys
}

// foldKeys fold and open what is long.
func (d *detail) foldKeys() []action {
	fold := d.all[d.at].(*foldPane).Fold()
	turn := key("enter space", "", "open or fold what the cursor is on: a long error, a part of the payload", func() tea.Cmd {
		if d.at == 0 {
			if d.opened == nil {
				d.opened = map[int64]bool{}
			}
			d.opened[fold] = !d.opened[fold]
		} else {
			d.folds.Turn(fold)
		}
		d.layout++
		return nil
	}).unless(pick(fold != 0, "", "nothing opens or folds where the cursor is"))
	levels := key("z", "fold", "fold the payload to its first level, to two, and not at all", func() tea.Cmd {
		d.folds.Next()
		d.layout++
		return nil
	}).unless(pick(d.job != nil, "", "not read yet"))
	return []action{turn, levels}
}

// edits is how many times the payload was edited, as far as the history goes.
func (d *detail) edits() (n int) {
	if d.job == nil {
		return 0
	}
	for _, one := range d.job.Errors {
		if one.Outcome == "edited" {
			n++
		}
	}
	return n
}

func (d *detail) idText() string { return strconv.FormatInt(d.id, 10) }
