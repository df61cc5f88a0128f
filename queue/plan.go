package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// NewPlan is a redrive of many dead letters that somebody wants: which, and how
// carefully. Without Canary, Pace and StopAt they are redriven all at once, as fast as the
// database takes them, whatever becomes of them.
type NewPlan struct {
	IDs    []int64         // the set; it is fixed from now on
	Filter string          // what chose them, for whoever reads the plan; "" when they were named one by one
	Reason string          // why, for whoever reads the log
	Canary int             // so many are redriven first, not counting those skipped, and the rest only when all of these have ended; as many again after a stop
	Wait   bool            // after the canary somebody has to say go on: see Queue.ResumePlan. So it is anyway when most of it is gone, and nobody knows how it ended
	Pace   float64         // jobs a second after the canary; at most MaxPace
	Told   func(added int) // is called while the jobs of a large set are added; nil is nobody
	StopAt *int            // stops when more than so many per cent of those that ended are dead again: at 0 the first does; nil is never. Of fewer than ten, the share is taken of ten, or of the whole canary. What has not ended tells nothing: while slow jobs run, only the canary holds the others back
}

// MaxPace is the fastest that a plan may be paced: faster than any database takes jobs.
const MaxPace = 1_000_000

// PlanState is where a plan stands.
type PlanState string

// The states of a plan, as the table spells them.
const (
	PlanRunning   PlanState = "running"   // whoever executes it redrives
	PlanCanary    PlanState = "canary"    // the canary is back; it is watched until all of it has ended
	PlanHeld      PlanState = "held"      // the canary has ended well, or nobody knows how, and somebody is to say go on
	PlanPaused    PlanState = "paused"    // somebody paused it
	PlanStopped   PlanState = "stopped"   // by itself: too many died again
	PlanDone      PlanState = "done"      // none is waiting any more
	PlanCancelled PlanState = "cancelled" // somebody ended it; what is redriven stays so
	PlanUndoing   PlanState = "undoing"   // whoever executes it takes back what nobody has claimed yet
	PlanUndone    PlanState = "undone"    // that is done; StateBy is who asked for it
)

// Ended tells whether nothing will happen in a plan of this state any more.
func (s PlanState) Ended() bool {
	return s == PlanDone || s == PlanCancelled || s == PlanUndone
}

// Plan is a redrive plan as it stands. Its times are of the database's clock.
type Plan struct {
	ID      int64     `json:"id"`
	State   PlanState `json:"state"`
	By      string    `json:"by"`       // who started it, "ann@laptop"
	StateBy string    `json:"state_by"` // who brought it into its state; "" itself
	Why     string    `json:"why"`      // of its state, in words
	Filter  string    `json:"filter"`
	Reason  string    `json:"reason"`
	Canary  int       `json:"canary"`
	Wait    bool      `json:"wait"`
	Pace    float64   `json:"pace"`    // jobs a second; 0 is unpaced
	StopAt  *int      `json:"stop_at"` // per cent; nil never

	CreatedAt time.Time  `json:"created_at"`
	ChangedAt time.Time  `json:"changed_at"` // when it came into its state
	EndedAt   *time.Time `json:"ended_at"`

	CanaryLeft  int64 `json:"canary_left"`  // so many of the canary that counts now are yet to be redriven
	CanaryAfter int64 `json:"canary_after"` // so many were redriven before that canary; 0 is the first, more come after a stop

	Executor string        `json:"executor"` // who executes it, "" nobody
	Alone    time.Duration `json:"alone"`    // for how long the executor has not been heard of beyond its lease; 0 while it is there

	PlanCounts
}

// PlanCounts count a plan's jobs. The first five add up to Total; the others tell what
// has become of the redriven ones by now, and add up to Redriven.
type PlanCounts struct {
	Total    int64 `json:"total"`
	Waiting  int64 `json:"waiting"`
	Redriven int64 `json:"redriven"`
	Skipped  int64 `json:"skipped"` // no dead letter any more, or its idempotency key in use
	Undone   int64 `json:"undone"`  // redriven and taken back
	Left     int64 `json:"left"`    // not reached when the plan was cancelled or undone

	Completed int64 `json:"completed"`
	DiedAgain int64 `json:"died_again"`
	Running   int64 `json:"running"`
	Pending   int64 `json:"pending"`
	Gone      int64 `json:"gone"` // from the table: deleted, or discarded after they died again
}

// PlanJob is one job of a plan.
type PlanJob struct {
	ID     int64      `json:"id"`
	State  string     `json:"state"`  // waiting, redriven, skipped, undone or left
	Reason string     `json:"reason"` // why it was skipped, or not taken back
	At     *time.Time `json:"at"`     // when it came into that state
	Status Status     `json:"status"` // of the job now; "" when it is gone
}

// answers are how the reasons begin for which a redrive has nothing to do with a job any
// more, and staying are those for which an undo has not.
var (
	answers = []string{"not a dead letter: ", "already discarded", "changed a moment ago", "idempotency key ", NoSuchJob}
	staying = []string{"", "running", "completed", "claimed since", "changed since", "died again", "discarded since", "gone"}
)

// Failed reports whether the plan left the job though it could have redriven it, or have
// taken it back: it was locked, or the server refused it, as for a [Skip].
func (j PlanJob) Failed() bool {
	switch j.State {
	case "skipped":
		return !slices.ContainsFunc(answers, func(begins string) bool { return strings.HasPrefix(j.Reason, begins) })
	case "redriven":
		return !slices.Contains(staying, j.Reason)
	}
	return false
}

// What callers tell apart about plans.
var (
	// ErrPlanTaken says that another process executes the plan. One does at a time.
	ErrPlanTaken = errors.New("another process executes this plan")
	// ErrPlanState says that a plan is in no state for what was asked of it; the text
	// names the state.
	ErrPlanState = errors.New("not in this state")
)

// planRefused says in what state a plan is that something was asked of, or who executes it.
type planRefused struct {
	text string
	is   error
}

func (e *planRefused) Error() string        { return e.text }
func (e *planRefused) Is(target error) bool { return target == e.is }

// standing tells where a plan stands, in words.
func (p *Plan) standing() string {
	text := fmt.Sprintf("plan %d is %s", p.ID, p.State)
	switch {
	case p.StateBy != "":
		text += ", by " + p.StateBy
	case p.State == PlanStopped:
		text += ", by itself"
	}
	if p.Why != "" {
		text += ": " + p.Why
	}
	return text
}

func (p *Plan) inNoState() error { return &planRefused{p.standing(), ErrPlanState} }

func (p *Plan) taken() error {
	return &planRefused{fmt.Sprintf("%s executes plan %d: one process does at a time", p.Executor, p.ID), ErrPlanTaken}
}
