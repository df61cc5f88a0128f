package queue

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// nameLimit is how many bytes the name of a queue or a kind may have.
const nameLimit = 255

// CheckName refuses what is no name of a queue or of a kind, as what says: it must be 1 to
// 255 bytes of UTF-8 without NUL, and neither begin nor end with a blank, which nobody sees.
// All that puts jobs into queues, takes them out or pauses them goes by this rule: a name
// that one end takes is good at the other. What only looks finds the jobs of any name, as
// other programs can write them.
func CheckName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s has no name: name one", what)
	case strings.TrimSpace(name) != name:
		return fmt.Errorf("%s %q begins or ends with a blank: leave it out", what, name)
	}
	return checkText(what, name, nameLimit)
}

// checkKind is CheckName for a job, which need not have a kind.
func checkKind(name string) error {
	if name == "" {
		return nil
	}
	return CheckName("kind", name)
}

// checkText refuses text that PostgreSQL could not store, or that is longer than the table allows.
func checkText(what, text string, limit int) error {
	if len(text) > limit {
		return fmt.Errorf("%s of %d bytes: at most %d are allowed", what, len(text), limit)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return fmt.Errorf("%s %q: PostgreSQL stores only UTF-8 without NUL", what, text)
	}
	return nil
}
