package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/cli"
)

// many is the grammar of an act on jobs that are named by their ids, or by their
// queue, or that are all there are. Only those named by id go without --yes.
type many struct {
	does, what string // as in "brings back" and "dead letter"

	queue    string
	all, yes bool
}

func (m *many) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&m.queue, "queue", "", fmt.Sprintf("every %s of this queue; needs --yes", m.what))
	flags.BoolVar(&m.all, "all", false, fmt.Sprintf("every %s of every queue; needs --yes", m.what))
	flags.BoolVar(&m.yes, "yes", false, "yes, all of them")
}

// act does it to the jobs that are meant; set reads those of a queue, "" for all. The
// set is fixed then: what joins it meanwhile is left alone.
func (m *many) act(ctx context.Context, o *options, cmd *cobra.Command, args []string,
	set func(*queue.Queue, context.Context, string) ([]int64, error), do func(*queue.Queue, []int64) error,
) error {
	ids, _ := parseIDs(args) // someIDs has looked
	named := cmd.Flags().Changed("queue")
	switch {
	case (named || m.all) && len(ids) > 0, named && m.all:
		return withHelp(cmd, cmd.Name()+" takes either ids, or --queue, or --all: leave the others out")
	case !named && !m.all && len(ids) == 0:
		return withHelp(cmd, cmd.Name()+" what? Name the ids, or say --queue QUEUE --yes or --all --yes")
	case named && m.queue == "":
		return withHelp(cmd, "--queue is empty: name the queue, or say --all")
	}
	return cli.With(ctx, o.where(), func(d *cli.Database) (err error) {
		if len(ids) == 0 {
			if ids, err = set(d.Queue, ctx, m.queue); err != nil {
				return err
			}
			if !m.yes {
				return withHelp(cmd, fmt.Sprintf("this %s every %s of %s, %d now: add --yes if that is meant", m.does, m.what, where(m.queue), len(ids)))
			}
		}
		return do(d.Queue, ids)
	})
}

func where(queueName string) string {
	if queueName == "" {
		return "every queue"
	}
	return fmt.Sprintf("queue %q", queueName)
}
