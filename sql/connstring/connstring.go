// Package connstring checks the values of a connection string's parameters before the driver
// reads them. The driver takes some values that make no sense, and of others it says only
// that the connection string is wrong.
package connstring

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
)

// ValueError says that a parameter, or the variable of the environment that stands for it,
// has a value that it cannot have.
type ValueError struct {
	Name     string // "sslmode" or "PGSSLMODE"
	Value    string
	Allowed  string // "use disable or require"
	Variable bool   // it is a variable of the environment
}

func (e *ValueError) Error() string { return fmt.Sprintf("%s is %q: %s", e.Name, e.Value, e.Allowed) }

// longest is how many characters of a value an error shows.
const longest = 60

// Check returns a [*ValueError] for the first parameter whose value makes no sense. It also
// looks at the variables of the environment for what the connection string leaves open.
// It does not look at a text that is no connection string: any part of that may be a password.
func Check(text string) error {
	pairs := Parameters(text)
	named := map[string]bool{}
	for _, p := range pairs {
		named[p.Name] = true
		if r, ok := rules[p.Name]; ok && !r.takes(p.Value) {
			return &ValueError{Name: p.Name, Value: cut(p.Value), Allowed: r.allowed}
		}
	}
	variables := make([]string, 0, len(variable))
	for name := range variable {
		variables = append(variables, name)
	}
	slices.Sort(variables)
	for _, name := range variables {
		parameter, value := variable[name], os.Getenv(name)
		if r := rules[parameter]; value != "" && !named[parameter] && !r.takes(value) {
			return &ValueError{Name: name, Value: cut(value), Allowed: r.allowed, Variable: true}
		}
	}
	return nil
}

func cut(value string) string {
	if runes := []rune(value); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return value
}

// Parameter is one of a connection string, as it stands there.
type Parameter struct{ Name, Value string }

// Parameters are those of a URL's query, or of a text of key=value pairs, in their order. It
// returns none where the text is cut in a wrong place because a password was not escaped.
func Parameters(text string) []Parameter {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://") {
		return query(text)
	}
	return pairs(text)
}

func query(text string) (found []Parameter) {
	_, rest, _ := strings.Cut(text, "://")
	if at := strings.IndexAny(rest, "@/?"); at >= 0 && rest[at] == '@' {
		rest = rest[at+1:]
	}
	if strings.ContainsAny(rest, "@#") {
		return nil
	}
	_, after, _ := strings.Cut(rest, "?")
	for pair := range strings.SplitSeq(after, "&") {
		name, value, isPair := strings.Cut(pair, "=")
		name, badName := url.QueryUnescape(name)
		value, badValue := url.QueryUnescape(value)
		if isPair && badName == nil && badValue == nil {
			found = append(found, Parameter{name, value})
		}
	}
	return found
}

const blanks = " \t\r\n\v\f"

// pairs follows libpq's grammar: blanks around the equals sign, values in single quotes, a
// backslash before anything.
func pairs(text string) (found []Parameter) {
	for rest := strings.Trim(text, blanks); rest != ""; rest = strings.TrimLeft(rest, blanks) {
		name, after, isPair := strings.Cut(rest, "=")
		name = strings.Trim(name, blanks)
		if !isPair || name == "" || strings.ContainsAny(name, blanks+`'\@:/`) {
			return nil
		}
		value, length, closed := first(strings.TrimLeft(after, blanks))
		if !closed {
			return nil
		}
		rest = strings.TrimLeft(after, blanks)[length:]
		found = append(found, Parameter{name, value})
	}
	return found
}

// first is the value at the beginning of text, how many bytes it takes there, and whether
// its quotes and backslashes are complete.
func first(text string) (value string, length int, closed bool) {
	var plain strings.Builder
	quoted := strings.HasPrefix(text, "'")
	begin := 0
	if quoted {
		begin = 1
	}
	for i := begin; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 == len(text):
			return "", i, false
		case c == '\\':
			i++
			plain.WriteByte(text[i])
		case quoted && c == '\'':
			return plain.String(), i + 1, true
		case !quoted && strings.IndexByte(blanks, c) >= 0:
			return plain.String(), i, true
		default:
			plain.WriteByte(c)
		}
	}
	return plain.String(), len(text), !quoted
}
