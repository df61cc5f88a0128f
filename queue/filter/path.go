package filter

import (
	"fmt"
	"strings"
)

// What follows writes jsonpath. Three things keep it true to what was typed:
// every text is a string literal of jsonpath, or a pattern with the flag "q", in which
// no letter means anything; a comparison with what is missing or of another type is
// unknown, which an alternative turns true and exists() turns false, so that what is
// negated is exactly what would not have been found; and numbers are written as they
// were typed, for PostgreSQL's numeric.

// The facts of a job, in the order in which leasetop.facts lists them.
const (
	factID          = "$[0]"
	factQueue       = "$[1]"
	factKind        = "$[2]"
	factStatus      = "$[3]"
	factDue         = "$[4]"
	factAttempts    = "$[5]"
	factKey         = "$[6]"
	factError       = "$[7]"
	factFingerprint = "$[8]"
	factWorker      = "$[9]"
	factAge         = "$[10]" // in seconds
	factDied        = "$[11]" // in seconds; null when it is no dead letter
	factPayload     = "$[12]" // null when payloads are not read
)

// Path is the filter as a jsonpath predicate over what leasetop.facts makes of a job, ""
// for every job.
func (f Filter) Path() string {
	all := make([]string, len(f.terms))
	for i, t := range f.terms {
		all[i] = t.path()
	}
	return strings.Join(all, " && ")
}

func (t term) path() string {
	any := strings.Join(t.any, " || ")
	if t.not {
		return "!exists(" + factID + " ? (" + any + "))"
	}
	return "(" + any + ")"
}

// never is the predicate that no job passes.
const never = factID + " == null"

func equals(fact, text string) string { return fact + " == " + literal(text) }

func begins(fact, text string) string { return fact + " starts with " + literal(text) }

// contains ignores case.
func contains(fact, text string) string {
	return fact + " like_regex " + literal(text) + ` flag "iq"`
}

// within does not.
func within(fact, text string) string {
	return fact + " like_regex " + literal(text) + ` flag "q"`
}

// literal is a text as a jsonpath string.
func literal(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
