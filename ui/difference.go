package ui

import (
	"strings"
	"unicode"
)

// difference says which words of a text another did not have.
type difference struct {
	new   []bool // for each word of the text; nil when all of it is new, or nothing
	words int    // how many are new
	whole bool   // too little is in both to compare them word by word
}

// differenceMost is how many words of each text are compared, beyond what they begin and
// end with in common.
const differenceMost = 400

// compare finds the words of a text that the one before did not have, by the longest
// sequence of words that both have.
func compare(before, text string) difference {
	a, b := strings.Fields(before), strings.Fields(text)
	d := difference{new: make([]bool, len(b))}
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	endA, endB := len(a), len(b)
	for endA > from && endB > from && a[endA-1] == b[endB-1] {
		endA--
		endB--
	}
	common := from + len(b) - endB
	x, y := a[from:endA], b[from:endB]
	for i := range y {
		d.new[from+i] = true
	}
	if len(x) <= differenceMost && len(y) <= differenceMost {
		for _, i := range inBoth(x, y) {
			d.new[from+i] = false
			common++
		}
	}
	d.words = len(b) - common
	if common*3 < len(b) || common*3 < len(a) {
		return difference{whole: true, words: len(b)}
	}
	return d
}

// inBoth are the places in y of the longest sequence of words that x has too, in the
// same order.
func inBoth(x, y []string) (places []int) {
	lengths := make([][]int, len(x)+1)
	for i := range lengths {
		lengths[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for k := len(y) - 1; k >= 0; k-- {
			if x[i] == y[k] {
				lengths[i][k] = lengths[i+1][k+1] + 1
			} else {
				lengths[i][k] = max(lengths[i+1][k], lengths[i][k+1])
			}
		}
	}
	for i, k := 0, 0; i < len(x) && k < len(y); {
		switch {
		case x[i] == y[k]:
			places = append(places, k)
			i++
			k++
		case lengths[i+1][k] >= lengths[i][k+1]:
			i++
		default:
			k++
		}
	}
	return places
}

// mark emphasises the new words of a safe text: in an ink, and without colour between
// {+ and +}. A line that is wrapped after it is closed by [theme.closed].
func (d difference) mark(t *theme, text string) string {
	if d.words == 0 || d.whole {
		return text
	}
	open, end := t.lead.on, inkOff
	if t.plain {
		open, end = "{+", "+}"
	}
	var b strings.Builder
	word, lit := 0, false
	for text != "" {
		blank := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsSpace(r) })
		if blank < 0 {
			blank = len(text)
		}
		fresh := blank < len(text) && word < len(d.new) && d.new[word]
		gap := text[:blank]
		if lit && (!fresh || strings.Contains(gap, "\n")) {
			b.WriteString(end)
			lit = false
		}
		b.WriteString(gap)
		text = text[blank:]
		n := strings.IndexFunc(text, unicode.IsSpace)
		if n < 0 {
			n = len(text)
		}
		if n > 0 {
			if fresh && !lit {
				b.WriteString(open)
				lit = true
			}
			b.WriteString(text[:n])
			word++
		}
		text = text[n:]
	}
	if lit {
		b.WriteString(end)
	}
	return b.String()
}

// closed ends the emphasis at the end of each line that a marked text was wrapped to,
// and begins it again on the next, so that it colours nothing beside the text.
func (t *theme) closed(lines []string) []string {
	open := false
	for i, line := range lines {
		if open {
			line = t.lead.on + line
		}
		if on := strings.LastIndex(line, t.lead.on); !t.plain && on >= 0 {
			if open = on > strings.LastIndex(line, inkOff); open {
				line += inkOff
			}
		}
		lines[i] = line
	}
	return lines
}
