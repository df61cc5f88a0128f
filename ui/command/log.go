package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/ui/cli"
)

func addLog(root *cobra.Command, o *options, add adder) {
	var limit number = 50
	var before jobID
	cmd := add(root, &cobra.Command{
		Use: "log", Short: "Print what people did to jobs and queues, newest first",
		Long: "Print what people did to jobs and queues, newest first: who, when, what, to how many, what chose them, and why.\n\n" +
			"An act is entered before it begins, and completed when it has ended: one that is never completed tells of a process that was killed. " +
			"As JSON each entry is one object a line. " + maskHelp + " Nothing removes entries; whoever owns the table leasetop.operator_log may delete old ones.",
		Example: "leasetop log --limit 10\nleasetop log -o json | jq 'select(.by | startswith(\"ann@\"))'",
	}, noArguments, func(ctx context.Context, _ *cobra.Command, _ []string) error {
		return cli.With(ctx, o.where(), func(d *cli.Database) error {
			return cli.Log(ctx, o.printer(), d.Queue, int64(before), int(limit))
		})
	})
	cmd.Flags().Var(&limit, "limit", "at most so many")
	cmd.Flags().Var(&before, "before", "only entries older than the one of this id")
}
