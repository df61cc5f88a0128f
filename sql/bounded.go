package sql

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// messageMost is how many bytes of each text of an error or a notice of the server are kept.
// The server itself has no limit: RAISE passes on any text, and a refused row is quoted.
const messageMost = 4000

// BoundMessages has the connections of config cut the texts of errors and notices as they
// arrive, before anything holds, logs or prints them. All else passes as it is.
func BoundMessages(config *pgconn.Config) {
	config.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(&boundedReader{from: r}, w)
	}
}

// header is how long the beginning of a message is: its kind and its length, which counts
// itself and not the kind.
const header = 5

// boundedReader passes on what a server sends. It knows where messages begin, and cuts the
// texts of long errors and notices.
type boundedReader struct {
	from io.Reader
	left int    // bytes that pass before the next message begins
	held []byte // read, and not passed on yet
}

func (b *boundedReader) Read(p []byte) (int, error) {
	for len(b.held) > 0 && len(p) > 0 {
		b.begin()
		if n := copy(p, b.held[:min(b.left, len(b.held))]); n > 0 {
			b.held, b.left = b.held[n:], b.left-n
			return n, nil
		}
		if err := b.more(); err != nil {
			return 0, err
		}
	}
	b.held = nil
	n, err := b.from.Read(p)
	plain := b.plain(p[:n])
	b.held = append(b.held, p[plain:n]...)
	if plain == 0 && n > 0 && err == nil {
		return b.Read(p)
	}
	return plain, err
}

// plain is how much of what was read passes at once: up to the first message that is to be
// cut, or of which not even the header is there.
func (b *boundedReader) plain(data []byte) (at int) {
	for {
		step := min(b.left, len(data)-at)
		at, b.left = at+step, b.left-step
		if len(data)-at < header {
			return at
		}
		length := bodyOf(data[at:])
		if long(data[at], length) {
			return at
		}
		b.left = header + length
	}
}

// begin decides about the message that is held, if that is its beginning and enough is there.
func (b *boundedReader) begin() {
	if b.left > 0 || len(b.held) < header {
		return
	}
	length := bodyOf(b.held)
	switch {
	case !long(b.held[0], length):
		b.left = header + length
	case len(b.held) >= header+length:
		b.left = b.cut(length)
	}
}

// more reads more of a message, in steps that grow with it.
func (b *boundedReader) more() error {
	at := len(b.held)
	b.held = slices.Grow(b.held, min(max(at, 1<<12), 1<<20))
	n, err := b.from.Read(b.held[at:cap(b.held)])
	b.held = b.held[:at+n]
	if n > 0 {
		return nil // what is wrong is met again
	}
	return err
}

// bodyOf is how long the body is of the message that data begins with.
func bodyOf(data []byte) int { return max(int(int32(binary.BigEndian.Uint32(data[1:])))-4, 0) }

// long tells whether a message is an error or a notice whose texts may be too long.
func long(kind byte, length int) bool { return (kind == 'E' || kind == 'N') && length > 2*messageMost }

// cut replaces the message that is held by one with shorter texts, and returns its length.
func (b *boundedReader) cut(length int) int {
	short := append(make([]byte, 0, header+2*messageMost), b.held[:header]...)
	rest := string(b.held[header : header+length])
	for rest != "" && rest[0] != 0 {
		var field string
		field, rest, _ = strings.Cut(rest, "\x00")
		short = append(append(short, field[0]), shortened(field[1:])...)
		short = append(short, 0)
	}
	short = append(short, 0)
	binary.BigEndian.PutUint32(short[1:], uint32(len(short)-1))
	b.held = append(short, b.held[header+length:]...)
	return len(short)
}

// shortened is the beginning of a text, and how much is missing.
func shortened(text string) string {
	if len(text) <= messageMost {
		return text
	}
	end := messageMost
	for end > messageMost-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes more)", text[:end], len(text)-end)
}
