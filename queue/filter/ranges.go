package filter

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// bounds reads what compares: >3 >=3 <3 <=3 =3 10..20 10.. ..20 3. number reads one
// number, as it is then compared with fact. bare tells that there was no sign of any.
func bounds(fact string, v Value, number func(string) (string, *Mistake)) (path string, bare bool, m *Mistake) {
	text := v.Text
	if from, to, ok := strings.Cut(text, ".."); ok {
		path, m = between(fact, from, to, number)
		return path, false, m
	}
	for _, sign := range []struct{ typed, means string }{{">=", ">="}, {"<=", "<="}, {">", ">"}, {"<", "<"}, {"=", "=="}} {
		if rest, ok := strings.CutPrefix(text, sign.typed); ok {
			n, m := number(rest)
			return fact + " " + sign.means + " " + n, false, m
		}
	}
	n, m := number(text)
	return fact + " == " + n, true, m
}

func between(fact, from, to string, number func(string) (string, *Mistake)) (string, *Mistake) {
	if from == "" && to == "" {
		return "", &Mistake{Says: ".. has no end", Cure: "10..20, 10.. or ..20", Open: true}
	}
	var path []string
	var ends []*big.Rat
	for _, end := range []struct{ text, sign string }{{from, ">="}, {to, "<="}} {
		if end.text == "" {
			continue
		}
		n, m := number(end.text)
		if m != nil {
			return "", m
		}
		path = append(path, fact+" "+end.sign+" "+n)
		if r, ok := new(big.Rat).SetString(n); ok {
			ends = append(ends, r)
		}
	}
	if len(ends) == 2 && ends[0].Cmp(ends[1]) > 0 {
		return "", &Mistake{Says: from + ".." + to + " goes backwards", Cure: to + ".." + from, Open: true}
	}
	return "(" + strings.Join(path, " && ") + ")", nil
}

// numberOf reads whole numbers.
func numberOf(fact, what string) func(*term, []Value, Value) *Mistake {
	whole := func(text string) (string, *Mistake) {
		n, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return "", &Mistake{Says: text + " is beyond all " + what}
		case err != nil:
			return "", &Mistake{Says: fmt.Sprintf("%q is no whole number", text), Cure: "3, >3, <=3 or 10..20", Open: strings.Trim(text, "#-+") == ""}
		}
		return strconv.FormatInt(n, 10), nil
	}
	return func(t *term, _ []Value, v Value) *Mistake {
		path, _, m := bounds(fact, v, whole)
		t.any = append(t.any, path)
		return m
	}
}

func readDied(t *term, path []Value, v Value) *Mistake {
	t.statuses = []string{"failed", "dead"}
	return timeOf(factDied)(t, path, v)
}

// timeOf reads how long ago something was. Facts are in seconds.
func timeOf(fact string) func(*term, []Value, Value) *Mistake {
	return func(t *term, _ []Value, v Value) *Mistake {
		path, bare, m := bounds(fact, v, seconds)
		if m == nil && bare {
			return &Mistake{Says: "longer or shorter than " + v.Text, Cure: ">" + v.Text + " or <" + v.Text, Open: true}
		}
		t.any = append(t.any, path)
		return m
	}
}

// units are those of times, in seconds.
var units = []struct {
	name, note string
	seconds    int64
}{
	{"s", "seconds", 1},
	{"m", "minutes", 60},
	{"h", "hours", 3600},
	{"d", "days", 86400},
	{"w", "weeks", 7 * 86400},
}

// seconds reads a time such as 90s or 1h30m.
func seconds(text string) (string, *Mistake) {
	total := new(big.Rat)
	rest := text
	for first := true; first || rest != ""; first = false {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		n, ok := new(big.Rat).SetString(rest[:digits])
		if !ok || digits > 12 {
			return "", &Mistake{Says: fmt.Sprintf("%q is no time", text), Cure: "90s, 5m, 2h, 3d, 1w or 1h30m", Open: digits == len(rest)}
		}
		rest = rest[digits:]
		unit := int64(0)
		for _, u := range units {
			if after, ok := strings.CutPrefix(strings.ToLower(rest), u.name); ok {
				unit, rest = u.seconds, rest[len(rest)-len(after):]
				break
			}
		}
		if unit == 0 {
			return "", &Mistake{Says: fmt.Sprintf("%q: seconds, minutes, hours, days or weeks?", text), Cure: "90s, 5m, 2h, 3d or 1w", Open: rest == ""}
		}
		total.Add(total, n.Mul(n, new(big.Rat).SetInt64(unit)))
	}
	return strings.TrimSuffix(strings.TrimRight(total.FloatString(6), "0"), "."), nil
}
