package mask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
)

// JSON masks the secrets in a JSON text, also in one that was cut in the middle or is no
// JSON at all, and says how many there were. Everything else stays byte for byte: numbers
// as they are written, blanks where they are. Null, true, false and the empty string are no
// secrets, and often what is wrong.
func JSON(text string) (masked string, secrets int) {
	m := masker{rest: text, levels: []level{{}}}
	m.out.Grow(len(text))
	for m.rest != "" {
		m.token()
	}
	return m.out.String(), m.secrets
}

// Changed lists the paths of the secrets that two JSON texts both have, with another value
// in each: where a mask stands for both, nobody sees that they differ. Paths are in the
// order of the second text, and show no secret that is in a name.
func Changed(was, is string) (paths []string) {
	before, after := masker{rest: was, levels: []level{{}}, keeps: map[string]string{}}, masker{rest: is, levels: []level{{}}, keeps: map[string]string{}}
	for before.rest != "" {
		before.token()
	}
	for after.rest != "" {
		after.token()
	}
	for _, path := range after.paths {
		if value, ok := before.keeps[path]; ok && value != after.keeps[path] {
			paths = append(paths, path)
		}
	}
	return paths
}

// level is an object or an array that is open.
type level struct {
	object bool
	named  bool   // the name of the value that comes is read
	name   string // it
	says   string // what a sibling called "name" or "key" says
	at     int    // in an array, which value comes
	flag   string // in an array, what the string before says, if it is an argument: ["--password", "x"]
}

// passed is told that a value is over.
func (l *level) passed() { l.named, l.flag, l.at = false, "", l.at+1 }

type masker struct {
	rest    string
	out     strings.Builder
	levels  []level
	secrets int
	keeps   map[string]string // what is hidden at which path; nil when nobody asks
	paths   []string          // of it, in order
}

func (m *masker) in() *level { return &m.levels[len(m.levels)-1] }

// put passes on the first n bytes.
func (m *masker) put(n int) {
	m.out.WriteString(m.rest[:n])
	m.rest = m.rest[n:]
}

// hide leaves out the first n bytes.
func (m *masker) hide(n int) {
	m.out.WriteString(Mask)
	m.secrets++
	m.keep(m.rest[:n])
	m.rest = m.rest[n:]
}

// token takes one token of the text.
func (m *masker) token() {
	switch c := m.rest[0]; c {
	case '{', '[':
		if m.secret() {
			m.hide(valueEnd(m.rest))
			m.in().passed()
			return
		}
		m.levels = append(m.levels, level{object: c == '{'})
		m.put(1)
	case '}', ']':
		if len(m.levels) > 1 {
			m.levels = m.levels[:len(m.levels)-1]
		}
		m.in().passed()
		m.put(1)
	case '"':
		m.quoted()
	case ' ', '\t', '\n', '\r', ',', ':':
		m.put(1)
	default:
		n := strings.IndexAny(m.rest, " \t\r\n{}[],:\"")
		if n < 0 {
			n = len(m.rest)
		}
		if word := m.rest[:n]; m.secret() && word != "null" && word != "true" && word != "false" {
			m.hide(n)
		} else {
			m.put(n)
		}
		m.in().passed()
	}
}

// quoted takes a string: a name, or a value.
func (m *masker) quoted() {
	n := stringEnd(m.rest)
	in := m.in()
	if in.object && !in.named {
		in.name, in.named = plain(m.rest[:n]), true
		m.text(n) // a name may be a secret itself: a URL with a password
		return
	}
	switch {
	case m.secret() && m.rest[:n] != `""`:
		m.hide(n)
	default:
		if in.object && says[strings.ToLower(in.name)] {
			in.says = plain(m.rest[:n])
		}
		word := plain(m.rest[:n])
		m.text(n)
		in.passed()
		if !in.object && strings.HasPrefix(word, "-") && !strings.ContainsAny(word, "= ") {
			in.flag = word
		}
		return
	}
	in.passed()
}

// text passes on the first n bytes, a string, without the secrets that are in it.
func (m *masker) text(n int) {
	text, hidden := hide(m.rest[:n])
	m.out.WriteString(text)
	m.secrets += len(hidden)
	m.keep(hidden...)
	m.rest = m.rest[n:]
}

// keep notes what is hidden where the masker is.
func (m *masker) keep(hidden ...string) {
	if m.keeps == nil || len(hidden) == 0 {
		return
	}
	var path []string
	for _, l := range m.levels[1:] {
		switch {
		case !l.object:
			path = append(path, strconv.Itoa(l.at))
		case l.name != "":
			name, _ := Text(l.name)
			path = append(path, name)
		}
	}
	at := cmp.Or(strings.Join(path, "."), "the payload") // which is a string
	if _, ok := m.keeps[at]; !ok {
		m.paths = append(m.paths, at)
	}
	for _, one := range hidden {
		var b bytes.Buffer
		if json.Compact(&b, []byte(one)) == nil { // blanks mean nothing
			one = b.String()
		}
		m.keeps[at] += one + "\n"
	}
}

// says are names whose value names the value of a sibling: {"name": "token", "value": "…"}.
// PostgreSQL keeps them in this order.
var says, said = set("name key header field var"), set("value val content")

// secret tells whether the value that comes is one.
func (m *masker) secret() bool {
	in := m.in()
	if !in.object {
		return in.flag != "" && Secret(in.flag) && !strings.HasPrefix(m.rest, `"-`)
	}
	return in.named && (Secret(in.name) || in.says != "" && said[strings.ToLower(in.name)] && Secret(in.says))
}

// plain is what a quoted string says; where it was cut, as it is written.
func plain(quoted string) (text string) {
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return strings.Trim(quoted, `"`)
	}
	return text
}

// stringEnd is the length of the JSON string that text begins with; all of the text when
// the string was cut.
func stringEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// valueEnd is the length of the object or array that text begins with.
func valueEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:])
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(text)
}
