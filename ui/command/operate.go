package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/cli"
)

// addOperate adds what an operator does to queues and to jobs.
func addOperate(root *cobra.Command, o *options, add adder) {
	addPause(root, o, add)
	addCancel(root, o, add)
	addRedrive(root, o, add)
	addPlan(root, o, add)
	addDiscard(root, o, add)
	addEdit(root, o, add)
	addRelease(root, o, add)
	addPurge(root, o, add)
	addLog(root, o, add)
}

func addPause(root *cobra.Command, o *options, add adder) {
	var why string
	pause := add(root, &cobra.Command{
		Use: "pause QUEUE…", Short: "Let nobody claim from these queues",
		Long: "Let nobody claim from these queues, in any process and through restarts, until they are resumed.\n\n" +
			"Jobs that are running go on. Workers in other languages stop only if their claim asks leasetop.queues, as claim.sql does. " +
			"`leasetop depth` tells which queues are paused.",
		Example: "leasetop pause emails --why 'mail server moves'",
	}, someQueues, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return withHelp(cmd, "pause what? Name the queues")
		}
		return cli.With(ctx, o.where(), func(d *cli.Database) error { return cli.Pause(ctx, o.printer(), d.Queue, why, args) })
	})
	pause.Flags().StringVar(&why, "why", "", "the reason, for whoever finds it paused")

	all := false
	resume := add(root, &cobra.Command{
		Use: "resume QUEUE…", Short: "End the pause of these queues",
		Example: "leasetop resume emails\nleasetop resume --all",
	}, someQueues, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		switch {
		case all && len(args) > 0:
			return withHelp(cmd, "resume takes either queues or --all: leave the other out")
		case !all && len(args) == 0:
			return withHelp(cmd, "resume what? Name the queues, or say --all")
		}
		return cli.With(ctx, o.where(), func(d *cli.Database) error { return cli.Resume(ctx, o.printer(), d.Queue, args) })
	})
	resume.Flags().BoolVar(&all, "all", false, "every queue that is paused")
}

// purgeable is what can be purged, each by a flag of its name.
var purgeable = []struct {
	what         queue.PurgeWhat
	called, help string
}{
	{queue.PurgeCompleted, "completed jobs", "jobs that completed"},
	{queue.PurgeArchive, "discarded jobs", "jobs that were discarded"},
	{queue.PurgeOnce, "keys of effects", "keys of effects done once: a job that ran again after that would have its effect again"},
	{queue.PurgePlans, "redrive plans", "redrive plans that ended, with what they know of their jobs: they can be neither shown nor undone after that"},
}

func addPurge(root *cobra.Command, o *options, add adder) {
	var p queue.Purge
	var older span
	chosen, yes := make([]bool, len(purgeable)), false
	cmd := add(root, &cobra.Command{
		Use: "purge", Short: "Delete for good what has been over for long",
		Long: "Delete for good what has been over for long.\n\n" +
			"It works in short transactions with rests between them, so it may take its time. It can be interrupted: run again, it goes on with the rest. " +
			"Dead letters are never purged; redrive or discard them.",
		Example: "leasetop purge --completed --older-than 7d --yes\nleasetop purge --archive --queue emails --older-than 90d --yes",
	}, noArguments, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		i := slices.Index(chosen, true)
		switch {
		case i < 0 || slices.Contains(chosen[i+1:], true):
			return withHelp(cmd, "purge what? Say one of --completed, --archive, --once and --plans")
		case older.text == "":
			return withHelp(cmd, "purge needs --older-than: say for how long it has been over, like 7d")
		case cmd.Flags().Changed("queue") && p.Queue == "":
			return withHelp(cmd, "--queue is empty: name the queue, or leave it out for every queue")
		case purgeable[i].what == queue.PurgeOnce && p.Queue != "":
			return withHelp(cmd, "keys of effects belong to no queue: leave --queue out")
		case purgeable[i].what == queue.PurgePlans && p.Queue != "":
			return withHelp(cmd, "redrive plans belong to no queue: leave --queue out")
		case !yes: // how many, only a walk through the table could tell
			subject := purgeable[i].called
			if purgeable[i].what != queue.PurgeOnce && purgeable[i].what != queue.PurgePlans {
				subject += " of " + where(p.Queue)
			}
			return withHelp(cmd, fmt.Sprintf("this deletes for good the %s from more than %s ago: add --yes if that is meant", subject, older.text))
		}
		p.What, p.OlderThan = purgeable[i].what, older.long
		return cli.With(ctx, o.where(), func(d *cli.Database) error { return cli.Purge(ctx, o.printer(), d.Queue, p) })
	})
	flags := cmd.Flags()
	for i, w := range purgeable {
		flags.BoolVar(&chosen[i], string(w.what), false, w.help)
	}
	flags.Var(&older, "older-than", "only what has been over for longer than this, like 36h or 7d (required)")
	flags.StringVar(&p.Queue, "queue", "", "only jobs of this queue")
	flags.BoolVar(&yes, "yes", false, "yes, delete them")
}
