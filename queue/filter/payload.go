package filter

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readPayload reads a value at a path in the payload. A list stands for each of its
// elements, as it does in jsonpath: payload.tags:urgent finds it among them.
func readPayload(t *term, path []Value, v Value) *Mistake {
	t.wide = true
	if len(path) == 0 {
		return t.readAnywhere(v)
	}
	var at strings.Builder
	at.WriteString(factPayload)
	for _, p := range path {
		switch place, err := strconv.ParseUint(p.Text, 10, 31); {
		case p.Text == "" && !p.Quoted:
			return &Mistake{From: path[0].From - 1, To: path[len(path)-1].To, Says: "a part of the path is missing", Cure: "payload.to:ann@example.com"}
		case err == nil && !p.Quoted:
			at.WriteString("[" + strconv.FormatUint(place, 10) + "]")
		default:
			at.WriteString("." + literal(p.Text))
		}
	}
	t.any = append(t.any, value(at.String(), v))
	return nil
}

// value is a predicate for what stands at a path. What was typed without quotes may be
// a text or another value that is written like this.
func value(at string, v Value) string {
	text, star := v.begin()
	switch {
	case v.Quoted && !star:
		return equals(at, text)
	case star && text == "":
		return "exists(" + at + ")"
	case star:
		return begins(at, text)
	case text == "true" || text == "false" || text == "null":
		return equals(at, text) + " || " + at + " == " + text
	}
	switch path, bare, m := bounds(at, v, number); {
	case m != nil: // it compares with no number
		return equals(at, text)
	case bare:
		return equals(at, text) + " || " + path
	default:
		return path
	}
}

// number reads a number as JSON writes it, of a size that PostgreSQL's numeric takes.
func number(text string) (string, *Mistake) {
	exponent := ""
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		exponent = text[e:]
	}
	if len(text) > 1000 || len(exponent) > 5 || !jsonNumber.MatchString(text) {
		return "", &Mistake{Says: "no number"}
	}
	return text, nil
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// readAnywhere reads a text that is looked for in all values of the payload.
func (t *term) readAnywhere(v Value) *Mistake {
	const all = factPayload + ".**"
	text, star := v.begin()
	var path string
	switch {
	case star && text == "":
		path = `@.type() == "string" && @ != ""` // of an array each part would be asked about different elements
	case star:
		path = begins("@", text)
	case text == "":
		path = equals("@", "")
	case utf8.RuneCountInString(text) > longest:
		return &Mistake{Says: "a text to look for has no more than 2,000 letters", Cure: "a part of it will do"}
	default:
		path = contains("@", text)
		t.texts++
		if n, m := number(text); m == nil && !v.Quoted {
			path += " || @ == " + n
		}
	}
	t.any = append(t.any, "exists("+all+" ? ("+path+"))")
	return nil
}
