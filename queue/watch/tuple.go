package watch

import (
	"encoding/binary"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/leasetop/leasetop/queue"
)

// column is what a value is to us.
type column uint8

const (
	ignored column = iota
	columnID
	columnQueue
	columnKind
	columnStatus
	columnAttempts
	columnMaxAttempts
	columnRunAt
	columnLockedAt
	columnOwner
	columnExpiresAt
	columnUpdatedAt
	columnCancelledBy
)

// columns is a set of them.
type columns uint32

// texts are those of a length that varies: only such are stored out of line.
const texts columns = 1<<columnQueue | 1<<columnKind | 1<<columnStatus | 1<<columnOwner | 1<<columnCancelledBy

func (s columns) has(c column) bool { return s&(1<<c) != 0 }

// take has values of a row be what they were before.
func (r *row) take(old *row, unchanged columns) {
	if unchanged.has(columnQueue) {
		r.queue = old.queue
	}
	if unchanged.has(columnKind) {
		r.kind = old.kind
	}
	if unchanged.has(columnStatus) {
		r.status = old.status
	}
	if unchanged.has(columnOwner) {
		r.owner = old.owner
	}
	if unchanged.has(columnCancelledBy) {
		r.cancelledBy = old.cancelledBy
	}
}

// tuple reads a row into d.row, and returns which of its values are as they were.
func (d *decoder) tuple(w *wire, r *relation) (unchanged columns, err error) {
	d.row = row{}
	if n := int(w.uint16()); n != len(r.columns) {
		return 0, fmt.Errorf("a row of the jobs table came with %d columns, not %d", n, len(r.columns))
	}
	for _, c := range r.columns {
		switch how, value := w.value(); {
		case w.short:
			return 0, errShort
		case c == ignored || how == asNull:
		case how == asUnchanged && texts.has(c):
			unchanged |= 1 << c
		default:
			if err := d.set(c, how, value); err != nil {
				return 0, err
			}
		}
	}
	return unchanged, nil
}

// set puts a value into d.row.
func (d *decoder) set(c column, how byte, value []byte) (err error) {
	now, n := &d.row, int64(0)
	switch c {
	case columnQueue:
		now.queue = d.name(value)
	case columnKind:
		now.kind = d.name(value)
	case columnStatus:
		now.status = queue.Status(d.name(value))
	case columnOwner:
		now.owner = ownerOf(value)
	case columnCancelledBy:
		now.cancelledBy = string(beginning(value, 1000))
	case columnID:
		now.id, err = integer(how, value)
	case columnAttempts:
		n, err = integer(how, value)
		now.attempts = int(n)
	case columnMaxAttempts:
		n, err = integer(how, value)
		now.maxAttempts = int(n)
	case columnRunAt:
		now.runAt, err = timestamp(how, value)
	case columnLockedAt:
		now.lockedAt, err = instant(how, value)
	case columnExpiresAt:
		now.expiresAt, err = instant(how, value)
	case columnUpdatedAt:
		now.updatedAt, err = instant(how, value)
	}
	return err
}

const namesKept = 50_000

// nameMost is how many characters of a queue's or a kind's name are kept. The table allows
// fewer; a row from before its CHECKs, or with none, may hold any text.
const nameMost = 300

// beginning is the first characters of a text.
func beginning(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	end := 0
	for ; most > 0 && end < len(text); most-- {
		_, n := utf8.DecodeRune(text[end:])
		end += n
	}
	return text[:end]
}

// ownerOf is an owner as the statements that list leases return it: whole up to 8192 bytes,
// and of a longer one the beginning and the length. It is for the screen; no write compares it.
func ownerOf(value []byte) string {
	if len(value) <= 8192 {
		return string(value)
	}
	return fmt.Sprintf("%s… (%d bytes)", beginning(value, 200), len(value))
}

// name is a text of which there are few different ones.
func (d *decoder) name(text []byte) string {
	text = beginning(text, nameMost)
	if known, ok := d.names[string(text)]; ok {
		return known
	}
	if len(d.names) >= namesKept {
		clear(d.names)
	}
	name := string(text)
	d.names[name] = name
	return name
}

// integer reads an int4 or int8.
func integer(how byte, value []byte) (int64, error) {
	switch {
	case how == asBinary && len(value) == 4:
		return int64(int32(binary.BigEndian.Uint32(value))), nil
	case how == asBinary && len(value) == 8:
		return int64(binary.BigEndian.Uint64(value)), nil
	}
	return 0, fmt.Errorf("a number of the jobs table came as %q with %d bytes", how, len(value))
}

// epoch2000 is PostgreSQL's epoch, 2000-01-01 UTC, in Unix seconds.
const epoch2000 = 946_684_800

// timestamp reads a timestamptz: microseconds since 2000, the extremes being the
// infinities.
func timestamp(how byte, value []byte) (queue.Time, error) {
	if how != asBinary || len(value) != 8 {
		return queue.Time{}, fmt.Errorf("a time of the jobs table came as %q with %d bytes", how, len(value))
	}
	return timeOf(int64(binary.BigEndian.Uint64(value))), nil
}

// instant is timestamp for what should have no infinities.
func instant(how byte, value []byte) (time.Time, error) {
	t, err := timestamp(how, value)
	return t.Instant(), err
}
