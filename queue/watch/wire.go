package watch

import "encoding/binary"

// wire reads a message of the stream from its beginning. What is missing reads as
// nought, and is remembered: a message cut short makes no sense, but no panic either.
type wire struct {
	rest  []byte
	short bool // it ended too early
}

func (w *wire) take(n int) []byte {
	if n < 0 || n > len(w.rest) {
		w.rest, w.short = nil, true
		return nil
	}
	taken := w.rest[:n:n]
	w.rest = w.rest[n:]
	return taken
}

func (w *wire) byte() byte {
	if b := w.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (w *wire) uint16() uint16 {
	if b := w.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (w *wire) uint32() uint32 {
	if b := w.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (w *wire) uint64() uint64 {
	if b := w.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// text ends with a zero byte.
func (w *wire) text() string {
	for i, b := range w.rest {
		if b == 0 {
			text := string(w.rest[:i])
			w.rest = w.rest[i+1:]
			return text
		}
	}
	w.rest, w.short = nil, true
	return ""
}

// How the value of a column comes.
const (
	asNull      = 'n'
	asUnchanged = 'u' // not at all: it is stored out of line, and is as it was
	asBinary    = 'b'
	asText      = 't'
)

// value is the next column's.
func (w *wire) value() (how byte, value []byte) {
	how = w.byte()
	if how == asBinary || how == asText {
		value = w.take(int(int32(w.uint32())))
	}
	return how, value
}
