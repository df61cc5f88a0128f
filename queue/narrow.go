package queue

import "slices"

// narrow is a [Filter] as the statements take it.
type narrow struct {
	queues   []string // the only ones that fit; nil when any may
	statuses []string // likewise
	due      *bool
	path     *string // what else a job must be; nil for nothing
	wide     bool    // path looks at payloads
}

// narrow makes the parameters of statements of a filter. some is false when no job can
// pass it. The filter's words narrow what an index is asked for; whether a job passes them
// is always told by path.
func (f *Filter) narrow() (n narrow, some bool) {
	n = narrow{queues: f.Where.Queues(), statuses: f.Where.Statuses(), due: f.Due.only(), path: nullable(f.Where.Path()), wide: f.Where.Wide()}
	if f.Queue != "" {
		n.queues = both(n.queues, []string{f.Queue})
	}
	if len(f.Statuses) > 0 {
		n.statuses = both(n.statuses, texts(f.Statuses))
	}
	return n, (n.queues == nil || len(n.queues) > 0) && (n.statuses == nil || len(n.statuses) > 0)
}

// both are those of some names that are among others too; nil is every name.
func both(some, others []string) []string {
	if some == nil {
		return others
	}
	return slices.DeleteFunc(slices.Clone(others), func(name string) bool { return !slices.Contains(some, name) })
}

// queue is the only queue that fits; nil when others do.
func (n *narrow) queue() *string {
	if len(n.queues) != 1 {
		return nil
	}
	return &n.queues[0]
}

// among tells whether no job fits that is of none of these statuses.
func (n *narrow) among(statuses ...Status) bool {
	return len(n.statuses) > 0 && !slices.ContainsFunc(n.statuses, func(s string) bool { return !slices.Contains(statuses, Status(s)) })
}

// deaths tells whether the dead letters of both kinds fit, and nothing else: they are
// listed by their deaths.
func (n *narrow) deaths() bool {
	return n.among(DeadLetters...) && slices.Contains(n.statuses, string(Failed)) && slices.Contains(n.statuses, string(Dead))
}
