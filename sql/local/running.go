package local

import (
	"context"
	"fmt"
)

// Running tells whether the server runs, and its connection string for a
// database, without starting it and without holding it: it may stop as soon as
// the last one who holds it lets go.
func Running(ctx context.Context, o Options, database string) (url string, running bool, err error) {
	if o.Name == "" {
		o.Name = "main"
	}
	p, err := findPlace(o.Dir, o.Name)
	if err != nil {
		return "", false, fmt.Errorf("local server %q: %w", o.Name, err)
	}
	if now, _ := p.ask(ctx); now != serving {
		if ctx.Err() != nil {
			return "", false, ctx.Err()
		}
		return "", false, nil
	}
	return p.url(database), true, nil
}
