package filter_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leasetop/leasetop/queue/filter"
)

// spelled is a word as the test writes it: its key's parts, and its values, 'in quotes'
// when they were quoted.
func spelled(w filter.Word) string {
	value := func(values []filter.Value, between string) string {
		var all []string
		for _, v := range values {
			if v.Quoted {
				v.Text = "'" + v.Text + "'"
			}
			all = append(all, v.Text)
		}
		return strings.Join(all, between)
	}
	s := value(w.Values, " | ")
	if w.Key != nil {
		s = value(w.Key, " / ") + " = " + s
	}
	if w.Not {
		s = "not " + s
	}
	if w.Open {
		s += " …"
	}
	return s
}

func TestTextIsTakenApart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                        nil,
		" \t\r\n\u00a0":           nil,
		"a":                       {"a …"},
		"a ":                      {"a"},
		" a  b\u00a0c":            {"a", "b", "c …"},
		`"a b" c`:                 {"'a b'", "c …"},
		`"a`:                      {"'a' …"},
		`"a "`:                    {"'a '"},
		`"a""b" `:                 {`'a"b'`},
		`""`:                      {"''"},
		`"""" `:                   {`'"'`},
		`a"b c"d`:                 {"'ab cd'"},
		"key:a":                   {"key = a …"},
		"key:":                    {"key =  …"},
		"key:a,b ":                {"key = a | b"},
		"key:a,":                  {"key = a |  …"},
		`key:"a,b",c `:            {"key = 'a,b' | c"},
		"key:a:b ":                {"key = a:b"},
		`"key:a" `:                {"'key:a'"},
		"a,b ":                    {"a,b"},
		"payload.a.0:x ":          {"payload / a / 0 = x"},
		`payload."a.b:c".d:x `:    {"payload / 'a.b:c' / d = x"},
		"payload.:x ":             {"payload /  = x"},
		"!a !key:b ":              {"not a", "not key = b"},
		`!"a b" "!a" a!b !!a `:    {"not 'a b'", "'!a'", "a!b", "not !a"},
		"!":                       {"not  …"},
		": ":                      {" = "},
		"x\x00y\xff \x1b[2J":      {"x\x00y\xff", "\x1b[2J …"},
		`queue:"my queue" kind:"`: {"queue = 'my queue'", "kind = '' …"},
	} {
		var got []string
		for _, w := range filter.Words(text) {
			got = append(got, spelled(w))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q is taken apart as %q, want %q", text, got, want)
		}
	}
}

func TestWordsKnowWhereTheyStand(t *testing.T) {
	t.Parallel()
	text := `a !key."b c":d,"e f" `
	words := filter.Words(text)
	w := words[1]
	for _, c := range []struct {
		from, to int
		want     string
	}{
		{words[0].From, words[0].To, "a"},
		{w.From, w.To, `!key."b c":d,"e f"`},
		{w.Key[0].From, w.Key[0].To, "key"},
		{w.Key[1].From, w.Key[1].To, `"b c"`},
		{w.Values[0].From, w.Values[0].To, "d"},
		{w.Values[1].From, w.Values[1].To, `"e f"`},
	} {
		if got := text[c.from:c.to]; got != c.want {
			t.Errorf("%q stands where %q should", got, c.want)
		}
	}
}

func TestWhateverIsQuotedIsRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		typed := ""
		for _, text := range rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "texts") {
			texts = append(texts, text)
			typed += "," + filter.Quote(text)
		}
		words := filter.Words("key:" + typed[1:])
		if len(words) != 1 || len(words[0].Values) != len(texts) {
			t.Fatalf("%q is %d words", typed, len(words))
		}
		for i, v := range words[0].Values {
			if v.Text != texts[i] || !v.Quoted && (v.Text == "" || strings.HasSuffix(v.Text, "*")) {
				t.Errorf("%q is read as %+v", texts[i], v)
			}
		}
	})
}
