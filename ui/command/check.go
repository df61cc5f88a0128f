package command

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/ui/cli"
)

const checkLong = `Judge the queues by limits, for monitoring: one line on standard output, and the exit status that monitoring plugins have.

  0 OK, 1 WARNING, 2 CRITICAL, and 3 UNKNOWN: it could not be checked, and the line says why

More than --max-… is critical, more than --warn-… a warning; as much as the limit is neither. Behind | stand the figures for graphs.

A queue that no job and no pause is known of is UNKNOWN: its name may be wrong. (In a large table, one that only has jobs long completed cannot be told from that, and is taken for well unless another's name is close to it.)

The figures come from one bounded statement. Deaths a minute are those of the dead letters there are that died within the last ten minutes: one that was redriven or discarded since is none of them. Where no database is named, the private server must run already: none is started, for its empty queues would be well.`

// measuresOfCheck are those that a look at the table tells.
var measuresOfCheck = []alert.Measure{alert.Dead, alert.DeadRate, alert.Age, alert.Expired}

func addCheck(root *cobra.Command, o *options, add adder, failure *error) {
	c := cli.CheckOptions{Max: alert.Limits{}, Warn: alert.Limits{}}
	timeout := span{text: "10s", long: 10 * time.Second}
	// unknown is how a check ends that was called in a wrong way: for monitoring it is one
	// line and status 3, like whatever else keeps it from telling.
	unknown := func(err error) error {
		if err == nil {
			return nil
		}
		return cli.Unchecked(o.printer(), err.Error())
	}
	arguments := func(cmd *cobra.Command, args []string) error { return unknown(noArguments(cmd, args)) }
	cmd := add(root, &cobra.Command{
		Use: "check", Short: "Judge the queues by limits, as a monitoring plugin", Long: checkLong,
		Example: "leasetop check --max-dead 10 --warn-dead 1 --max-age 5m\n" +
			"leasetop check --queue emails --max-dead-rate 2 --max-expired 0 -o json",
	}, arguments, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		switch {
		case cmd.Flags().Changed("queue") && c.Queue == "":
			return unknown(withHelp(cmd, "--queue is empty: name the queue, or leave it out for every queue"))
		case timeout.long <= 0:
			return unknown(withHelp(cmd, "--timeout is 0: use a length of time like 10s"))
		}
		c.Timeout = timeout.long
		return cli.Check(ctx, o.printer(), o.where(), c)
	})
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return unknown(withHelp(cmd, err.Error())) })
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(cmd); err != nil {
			*failure = unknown(err)
			return nil
		}
		return run(cmd, args)
	}
	flags := cmd.Flags()
	limitFlags(flags, c.Max, "max", "critical:", measuresOfCheck...)
	limitFlags(flags, c.Warn, "warn", "a warning:", measuresOfCheck...)
	flags.StringVar(&c.Queue, "queue", "", "only jobs of this queue")
	flags.Var(&timeout, "timeout", "how long it may take in all")
}
