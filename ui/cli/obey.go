package cli

import "context"

// obeying does what may block for ever, as reading a pipe does, and returns when ctx ends.
// Nothing can interrupt a read of a file: what was begun goes on until the program ends, and
// its result is dropped.
func obeying[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
