package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// waiting is why a job is not running; nil when it is not pending.
type waiting struct{ queue.Waiting }

func whyWaiting(ctx context.Context, q *queue.Queue, j *queue.Job) (*waiting, error) {
	if j.Status != queue.Pending {
		return nil, nil
	}
	why, err := q.WhyWaiting(ctx, j.ID)
	if err == nil {
		return &waiting{why}, nil
	}
	if errors.Is(err, queue.ErrNotFound) { // claimed meanwhile
		err = nil
	}
	_, err = known(why, err)
	return nil, err
}

// century is the most that is said in hours: a duration holds no more than 292 years.
const century = 100 * 365 * 24 * time.Hour

// words say it to a person, what matters most first. refused is what the server said when
// somebody tried to claim the job; nil when it let it be changed.
func (w *waiting) words(refused *queue.Refused) string {
	if w == nil {
		return ""
	}
	var why []string
	if p := w.Paused; p != nil {
		why = append(why, "its queue is paused since "+clock(p.Since)+" "+byWhom(p))
	}
	switch {
	case w.Never:
		return strings.Join(append(why, "it is never due, until `leasetop run-now`"), "; ")
	case w.Due > century:
		return strings.Join(append(why, "it is due in more than a hundred years"), "; ")
	case w.Due > 0:
		return strings.Join(append(why, "it is due in "+w.Due.Round(time.Second).String()), "; ")
	}
	if refused != nil {
		return strings.Join(append(why, "the server refuses to change it, and workers pass it over"), "; ")
	}
	switch ahead := thousands(int(w.Ahead)); {
	case w.Ahead == 0:
		why = append(why, "it is next")
	case w.Capped:
		why = append(why, ahead+" or more due jobs of its queue come first")
	case w.Ahead == 1:
		why = append(why, "1 due job of its queue comes first")
	default:
		why = append(why, ahead+" due jobs of its queue come first")
	}
	switch {
	case w.Running > 0 && w.LastTook != nil:
		why = append(why, fmt.Sprintf("%s of its queue run, the last claimed at %s", thousands(int(w.Running)), clock(*w.LastTook)))
	case w.Running > 0:
		why = append(why, thousands(int(w.Running))+" of its queue run")
	case w.Paused == nil:
		why = append(why, "none of its queue runs: perhaps no worker takes it")
	}
	return strings.Join(why, "; ")
}

// waitingJSON is the same for scripts.
type waitingJSON struct {
	DueIn    float64      `json:"due_in"` // seconds; 0 when it is due
	Never    bool         `json:"never"`
	Paused   *queue.Pause `json:"paused"`
	Ahead    int64        `json:"ahead"`
	AtLeast  bool         `json:"at_least"` // there are more ahead than were counted
	Running  int64        `json:"running"`
	LastTook *queue.Time  `json:"last_took"`
}

func (w *waiting) json() *waitingJSON {
	if w == nil {
		return nil
	}
	return &waitingJSON{max(w.Due, 0).Seconds(), w.Never, w.Paused, w.Ahead, w.Capped, w.Running, moment(w.LastTook)}
}
