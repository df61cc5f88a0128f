package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/ui/cli"
)

// many is the grammar of an act on jobs that are named by their ids, or chosen by a filter,
// or by their queue, or that are all there are. Only those named by id go without --yes.
type many struct {
	does, what string        // as in "discards" and "dead letter"
	among      *queue.Filter // where a filter looks; nil: the act takes no filter, and why is in noFilter
	noFilter   string
	sets       bool // it takes --queue and --all
	do         func(context.Context, cli.Printer, *queue.Queue, cli.Chosen) error
	try        func(*queue.Queue) cli.Trial
	// all reads the ids of a queue, "" for every one; nil: they are found by the filter.
	all func(*queue.Queue, context.Context, string) ([]int64, error)

	acts bool // it takes --act

	queue              string
	act                jobID
	every, yes, dryRun bool
	why                string
}

// add adds the act to a command.
func (m *many) add(root *cobra.Command, o *options, add adder, cmd *cobra.Command, why string) {
	flags := add(root, cmd, cobra.ArbitraryArgs, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		return m.run(ctx, o, cmd, args)
	}).Flags()
	if m.sets {
		flags.StringVar(&m.queue, "queue", "", fmt.Sprintf("every %s of this queue; needs --yes", m.what))
		flags.BoolVar(&m.every, "all", false, fmt.Sprintf("every %s of every queue; needs --yes", m.what))
	}
	if m.acts {
		flags.Var(&m.act, "act", "those that this entry of the operator log discarded, and no others")
	}
	if m.sets || m.among != nil {
		flags.BoolVar(&m.yes, "yes", false, "yes, all of them")
	}
	flags.BoolVar(&m.dryRun, "dry-run", false, "only tell to which it would be done now")
	flags.StringVar(&m.why, "why", "", why)
}

func (m *many) run(ctx context.Context, o *options, cmd *cobra.Command, args []string) error {
	ids, words, err := idsOrFilter(cmd, args)
	named := cmd.Flags().Changed("queue")
	switch {
	case (named || m.every || m.act != 0) && len(args) > 0, named && m.every, m.act != 0 && (named || m.every):
		return withHelp(cmd, fmt.Sprintf("%s takes either %s, or --queue, or --all: leave the others out", cmd.Name(), m.words()))
	case named && m.queue == "":
		return withHelp(cmd, "--queue is empty: name the queue, or say --all")
	case !named && !m.every && m.act == 0 && len(args) == 0:
		return withHelp(cmd, fmt.Sprintf("%s what? Name %s", cmd.Name(), m.naming()))
	case m.among == nil && (words || err != nil):
		_, notIDs := parseIDs(args)
		return withHelp(cmd, notIDs.Error()+m.noFilter)
	case err != nil:
		return err
	}
	chosen, meant := cli.Chosen{IDs: ids, Why: m.why}, where(m.queue)
	var by queue.Filter
	switch {
	case words:
		if by.Where, err = parseFilter(cmd, args); err != nil {
			return err
		}
		if by.Where.Empty() {
			return withHelp(cmd, "the filter is empty: say which jobs are meant")
		}
		chosen.Filter, meant = by.Where.String(), by.Where.String()
	case named:
		by.Queue, chosen.Filter = m.queue, "queue:"+filter.Quote(m.queue)
	case m.every:
		chosen.Filter = "--all"
	}
	return cli.With(ctx, o.where(), func(d *cli.Database) (err error) {
		if m.act != 0 {
			if chosen, err = cli.DiscardedBy(ctx, d.Queue, int64(m.act), m.why); err != nil {
				return err
			}
		} else if chosen.Filter != "" {
			if chosen.IDs, err = m.find(ctx, o.printer(), d.Queue, by); err != nil {
				return err
			}
			if !m.yes && !m.dryRun {
				return withHelp(cmd, fmt.Sprintf("this %s every %s of %s, %d now: add --yes if that is meant, or --dry-run to see more", m.does, m.what, meant, len(chosen.IDs)))
			}
		}
		if m.dryRun {
			return cli.Try(ctx, o.printer(), m.try(d.Queue), chosen)
		}
		return m.do(ctx, o.printer(), d.Queue, chosen)
	})
}

// find reads which jobs are meant. The set is fixed then.
func (m *many) find(ctx context.Context, p cli.Printer, q *queue.Queue, by queue.Filter) ([]int64, error) {
	if m.all != nil {
		return m.all(q, ctx, by.Queue)
	}
	by.Statuses, by.Due = m.among.Statuses, m.among.Due
	return cli.Find(ctx, p, q, by)
}

// words say what may stand as arguments.
func (m *many) words() string {
	switch {
	case m.acts:
		return "ids, or --act"
	case m.among == nil:
		return "ids"
	}
	return "ids, or a filter"
}

// naming says how jobs can be named.
func (m *many) naming() string {
	ways := []string{"the ids"}
	if m.among != nil {
		ways = append(ways, "say which by a filter")
	}
	if m.acts {
		ways = append(ways, "say --act ID of the operator log")
	}
	if m.sets {
		ways = append(ways, "say --queue QUEUE --yes or --all --yes")
	}
	return strings.Join(ways, ", or ")
}

func where(queueName string) string {
	if queueName == "" {
		return "every queue"
	}
	return fmt.Sprintf("queue %q", queueName)
}
