package command

import (
	"context"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/ui/cli"
)

const soakLong = `Break things at random under load, and look whether any job is lost or done twice.

It starts a PostgreSQL server of its own, three crews of workers and two worker processes, which do some 40 jobs a second. About once a second something breaks, drawn by lot: a worker crashes, freezes or drains, a process is killed by SIGKILL or suspended, a network stalls, breaks or is slow, the sessions that hear of new work are ended, the server restarts. All of it is mended after a while.

Every ten seconds it says how it stands. At the end nothing breaks any more, and every job must be done, once; the exit status is 1 if that is not so. ctrl+c ends it early, and removes what it made.`

func addSoak(group *cobra.Command, o *options, add adder) {
	var minutes float64
	var seed uint64
	soak := add(group, &cobra.Command{
		Use: "soak", Short: "Break things at random for some minutes, and see that no job is lost or done twice",
		Long: soakLong, Example: "leasetop scenario soak --minutes 10 --seed 1",
	}, noArguments, func(ctx context.Context, _ *cobra.Command, _ []string) error {
		lasts := time.Duration(math.Round(minutes*60)) * time.Second
		if !(minutes > 0 && minutes <= mostSoak.Minutes()) || lasts < leastSoak {
			return cli.Usage("--minutes: in less than 5 s hardly anything breaks: use 0.1 or more, and at most 60: in more there are so many jobs that they cannot be counted as they go")
		}
		where := o.where()
		where.MaxConns = 4
		return cli.With(ctx, where, func(d *cli.Database) error {
			return cli.Soak(ctx, o.printer(), d, cli.SoakOptions{Lasts: lasts, Seed: seed})
		})
	})
	soak.Flags().Float64Var(&minutes, "minutes", 10, "how long things break")
	soak.Flags().Uint64Var(&seed, "seed", 0, "what decides all that is drawn by lot; 0 draws one, and says which")
}

const (
	leastSoak = 5 * time.Second // in less hardly anything breaks
	// Each count of what must hold reads all that was done: 540,000 jobs, as in three hours,
	// take it 5 s on two busy processors, and after 2 s it is said to be missing.
	mostSoak = time.Hour
)
