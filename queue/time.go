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

// At wraps an ordinary time.
func At(t time.Time) Time { return Time{Time: t} }

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
