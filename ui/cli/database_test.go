package cli

import (
	"context"
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
