package workers

import (
	"errors"
	"fmt"
)

// Middleware puts something around a handler: it returns a handler that calls
// the one it was given. It is called once for each handler, by [New]; what it returns is
// called for each job, by several goroutines at once.
type Middleware func(Handler) Handler

// Use puts middleware around every handler, whether registered before or after,
// also around the answer to a job that has none. The first is the outermost.
func (h *Handlers) Use(m ...Middleware) { h.around = append(h.around, m...) }

// WithMiddleware puts middleware around one handler, inside that of
// [Handlers.Use]. The first is the outermost.
func WithMiddleware(m ...Middleware) HandlerOption {
	return func(h *handler) { h.around = append(h.around, m...) }
}

// wrap puts middleware around a handler, the first outermost.
func wrap(do Handler, around []Middleware) (Handler, error) {
	for i := len(around) - 1; i >= 0; i-- {
		if around[i] == nil {
			return nil, errors.New("a middleware is nil")
		}
		if crash := guarded(func() { do = around[i](do) }); crash != nil {
			return nil, fmt.Errorf("a middleware panics: %s", crash.value)
		}
		if do == nil {
			return nil, errors.New("a middleware returns no handler")
		}
	}
	return do, nil
}
