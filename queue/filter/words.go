package filter

import "strings"

// Word is one word that was typed: with a key, and then one value or several, or
// without.
type Word struct {
	From, To int     // its bytes, with the ! before it
	Not      bool    // it was negated
	Key      []Value // its key in parts, as dots part them; nil when it has none
	Values   []Value // what stands behind the key, as commas part it; without a key the one text that it is
	Open     bool    // the text ends with it and it may go on: nothing says that it is whole
}

// Value is a piece of a word.
type Value struct {
	Text     string // without its quotes
	Quoted   bool   // a part of it stood in quotes: every letter of it is just a letter, but for a * behind them
	From, To int    // its bytes, with its quotes
	star     bool   // that * is there: it begins like this
}

// Words takes a text apart: words at blanks, a key at the first colon, its parts at
// dots, and the values of a key at commas. Nothing of that holds within quotes, where
// a doubled quote is a quote, and the end of the text closes what is open. A word that
// begins with a quote has no key, and is not negated.
func Words(text string) (words []Word) {
	for at := 0; at < len(text); {
		if n := blank(text[at:]); n > 0 {
			at += n
			continue
		}
		w, open := Word{From: at}, false
		for at < len(text) && (open || blank(text[at:]) == 0) {
			open = open != (text[at] == '"')
			at++
		}
		w.To = at
		w.read(text)
		w.Open = at == len(text) && (open || !w.Values[len(w.Values)-1].Quoted)
		words = append(words, w)
	}
	return words
}

// blank is the length of the blank with which a text begins: what a keyboard's blank
// and a pasted line's end leave.
func blank(text string) int {
	for _, b := range [...]string{" ", "\t", "\r", "\n", "\u00a0"} {
		if strings.HasPrefix(text, b) {
			return len(b)
		}
	}
	return 0
}

func (w *Word) read(text string) {
	from := w.From
	if text[from] == '!' {
		w.Not, from = true, from+1
	}
	if from < w.To && text[from] != '"' {
		if key := part(text, from, w.To, ':'); key.To < w.To {
			w.Key = parts(text, from, key.To, '.')
			w.Values = parts(text, key.To+1, w.To, ',')
			return
		}
	}
	w.Values = []Value{part(text, from, w.To, 0)}
}

// parts are the pieces between separators, at least one.
func parts(text string, from, to int, separator byte) (values []Value) {
	for {
		v := part(text, from, to, separator)
		values = append(values, v)
		if v.To == to {
			return values
		}
		from = v.To + 1
	}
}

// part is the piece up to the next separator that stands in no quotes; 0 separates
// nothing.
func part(text string, from, to int, separator byte) Value {
	v := Value{From: from, To: from}
	var b strings.Builder
	open := false
	for ; v.To < to; v.To++ {
		switch c := text[v.To]; {
		case c == '"':
			if !open && v.To > from && text[v.To-1] == '"' { // the second of two within quotes
				b.WriteByte('"')
			}
			v.Quoted, open = true, !open
		case c == separator && separator != 0 && !open:
			v.Text, v.star = b.String(), v.Quoted && text[v.To-1] == '*'
			return v
		default:
			b.WriteByte(c)
		}
	}
	v.Text, v.star = b.String(), v.Quoted && !open && text[to-1] == '*'
	return v
}

// Quote is a text as a value to type: in quotes, when it would mean something else
// without.
func Quote(text string) string {
	plain := text != "" && !strings.ContainsAny(text[:1], "!<>=") &&
		!strings.HasSuffix(text, "*") && !strings.Contains(text, "..") && !strings.ContainsAny(text, "\", \t\r\n\u00a0")
	if plain {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
