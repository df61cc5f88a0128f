package queue

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Time is a timestamptz as PostgreSQL knows it: any time, or one of its two
// infinities, which time.Time cannot hold.
type Time struct {
	time.Time
	Infinity int8 // -1 always in the past, +1 never comes, 0 an ordinary time
}

// What stands for the infinities where a time.Time is read. PostgreSQL stores microseconds,
// so no time of a row is one of these, and both can be printed as JSON.
var (
	endless   = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	beginless = time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC)
)

// At wraps a time. One that stands for an infinity (see [Time.Instant]) is that infinity again.
func At(t time.Time) Time {
	switch {
	case t.Equal(endless):
		return Time{Infinity: 1}
	case t.Equal(beginless):
		return Time{Infinity: -1}
	}
	return Time{Time: t}
}

// Instant is the time for a field that should never be infinite, as CreatedAt is. An infinity
// becomes a time that no row has, which lies before or after all others, so that a list with
// such a row can still be read. [At] recognizes it.
func (t Time) Instant() time.Time {
	switch {
	case t.Never():
		return endless
	case t.Always():
		return beginless
	}
	return t.Time
}

// instant reads a timestamptz into a time.Time as [Time.Instant] has it. NULL is the zero time.
type instant time.Time

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (i *instant) ScanTimestamptz(v pgtype.Timestamptz) error {
	var t Time
	err := t.ScanTimestamptz(v)
	*i = instant(t.Instant())
	return err
}

// nullableInstant reads a timestamptz that may be NULL into the *time.Time that it points to.
type nullableInstant struct{ to **time.Time }

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (n nullableInstant) ScanTimestamptz(v pgtype.Timestamptz) error {
	*n.to = nil
	if !v.Valid {
		return nil
	}
	var i instant
	err := i.ScanTimestamptz(v)
	t := time.Time(i)
	*n.to = &t
	return err
}

// at is where a timestamptz of a row goes that should be finite; atOrNull where it may be NULL.
func at(t *time.Time) *instant               { return (*instant)(t) }
func atOrNull(t **time.Time) nullableInstant { return nullableInstant{t} }

// Never reports whether the time lies infinitely far ahead.
func (t Time) Never() bool { return t.Infinity > 0 }

// Always reports whether the time lies infinitely far back.
func (t Time) Always() bool { return t.Infinity < 0 }

// What timestamptz can hold.
var (
	earliest = time.Date(-4713, 11, 24, 0, 0, 0, 0, time.UTC)
	tooLate  = time.Date(294277, 1, 1, 0, 0, 0, 0, time.UTC)
)

// check refuses times that PostgreSQL does not have. pgx would write some of
// them as another time, its microseconds having overflowed.
func (t Time) check() error {
	switch {
	case t.Infinity < -1 || t.Infinity > 1:
		return fmt.Errorf("time with infinity %d: use -1, 0 or 1", t.Infinity)
	case t.Infinity == 0 && !t.IsZero() && (t.Before(earliest) || !t.Before(tooLate)):
		return fmt.Errorf("a time in the year %d: use the years -4712 to 294276, or infinity", t.Year())
	}
	return nil
}

// String prints RFC 3339 in UTC, wherever it runs, or infinity and -infinity as
// PostgreSQL does.
func (t Time) String() string {
	switch {
	case t.Never():
		return "infinity"
	case t.Always():
		return "-infinity"
	}
	return t.Time.UTC().Format(time.RFC3339Nano)
}

// MarshalJSON prints the text of String: time.Time refuses years beyond 9999, PostgreSQL does not.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// ScanTimestamptz implements pgtype.TimestamptzScanner. NULL is the zero Time.
func (t *Time) ScanTimestamptz(v pgtype.Timestamptz) error {
	*t = Time{}
	if !v.Valid {
		return nil
	}
	t.Time, t.Infinity = v.Time, int8(v.InfinityModifier)
	return nil
}

// TimestamptzValue implements pgtype.TimestamptzValuer. The zero Time is NULL.
func (t Time) TimestamptzValue() (pgtype.Timestamptz, error) {
	if err := t.check(); err != nil {
		return pgtype.Timestamptz{}, err
	}
	return t.pg(), nil
}

// pg is the time as pgx's own type, which it can write also in the modes where it does
// not ask the server for the types of parameters. The zero Time is NULL.
func (t Time) pg() pgtype.Timestamptz {
	return pgtype.Timestamptz{
		Time: t.Time, InfinityModifier: pgtype.InfinityModifier(t.Infinity), Valid: t.Infinity != 0 || !t.Time.IsZero(),
	}
}
