package queue

import "slices"

// narrow is a [Filter] as the statements take it.
type narrow struct {
	queues   []string // the only ones that fit; nil when any may
	statuses []string // likewise
	due      *bool
	path     *string // what else a job must be; nil for nothing
	wide     bool    // path looks at payloads
	deaths   bool    // dead letters of both kinds are asked for, and nothing else: they are listed by their deaths
}

// narrow makes the parameters of statements of a filter. some is false when no job can
// pass it. The filter's words narrow what an index is asked for; whether a job passes them
// is always told by path.
func (f *Filter) narrow() (n narrow, some bool) {
	n = narrow{queues: f.Where.Queues(), statuses: f.Where.Statuses(), due: f.Due.only(), path: nullable(f.Where.Path()), wide: f.Where.Wide()}
	asked := n.statuses
	if len(f.Statuses) > 0 {
		asked = texts(f.Statuses)
		n.statuses = both(n.statuses, asked)
	}
	n.deaths = among(asked, DeadLetters...) && slices.Contains(asked, string(Failed)) && slices.Contains(asked, string(Dead))
	if f.Queue != "" {
		n.queues = both(n.queues, []string{f.Queue})
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

// among tells whether there are statuses, and all of them are of these.
func among(statuses []string, these ...Status) bool {
	return len(statuses) > 0 && !slices.ContainsFunc(statuses, func(s string) bool { return !slices.Contains(these, Status(s)) })
}
