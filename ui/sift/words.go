package sift

import "strings"

// word is one word that was typed: with a key, and then one value or several, or
// without.
type word struct {
	keyed  bool
	key    string
	values []value
	open   bool // nothing after it says that it is whole
}

type value struct {
	text   string
	quoted bool // a part of it stood in quotes: an * in it is a letter
}

// split takes words apart at blanks, keys at their first colon, and values of a key
// at commas; nothing of that within quotes. An end closes what is open.
func split(text string) (words []word) {
	var b strings.Builder
	var w *word
	quoted, inQuotes := false, false
	push := func() { // the value is whole
		w.values = append(w.values, value{b.String(), quoted})
		b.Reset()
		quoted = false
	}
	for i, r := range text {
		if w == nil && !inQuotes && isBlank(r) {
			continue
		}
		if w == nil {
			words = append(words, word{})
			w = &words[len(words)-1]
		}
		switch {
		case r == '"' && !inQuotes:
			if quoted && i > 0 && text[i-1] == '"' { // the second of two within quotes
				b.WriteByte('"')
			}
			quoted, inQuotes = true, true
		case r == '"':
			inQuotes = false
		case inQuotes:
			b.WriteRune(r)
		case isBlank(r):
			push()
			w = nil
		case r == ':' && !w.keyed && !quoted:
			w.keyed, w.key = true, strings.ToLower(b.String())
			b.Reset()
		case r == ',' && w.keyed:
			push()
		default:
			b.WriteRune(r)
		}
	}
	if w != nil {
		w.open = inQuotes || !quoted
		push()
	}
	return words
}

// isBlank tells whether a rune parts words: what a keyboard's blank and a pasted
// line's end leave.
func isBlank(r rune) bool { return strings.ContainsRune(" \t\r\n\u00a0", r) }
