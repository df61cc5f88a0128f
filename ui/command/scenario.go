package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/ui/cli"
	"github.com/leasetop/leasetop/workers/scenario/stories"
)

const runScenarioLong = `Play failure scenarios without an audience, and say whether the queue kept its promises.

Each makes a world of its own, breaks something in it, and asserts what must be seen then; the dashboard's Scenarios tab shows the same plays to people. What was made is removed again, also when a play is interrupted.

On the private server, and on a database that is local and marked (ALTER DATABASE … SET leasetop.demonstration = on), every scenario can be played. Elsewhere only those are that keep to queues of their own, and only with --yes.

-o json prints one line for each; the exit status is 1 if any of them failed. --seed repeats what was drawn by lot.`

func addScenario(root *cobra.Command, o *options, add adder) {
	group := add(root, &cobra.Command{
		Use: "scenario", Short: "Break it on purpose: failure stories that assert what the queue promises",
	}, unknownCommand, func(_ context.Context, cmd *cobra.Command, _ []string) error {
		return withHelp(cmd, "scenario what? Say scenario list, scenario run or scenario soak")
	})
	add(group, &cobra.Command{
		Use: "list", Short: "Print which scenarios there are, and what each needs", Example: "leasetop scenario list",
	}, noArguments, func(context.Context, *cobra.Command, []string) error { return cli.Scenarios(o.printer()) })

	var every bool
	var play cli.ScenarioOptions
	run := add(group, &cobra.Command{
		Use: "run NAME… | --all", Short: "Play scenarios, and say whether they hold", Long: runScenarioLong,
		Example:           "leasetop scenario run crash zombie\nleasetop scenario run --all --seed 1 -o json",
		ValidArgsFunction: scenarioNames,
	}, cobra.ArbitraryArgs, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0 && !every:
			return withHelp(cmd, "scenario run which? Name some, as leasetop scenario list prints them, or say --all")
		case len(args) > 0 && every:
			return withHelp(cmd, "scenario run takes either names, or --all: leave the others out")
		}
		play.Names = args
		where := o.where()
		where.MaxConns = 4
		return cli.With(ctx, where, func(d *cli.Database) error { return cli.PlayScenarios(ctx, o.printer(), d, play) })
	})
	run.Flags().BoolVar(&every, "all", false, "every scenario, one after another")
	run.Flags().Uint64Var(&play.Seed, "seed", 0, "what decides all that is drawn by lot; 0 draws one, and says which")
	run.Flags().BoolVar(&play.Yes, "yes", false, "yes, on a database that is not for demonstrations")
	addSoak(group, o, add)
}

// scenarioNames completes the names of scenarios.
func scenarioNames(_ *cobra.Command, given []string, begun string) ([]string, cobra.ShellCompDirective) {
	var found []string
	for _, s := range stories.All() {
		if strings.HasPrefix(s.Name, begun) {
			found = append(found, s.Name+"\t"+s.Title)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
