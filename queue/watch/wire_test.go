package watch

import (
	"encoding/binary"
	"testing"
)

// written makes a message as the server sends it: byte, int16, int32, int64, uint64 and
// text, which ends with a zero byte. []byte is as it is.
func written(parts ...any) (m []byte) {
	for _, part := range parts {
		switch p := part.(type) {
		case byte:
			m = append(m, p)
		case int16:
			m = binary.BigEndian.AppendUint16(m, uint16(p))
		case int32:
			m = binary.BigEndian.AppendUint32(m, uint32(p))
		case int64:
			m = binary.BigEndian.AppendUint64(m, uint64(p))
		case string:
			m = append(append(m, p...), 0)
		case []byte:
			m = append(m, p...)
		}
	}
	return m
}

// as is a column that comes in another way than binary.
type as struct {
	how   byte
	value string
}

// tuple makes a row of binary values: int32, int64 and text; nil is NULL.
func tuple(values ...any) []byte {
	m := written(int16(len(values)))
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			m = append(m, asNull)
		case as:
			m = append(m, v.how)
			if v.how == asText {
				m = append(written(m, int32(len(v.value))), v.value...)
			}
		case string:
			m = append(written(m, byte('b'), int32(len(v))), v...)
		default:
			value := written(v)
			m = append(written(m, byte('b'), int32(len(value))), value...)
		}
	}
	return m
}

func TestWireReadsToTheEndAndNotBeyond(t *testing.T) {
	t.Parallel()
	m := written(byte(1), int16(2), int32(3), int64(4), "text", tuple("value", nil))
	w := wire{rest: m}
	if w.byte() != 1 || w.uint16() != 2 || w.uint32() != 3 || w.uint64() != 4 || w.text() != "text" || w.uint16() != 2 {
		t.Fatal("what was written is not what is read")
	}
	if how, value := w.value(); how != asBinary || string(value) != "value" {
		t.Errorf("value %q as %q", value, how)
	}
	if how, value := w.value(); how != asNull || value != nil || w.short || len(w.rest) > 0 {
		t.Errorf("value %q as %q, short %v, rest %q", value, how, w.short, w.rest)
	}
	for name, read := range map[string]func(*wire){
		"byte": func(w *wire) { w.byte() }, "uint16": func(w *wire) { w.uint16() },
		"uint32": func(w *wire) { w.uint32() }, "uint64": func(w *wire) { w.uint64() },
		"text": func(w *wire) { w.text() },
	} {
		var w wire
		if read(&w); !w.short {
			t.Errorf("a %s was read of nothing", name)
		}
	}
	for _, length := range []int32{6, 1 << 30, -1, -1 << 31} {
		w := wire{rest: written(byte('b'), length, []byte("value"))}
		if _, value := w.value(); !w.short || value != nil {
			t.Errorf("length %d of 5 bytes gave %q", length, value)
		}
	}
}
