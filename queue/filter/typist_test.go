package filter_test

import (
	"fmt"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/leasetop/leasetop/queue/filter"
)

// typist types words about jobs that it has heard of.
type typist struct {
	*rapid.T
	heard *rapid.Generator[string]
}

// heard are the texts of jobs.
func heard(jobs []*job) (all []string) {
	for _, j := range jobs {
		all = append(all, j.queue, j.kind, j.key, j.err, j.problem, j.worker)
		leaves(j.document(), func(v any) { all = append(all, fmt.Sprint(v)) })
	}
	return all
}

// word is a word and what it means.
func (t typist) word() (key, word string, means test) {
	key = rapid.SampledFrom(append([]string{""}, keyNames()...)).Draw(t.T, "key")
	if key == "" {
		typed, v := t.text(true)
		word = typed
		means = func(j *job) bool {
			return v.in(j.err) || v.in(j.queue) || v.in(j.kind) || v.in(j.key)
		}
	} else {
		var values []string
		var tests []test
		path, steps := t.path(key)
		for range rapid.IntRange(1, 2).Draw(t.T, "values") {
			typed, test := t.value(key, steps)
			values, tests = append(values, typed), append(tests, test)
		}
		word, means = path+":"+strings.Join(values, ","), anyOf(tests)
	}
	if rapid.IntRange(0, 3).Draw(t.T, "not") == 3 {
		is := means
		return key, "!" + word, func(j *job) bool { return !is(j) }
	}
	return key, word, means
}

func keyNames() (names []string) {
	for _, k := range filter.Keys() {
		names = append(names, k.Name)
	}
	return names
}

func (t typist) path(key string) (typed string, steps []step) {
	if key != "payload" {
		return key, nil
	}
	for range rapid.IntRange(0, 2).Draw(t.T, "steps") {
		name := rapid.SampledFrom(members).Draw(t.T, "step")
		place := rapid.IntRange(-2, 2).Draw(t.T, "place")
		switch {
		case place >= 0:
			key += "." + strconv.Itoa(place)
		case strings.ContainsAny(name, `.0"`):
			key += "." + doubled(name)
		default:
			key += "." + name
		}
		steps = append(steps, step{name, max(place, -1)})
	}
	return key, steps
}

// doubled is a text in quotes.
func doubled(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// typedText is a text as it was typed.
type typedText struct {
	text           string
	begins, quoted bool
}

// text is a text to type, in quotes where it has to be.
func (t typist) text(free bool) (string, typedText) {
	from := someText
	if rapid.Bool().Draw(t.T, "heard") {
		from = t.heard
	}
	v := typedText{text: from.Draw(t.T, "text")}
	if free && v.text == "" {
		v.text = "a"
	}
	letters := v.text != "" && strings.Trim(v.text, "abABw0123456789eE-+rtulfsn%'[(^$|_\\‹›é") == ""
	switch rapid.IntRange(0, 2).Draw(t.T, "how") {
	case 0:
		if letters {
			v.begins = true
			return v.text + "*", v
		}
		if v.text != "" && rapid.Bool().Draw(t.T, "quoted begin") {
			v.begins = true
			return doubled(v.text) + "*", v
		}
	case 1:
		if letters {
			return v.text, v
		}
	}
	v.quoted = true
	if !free && rapid.IntRange(0, 9).Draw(t.T, "none") == 0 {
		v.text = ""
	}
	return doubled(v.text), v
}

// in tells whether it is within a text, and is whether it is that text.
func (v typedText) in(text string) bool {
	if v.begins {
		return strings.HasPrefix(text, v.text)
	}
	return holds(text, v.text)
}

func (v typedText) is(text string) bool {
	if v.begins {
		return strings.HasPrefix(text, v.text)
	}
	return text == v.text
}
