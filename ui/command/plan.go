package command

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/cli"
)

// planJobStates are those that the jobs of a plan can be in.
var planJobStates = []string{"waiting", "redriven", "skipped", "undone", "left"}

// addPlan adds what there is to do with redrive plans that have been started.
func addPlan(root *cobra.Command, o *options, add adder) {
	plan := add(root, &cobra.Command{
		Use: "plan", Short: "Look at redrive plans, pause, resume and undo them",
		Long: "Look at redrive plans, pause, resume and undo them. `leasetop redrive FILTER` starts one, and so does the dashboard.",
	}, unknownCommand, func(_ context.Context, cmd *cobra.Command, _ []string) error {
		return withHelp(cmd, "plan what? Say plan list, show, pause, resume, cancel or undo")
	})

	var limit number = 50
	var before jobID
	list := add(plan, &cobra.Command{
		Use: "list", Short: "List redrive plans, newest first", Example: "leasetop plan list -o json",
	}, noArguments, func(ctx context.Context, _ *cobra.Command, _ []string) error {
		return cli.With(ctx, o.where(), func(d *cli.Database) error {
			return cli.Plans(ctx, o.printer(), d.Queue, int64(before), int(limit))
		})
	})
	list.Flags().Var(&limit, "limit", "at most so many")
	list.Flags().Var(&before, "before", "only plans older than this one")

	var states []string
	show := add(plan, &cobra.Command{
		Use: "show ID", Short: "Print how far a plan is and what became of its jobs",
		Long: "Print how far a plan is and what became of its jobs.\n\n" +
			"--jobs lists those in some states, in the order in which they are redriven: waiting, redriven, skipped, undone (taken back), left (not reached when the plan was ended).",
		Example: "leasetop plan show 14\nleasetop plan show 14 --jobs skipped -o json",
	}, onePlan, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		for _, s := range states {
			if !slices.Contains(planJobStates, s) {
				return withHelp(cmd, "--jobs takes waiting, redriven, skipped, undone and left, with commas between them")
			}
		}
		ids, _ := parseIDs(args) // onePlan has looked
		return cli.With(ctx, o.where(), func(d *cli.Database) error {
			return cli.ShowPlan(ctx, o.printer(), d.Queue, ids[0], states...)
		})
	})
	show.Flags().StringSliceVar(&states, "jobs", nil, "list its jobs in these states too")

	for _, one := range []struct {
		name, short, long string
		do                func(context.Context, cli.Printer, *queue.Queue, string, int64) error
	}{
		{"pause", "Pause a plan, wherever it is executed", "", cli.PausePlan},
		{"resume", "Let a plan go on and execute it", "Let a plan go on that is paused, waits after its canary or stopped by itself, and execute it, or one that nobody executes any more. " +
			"One that had stopped begins with a canary again: as many jobs as its first, or ten.\n\n" +
			"One process at a time executes a plan. Exit status: see `leasetop redrive --help`.", cli.ResumePlan},
		{"cancel", "End a plan: what it has not redriven stays dead", "", cli.CancelPlan},
		{"undo", "Take back what a plan redrove and nobody has claimed yet", "Take back what a plan redrove and nobody has claimed yet: dead letters again, as they were. " +
			"What runs or has ended stays as it is, and what the plan had not reached stays dead.", cli.UndoPlan},
	} {
		var why string
		cmd := add(plan, &cobra.Command{
			Use: one.name + " ID", Short: one.short, Long: one.long, Example: "leasetop plan " + one.name + " 14",
		}, onePlan, func(ctx context.Context, _ *cobra.Command, args []string) error {
			ids, _ := parseIDs(args) // onePlan has looked
			return cli.With(ctx, o.where(), func(d *cli.Database) error { return one.do(ctx, o.printer(), d.Queue, why, ids[0]) })
		})
		cmd.Flags().StringVar(&why, "why", "", "the reason, for whoever reads the log")
	}
}
