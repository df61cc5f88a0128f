package sql

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/jackc/pgx/v5/pgproto3"
	"pgregory.net/rapid"
)

// pieces reads in pieces of given sizes, each of at least one byte.
type pieces struct {
	from  io.Reader
	sizes []int
}

func (p *pieces) Read(b []byte) (int, error) {
	size := 1
	if len(p.sizes) > 0 {
		size, p.sizes = p.sizes[0], p.sizes[1:]
	} else {
		size = len(b)
	}
	return p.from.Read(b[:min(max(size, 1), len(b))])
}

func cutText(text string) string { return shortened([]byte(text), len(text)) }

// TestOnlyLongErrorsAndNoticesAreCut sends messages in pieces of any size through the reader.
func TestOnlyLongErrorsAndNoticesAreCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var sent []byte
		var want []byte
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			text := strings.Repeat("é", rapid.SampledFrom([]int{0, 1, 3, 1999, 2000, 2001, 6000, 40_000}).Draw(t, "length"))
			var m, cut pgproto3.BackendMessage
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				m = &pgproto3.CopyData{Data: []byte("E\x00\x00\xff\xffN" + text)}
				cut = m
			case 1:
				m = &pgproto3.ErrorResponse{Code: "P0001", Message: text, Detail: "detail " + text}
				cut = &pgproto3.ErrorResponse{Code: "P0001", Message: cutText(text), Detail: cutText("detail " + text)}
			default:
				m, cut = &pgproto3.NoticeResponse{Message: text}, &pgproto3.NoticeResponse{Message: cutText(text)}
			}
			before := len(sent)
			sent, _ = m.Encode(sent)
			if len(sent)-before-header <= 2*messageMost { // short ones pass byte by byte as they are
				cut = m
			}
			want, _ = cut.Encode(want)
		}
		got, err := io.ReadAll(&pieces{
			&boundedReader{from: &pieces{bytes.NewReader(sent), rapid.SliceOf(rapid.IntRange(1, 9000)).Draw(t, "arrives")}},
			rapid.SliceOf(rapid.IntRange(1, 9000)).Draw(t, "read"),
		})
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %d wanted (%v)", len(got), len(want), err)
		}
	})
}

// TestReadingGoesOnAfterATimeout reads past an error that ends nothing, as a deadline's is.
func TestReadingGoesOnAfterATimeout(t *testing.T) {
	t.Parallel()
	sent, _ := (&pgproto3.ErrorResponse{Message: strings.Repeat("x", 100_000)}).Encode(nil)
	b := &boundedReader{from: iotest.TimeoutReader(&pieces{bytes.NewReader(sent), []int{3, 5000}})}
	var got []byte
	for {
		part := make([]byte, 1000)
		n, err := b.Read(part)
		got = append(got, part[:n]...)
		if err == io.EOF {
			break
		}
	}
	if len(got) == 0 || len(got) > 2*messageMost || !bytes.Contains(got, []byte("xx… (96000 bytes more)")) {
		t.Fatalf("%d bytes: %.60q", len(got), got)
	}
}
