// Package filter is the language in which a person says which jobs are meant: on the
// dashboard behind /, on the command line, and in redrive plans.
//
//	queue:emails kind:send status:dead error:"421" attempts:>3 age:>1h payload.to:ann@example.com !error:timeout refused
//
// Words stand side by side and all of them must hold. See [Keys] for what a word can be
// about.
package filter

// Filter is what was said, understood. The zero value is every job.
type Filter struct {
	text  string
	terms []term
}

// Everything is the filter that leaves nothing out.
var Everything Filter

// String is the filter as it was typed, so that it can be typed again.
func (f Filter) String() string { return f.text }

// Empty tells whether the filter leaves nothing out.
func (f Filter) Empty() bool { return len(f.terms) == 0 }

type term struct{}

// Parse understands what somebody typed. The error is a [*Mistake].
func Parse(text string) (Filter, error) { return Filter{text: text}, nil }

// Mistake says what cannot be meant, where, and what could.
type Mistake struct {
	From, To int    // the bytes of the text that cannot be meant
	Says     string // what is wrong with them
	Cure     string // what to write instead; "" when nobody knows
}

// Error is the mistake in one line.
func (m *Mistake) Error() string {
	if m.Cure == "" {
		return m.Says
	}
	return m.Says + ": " + m.Cure
}

// Path is the filter as a jsonpath predicate over what leasetop.facts makes of a job, ""
// for every job.
func (f Filter) Path() string { return "" }

// Wide tells whether the filter looks at payloads, which are then read.
func (f Filter) Wide() bool { return false }

// Queues are the names of the queues that alone can fit; nil when any can.
func (f Filter) Queues() []string { return nil }

// Statuses are those that alone can fit, as the table spells them; nil when any can.
func (f Filter) Statuses() []string { return nil }

// Group is the filter that finds the dead letters of one group.
func Group(queue, kind, fingerprint string) Filter { return Filter{} }

// Known is what there is to complete names with.
type Known struct {
	Queues, Kinds, Workers []string
}

// Completion is one way to go on at the cursor.
type Completion struct {
	From, To int    // the bytes that it replaces
	Text     string // with what
	Note     string // what that means, in a few words; may be ""
}

// Complete tells how a text can go on at a place in it, the likeliest first.
func Complete(text string, at int, known Known) []Completion { return nil }
