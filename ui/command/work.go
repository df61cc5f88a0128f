package command

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/ui/cli"
	"github.com/leasetop/leasetop/workers"
	"github.com/leasetop/leasetop/workers/demo"
	"github.com/leasetop/leasetop/workers/faults"
)

const workLong = `Do jobs, until a signal comes.

CMD is started once for each job, without a shell and always with the same arguments: those after --, on this command line. It finds the payload on its standard input, exactly as the database has it, and LEASETOP_JOB_ID, LEASETOP_QUEUE, LEASETOP_KIND and LEASETOP_ATTEMPT in its environment, which is this process's own besides: a password in DATABASE_URL is passed on.

Exit status 0 completes the job. 65 (EX_DATAERR) is poison: the job is dead; --poison-status adds other statuses. After any other status, and any signal that this process did not send, the job is tried again 2, 4, 8, 16, 32, then 64 minutes later (no flag changes that), until its attempts are used up: 5, unless enqueue was told otherwise. Then it is failed. The end of what CMD wrote on standard error is kept as the job's error. Both its streams are passed on to standard error, line by line. When CMD cannot be started, its jobs are given back without an attempt used, and put off, by a second at first, by 30 at last; work slows down meanwhile.

Jobs come from the queues strictly in the order given: from the second only while the first has none. A lease that is lost ends CMD and all it started (its process group) at once, by SIGKILL; so does the end of this process, kill -9 included, and on Linux its being stopped (SIGSTOP, ctrl+z) for longer than the lease.

The first SIGINT, SIGTERM or SIGHUP drains: no new jobs; those running may go on for the grace period, near whose end they get SIGTERM and then SIGKILL, and are released for others. A second signal ends them at once. The exit status is 0 after an orderly drain, 1 when jobs were left to the end of their leases, and when somebody who read the lines of -o json reads no more, which ends the work. Under systemd set KillMode=mixed, or CMD gets SIGTERM as soon as this process does, and its job is tried again.

Without --exec the demonstration's jobs are done, on the private server only: a second process beside the dashboard, which can be killed for real.`

// What one process may be asked for. More is a slip of the finger.
const (
	mostWorkers = 1000
	mostSlots   = 1000
)

func addWork(root *cobra.Command, o *options, add adder) {
	w := cli.WorkOptions{Demo: cli.Demonstration{
		Queues: demo.Queues(),
		Handlers: func(ctx context.Context, q *queue.Queue) (*workers.Handlers, error) {
			return demo.Handlers(q, faults.NewDependency(rand.Uint64()), faults.KillSelf), demo.Prepare(ctx, q)
		},
	}}
	var program string
	var crew, slots number = 1, 1
	var poison statuses
	lease, grace, retention := usually(30*time.Second), usually(30*time.Second), span{}
	cmd := add(root, &cobra.Command{
		Use: "work --queue QUEUE[,QUEUE…] --exec CMD [-- ARG…]", Short: "Do jobs, each by a program of yours",
		Long: workLong,
		Example: "leasetop work --queue emails,newsletters --workers 4 --exec ./send-mail\n" +
			"leasetop work --queue images --exec python3 -- resize.py --quality 80\n" +
			"leasetop work --queue reports   # beside the demonstration",
	}, afterDashes, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		switch {
		case len(w.Queues) == 0:
			return withHelp(cmd, "work needs --queue: name the queues, the most urgent first")
		case cmd.Flags().Changed("exec") && program == "":
			return withHelp(cmd, "--exec is empty: name the program that does each job")
		case lease.long < time.Second:
			return withHelp(cmd, "--lease is "+lease.text+": use 1s or more, or heartbeats could not keep it")
		case grace.long == 0:
			return withHelp(cmd, "--grace is 0: use a little, like 1s, for running jobs to be released")
		case program == "" && len(poison) > 0:
			return withHelp(cmd, "--poison-status is about the program that --exec names: name one, or leave it out")
		case program == "" && len(args) > 0:
			return withHelp(cmd, fmt.Sprintf("what stands after -- are arguments of the program that --exec names: say --exec %s", args[0]))
		}
		if program != "" {
			w.Exec = append([]string{program}, args...)
		} else { // what the demonstration does itself, unless it is said otherwise
			if !cmd.Flags().Changed("lease") {
				lease = usually(demo.Lease)
			}
			if !cmd.Flags().Changed("grace") {
				grace = usually(demo.Grace)
			}
		}
		w.Poison = poison
		w.Workers, w.Slots = int(crew), int(slots)
		w.Lease, w.Grace, w.Retention = lease.long, grace.long, retention.long
		return cli.Work(ctx, o.printer(), o.where(), w)
	})
	flags := cmd.Flags()
	flags.Var((*names)(&w.Queues), "queue", `the queues, strictly in this order of preference; a comma within a name is written \, (required)`)
	flags.StringVar(&program, "exec", "", "the program that does each job; its arguments stand after --")
	flags.Var(&poison, "poison-status", "exit statuses besides 65 that bury the job, like 1,7")
	flags.Var(few{&crew, mostWorkers}, "workers", fmt.Sprintf("how many workers, each with a claim of its own, %d at most", mostWorkers))
	flags.Var(few{&slots, mostSlots}, "slots", fmt.Sprintf("how many jobs each of them does at once, %d at most", mostSlots))
	flags.Var(&lease, "lease", "how long a job stays a worker's that is not heard of, 1s or more; heartbeats renew it each third of it")
	flags.Var(&grace, "grace", "how long running jobs may go on after the first signal")
	flags.Var(&retention, "retention", "remove completed jobs that are older than this, like 7d (default: keep them)")
}

// usually is a span that says so when nothing else is said.
func usually(d time.Duration) span { return span{text: d.String(), long: d} }

// afterDashes takes arguments only after --.
func afterDashes(cmd *cobra.Command, args []string) error {
	if before := cmd.ArgsLenAtDash(); before != 0 && len(args) > 0 {
		if before < 0 {
			before = len(args)
		}
		return withHelp(cmd, fmt.Sprintf("%s does not know what %q is for: arguments of the program that --exec names stand after --", cmd.CommandPath(), args[:before]))
	}
	return nil
}
