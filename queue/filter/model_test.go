package filter_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
)

// job is a job as the model of the language sees it. It knows nothing of jsonpath.
type job struct {
	id                                     int64
	queue, kind, status, key, err, problem string
	worker                                 string // of the lease, or of the last entry in its history
	attempts                               int
	due                                    bool
	hours                                  int // since it was created, and a half; a dead letter died one later
	payload                                string
}

func (j *job) dead() bool { return j.status == "failed" || j.status == "dead" }

// test tells whether a job is meant by what was typed.
type test func(*job) bool

func anyOf(tests []test) test {
	return func(j *job) bool {
		for _, t := range tests {
			if t(j) {
				return true
			}
		}
		return false
	}
}

// holds tells whether a text has another within it, ignoring case.
func holds(text, part string) bool {
	if part == "" {
		return text == ""
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// runs tells whether a worker is meant: by its lease, its name, its host, or both.
func (j *job) runs(name string) bool {
	if j.worker == name {
		return true
	}
	process, claim, ok := strings.Cut(j.worker, "/")
	if !ok || name == "" {
		return false
	}
	host, _, _ := strings.Cut(process, ":")
	worker, _, _ := strings.Cut(claim, "#")
	return name == worker || name == host || name == worker+"@"+host
}

func (j *job) runsLike(begin string) bool {
	if begin == "" {
		return j.worker != ""
	}
	_, claim, _ := strings.Cut(j.worker, "/")
	if worker, host, ok := strings.Cut(begin, "@"); ok && strings.HasPrefix(claim, worker+"#") && strings.HasPrefix(j.worker, host) {
		return true
	}
	return strings.HasPrefix(j.worker, begin) || claim != "" && strings.HasPrefix(claim, begin)
}

// document is the payload, its numbers as they are written.
func (j *job) document() (v any) {
	d := json.NewDecoder(strings.NewReader(j.payload))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// step is a part of a path: the name of a member, or a place in a list.
type step struct {
	name  string
	place int // -1 when it is a name
}

// at are the values at a path. A list stands for its elements where a name is asked of
// it, and whatever is no list is one of one.
func at(v any, path []step) []any {
	values := []any{v}
	for _, s := range path {
		var next []any
		for _, v := range values {
			list, isList := v.([]any)
			switch {
			case s.place >= 0 && isList && s.place < len(list):
				next = append(next, list[s.place])
			case s.place == 0 && !isList:
				next = append(next, v)
			case s.place < 0:
				for _, one := range elements(v) {
					members, _ := one.(map[string]any)
					if member, ok := members[s.name]; ok {
						next = append(next, member)
					}
				}
			}
		}
		values = next
	}
	return values
}

// elements are a list's, or the one value.
func elements(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return []any{v}
}

func anyValue(values []any, is func(any) bool) bool {
	for _, v := range values {
		for _, one := range elements(v) {
			if is(one) {
				return true
			}
		}
	}
	return false
}

// written tells whether a value is written like this, as text or without quotes.
func written(v any, typed string, quoted bool) bool {
	if v, ok := v.(string); ok {
		return v == typed
	}
	if quoted {
		return false
	}
	if order, ok := compare(v, typed); ok {
		return order == 0
	}
	literal, err := json.Marshal(v)
	switch v.(type) {
	case bool, nil:
		return err == nil && bytes.Equal(literal, []byte(typed))
	}
	return false
}

// compare tells how a number stands to another; ok is false when one of them is none.
func compare(v any, typed string) (order int, ok bool) {
	number, isNumber := v.(json.Number)
	if !isNumber || !json.Valid([]byte(typed)) || !strings.Contains("-0123456789", typed[:1]) {
		return 0, false
	}
	a, _ := new(big.Rat).SetString(string(number))
	b, _ := new(big.Rat).SetString(strings.TrimSpace(typed))
	return a.Cmp(b), true
}

// leaves calls visit with whatever stands anywhere in a document.
func leaves(v any, visit func(any)) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			leaves(one, visit)
		}
	case map[string]any:
		for _, one := range v {
			leaves(one, visit)
		}
	default:
		visit(v)
	}
}
