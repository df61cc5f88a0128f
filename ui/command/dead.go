package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/ui/cli"
)

// addDead adds what tells of dead letters.
func addDead(root *cobra.Command, o *options, add adder) {
	dead := add(root, &cobra.Command{
		Use: "dead", Short: "Look at dead letters: one by one, or by what they died of",
	}, unknownCommand, func(_ context.Context, cmd *cobra.Command, _ []string) error {
		return withHelp(cmd, "dead what? Say dead groups or dead list")
	})

	var part listed
	list := add(dead, &cobra.Command{
		Use: "list [FILTER…]", Short: "List dead letters, newest death first",
		Long: "List dead letters, newest death first.\n\n" + filterHelp + "\n\n" +
			"They are read in short statements: what is rare among very many may take a while, and ctrl+c ends it. " +
			"When there are more than --limit, standard error says with which --before the list goes on.\n\n" +
			"As JSON each is one object a line, as `leasetop jobs` prints it. last_error is cut at 1,000 characters; show prints it whole. " + maskHelp,
		Example: "leasetop dead list 'queue:emails error:\"421\"'\nleasetop dead list 'died:<10m' -o json",
	}, cobra.ArbitraryArgs, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		if err := part.check(cmd); err != nil {
			return err
		}
		where, err := parseFilter(cmd, args)
		if err != nil {
			return err
		}
		return cli.With(ctx, o.where(), func(d *cli.Database) error {
			return cli.DeadLetters(ctx, o.printer(), d.Queue, where, part.part())
		})
	})
	part.flags(list)

	var limit, look number = 100, 2_000_000
	groups := add(dead, &cobra.Command{
		Use: "groups [FILTER…]", Short: "Print what dead letters died of, the largest group first",
		Long: "Print what dead letters died of, the largest group first. A group is what one queue and kind died of with errors that differ only in " +
			"numbers, ids, addresses and quoted texts. The bars show when, from the first death among them to now.\n\n" + filterHelp + "\n\n" +
			"Where there are more than --look dead letters, only the newest are looked at, and it says so. As JSON it is one object. " + maskHelp,
		Example: "leasetop dead groups\nleasetop dead groups 'queue:emails died:<1h' -o json | jq '.groups[] | {count, error}'",
	}, cobra.ArbitraryArgs, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		where, err := parseFilter(cmd, args)
		if err != nil {
			return err
		}
		return cli.With(ctx, o.where(), func(d *cli.Database) error {
			return cli.DeadGroups(ctx, o.printer(), d.Queue, where, int(look), int(limit))
		})
	})
	groups.Flags().Var(&limit, "limit", "at most so many groups")
	groups.Flags().Var(&look, "look", "look at so many dead letters, the newest")
}
