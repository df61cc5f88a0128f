package ui

import (
	"fmt"
	"strings"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/safe"
	"github.com/leasetop/leasetop/workers"
)

// held says why a pending job is not running, the most telling first, or why a dead
// letter could not come back; nothing of other jobs.
func (d *detail) held() []fact {
	t, j := d.pic.theme, d.job
	switch {
	case j.Status == queue.Pending:
		return d.whyWaiting()
	case d.holder != 0:
		return []fact{{"", fmt.Sprintf("would be skipped: its idempotency key is in use by job %d, which is alive", d.holder), t.warn}}
	}
	return nil
}

// whyWaiting puts together what the database knows, and what this process sees of workers.
func (d *detail) whyWaiting() (why []fact) {
	t, j, p := d.pic.theme, d.job, d.pic
	say := func(k ink, format string, args ...any) {
		why = append(why, fact{"", fmt.Sprintf(format, args...), k})
	}
	name := safe.Text(j.Queue)
	pause, paused := p.state.Pauses.Of(j.Queue)
	if d.waiting != nil && d.waiting.Paused != nil {
		pause, paused = *d.waiting.Paused, true
	}
	if paused {
		because := ""
		if pause.Why != "" {
			because = ": " + pause.Why
		}
		say(t.warn, "%s queue %s is paused, for %s, by %s%s", pausedMark, name, age(p.now.Sub(pause.Since)), pause.By, because)
	}
	switch {
	case j.RunAt.Never():
		say(t.warn, "it is never due: its run_at is infinity")
	case j.RunAt.Time.After(p.now) && !j.RunAt.Always():
		say(t.text, "scheduled: due in %s, at %s", age(j.RunAt.Time.Sub(p.now)), moment(j.RunAt.Time, p.now))
	case d.refused != nil:
		say(t.warn, "the server refuses to change it, and workers pass it over")
	default:
		if d.waiting != nil && d.waiting.Ahead > 0 {
			more := pick(d.waiting.Capped, "+", "")
			say(t.text, "%s%s due before it", thousands(d.waiting.Ahead), more+" "+pick(d.waiting.Ahead == 1 && !d.waiting.Capped, "job is", "jobs are"))
		}
	}
	if d.refused == nil {
		why = append(why, d.whoTakes(name)...)
	}
	if len(why) == 0 && d.waiting != nil {
		say(t.good, "nothing is in its way: the next free worker takes it")
	}
	return why
}

// whoTakes says what is known of the workers that would run it, when they are what it
// waits for.
func (d *detail) whoTakes(name string) []fact {
	t, p, j := d.pic.theme, d.pic, d.job
	var takers []string
	slots, busy := 0, 0
	for _, w := range p.workers {
		if w.State != workers.Idle && w.State != workers.Busy {
			continue
		}
		for _, q := range w.Queues {
			if q == j.Queue {
				takers = append(takers, safe.Text(w.Name))
				slots += w.Slots
				busy += len(w.Running)
				break
			}
		}
	}
	others := map[string]bool{}
	for _, l := range p.state.Leases.List {
		if h := p.holder(l.Owner); l.Queue == j.Queue && h.state == "" {
			others[safe.Text(h.name)] = true
		}
	}
	switch {
	case len(takers) > 0 && slots > 0 && busy >= slots:
		return []fact{{"", fmt.Sprintf("all %d slots of the workers here that take it are busy: %s", slots, strings.Join(takers[:min(len(takers), 6)], ", ")), t.text}}
	case len(takers) > 0 || len(others) > 0:
		return nil
	case d.waiting != nil && d.waiting.Running > 0:
		return nil // somebody takes it; who, is not in sight
	case p.alone:
		return []fact{{"", fmt.Sprintf("nobody runs a job of %s just now: does a worker that takes it run at all?", name), t.warn}}
	}
	return []fact{{"", fmt.Sprintf("no live worker takes %s: none here does, and nobody else runs a job of it", name), t.warn}}
}
