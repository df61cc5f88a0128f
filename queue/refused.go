package queue

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrRowRefused says that the server refuses to change a job's row, as a constraint, a
// trigger or a policy of the database's owner has it. Other jobs are not affected. The
// error that wraps it is a [Refusal].
var ErrRowRefused = errors.New("the server refuses to change the row")

// Refusal is one job whose row the server refuses to change, and the server's reason.
// Reason and Detail are text of the database: strip them before they reach a terminal,
// and mask the secrets in Detail, which may hold values of the row.
type Refusal struct {
	JobID    int64
	Act      string // what was to be done: "claim", "heartbeat", "complete", …
	SQLSTATE string // "" when a trigger left the row as it was, without an error
	Reason   string // the server's message, in its language
	Detail   string // the server's DETAIL; "" none
	// For is how long this process passes the job over, unless it is changed meanwhile; 0 for
	// acts that do not.
	For   time.Duration
	cause error
}

// How much is kept of what the server says of one row.
const (
	reasonLimit = 500
	detailLimit = 1000
)

// Error names the job and gives the server's reason.
func (r *Refusal) Error() string {
	return fmt.Sprintf("the server refuses to %s job %d: %s", r.Act, r.JobID, r.Reason)
}

// Is reports whether target is [ErrRowRefused].
func (r *Refusal) Is(target error) bool { return target == ErrRowRefused }

// Unwrap returns the server's error; nil when there was none.
func (r *Refusal) Unwrap() error { return r.cause }

// refusalOf is the error of a statement about one job as a Refusal. ok is false when the
// error is none of that row's; see [refusesRow].
func refusalOf(id int64, act string, err error) (r *Refusal, ok bool) {
	pg := refusesRow(err)
	if pg == nil {
		return nil, false
	}
	return &Refusal{
		JobID: id, Act: act, SQLSTATE: pg.Code,
		Reason: bounded(pg.Message, reasonLimit), Detail: bounded(cmp.Or(pg.Detail, where(pg)), detailLimit), cause: err,
	}, true
}

// where names the function that was ended in its middle, since the message does not.
func where(pg *pgconn.PgError) string {
	if pg.Code != queryCanceled {
		return ""
	}
	return pg.Where
}

// refuses begins the reason of a job whose row the server refuses to change.
const refuses = "the server refuses it: "

// leftAlone is the Refusal of a row that was locked for a statement and not changed by it,
// without an error: a trigger returned NULL, or a row policy hides it from this statement.
func leftAlone(id int64, act string) *Refusal {
	return &Refusal{JobID: id, Act: act, Reason: "a trigger or a row policy of the table leaves the row as it was"}
}

// refusesRow returns the server's error when it is about the row that a statement was to
// change, so that the same statement may succeed for other rows: a constraint (also one
// that is checked at COMMIT), a value, a row policy, damaged data, or anything that a
// trigger raises. nil is any other error: of the connection, the moment (a lock, a
// deadlock, a timeout, a full disk), the role's rights, the schema. The names of
// PostgreSQL's own functions decide, which no language changes, and SQLSTATEs.
func refusesRow(err error) *pgconn.PgError {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || len(pg.Code) != 5 {
		return nil
	}
	if slow := (*slowRow)(nil); raised(pg) || errors.As(err, &slow) {
		return pg
	}
	switch pg.Code {
	case "22021", "22P05": // bytes that are no text: of a parameter, which all rows share
		return nil
	}
	switch pg.Code[:2] {
	case "08", "25", "40", "53", "55", "57", "58": // connection, transaction, rollback, resources, state, operator, system
		return nil
	case "09", "21", "22", "23", "27", "38", "39", "44", "54", "P0", "XX": // triggers, data, constraints, routines, views, limits, PL/pgSQL, damage
		return pg
	}
	switch {
	case pg.Routine == "ExecWithCheckOptions", // a row policy
		pg.Where != "": // raised inside a function that a trigger ran, whatever the code
		return pg
	}
	return nil
}

// slowRow is the error of a statement that was ended in the middle of a trigger's function,
// where that is taken for a refusal of the row: by claims.
type slowRow struct{ error }

func (e *slowRow) Unwrap() error { return e.error }

// tuple is in the context of an error that met a statement which waited for a row's lock.
var tuple = regexp.MustCompile(`\(\d+,\d+\)`)

// slow marks an error as a [slowRow] if it is one.
func slow(err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == queryCanceled && pg.Where != "" && !tuple.MatchString(pg.Where) {
		return &slowRow{err}
	}
	return err
}

// raised reports whether RAISE made an error, as a trigger of the database's owner may for
// one row. Its SQLSTATE is what the trigger's author chose: that of a deadlock or of a
// cancelled statement says nothing about the moment.
func raised(pg *pgconn.PgError) bool { return pg.Routine == "exec_stmt_raise" }

// sift runs do over items. When the server refuses a row among them, it runs do over each
// half, down to the single items that are refused, which it passes to refused; the rest is
// done. do must be a transaction of its own (or a savepoint, with SET CONSTRAINTS ALL
// IMMEDIATE before it is released), and start afresh each time, since what a refused
// statement returned is void. Any other error ends it; what was done by then stays done.
// k refused rows among n cost about 2k·log₂(n) statements.
func sift[T any](items []T, do func([]T) error, refused func(T, error)) error {
	if len(items) == 0 {
		return nil
	}
	err := do(items)
	switch {
	case err == nil || refusesRow(err) == nil:
		return err
	case len(items) == 1:
		refused(items[0], err)
		return nil
	}
	return siftHalves(items, do, refused)
}

// siftHalves is sift over items that were refused together.
func siftHalves[T any](items []T, do func([]T) error, refused func(T, error)) error {
	half := len(items) / 2
	if err := sift(items[:half], do, refused); err != nil {
		return err
	}
	return sift(items[half:], do, refused)
}

// bounded is at most limit bytes of a text, cut between runes, in one that PostgreSQL can store.
func bounded(text string, limit int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
