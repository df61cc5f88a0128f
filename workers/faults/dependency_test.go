package faults

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestDependencyFailsAsOftenAsItIsSetToAndTheSameWayForTheSameSeed(t *testing.T) {
	t.Parallel()
	calls := func(seed uint64) (failed string, counted Calls) {
		d := NewDependency(seed)
		d.Set(0.3, 0)
		for range 1000 {
			switch err := d.Call(t.Context()); {
			case err == nil:
				failed += "."
			case errors.Is(err, ErrDependency):
				failed += "x"
			default:
				t.Fatal(err)
			}
		}
		return failed, d.Calls()
	}
	one, counted := calls(7)
	if same, _ := calls(7); same != one {
		t.Error("the same seed went another way")
	}
	if other, _ := calls(8); other == one {
		t.Error("another seed went the same way")
	}
	if counted.Failed < 200 || counted.Failed > 400 || counted.Succeeded+counted.Failed != 1000 {
		t.Errorf("%+v", counted)
	}
}

func TestDependencyIsSetAnewWhileItIsInUse(t *testing.T) {
	t.Parallel()
	d := NewDependency(1)
	if err := d.Call(t.Context()); err != nil {
		t.Errorf("it begins with %v", err)
	}
	d.Set(1, 0)
	if err := d.Call(t.Context()); !errors.Is(err, ErrDependency) {
		t.Errorf("failing always: %v", err)
	}
	d.Set(0, time.Hour)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	answer := make(chan error, 1)
	go func() { answer <- d.Call(ctx) }()
	cancel(gone)
	if err := receive(t, "the caller to give up", answer); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
	d.Set(0, time.Millisecond)
	if err := d.Call(t.Context()); err != nil {
		t.Error(err)
	}
	if c := d.Calls(); c != (Calls{Succeeded: 2, Failed: 1}) {
		t.Errorf("%+v", c)
	}
}
