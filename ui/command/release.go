package command

import (
	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/cli"
)

// addRelease adds what brings jobs forward that would have come by themselves later.
func addRelease(root *cobra.Command, o *options, add adder) {
	release := many{
		noFilter: "; release takes ids alone, since it takes jobs from whoever has them: `leasetop jobs --status processing` lists them",
		do:       cli.Release, try: cli.TryRelease,
	}
	release.add(root, o, add, &cobra.Command{
		Use: "release ID…", Short: "Take running jobs back from workers that are gone",
		Long: "Take running jobs back from workers that are known to be gone, before their leases run out: pending again, the attempt returned.\n\n" +
			"Whoever owned a job is fenced: it cannot complete it any more. But a worker that lives after all has perhaps done half of it, or all, " +
			"and what it did is done again. A job that is not running is skipped with the reason, which is no failure.",
		Example: "leasetop release 17 42 --why 'db3 burnt down'",
	}, "the reason, for whoever reads the log")

	now := many{
		does: "makes due", what: "scheduled job", among: &queue.Filter{Statuses: []queue.Status{queue.Pending}, Due: queue.DueLater},
		do: cli.RunNow, try: cli.TryRunNow,
	}
	now.add(root, o, add, &cobra.Command{
		Use: "run-now ID… | FILTER…", Short: "Make scheduled jobs due now",
		Long: "Make scheduled jobs due now; those that wait for their next attempt are scheduled too.\n\n" +
			"A filter means the scheduled jobs that pass it when the command starts. A job that is due already, or does not wait, is skipped with the reason, which is no failure.\n\n" + filterHelp,
		Example: "leasetop run-now 17 42\nleasetop run-now queue:reports --dry-run",
	}, "the reason, for whoever reads the log")
}
