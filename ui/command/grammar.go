package command

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/alert"
	"github.com/leasetop/leasetop/ui"
	"github.com/leasetop/leasetop/ui/cli"
)

// options are the flags of every command.
type options struct {
	url    string
	schema string
	output format
	// timeout is how long a named database may stay silent.
	timeout span
}

// newRoot builds the grammar. A command that runs leaves its error in failure;
// what ExecuteContext returns is about the grammar alone.
func newRoot(failure *error) *cobra.Command {
	o := &options{output: format(cli.Table), timeout: usually(cli.Patience)}
	var fresh, plain bool
	alerts := ui.Alerts{Limits: alert.Limits{}}
	root := &cobra.Command{
		Use:   "leasetop",
		Short: "A work queue on one PostgreSQL table, and its dashboard",
		Long: "A work queue on one PostgreSQL table, and its dashboard.\n\n" +
			"The database is the one of --database-url, else of DATABASE_URL, else of libpq's PG* variables, " +
			"else a private server that leasetop runs by itself. There, and only there, the schema is made " +
			"unasked and a demonstration fills the queues.\n\n" +
			"Exit status: 0 done, 1 failed, 2 called in a wrong way. An act on jobs exits with 1 when a job was locked, " +
			"refused by the server or, named by its id, not there; a job to which the act does not apply is skipped, and that is no failure.",
		Example: "leasetop\nleasetop enqueue --queue emails --kind send_welcome --payload '{\"to\":\"ann@example.com\"}'\n" +
			"leasetop depth -o json\nleasetop --database-url postgres://app@db/app migrate up",
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			*failure = o.check(cmd)
			if *failure == nil {
				*failure = dashboard(cmd.Context(), o.where(), fresh, plain, alerts)
			}
			return nil
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return withHelp(cmd, err.Error()) })
	flags := root.PersistentFlags()
	flags.StringVar(&o.url, "database-url", "", "the database: a URL or key=value string, as psql takes it")
	flags.StringVar(&o.schema, "schema", "leasetop", "the schema that holds the queue")
	flags.VarP(&o.output, "output", "o", "how to print: table or json")
	flags.Var(&o.timeout, "timeout", "how long the database may stay silent before a command gives up")
	root.Flags().BoolVar(&fresh, "fresh", false, "start over: wipe the private server's data first")
	root.Flags().BoolVar(&plain, "plain", false, "no screen: print events and depths as lines")
	limitFlags(root.Flags(), alerts.Limits, "max", "alert:", alert.Measures...)
	root.Flags().BoolVar(&alerts.Silent, "no-bell", false, "do not ring for an alert")
	root.Flags().Var(notify{&alerts.Notify}, "notify", "ask the terminal for a notification of each alert, too; it says how it is asked")
	root.Flags().Lookup("notify").NoOptDefVal = "auto"

	add := func(parent, cmd *cobra.Command, args cobra.PositionalArgs, do func(context.Context, *cobra.Command, []string) error) *cobra.Command {
		cmd.Args = args
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			*failure = o.check(cmd)
			if *failure == nil {
				ctx, end := cli.Endable(cmd.Context())
				defer end(nil)
				*failure = unprinted(cmd, do(ctx, cmd, args))
			}
			return nil
		}
		parent.AddCommand(cmd)
		return cmd
	}
	addMigrate(root, o, add)
	addEnqueue(root, o, add)
	addJobs(root, o, add)
	addDead(root, o, add)
	addOperate(root, o, add)
	addWork(root, o, add)
	addEvents(root, o, add)
	addCheck(root, o, add, failure)
	addScenario(root, o, add)

	reveal := false
	show := add(root, &cobra.Command{
		Use: "show ID", Short: "Print one job with its payload and history",
		Long: "Print one job with its payload and history.\n\n" +
			"What is called password, token, api_key and the like is masked in the payload and in errors; --reveal prints it, and the operator log tells who did. " +
			"-o json, which is for programs, prints everything as it is.",
		Example: "leasetop show 42\nleasetop show 42 -o json",
	}, oneID, func(ctx context.Context, _ *cobra.Command, args []string) error {
		ids, _ := parseIDs(args) // oneID has looked
		return cli.With(ctx, o.where(), func(d *cli.Database) error { return cli.Show(ctx, o.printer(), d.Queue, ids[0], reveal) })
	})
	show.Flags().BoolVar(&reveal, "reveal", false, "print secrets too; the operator log tells who did")
	add(root, &cobra.Command{
		Use: "depth", Short: "Print how many jobs each queue has by status, and which are paused", Example: "leasetop depth -o json",
	}, noArguments, func(ctx context.Context, _ *cobra.Command, _ []string) error {
		return cli.With(ctx, o.where(), func(d *cli.Database) error { return cli.Depth(ctx, o.printer(), d.Queue) })
	})
	add(root, &cobra.Command{
		Use: "url", Short: "Print the connection string in use, without its password",
		Long: "Print the connection string in use, without its password.\n\n" +
			"The private server has an address only while it runs, which is as long as some leasetop uses it.",
		Example: `psql "$(leasetop url)"`,
	}, noArguments, func(ctx context.Context, _ *cobra.Command, _ []string) error {
		return cli.URL(ctx, o.printer(), o.where())
	})
	return root
}

// adder adds a command to another.
type adder func(parent, cmd *cobra.Command, args cobra.PositionalArgs, do func(context.Context, *cobra.Command, []string) error) *cobra.Command

func addMigrate(root *cobra.Command, o *options, add adder) {
	migrate := add(root, &cobra.Command{
		Use: "migrate", Short: "Make, change or look at the schema",
	}, unknownCommand, func(_ context.Context, cmd *cobra.Command, _ []string) error {
		return withHelp(cmd, "migrate what? Say migrate up, migrate down or migrate status")
	})
	on := func(do func(context.Context, cli.Printer, *cli.Database) error) func(context.Context, *cobra.Command, []string) error {
		return func(ctx context.Context, _ *cobra.Command, _ []string) error {
			where := o.where()
			where.Bare = true
			return cli.With(ctx, where, func(d *cli.Database) error { return do(ctx, o.printer(), d) })
		}
	}
	add(migrate, &cobra.Command{Use: "up", Short: "Bring the schema up to date"}, noArguments, on(cli.MigrateUp))
	add(migrate, &cobra.Command{Use: "status", Short: "Print which steps the schema has; change nothing"}, noArguments, on(cli.MigrationStatus))
	yes := false
	down := add(migrate, &cobra.Command{
		Use: "down", Short: "Take the newest step back, with the data in it",
	}, noArguments, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		if !yes {
			return withHelp(cmd, "migrate down drops what the newest step made, with the data in it: add --yes if that is meant")
		}
		return on(cli.MigrateDown)(ctx, cmd, args)
	})
	down.Flags().BoolVar(&yes, "yes", false, "yes, drop it")
}

func addEnqueue(root *cobra.Command, o *options, add adder) {
	var job queue.NewJob
	var payload, runAt string
	var count, maxAttempts number = 1, queue.DefaultMaxAttempts
	cmd := add(root, &cobra.Command{
		Use: "enqueue --queue QUEUE", Short: "Add a job, or several alike; print one id a line",
		Long: "Add a job, or several alike; print one id a line.\n\n" +
			"--run-at takes a time with its offset from UTC, or how long from the database's now. It takes no local time, " +
			"which would mean two moments, or none, where the clocks change: +1d is 24 hours, always.",
		Example: "leasetop enqueue --queue emails --kind send_welcome --payload '{\"to\":\"ann@example.com\"}'\n" +
			"leasetop enqueue --queue reports --payload @report.json --run-at +90s\n" +
			"echo '{}' | leasetop enqueue --queue images --payload - --count 100",
	}, noArguments, func(ctx context.Context, cmd *cobra.Command, _ []string) error {
		if job.Queue == "" {
			return withHelp(cmd, "enqueue needs --queue: name the queue")
		}
		if err := queue.CheckName("queue", job.Queue); err != nil {
			return withHelp(cmd, "--queue: "+err.Error())
		}
		if job.Kind != "" {
			if err := queue.CheckName("kind", job.Kind); err != nil {
				return withHelp(cmd, "--kind: "+err.Error())
			}
		}
		for _, empty := range []struct{ name, value, cure string }{
			{"payload", payload, "write {} for none"},
			{"run-at", runAt, "leave it out for now"},
			{"idempotency-key", job.IdempotencyKey, "leave it out for none"},
		} {
			if cmd.Flags().Changed(empty.name) && empty.value == "" {
				return withHelp(cmd, "--"+empty.name+" is empty: "+empty.cure)
			}
		}
		var err error
		if job.RunAt, job.Delay, err = cli.RunAt(runAt); err != nil {
			return err
		}
		if job.Payload, err = cli.Payload(ctx, payload, os.Stdin); err != nil {
			return err
		}
		job.MaxAttempts = int(maxAttempts)
		return cli.With(ctx, o.where(), func(d *cli.Database) error {
			return cli.Enqueue(ctx, o.printer(), d.Queue, job, int(count))
		})
	})
	flags := cmd.Flags()
	flags.StringVar(&job.Queue, "queue", "", "the queue (required)")
	flags.StringVar(&job.Kind, "kind", "", "which handler does it; none leaves it to the queue's")
	flags.StringVar(&payload, "payload", "", "the payload: JSON, @file, or - for standard input; 256 MB at most (default {})")
	flags.Var(&count, "count", "how many jobs alike")
	flags.StringVar(&runAt, "run-at", "", "not before: +90s, +3d, a time like 2026-03-29T09:00:00+02:00, infinity (default now)")
	flags.Var(&maxAttempts, "max-attempts", "how often it is tried, 1 or more: again 2, 4, 8, 16, 32, then 64 minutes after each failure")
	flags.StringVar(&job.IdempotencyKey, "idempotency-key", "", "one job at a time for each key of a queue; prints the id of the one that holds it")
}

// check refuses flags that are empty where that would mean something else than
// was meant: with --database-url "$UNSET", the private server.
func (o *options) check(cmd *cobra.Command) error {
	for _, name := range []string{"database-url", "schema"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return withHelp(cmd, "--"+name+" is empty: name one, or leave it out")
		}
	}
	if o.timeout.long <= 0 {
		return withHelp(cmd, "--timeout is 0: use a length of time like 10s")
	}
	return nil
}

func (o *options) where() cli.Where {
	return cli.Where{URL: o.url, Schema: o.schema, Timeout: o.timeout.long, Progress: func(step string) { fmt.Fprintln(os.Stderr, "leasetop: "+step) }}
}

func (o *options) printer() cli.Printer {
	p := cli.Printer{Out: os.Stdout, Err: os.Stderr, Format: cli.Format(o.output)}
	if term.IsTerminal(os.Stderr.Fd()) && os.Getenv("TERM") != "dumb" {
		p.Progress = os.Stderr
	}
	return p
}
