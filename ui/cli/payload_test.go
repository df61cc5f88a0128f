package cli

import (
	"errors"
	"strings"
	"testing"
)

// zeros never end.
type zeros struct{ read int }

func (z *zeros) Read(p []byte) (int, error) {
	z.read += len(p)
	return len(p), nil
}

// An endless payload is read to its limit and no further, and one of that length is taken.
func TestPayloadIsReadToItsLimit(t *testing.T) {
	t.Parallel()
	const most = 1 << 16
	endless := &zeros{}
	if _, err := readTo(endless, most); !errors.Is(err, errTooLong) || endless.read != most+1 {
		t.Errorf("%v after %d bytes, want %d", err, endless.read, most+1)
	}
	if text, err := readTo(strings.NewReader(strings.Repeat("1", most)), most); err != nil || len(text) != most {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestAnEndlessFileIsNoPayload(t *testing.T) {
	t.Parallel()
	const want = "the payload in /dev/zero is longer than 256 MB, which no payload may be"
	if _, err := Payload(t.Context(), "@/dev/zero", nil); !errors.Is(err, ErrUsage) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
