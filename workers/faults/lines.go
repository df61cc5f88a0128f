package faults

import "strings"

// lines cuts what is written into lines.
type lines struct {
	tell  func(line string)
	begun []byte
}

// longest is how much of a line is waited for.
const longest = 64 << 10

// Write implements [io.Writer].
func (l *lines) Write(p []byte) (int, error) {
	l.begun = append(l.begun, p...)
	for {
		line, rest, whole := strings.Cut(string(l.begun), "\n")
		if !whole && len(l.begun) < longest {
			return len(p), nil
		}
		l.tell(strings.TrimSuffix(line, "\r"))
		l.begun = []byte(rest)
	}
}
