package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// What cannot be connected to is told in one line: where it is, once, what is wrong, what
// to do and who named it. The password is not in it.
func TestADatabaseThatDoesNotAnswerIsToldInOneLine(t *testing.T) {
	t.Parallel()
	err := With(t.Context(), Where{URL: "postgres://ann:geheim@127.0.0.1:1/app"}, func(d *Database) error {
		_, err := d.Depth(context.Background(), 0)
		return err
	})
	want := "depth: connect to 127.0.0.1:1: connect: connection refused: check that the server runs and that the address is right (from --database-url)"
	if err == nil || err.Error() != want || strings.Contains(err.Error(), "geheim") {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// A connection string that asks for what is not possible is a wrong call, and its source is
// named.
func TestAParameterThatCannotBeHeededIsAWrongCall(t *testing.T) {
	t.Parallel()
	for parameter, want := range map[string]string{
		"replication=database": "--database-url: the connection string has replication, which is not supported here: leave it out",
		"pool_max_conns=0":     `--database-url: pool_max_conns is "0": use a whole number from 1 to 262143`,
	} {
		_, err := Open(t.Context(), Where{URL: "postgres://ann:geheim@127.0.0.1:1/app?" + parameter})
		if !errors.Is(err, ErrUsage) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
