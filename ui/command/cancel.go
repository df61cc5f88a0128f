package command

import (
	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/cli"
)

func addCancel(root *cobra.Command, o *options, add adder) {
	m := many{
		does: "cancels", what: "pending and running job", among: &queue.Filter{Statuses: []queue.Status{queue.Pending, queue.Processing}},
		do: cli.Cancel, try: cli.TryCancel,
	}
	m.add(root, o, add, &cobra.Command{
		Use: "cancel ID… | FILTER…", Short: "End jobs that nobody wants any more",
		Long: "End jobs that nobody wants any more: they become dead letters.\n\n" +
			"A pending job is dead at once. A running one cannot be ended from outside: its worker is asked to, finds out within moments, " +
			"or by its next heartbeat, and ends it as dead unless it is just done. The command does not wait for that.\n\n" +
			"A filter means the pending and the running jobs that pass it when the command starts.\n\n" + filterHelp,
		Example: "leasetop cancel 17 42\nleasetop cancel 'queue:reports kind:monthly' --yes --why 'wrong month'",
	}, "the reason, for whoever reads the log")
}
