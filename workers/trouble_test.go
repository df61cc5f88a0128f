package workers

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// An outage is told at its beginning, when its reason changes in kind, and at its end:
// not for every try.
func TestOutageIsToldForEachReason(t *testing.T) {
	t.Parallel()
	p := newPool(t, anywhere(t, 4), on(nothing), Options{})
	refused := &pgconn.PgError{Code: "28P01", Message: "wrong password"}
	for range 3 {
		for _, queue := range []string{"a", `b "c" 7`} {
			p.trouble("claims", fmt.Errorf("claim from %q: dial: %w", queue, syscall.ECONNREFUSED))
			p.trouble("claims", fmt.Errorf("claim from %q: %w", queue, refused))
			p.trouble("claims", fmt.Errorf("claim from %q: %w", queue, context.DeadlineExceeded))
			p.trouble("claims", fmt.Errorf("claim from %q: unexpected EOF", queue))
		}
	}
	p.trouble("outcomes", fmt.Errorf("complete job 1: %w", refused))
	p.trouble("outcomes", fmt.Errorf("complete job 2: %w", refused))
	p.works("claims")
	p.works("claims")
	p.trouble("claims", refused)
	var told []string
	events, _ := p.Events(0)
	for _, e := range events {
		told = append(told, e.Text)
	}
	if want := []string{
		`claims fail: claim from "a": dial: connection refused`,
		`claims still fail: claim from "a": : wrong password (SQLSTATE 28P01)`,
		`claims still fail: claim from "a": context deadline exceeded`,
		`claims still fail: claim from "a": unexpected EOF`,
		"outcomes fail: complete job 1: : wrong password (SQLSTATE 28P01)",
		"claims work again",
		"claims fail: : wrong password (SQLSTATE 28P01)",
	}; !slices.Equal(told, want) {
		t.Errorf("told\n%q, want\n%q", told, want)
	}
	for i := range 100 { // a reason that is never the same floods nobody
		p.trouble("retention", fmt.Errorf("%*s", i, "x"))
	}
	if events, _ := p.Events(0); len(events) != len(told)+reasonsKept {
		t.Errorf("%d events, want %d more than %d", len(events), reasonsKept, len(told))
	}
}
