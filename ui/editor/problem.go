package editor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Problem is what makes a text no JSON value, and where.
type Problem struct {
	Line, Column int // from 1; the column in characters
	What         string
	Says         string // the line
}

// Error says it in one line.
func (p *Problem) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", p.Line, p.Column, p.What)
}

// Check returns what is wrong with a text that is to be one JSON value; nil when nothing is.
func Check(text string) *Problem {
	if !utf8.ValidString(text) {
		at := 0
		for _, r := range text {
			if r == utf8.RuneError && !strings.HasPrefix(text[at:], "\uFFFD") {
				break
			}
			at += utf8.RuneLen(r)
		}
		return problem(text, at, "not UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	err := d.Decode(&value)
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF:
		return problem(text, len(text), "there is no value")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return problem(text, len(strings.TrimRight(text, " \t\r\n")), "it ends in the middle")
	case errors.As(err, &syntax):
		return problem(text, int(syntax.Offset)-1, syntax.Error())
	case err != nil:
		return problem(text, int(d.InputOffset()), err.Error())
	}
	rest := text[d.InputOffset():]
	if more := strings.TrimLeft(rest, " \t\r\n"); more != "" {
		return problem(text, len(text)-len(more), "something follows the value")
	}
	return nil
}

func problem(text string, at int, what string) *Problem {
	at = max(min(at, len(text)), 0)
	from := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	return &Problem{
		Line: strings.Count(text[:at], "\n") + 1, Column: utf8.RuneCountInString(text[from:at]) + 1,
		What: what, Says: strings.TrimSuffix(line, "\r"),
	}
}
