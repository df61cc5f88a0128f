package filter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/leasetop/leasetop/queue/filter"
)

func TestMistakesSayWhatWhereAndWhatElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, wrong, says string }{
		{"a status:ded b", "ded", `no status is called "ded": dead?`},
		{"status:zzzzzz", "zzzzzz", `no status is called "zzzzzz": dead, failed, pending, ready, scheduled, processing, completed`},
		{"status:dead,!failed x", "!failed", `no status is called "!failed": !status:failed`},
		{"staus:dead x", "staus", `no key is called "staus": status? If it is text, quote it`},
		{"job:5", "job", `no key is called "job": id? If it is text, quote it`},
		{"12:04", "12", `no key is called "12": if it is text, quote it; the keys are queue, kind, status,`},
		{"http://x", "http", `no key is called "http": if it is text, quote it; the keys are`},
		{":x", "", `no key is called "": if it is text, quote it; the keys are`},
		{"kind.a:x y", "kind.a:", "kind has no parts: kind:send"},
		{"queue: kind:x", "queue:", "queue: nothing stands behind it: queue:emails,images*"},
		{"queue:a,,b", "queue:a,", "queue: nothing stands behind it"},
		{"queue:!a b", "!a", "! stands before the whole word: or in quotes, when it belongs to the value"},
		{"worker:!w3", "!w3", "! stands before the whole word"},
		{"attempts:many", "many", `"many" is no whole number: 3, >3, <=3 or 10..20`},
		{"attempts:>3.5", ">3.5", `"3.5" is no whole number`},
		{"attempts:>9223372036854775808", ">9223372036854775808", "9223372036854775808 is beyond all attempts"},
		{"id:20..10 x", "20..10", "20..10 goes backwards: 10..20"},
		{"id:.. x", "..", ".. has no end: 10..20, 10.. or ..20"},
		{"id:1..2..3 x", "1..2..3", `"2..3" is no whole number`},
		{"age:>1y", ">1y", `"1y": seconds, minutes, hours, days or weeks?: 90s, 5m, 2h, 3d or 1w`},
		{"age:>soon", ">soon", `"soon" is no time: 90s, 5m, 2h, 3d, 1w or 1h30m`},
		{"age:>1e9h", ">1e9h", `"1e9h": seconds`},
		{"age:>1234567890123h", ">1234567890123h", `"1234567890123h" is no time`},
		{"age:1h x", "1h", "longer or shorter than 1h: >1h or <1h"},
		{"died:2h..1h x", "2h..1h", "2h..1h goes backwards: 1h..2h"},
		{"payload..a:x y", "..a", "a part of the path is missing: payload.to:ann@example.com"},
		{`"" x`, `""`, "an empty text is in every job: leave it out"},
		{"! x", "!", "! stands before a word"},
		{"a\xffb", "\xff", "the byte 0xff is no text (UTF-8): leave it out"},
		{"key:\"\x00\"", "\x00", "a NUL is in no job: leave it out"},
		{"error:" + strings.Repeat("a", 10_000), strings.Repeat("a", 10_000), "a text to look for has no more than 2,000 letters: a part of it will do"},
		{strings.Repeat("a", 10_000), strings.Repeat("a", 10_000), "a text to look for has no more than"},
		{"payload:" + strings.Repeat("é", 10_000), strings.Repeat("é", 10_000), "a text to look for has no more than"},
		{strings.Repeat("a ", 30) + "b c", "b c", "from here on it is too much: 30 texts to look for, or 1000 values in all, are the most"},
		{"id:" + strings.Repeat("1,", 1000) + "1", "id:" + strings.Repeat("1,", 1000) + "1", "from here on it is too much"},
	} {
		_, err := filter.Parse(c.typed)
		var m *filter.Mistake
		if !errors.As(err, &m) {
			t.Errorf("%.100q is understood", c.typed)
			continue
		}
		if got := c.typed[m.From:m.To]; got != c.wrong || !strings.HasPrefix(m.Error(), c.says) {
			t.Errorf("%.100q: %.100q: %s, want %.100q: %s", c.typed, got, m, c.wrong, c.says)
		}
	}
}

// What is still being typed is not wrong yet, once the cursor has gone on it is.
func TestAMistakeThatIsStillBeingTypedIsOpen(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{
		"queue:", "x queue:", "!queue:", "queue:a,", "status:d", "status:dead,f", "status:R", "attempts:>", "attempts:>=", "id:#", "id:..",
		"id:20..1", "age:>", "age:1", "age:>1", "age:>1h3", "age:1h", "died:", "payload.a:", "!", `"`,
	} {
		open(t, typed, true)
		open(t, typed+" ", typed == `"`) // which is in the quotes
	}
	for _, typed := range []string{"status:ded", "attempts:x", "age:>x", "nokey:x", "queue:,a", "queue:!a", "id:9223372036854775808"} {
		open(t, typed, false)
	}
}

func open(t *testing.T, typed string, want bool) {
	t.Helper()
	_, err := filter.Parse(typed)
	var m *filter.Mistake
	if typed == `" ` {
		if err != nil {
			t.Errorf("%q: %v", typed, err)
		}
		return
	}
	if !errors.As(err, &m) || m.Open != want {
		t.Errorf("%q: %+v, want a mistake that is open: %v", typed, m, want)
	}
}

// Whoever overlooks the error must not act on more than was meant.
func TestAMistakeFindsNothing(t *testing.T) {
	t.Parallel()
	f, err := filter.Parse("queue:emails status:ded")
	if err == nil || f.Empty() || f.Path() != "($[0] == null)" || f.Queues() == nil || f.Statuses() == nil || len(f.Queues())+len(f.Statuses()) > 0 {
		t.Errorf("%q in %q with %q, error %v", f.Path(), f.Queues(), f.Statuses(), err)
	}
	if f.String() != "queue:emails status:ded" {
		t.Errorf("it was typed as %q", f)
	}
}

func TestNearestIsWhatWasMeant(t *testing.T) {
	t.Parallel()
	words := []string{"dead", "failed", "processing"}
	for typed, want := range map[string]string{
		"ded": "dead", "DEAD": "dead", "faild": "failed", "procesing": "processing", "zzz": "", "": "", "x": "", strings.Repeat("dead", 10_000): "",
	} {
		if got := filter.Nearest(typed, words); got != want {
			t.Errorf("%.20q is nearest to %q, want %q", typed, got, want)
		}
	}
}
