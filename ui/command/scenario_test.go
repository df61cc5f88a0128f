package command

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/leasetop/leasetop/sql/local/testdb"
	"github.com/leasetop/leasetop/ui/cli"
)

// Behind a pooler nothing can be played: that is said at once, not by each play.
func TestPlaysBehindAPoolerAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	where := cli.Where{URL: testdb.PgBouncer(t, testdb.New(t), "transaction")}
	p := cli.Printer{Out: io.Discard, Err: io.Discard}
	for what, play := range map[string]func(*cli.Database) error{
		"one": func(d *cli.Database) error {
			return cli.PlayScenarios(t.Context(), p, d, cli.ScenarioOptions{Names: []string{"crash"}})
		},
		"all": func(d *cli.Database) error {
			return cli.PlayScenarios(t.Context(), p, d, cli.ScenarioOptions{Yes: true})
		},
		"soak": func(d *cli.Database) error {
			return cli.Soak(t.Context(), p, d, cli.SoakOptions{Lasts: 5 * time.Second})
		},
	} {
		if err := cli.With(t.Context(), where, play); !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), "not through a pooler") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
