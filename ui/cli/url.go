package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/leasetop/leasetop/sql/local"
)

// URL prints the connection string that the other commands would use, without
// its password. For the private server it wants it running: a server started for
// this command alone would stop before anybody could use its address.
func URL(ctx context.Context, p Printer, w Where) error {
	source, err := w.source(ctx)
	if err != nil {
		return err
	}
	shown := local.Redact(source.URL)
	if source.Private() {
		url, running, err := local.Running(ctx, local.Options{}, localDatabase)
		if err != nil {
			return err
		}
		if !running {
			return errors.New("the private server is not running: start `leasetop` (or `make run`) in another terminal, it runs as long as that does")
		}
		shown = url
	}
	if p.Format == JSON {
		return line(p.Out, struct {
			URL  string `json:"url"`
			From string `json:"from"`
		}{shown, source.From})
	}
	_, err = fmt.Fprintln(p.Out, shown)
	return err
}
