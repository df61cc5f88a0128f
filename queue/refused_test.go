package queue

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"
)

// Which errors are about one row, and which are about the moment, the role or the statement.
func TestWhichErrorsRefuseARow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		err  pgconn.PgError
		row  bool
	}{
		{"CHECK", pgconn.PgError{Code: "23514"}, true},
		{"unique", pgconn.PgError{Code: "23505"}, true},
		{"value out of range", pgconn.PgError{Code: "22003"}, true},
		{"RAISE", pgconn.PgError{Code: "P0001", Routine: "exec_stmt_raise"}, true},
		{"RAISE with a code of one's own", pgconn.PgError{Code: "APP01", Routine: "exec_stmt_raise"}, true},
		{"row policy", pgconn.PgError{Code: "42501", Routine: "ExecWithCheckOptions"}, true},
		{"view's check option", pgconn.PgError{Code: "44000"}, true},
		{"no right to a table that a trigger writes", pgconn.PgError{Code: "42501", Where: "SQL statement …"}, true},
		{"damaged value", pgconn.PgError{Code: "XX001"}, true},
		{"index row too long", pgconn.PgError{Code: "54000"}, true},
		{"no right", pgconn.PgError{Code: "42501", Routine: "aclcheck_error"}, false},
		{"no table", pgconn.PgError{Code: "42P01"}, false},
		{"deadlock", pgconn.PgError{Code: "40P01"}, false},
		{"serialization", pgconn.PgError{Code: "40001"}, false},
		{"RAISE with the code of a serialization failure", pgconn.PgError{Code: "40001", Routine: "exec_stmt_raise"}, true},
		{"RAISE with the code of a lock", pgconn.PgError{Code: "55P03", Routine: "exec_stmt_raise"}, true},
		{"RAISE with the code of a cancelled statement", pgconn.PgError{Code: "57014", Routine: "exec_stmt_raise"}, true},
		{"RAISE with the code of a standby", pgconn.PgError{Code: "25006", Routine: "exec_stmt_raise"}, true},
		{"statement_timeout within a trigger", pgconn.PgError{Code: "57014", Where: "PL/pgSQL …"}, false},
		{"lock_timeout within a trigger", pgconn.PgError{Code: "55P03", Where: "PL/pgSQL …"}, false},
		{"full disk", pgconn.PgError{Code: "53100"}, false},
		{"standby", pgconn.PgError{Code: "25006"}, false},
		{"a parameter that is no UTF-8", pgconn.PgError{Code: "22021"}, false},
		{"connection", pgconn.PgError{Code: "08006"}, false},
	} {
		if got := refusesRow(fmt.Errorf("claim: %w", &c.err)) != nil; got != c.row {
			t.Errorf("%s (%s): about the row: %v, want %v", c.what, c.err.Code, got, c.row)
		}
	}
	if refusesRow(errors.New("broken pipe")) != nil || refusesRow(nil) != nil {
		t.Error("an error that is none of the server's refuses a row")
	}
}

func TestSiftFindsRefusedRows(t *testing.T) {
	t.Parallel()
	bad := map[int]bool{0: true, 517: true, 999: true}
	var items, done, found []int
	for i := range 1000 {
		items = append(items, i)
	}
	statements := 0
	err := sift(items, func(some []int) error {
		statements++
		if slices.ContainsFunc(some, func(i int) bool { return bad[i] }) {
			return &pgconn.PgError{Code: "23514"}
		}
		done = append(done, some...)
		return nil
	}, func(i int, _ error) { found = append(found, i) })
	if err != nil || !slices.Equal(found, []int{0, 517, 999}) || len(done) != 997 || statements > 70 {
		t.Errorf("%v: refused %v, %d done, %d statements", err, found, len(done), statements)
	}
	broken := errors.New("broken pipe")
	if err := sift(items, func([]int) error { return broken }, func(i int, _ error) { t.Errorf("refused %d", i) }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestRefusalIsBounded(t *testing.T) {
	t.Parallel()
	r, ok := refusalOf(5, "claim", &pgconn.PgError{Code: "P0001", Message: strings.Repeat("é", 1<<20), Detail: strings.Repeat("\xff\x00", 1<<20)})
	if !ok || len(r.Error()) > 700 || len(r.Detail) > detailLimit+10 || !utf8.ValidString(r.Detail) || strings.Contains(r.Detail, "\x00") {
		t.Errorf("%v, %d and %d bytes", ok, len(r.Error()), len(r.Detail))
	}
	if !errors.Is(fmt.Errorf("x: %w", r), ErrRowRefused) || !strings.HasPrefix(r.Error(), "the server refuses to claim job 5: é") {
		t.Errorf("%.80s", r.Error())
	}
}
