package queue

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	leasesql "github.com/leasetop/leasetop/sql"
)

// What callers tell apart.
var (
	// ErrLeaseLost says that the claim is gone: it has ended, or the job was reclaimed
	// and somebody else may own it. Nothing was written. It is also the cause of a
	// handler's cancelled context when its worker found out.
	ErrLeaseLost = errors.New("lease lost")
	// ErrCancelled is the cause of a handler's cancelled context when somebody cancelled
	// the job; see [Queue.Cancel].
	ErrCancelled = errors.New("job cancelled")
	// ErrNotFound says that the table, or the archive, has no job of that id.
	ErrNotFound = errors.New("no such job")
	// ErrSchemaMissing says that the database has no jobs table in this schema; the cure is `leasetop migrate up`.
	ErrSchemaMissing = errors.New("schema missing")
	// ErrSchemaOld says that the schema lacks something this program needs: it was made
	// by an older release. The cure is `leasetop migrate up`.
	ErrSchemaOld = errors.New("schema too old")
	// ErrNotConnected says that no connection could be made. The text names the address
	// and the cure.
	ErrNotConnected = errors.New("not connected")
	// ErrRefused says that the server answered and let nobody in: a wrong password, an
	// unknown user or database, a rule of pg_hba.conf, a missing CONNECT, a database that
	// takes no connections. Trying again does not help.
	ErrRefused = errors.New("connection refused by the server")
	// ErrStatementTimeout says that a statement took longer than the role's
	// statement_timeout. The text names the setting to raise.
	ErrStatementTimeout = errors.New("statement timeout")
	// ErrForbidden says that the role lacks a right; the text names the GRANT that gives it.
	ErrForbidden = leasesql.ErrForbidden
	// ErrEncoding says that the database does not store text as UTF-8, so that some
	// text of a job could not be written: it is no place for a queue.
	ErrEncoding = leasesql.ErrEncoding
)

type schemaMissing struct {
	schema string
	cause  error
}

func (e *schemaMissing) Error() string {
	return fmt.Sprintf("there is no table %s.jobs in this database: run `leasetop migrate up`, or name another --schema", e.schema)
}
func (e *schemaMissing) Is(target error) bool { return target == ErrSchemaMissing }
func (e *schemaMissing) Unwrap() error        { return e.cause }

type schemaOld struct {
	schema, message string
	cause           error
}

func (e *schemaOld) Error() string {
	return fmt.Sprintf("the schema %s is older than this program (%s): run `leasetop migrate up`", e.schema, e.message)
}
func (e *schemaOld) Is(target error) bool { return target == ErrSchemaOld }
func (e *schemaOld) Unwrap() error        { return e.cause }

// Permanent marks an error that no retry can cure (bad input, a bug): the job
// is buried at once. A nil err stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

type permanent struct{ err error }

func (p *permanent) Error() string { return p.err.Error() }
func (p *permanent) Unwrap() error { return p.err }

// IsPermanent tells whether an error, or one that it wraps, was marked by [Permanent].
func IsPermanent(err error) bool {
	var p *permanent
	return errors.As(err, &p)
}

// Snooze is the error of a handler that wants its job back later, by the database's
// clock, without using an attempt. A negative delay is zero.
func Snooze(delay time.Duration) error { return &snooze{max(delay, 0)} }

type snooze struct{ delay time.Duration }

func (s *snooze) Error() string { return "snoozed for " + s.delay.String() }

// IsSnooze tells whether an error, or one that it wraps, is of [Snooze], and for how long.
func IsSnooze(err error) (delay time.Duration, ok bool) {
	var s *snooze
	if !errors.As(err, &s) {
		return 0, false
	}
	return s.delay, true
}

// ErrorTextLimit is how many bytes of an error's text are kept in last_error;
// the history keeps the first 2,000 characters.
const ErrorTextLimit = 8000

// errorText makes any text one that PostgreSQL can store: what is not UTF-8, and
// NUL, become the replacement character, and what is too long is cut between runes.
// A text that could not be written would leave the job in processing.
func errorText(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) <= ErrorTextLimit {
		return text
	}
	cut := ErrorTextLimit
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes more)", text[:cut], len(text)-cut)
}
