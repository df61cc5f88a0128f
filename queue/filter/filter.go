// Package filter is the language in which a person says which jobs are meant: on the
// dashboard behind /, on the command line, and in redrive plans.
//
//	queue:emails kind:send status:dead error:"421" attempts:>3 age:>1h payload.to:ann@example.com !error:timeout refused
//
// Words stand side by side with blanks between, and all of them must hold. A word is
//
//	key:value        about one thing; see [Keys]
//	key:one,two      any of these
//	key:begin*       begins like this, letter for letter
//	key:*            anything, as long as there is something
//	key:""           nothing
//	key:>3           also >=3 <3 <=3 =3, 10..20 with both ends, 10.. and ..20; times as in >90s, <1h30m, 2d..1w
//	payload.a.b:v    the value at a path in the payload; a number in the path is a place in a list, from 0
//	payload:text     text in any value of the payload
//	text             text in the error, queue, kind or idempotency key, ignoring case
//	!word            all but those that the word finds
//	"…"              just these letters: blanks, commas, colons, dots, ! and * mean nothing ("" is a quote then)
//
// Whatever is typed is meant literally: there are no patterns beside that *.
//
// A filter is a jsonpath predicate over what the SQL function leasetop.facts makes of a
// job. So the statements that use it stay as they are, and all that was typed travels
// as the value of one parameter.
package filter

import "slices"

// Filter is what was said, understood. The zero value is every job.
type Filter struct {
	text  string
	terms []term
}

// term is one word, understood: any of its predicates must hold, or none.
type term struct {
	not      bool
	any      []string
	texts    int      // of which so many look for a text
	wide     bool     // it looks at the payload
	queues   []string // the only queues that it fits; nil when any may
	open     bool     // a queue's name was begun: any may
	statuses []string // the only statuses that it fits; nil when any may
}

// Everything is the filter that leaves nothing out.
var Everything Filter

// String is the filter as it was typed, so that it can be typed again.
func (f Filter) String() string { return f.text }

// Empty tells whether the filter leaves nothing out.
func (f Filter) Empty() bool { return len(f.terms) == 0 }

// Wide tells whether the filter looks at payloads, which are then read.
func (f Filter) Wide() bool {
	return slices.ContainsFunc(f.terms, func(t term) bool { return t.wide })
}

// Queues are the names of the queues that alone can fit, none when no queue can; nil
// when any can.
func (f Filter) Queues() []string {
	return f.only(func(t term) []string { return t.queues })
}

// Statuses are those that alone can fit, as the table spells them, none when no job can
// fit; nil when any can.
func (f Filter) Statuses() []string {
	return f.only(func(t term) []string { return t.statuses })
}

// only are the names that all words allow that name any.
func (f Filter) only(of func(term) []string) (only []string) {
	for _, t := range f.terms {
		names := of(t)
		switch {
		case t.not || names == nil:
		case only == nil:
			only = append([]string{}, names...) // none is not nil
			slices.Sort(only)
			only = slices.Compact(only)
		default:
			only = slices.DeleteFunc(only, func(name string) bool { return !slices.Contains(names, name) })
		}
	}
	return only
}

// Group is the filter that finds, among the dead letters, those of one group.
func Group(queue, kind, fingerprint string) Filter {
	f, _ := Parse("queue:" + Quote(queue) + " kind:" + Quote(kind) + " fingerprint:" + Quote(fingerprint))
	return f // what no database holds is a mistake, and finds nothing
}
