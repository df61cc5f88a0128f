package faults

import (
	"errors"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/workers"
)

func TestOnlyTheListenerLeadsThroughItsCable(t *testing.T) {
	t.Parallel()
	url, cable := testdb.New(t), newCable(t)
	as := func(app string) (*pgx.Conn, error) {
		config := configOf(t, url)
		cable.ThroughListener(config, "deaf")
		config.RuntimeParams["application_name"] = app
		return pgx.ConnectConfig(t.Context(), config)
	}
	listener, err := as(workers.ListenerName("deaf"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := as("deaf")
	if err != nil {
		t.Fatal(err)
	}

	cable.Stall()
	answer := ask(t.Context(), listener)
	held(t, cable)
	if err := receive(t, "the other session", ask(t.Context(), other)); err != nil {
		t.Errorf("the other session is to be well: %v", err)
	}
	if !pending(answer) {
		t.Error("the listener has an answer through a stalled cable")
	}
	cable.Heal()
	if err := receive(t, "the listener", answer); err != nil {
		t.Errorf("the listener is to be well again: %v", err)
	}

	cable.Cut()
	if err := receive(t, "the listener", ask(t.Context(), listener)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the listener was cut, and says %v", err)
	}
	if _, err := as(workers.ListenerName("deaf")); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a new listener was to be refused, and says %v", err)
	}
	if err := receive(t, "the other session", ask(t.Context(), other)); err != nil {
		t.Errorf("the other session is to be well: %v", err)
	}
	_ = other.Close(t.Context())
}
