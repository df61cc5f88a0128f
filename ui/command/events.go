package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui/cli"
)

const eventsLong = `Print what happens, as it happens, until a signal comes.

Events are read from the write-ahead log: whoever made the change, in whatever language, it is told once it is committed, and nothing is asked of the table. Where the log cannot be had (the reason is told), they are the differences of polls, and say so: source is poll then. The renewals of one transaction and queue are one event with their count, and so are more than 20 changes of one kind in one transaction.

Of several values for one flag any will do; different flags must hold together. What the feed itself meets is told whatever is chosen, on standard error, or as an event whose what is health: from when on events are seen, that a connection was lost, why, and that it works again. A reader who is slow holds up nothing; when 20,000 events or more wait for one, the oldest are left out and their number is told.

As JSON each event is an object: seq (counts up by one, from 1), at (the database's clock), source, what, job_id (null when it is about no single job), count (how many jobs), queue, kind, owner (of the lease, in full), attempt, note. Where events were left out stands one whose what is missed, with their count.`

func addEvents(root *cobra.Command, o *options, add adder) {
	var whats, queues, jobs, crew names
	var follow bool
	var span span
	cmd := add(root, &cobra.Command{
		Use: "events --follow", Short: "Print what happens, as it happens",
		Long: eventsLong,
		Example: "leasetop events --follow\nleasetop events --follow --what failed,buried --queue emails -o json\n" +
			"leasetop events --follow --for 30s --job 42",
	}, noArguments, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		if !follow {
			return withHelp(cmd, "there is no log of the past: say events --follow for what happens from now on, or show ID for the history of one job")
		}
		options := cli.EventsOptions{Queues: queues, Workers: crew, For: span.long}
		if cmd.Flags().Changed("for") && span.long == 0 {
			return withHelp(cmd, "--for is 0: use a length of time like 30s, or leave it out")
		}
		for _, list := range []struct {
			flag  string
			names names
		}{{"what", whats}, {"queue", queues}, {"job", jobs}, {"worker", crew}} {
			if slices.Contains(list.names, "") {
				return withHelp(cmd, fmt.Sprintf("--%s: a name is empty: write them with one comma between, or leave the flag out", list.flag))
			}
		}
		for _, what := range whats {
			what = strings.ReplaceAll(what, "-", " ")
			if !slices.Contains(watch.Whats, watch.What(what)) {
				return withHelp(cmd, fmt.Sprintf("--what: nothing is called %q: there is %s", what, everyWhat()))
			}
			options.Whats = append(options.Whats, what)
		}
		var err error
		if options.Jobs, err = parseIDs(jobs); err != nil {
			return withHelp(cmd, "--job: "+err.Error())
		}
		return cli.Events(ctx, o.printer(), o.where(), options)
	})
	flags := cmd.Flags()
	flags.BoolVarP(&follow, "follow", "f", false, "go on until a signal comes (required)")
	flags.Var(&whats, "what", "only what is called so: "+everyWhat())
	flags.Var(&queues, "queue", `only of these queues; a comma within a name is written \,`)
	flags.Var(&jobs, "job", "only about these jobs")
	flags.Var(&crew, "worker", "only of these workers: w3, w3@host, or the owner in full")
	flags.Var(&span, "for", "end by itself after so long, like 30s")
}

// everyWhat lists what can happen, as flags take it.
func everyWhat() string {
	words := make([]string, len(watch.Whats))
	for i, what := range watch.Whats {
		words[i] = strings.ReplaceAll(string(what), " ", "-")
	}
	return strings.Join(words, ", ")
}
