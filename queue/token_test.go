package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTokensReadBackAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		token := Token{
			Process: rapid.StringMatching(`[a-z.-]{1,20}:[0-9]{1,7}:[0-9a-f]{8}`).Draw(t, "process"),
			Worker:  rapid.StringMatching(`[^/\x00]{0,20}`).Draw(t, "worker"),
			Claim:   rapid.Uint64().Draw(t, "claim"),
		}
		if got, known := ParseToken(token.String()); !known || got != token {
			t.Errorf("%q reads back as %+v, %v", token, got, known)
		}
	})
}

func TestForeignOwnersAreNoTokens(t *testing.T) {
	t.Parallel()
	for _, owner := range []string{
		"", "worker-1", "host:4711:1f2e3d4c", "host:1", "host:1:boot/w1", "host:1:boot/w1#", "host:1:boot/w1#x", "host:1:boot/w1#-1",
		"a/b#1", "host:1/w#1", "#1", "/#1", "host:1:boot/w1#18446744073709551616", "\x1b]0;x\x07",
	} {
		if token, known := ParseToken(owner); known {
			t.Errorf("%q reads as %+v", owner, token)
		}
	}
}

func TestEveryStartOfAProcessHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	a, b := NewProcess(), NewProcess()
	if a == b || strings.Count(a, ":") != 2 || strings.ContainsAny(a, "/#") {
		t.Errorf("%q and %q", a, b)
	}
}

func TestTimesAreWrittenAsPostgreSQLDoes(t *testing.T) {
	t.Parallel()
	for want, at := range map[string]Time{
		`"infinity"`:             {Infinity: 1},
		`"-infinity"`:            {Infinity: -1},
		`"2026-11-29T18:00:00Z"`: At(time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC)),
	} {
		if got, err := json.Marshal(at); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	if !(Time{Infinity: 1}).Never() || (Time{Infinity: 1}).Always() || !(Time{Infinity: -1}).Always() || (Time{}).Never() || (Time{}).Always() {
		t.Error("never and always")
	}
}

// What handlers return is told apart by its type, however deep it is wrapped.
func TestErrorsAreToldApartByType(t *testing.T) {
	t.Parallel()
	cause := errors.New("bad address")
	wrapped := fmt.Errorf("send: %w", Permanent(cause))
	if !IsPermanent(wrapped) || !errors.Is(wrapped, cause) || wrapped.Error() != "send: bad address" {
		t.Errorf("%v", wrapped)
	}
	if IsPermanent(cause) || IsPermanent(nil) || Permanent(nil) != nil {
		t.Error("permanent without being marked")
	}
	if delay, is := IsSnooze(fmt.Errorf("later: %w", Snooze(time.Minute))); !is || delay != time.Minute {
		t.Errorf("snooze of %v, %v", delay, is)
	}
	if delay, is := IsSnooze(Snooze(-time.Minute)); !is || delay != 0 {
		t.Errorf("snooze of %v, %v", delay, is)
	}
	if _, is := IsSnooze(cause); is || IsPermanent(Snooze(0)) {
		t.Error("an error is a snooze without being one, or a snooze is permanent")
	}
}

// Whatever a handler says can be stored, is bounded, and keeps what was writable.
func TestErrorTextCanAlwaysBeStored(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		text = strings.Repeat(text, rapid.IntRange(1, 500).Draw(t, "times"))
		got := errorText(text)
		if strings.ContainsRune(got, 0) || strings.ToValidUTF8(got, "") != got || len(got) > ErrorTextLimit+40 {
			t.Fatalf("%d bytes became %d: %q", len(text), len(got), got[:min(len(got), 100)])
		}
		if errorText(got) != got && len(got) <= ErrorTextLimit {
			t.Fatal("storable text was changed")
		}
	})
}

func TestTokenHoldsAnyHostsName(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"app1":            "app1",
		"b\u00fccher":     "b\u00fccher",
		"a\xff\xfeb":      "a--b",
		"a\x00b\x1b[1m\n": "a-b-[1m-",
		"a/b#c:d":         "a-b-c-d",
		"":                "unknown",
	} {
		if got := hostInToken(host); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}
