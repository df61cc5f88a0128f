package command

import (
	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/cli"
)

// fixedSet says which jobs an act on many is about.
const fixedSet = "A filter, --queue and --all mean those there are when the command starts. "

func addDiscard(root *cobra.Command, o *options, add adder) {
	out := many{
		does: "discards", what: "dead letter", among: &queue.Filter{Statuses: queue.DeadLetters}, sets: true,
		do: cli.Discard, try: cli.TryDiscard,
	}
	out.add(root, o, add, &cobra.Command{
		Use: "discard ID… | FILTER…", Short: "Move dead letters to the archive, out of the way",
		Long: "Move dead letters to the archive, out of the way. Nothing is deleted: `leasetop jobs --archived` lists them, " +
			"`leasetop restore` brings them back, and only `leasetop purge --archive` deletes them.\n\n" +
			fixedSet + "A job that is no dead letter is skipped with the reason, which is no failure.\n\n" + filterHelp,
		Example: "leasetop discard 17 42 --why 'sent by hand'\nleasetop discard 'queue:emails error:\"no such user\"' --dry-run\nleasetop discard --queue emails --yes",
	}, "the reason, for whoever finds them in the archive")

	back := many{
		does: "restores", what: "discarded job", sets: true, acts: true, noFilter: "; restore takes no filter, since those look at jobs and not at the archive: say --act, --queue or --all",
		do: cli.Restore, try: cli.TryRestore, all: (*queue.Queue).ArchivedIDs,
	}
	back.add(root, o, add, &cobra.Command{
		Use: "restore ID…", Short: "Move discarded jobs back: dead letters again",
		Long: "Move discarded jobs back, as they were: dead letters again, which `leasetop redrive` can bring back to life.\n\n" +
			"--act takes back one discard, as `leasetop log` lists it: exactly the jobs that it moved and that are in the archive still, however many, without --yes. " +
			"--queue and --all mean those there are when the command starts; there is no filter over the archive. A job that is not in the archive is skipped with the reason, which is no failure.",
		Example: "leasetop restore 17 42\nleasetop restore --act 314\nleasetop restore --queue emails --yes",
	}, "the reason, for whoever reads the log")
}
