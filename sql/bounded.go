package sql

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
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
	left int      // bytes that pass before the next message begins
	held []byte   // read, and not passed on yet
	cut  *cutting // the message that is cut just now
}

func (b *boundedReader) Read(p []byte) (int, error) {
	for (len(b.held) > 0 || b.cut != nil) && len(p) > 0 {
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

// begin decides about the message that is held, if that is its beginning.
func (b *boundedReader) begin() {
	if b.left > 0 || b.cut != nil || len(b.held) < header {
		return
	}
	length := bodyOf(b.held)
	if !long(b.held[0], length) {
		b.left = header + length
		return
	}
	b.cut = &cutting{short: append([]byte{}, b.held[:header]...), left: length}
	rest := b.held[header:]
	b.held = b.held[:0]
	b.take(rest)
}

// take gives the message that is cut more of its body. Once that is complete, the shorter one
// is held, and what came behind it.
func (b *boundedReader) take(data []byte) {
	n := min(len(data), b.cut.left)
	b.cut.take(data[:n])
	if b.cut.left > 0 {
		return
	}
	short := b.cut.end()
	b.left, b.cut = len(short), nil
	b.held = append(short, data[n:]...)
}

// more reads more of a message. Of one that is cut nothing is held that is not kept.
func (b *boundedReader) more() error {
	if b.cut != nil {
		piece := make([]byte, 32<<10)
		n, err := b.from.Read(piece)
		b.take(piece[:n])
		if n > 0 {
			return nil // what is wrong is met again
		}
		return err
	}
	at := len(b.held)
	b.held = slices.Grow(b.held, header)
	n, err := b.from.Read(b.held[at : at+header])
	b.held = b.held[:at+n]
	if n > 0 {
		return nil
	}
	return err
}

// bodyOf is how long the body is of the message that data begins with.
func bodyOf(data []byte) int { return max(int(int32(binary.BigEndian.Uint32(data[1:])))-4, 0) }

// long tells whether a message is an error or a notice whose texts may be too long.
func long(kind byte, length int) bool { return (kind == 'E' || kind == 'N') && length > 2*messageMost }

// cutting is a message that is cut as it arrives: fields of a kind, a text and a zero byte each,
// and a zero byte after them.
type cutting struct {
	short []byte
	left  int    // bytes of the body that have yet to come
	field []byte // the beginning of the field that arrives
	size  int    // of all of it that has come
}

func (c *cutting) take(data []byte) {
	c.left -= len(data)
	for len(data) > 0 {
		end := bytes.IndexByte(data, 0)
		part := data[:max(end, 0)]
		if end < 0 {
			part = data
		}
		// The kind, the text, and one byte by which the end of a character is known.
		c.field = append(c.field, part[:min(len(part), 1+messageMost+1-len(c.field))]...)
		c.size += len(part)
		if end < 0 {
			return
		}
		data = data[end+1:]
		if len(c.field) > 0 {
			c.short = append(append(c.short, c.field[0]), shortened(c.field[1:], c.size-1)...)
			c.short = append(c.short, 0)
		}
		c.field, c.size = c.field[:0], 0
	}
}

// end is the shorter message.
func (c *cutting) end() []byte {
	short := append(c.short, 0)
	binary.BigEndian.PutUint32(short[1:], uint32(len(short)-1))
	return short
}

// shortened is the beginning of a text of so many bytes, and how much is missing.
func shortened(text []byte, size int) string {
	if size <= messageMost {
		return string(text)
	}
	end := messageMost
	for end > messageMost-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes more)", text[:end], size-end)
}
