package filter_test

import (
	"strconv"

	"pgregory.net/rapid"
)

// value is what stands behind a key, and what it means.
func (t typist) value(key string, path []step) (string, test) {
	switch key {
	case "status":
		return t.status()
	case "attempts":
		typed, is := t.between(0, 6, 1, "")
		return typed, func(j *job) bool { return is(j.attempts) }
	case "id":
		typed, is := t.between(-2, 30, 1, "")
		return typed, func(j *job) bool { return is(int(j.id)) }
	case "age":
		typed, is := t.span()
		return typed, func(j *job) bool { return is(j.hours*60 + 30) }
	case "died":
		typed, is := t.span()
		return typed, func(j *job) bool { return j.dead() && is(j.hours*60-30) }
	}
	if key != "fingerprint" && rapid.IntRange(0, 9).Draw(t.T, "something") == 0 {
		return "*", something(key, path)
	}
	if key == "payload" && len(path) > 0 && rapid.IntRange(0, 2).Draw(t.T, "compares") == 0 {
		return t.comparison(path)
	}
	typed, v := t.text(false)
	if key == "worker" && !v.begins && rapid.Bool().Draw(t.T, "known") {
		v = typedText{text: ownerOf.Draw(t.T, "owner"), quoted: true}
		typed = doubled(v.text)
	}
	return typed, func(j *job) bool {
		switch key {
		case "queue":
			return v.is(j.queue)
		case "kind":
			return v.is(j.kind)
		case "key":
			return v.is(j.key)
		case "fingerprint":
			return v.is(j.problem)
		case "error":
			return v.in(j.err)
		case "worker":
			return v.begins && j.runsLike(v.text) || !v.begins && j.runs(v.text)
		}
		return v.inPayload(j, path)
	}
}

func something(key string, path []step) test {
	return func(j *job) bool {
		switch key {
		case "queue":
			return true
		case "kind":
			return j.kind != ""
		case "key":
			return j.key != ""
		case "error":
			return j.err != ""
		case "worker":
			return j.worker != ""
		}
		if len(path) > 0 {
			return len(at(j.document(), path)) > 0
		}
		found := false
		leaves(j.document(), func(v any) {
			text, isText := v.(string)
			found = found || isText && text != ""
		})
		return found
	}
}

func (v typedText) inPayload(j *job, path []step) bool {
	if len(path) > 0 {
		return anyValue(at(j.document(), path), func(value any) bool {
			if v.begins {
				text, isText := value.(string)
				return isText && v.is(text)
			}
			return written(value, v.text, v.quoted)
		})
	}
	found := false
	leaves(j.document(), func(value any) {
		text, isText := value.(string)
		order, isNumber := compare(value, v.text)
		found = found || isText && v.in(text) || isNumber && order == 0 && !v.begins && !v.quoted
	})
	return found
}

func (t typist) status() (string, test) {
	name := rapid.SampledFrom([]string{"pending", "processing", "completed", "failed", "dead", "DEAD", "ready", "scheduled"}).Draw(t.T, "status")
	return name, func(j *job) bool {
		switch name {
		case "ready":
			return j.status == "pending" && j.due
		case "scheduled":
			return j.status == "pending" && !j.due
		case "DEAD":
			return j.status == "dead"
		}
		return j.status == name
	}
}

// between is a comparison of whole numbers, in units of some.
func (t typist) between(least, most, each int, unit string) (string, func(int) bool) {
	a := rapid.IntRange(least, most).Draw(t.T, "from")
	b := rapid.IntRange(a, most).Draw(t.T, "to")
	from, to := strconv.Itoa(a)+unit, strconv.Itoa(b)+unit
	a, b = a*each, b*each
	switch how := rapid.IntRange(0, 8).Draw(t.T, "compared"); {
	case how == 0:
		return ">" + from, func(n int) bool { return n > a }
	case how == 1:
		return ">=" + from, func(n int) bool { return n >= a }
	case how == 2:
		return "<" + from, func(n int) bool { return n < a }
	case how == 3:
		return "<=" + from, func(n int) bool { return n <= a }
	case how == 4:
		return from + "..", func(n int) bool { return n >= a }
	case how == 5:
		return ".." + to, func(n int) bool { return n <= b }
	case how == 6 && unit == "":
		return from, func(n int) bool { return n == a }
	case how == 7 && unit == "":
		return "=" + from, func(n int) bool { return n == a }
	}
	return from + ".." + to, func(n int) bool { return a <= n && n <= b }
}

// span is a comparison of times, which is then of minutes.
func (t typist) span() (string, func(int) bool) {
	switch rapid.IntRange(0, 5).Draw(t.T, "unit") {
	case 0:
		return t.between(0, 2, 24*60, "d")
	case 1:
		return t.between(0, 1, 7*24*60, "w")
	case 2:
		return t.between(0, 60, 60, "h0m0s")
	case 3: // of no minute's half
		return t.between(0, 60, 60, "H")
	case 4:
		return t.between(0, 50, 60, ".0h")
	}
	return t.between(0, 60, 60, "h")
}

// comparison is a comparison of a number in the payload.
func (t typist) comparison(path []step) (string, test) {
	n := number.Draw(t.T, "number")
	sign := rapid.SampledFrom([]string{">", ">=", "<", "<=", "="}).Draw(t.T, "sign")
	return sign + n, func(j *job) bool {
		return anyValue(at(j.document(), path), func(value any) bool {
			order, ok := compare(value, n)
			switch sign {
			case ">":
				return ok && order > 0
			case ">=":
				return ok && order >= 0
			case "<":
				return ok && order < 0
			case "<=":
				return ok && order <= 0
			}
			return ok && order == 0
		})
	}
}
