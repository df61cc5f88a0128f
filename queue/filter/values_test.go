package filter_test

import (
	"strconv"

	"pgregory.net/rapid"
)

// drawValue draws what stands behind a key, and what it means.
func drawValue(t *rapid.T, key string, path []step) (string, test) {
	switch key {
	case "status":
		return drawStatus(t)
	case "attempts":
		typed, is := drawRange(t, 0, 6, 1, "")
		return typed, func(j *job) bool { return is(j.attempts) }
	case "id":
		typed, is := drawRange(t, -2, 30, 1, "")
		return typed, func(j *job) bool { return is(int(j.id)) }
	case "age":
		typed, is := drawSpan(t)
		return typed, func(j *job) bool { return is(j.hours*60 + 30) }
	case "died":
		typed, is := drawSpan(t)
		return typed, func(j *job) bool { return j.dead() && is(j.hours*60-30) }
	}
	if key != "fingerprint" && rapid.IntRange(0, 9).Draw(t, "something") == 0 {
		return "*", something(key, path)
	}
	if key == "payload" && len(path) > 0 && rapid.IntRange(0, 2).Draw(t, "compares") == 0 {
		return drawComparison(t, path)
	}
	typed, v := drawText(t, false)
	if key == "worker" && !v.begins && rapid.Bool().Draw(t, "known") {
		v = typedText{text: ownerOf.Draw(t, "owner"), quoted: true}
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

func drawStatus(t *rapid.T) (string, test) {
	name := rapid.SampledFrom([]string{"pending", "processing", "completed", "failed", "dead", "DEAD", "ready", "scheduled"}).Draw(t, "status")
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

// drawRange draws a comparison of whole numbers, in units of some.
func drawRange(t *rapid.T, least, most, each int, unit string) (string, func(int) bool) {
	a := rapid.IntRange(least, most).Draw(t, "from")
	b := rapid.IntRange(a, most).Draw(t, "to")
	from, to := strconv.Itoa(a)+unit, strconv.Itoa(b)+unit
	a, b = a*each, b*each
	switch how := rapid.IntRange(0, 8).Draw(t, "compared"); {
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

// drawSpan draws a comparison of times, which is then of minutes.
func drawSpan(t *rapid.T) (string, func(int) bool) {
	switch rapid.IntRange(0, 5).Draw(t, "unit") {
	case 0:
		return drawRange(t, 0, 2, 24*60, "d")
	case 1:
		return drawRange(t, 0, 1, 7*24*60, "w")
	case 2:
		return drawRange(t, 0, 60, 60, "h0m0s")
	case 3: // of no minute's half
		return drawRange(t, 0, 60, 60, "H")
	case 4:
		return drawRange(t, 0, 50, 60, ".0h")
	}
	return drawRange(t, 0, 60, 60, "h")
}

// drawComparison draws a comparison of a number in the payload.
func drawComparison(t *rapid.T, path []step) (string, test) {
	n := number.Draw(t, "number")
	sign := rapid.SampledFrom([]string{">", ">=", "<", "<=", "="}).Draw(t, "sign")
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
