package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leasetop/leasetop/queue"
)

// Handler does one job. Its context is cancelled when the job must stop;
// [context.Cause] tells why: [queue.ErrLeaseLost], [ErrTrustEnded],
// [queue.ErrCancelled], [ErrDrained], [ErrTimeout] or [ErrCrashed]. What it returns
// is the outcome:
//
//   - nil: completed, also when it was to be cancelled;
//   - [queue.Permanent]: buried, as is a panic;
//   - [queue.Snooze]: back later, the attempt returned;
//   - any other error: retried with backoff, failed after the last attempt.
//
// Once somebody cancelled the job, any error ends it as dead, "cancelled by …".
//
// A handler that cannot return at once asks [TimeToReturn] and [LeaseGone].
//
// A job may run twice, so effects must be guarded: see [queue.Queue.Once] and [CompleteTx].
type Handler func(ctx context.Context, job *queue.Job) error

// Handlers says which handler does which job. The zero value has none. It is read by
// [New]: what is registered afterwards does not count.
type Handlers struct {
	kinds, queues map[string]handler
	around        []Middleware
	missing       handler // what answers jobs that have none
	mistakes      []error // told by New
}

type handler struct {
	do      Handler
	around  []Middleware
	backoff queue.Backoff // nil is the default
	lease   time.Duration // 0 leaves it to the queue's, then to Options.Lease
}

// HandlerOption is what may differ from handler to handler: [WithBackoff], [WithLease],
// [WithMiddleware].
type HandlerOption func(*handler)

// WithBackoff says how long a job waits after a retryable error, instead of [queue.DefaultBackoff].
func WithBackoff(b queue.Backoff) HandlerOption { return func(h *handler) { h.backoff = b } }

// WithLease says how long these jobs are leased for, instead of Options.Lease.
// Claims go by queue and do not know the kind yet: the lease of a kind counts
// from its first heartbeat on.
func WithLease(d time.Duration) HandlerOption { return func(h *handler) { h.lease = d } }

// NewHandlers returns an empty set.
func NewHandlers() *Handlers { return &Handlers{} }

// Kind has fn do the jobs of a kind, in whatever queue. Mistakes (no name, no
// function, a nil option, a kind named twice) are reported by [New].
func (h *Handlers) Kind(kind string, fn Handler, opts ...HandlerOption) {
	h.add(&h.kinds, "kind", kind, fn, opts)
}

// Queue has fn do the jobs of a queue whose kind has no handler. Mistakes are reported
// by [New]. A job that has no handler at all is retried: a worker of a newer release
// may have one.
func (h *Handlers) Queue(queue string, fn Handler, opts ...HandlerOption) {
	h.add(&h.queues, "queue", queue, fn, opts)
}

func (h *Handlers) add(to *map[string]handler, what, name string, fn Handler, opts []HandlerOption) {
	added := handler{do: fn}
	optionless := false
	for _, opt := range opts {
		if opt == nil {
			optionless = true
			continue
		}
		opt(&added)
	}
	_, twice := (*to)[name]
	wrong := queue.CheckName(what, name)
	switch {
	case name == "":
		h.mistakes = append(h.mistakes, fmt.Errorf("a handler for a %s without a name: name one", what))
	case wrong != nil:
		h.mistakes = append(h.mistakes, fmt.Errorf("a handler for %w", wrong))
	case fn == nil:
		h.mistakes = append(h.mistakes, fmt.Errorf("the handler for %s %q is nil", what, name))
	case optionless:
		h.mistakes = append(h.mistakes, fmt.Errorf("an option of %s %q is nil: leave it out", what, name))
	case twice:
		h.mistakes = append(h.mistakes, fmt.Errorf("%s %q has two handlers: keep one", what, name))
	case added.lease < 0:
		h.mistakes = append(h.mistakes, fmt.Errorf("the lease of %s %q is negative", what, name))
	default:
		if *to == nil {
			*to = map[string]handler{}
		}
		(*to)[name] = added
	}
}

// frozen is a copy that later registrations cannot change under running workers,
// with all middleware in place.
func (h *Handlers) frozen() (*Handlers, error) {
	if h == nil || len(h.kinds)+len(h.queues) == 0 {
		return nil, errors.Join(append([]error{errors.New("no handlers: register at least one kind or queue")}, h.told()...)...)
	}
	mistakes := slices.Clone(h.mistakes)
	finish := func(what string, one handler) handler {
		do, err := wrap(one.do, slices.Concat(h.around, one.around))
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s: %w", what, err))
		}
		one.do = do
		return one
	}
	copied := &Handlers{kinds: map[string]handler{}, queues: map[string]handler{}, missing: finish("jobs without a handler", handler{do: missing})}
	for name, one := range h.kinds {
		copied.kinds[name] = finish(fmt.Sprintf("kind %q", name), one)
	}
	for name, one := range h.queues {
		copied.queues[name] = finish(fmt.Sprintf("queue %q", name), one)
	}
	return copied, errors.Join(mistakes...)
}

func (h *Handlers) told() []error {
	if h == nil {
		return nil
	}
	return h.mistakes
}

// of finds the handler of a job.
func (h *Handlers) of(job *queue.Job) handler {
	if found, ok := h.kinds[job.Kind]; ok {
		return found
	}
	if found, ok := h.queues[job.Queue]; ok {
		return found
	}
	return h.missing
}

// missing answers a job that has no handler: it is tried again later, since a
// worker of a newer release may know the kind.
func missing(_ context.Context, job *queue.Job) error {
	return fmt.Errorf("no handler for kind %q of queue %q in this worker", job.Kind, job.Queue)
}

// serves reports whether any job of a queue could have a handler.
func (h *Handlers) serves(queue string) bool {
	_, ok := h.queues[queue]
	return ok || len(h.kinds) > 0
}

// leases are all the lease lengths that were set.
func (h *Handlers) leases() (lengths []time.Duration) {
	for _, set := range []map[string]handler{h.kinds, h.queues} {
		for _, one := range set {
			if one.lease > 0 {
				lengths = append(lengths, one.lease)
			}
		}
	}
	return lengths
}
