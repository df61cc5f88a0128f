package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/cli"
)

func addJobs(root *cobra.Command, o *options, add adder) {
	var which queue.Filter
	var statuses []string
	var part listed
	archived := false
	cmd := add(root, &cobra.Command{
		Use: "jobs [FILTER…]", Short: "List jobs, newest first",
		Long: "List jobs, newest first; failed and dead together: newest death first. Discarded jobs are in the archive, a list of its own.\n\n" +
			filterHelp + "\n\n" +
			"The table is read in short statements, each of a bounded stretch: what is rare in a large one may take a while, and ctrl+c ends it. " +
			"When there are more than --limit, standard error says with which --before the list goes on.\n\n" +
			"As JSON each job is one object a line with the table's column names. last_error is cut at 1,000 characters; show prints it whole. " + maskHelp,
		Example: "leasetop jobs --queue emails --status failed,dead\nleasetop jobs 'queue:emails status:pending age:>1h'\n" +
			"leasetop jobs --limit 1000 -o json --payload | jq .payload",
	}, cobra.ArbitraryArgs, func(ctx context.Context, cmd *cobra.Command, args []string) (err error) {
		for _, s := range statuses {
			if !slices.Contains(queue.Statuses, queue.Status(s)) {
				return withHelp(cmd, fmt.Sprintf("no status is called %q: use pending, processing, completed, failed or dead", s))
			}
			which.Statuses = append(which.Statuses, queue.Status(s))
		}
		switch {
		case archived && len(statuses) > 0:
			return withHelp(cmd, "--archived lists what was failed or dead when it was discarded: leave --status out")
		case archived && len(args) > 0:
			return withHelp(cmd, "--archived lists the archive, which takes no filter but --queue: leave the filter out")
		}
		if err := part.check(cmd); err != nil {
			return err
		}
		if which.Where, err = parseFilter(cmd, args); err != nil {
			return err
		}
		return cli.With(ctx, o.where(), func(d *cli.Database) error {
			if archived {
				return cli.ArchivedJobs(ctx, o.printer(), d.Queue, which.Queue, part.part())
			}
			return cli.Jobs(ctx, o.printer(), d.Queue, which, part.part())
		})
	})
	flags := cmd.Flags()
	flags.StringVar(&which.Queue, "queue", "", "only jobs of this queue")
	flags.StringSliceVar(&statuses, "status", nil, "only jobs of these statuses")
	part.flags(cmd)
	flags.BoolVar(&archived, "archived", false, "list the discarded jobs instead")
}

// listed are the flags of a list.
type listed struct {
	limit    number
	before   jobID
	payloads bool
	reveal   bool
}

func (l *listed) flags(cmd *cobra.Command) {
	l.limit = 100
	flags := cmd.Flags()
	flags.Var(&l.limit, "limit", "at most so many")
	flags.Var(&l.before, "before", "only what the list has after the job of this id")
	flags.BoolVar(&l.payloads, "payload", false, "print the payloads too")
	flags.BoolVar(&l.reveal, "reveal", false, "with --payload: print secrets too; the operator log tells who did")
}

// check refuses a flag that would do nothing.
func (l *listed) check(cmd *cobra.Command) error {
	if l.reveal && !l.payloads {
		return withHelp(cmd, "--reveal is for payloads: say --payload too, or `leasetop show ID --reveal`")
	}
	return nil
}

func (l *listed) part() cli.Part {
	return cli.Part{Limit: int(l.limit), Before: int64(l.before), Payloads: l.payloads, Reveal: l.reveal}
}
