package command

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/filter"
	"github.com/leasetop/leasetop/ui/cli"
)

// redriving is how a redrive was asked for, besides which jobs are meant.
type redriving struct {
	plan       queue.NewPlan
	queue      string
	all, yes   bool
	dryRun     bool
	statements bool
}

// canaryStopAt is when a plan with a canary stops unless the command says so: the
// dashboard suggests the same.
const canaryStopAt = 20

// careful are the flags that make a redrive of named ids a plan.
var careful = []string{"canary", "wait", "pace", "stop-at", "reason"}

func addRedrive(root *cobra.Command, o *options, add adder) {
	var r redriving
	cmd := add(root, &cobra.Command{
		Use: "redrive ID… | FILTER…", Short: "Bring dead letters back: pending now, attempts from zero",
		Long: "Bring dead letters back: pending now, attempts from zero, history kept.\n\n" +
			"Ids are redriven at once. A filter, --queue and --all mean the dead letters that there are when the command starts: it makes a plan of that set " +
			"and carries it out, in short transactions. So does any of --canary, --wait, --pace, --stop-at and --reason. `leasetop plan` lists plans, pauses, resumes and undoes them, " +
			"and so does the dashboard. ctrl+c pauses the plan. A job that cannot be brought back is skipped with the reason, which is no failure.\n\n" +
			"--canary redrives so many first and waits until all of them have ended. Then it goes on by itself when no more of them died again than --stop-at allows, " +
			"and with --wait not before somebody says `leasetop plan resume`. With neither it stops at 20 per cent; --stop-at 100 never does.\n\n" +
			"Exit status: 0 when it is done, or waits as it was told to by --wait, 1 when a job was locked, refused by the server or, named by its id, not there, 3 when it stopped by itself because too many died again, " +
			"4 when somebody paused, cancelled or interrupted it.\n\n" + filterHelp,
		Example: "leasetop redrive 17 42\nleasetop redrive 'queue:emails error:\"421\"' --dry-run\n" +
			"leasetop redrive 'queue:emails error:\"421\"' --canary 5 --pace 50 --stop-at 20 --reason 'limits lifted' --yes\nleasetop redrive --queue emails --yes",
	}, cobra.ArbitraryArgs, func(ctx context.Context, cmd *cobra.Command, args []string) error {
		return r.run(ctx, o, cmd, args)
	})
	flags := cmd.Flags()
	flags.StringVar(&r.queue, "queue", "", "every dead letter of this queue; needs --yes")
	flags.BoolVar(&r.all, "all", false, "every dead letter of every queue; needs --yes")
	flags.BoolVar(&r.yes, "yes", false, "yes, all of them")
	flags.BoolVar(&r.dryRun, "dry-run", false, "only tell what would happen now")
	flags.BoolVar(&r.statements, "show-sql", false, "only print the statements")
	flags.Var((*count)(&r.plan.Canary), "canary", "redrive so many first and wait until they have ended (default all at once)")
	flags.BoolVar(&r.plan.Wait, "wait", false, "after the canary wait for `leasetop plan resume`")
	flags.Var((*perSecond)(&r.plan.Pace), "pace", "so many jobs a second (default as fast as it goes)")
	flags.Var(percent{&r.plan.StopAt}, "stop-at", "stop when more than so many per cent of those that ended are dead again; 0: when one is (default: with --canary and without --wait 20, else never)")
	flags.StringVar(&r.plan.Reason, "reason", "", "why, for whoever reads the log")
}

func (r *redriving) run(ctx context.Context, o *options, cmd *cobra.Command, args []string) error {
	flags := cmd.Flags()
	ids, words, err := idsOrFilter(cmd, args)
	named := flags.Changed("queue")
	switch {
	case err != nil:
		return err
	case (named || r.all) && len(args) > 0, named && r.all:
		return withHelp(cmd, "redrive takes either ids, or a filter, or --queue, or --all: leave the others out")
	case !named && !r.all && len(args) == 0:
		return withHelp(cmd, "redrive what? Name the ids, or say which by a filter, --queue QUEUE or --all")
	case named && r.queue == "":
		return withHelp(cmd, "--queue is empty: name the queue, or say --all")
	case r.plan.Wait && r.plan.Canary == 0:
		return withHelp(cmd, "--wait waits after the canary: say --canary too")
	case r.dryRun && r.statements:
		return withHelp(cmd, "--dry-run and --show-sql are two things: leave one out")
	}
	var where filter.Filter
	switch {
	case named:
		where, err = filter.Parse("queue:" + filter.Quote(r.queue))
	case words:
		where, err = parseFilter(cmd, args)
	}
	if err != nil {
		return err
	}
	asPlan := len(ids) == 0
	for _, flag := range careful {
		asPlan = asPlan || flags.Changed(flag)
	}
	return cli.With(ctx, o.where(), func(d *cli.Database) (err error) {
		plan := r.plan
		if plan.Canary > 0 && plan.StopAt == nil && !plan.Wait {
			plan.StopAt = new(canaryStopAt) // nobody looks at how it ended but the plan
		}
		plan.IDs, plan.Filter = ids, where.String()
		if set := len(args) == 0 || words; set {
			if plan.IDs, err = cli.DeadMatching(ctx, o.printer(), d.Queue, where); err != nil {
				return err
			}
			if !r.yes && !r.dryRun && !r.statements {
				return withHelp(cmd, fmt.Sprintf("this brings back every dead letter of %s, %d now: add --yes if that is meant, or --dry-run to see more", r.meant(where), len(plan.IDs)))
			}
		}
		p := o.printer()
		switch {
		case r.statements:
			return cli.RedriveStatements(p, d.Queue, plan)
		case r.dryRun:
			return cli.TryRedrive(ctx, p, d.Queue, plan, len(ids) > 0)
		case asPlan && len(plan.IDs) > 0:
			return cli.StartPlan(ctx, p, d.Queue, plan, len(ids) > 0)
		}
		return cli.Redrive(ctx, p, d.Queue, cli.Chosen{IDs: plan.IDs, Filter: plan.Filter})
	})
}

// meant says in words which dead letters are meant.
func (r *redriving) meant(f filter.Filter) string {
	if r.queue != "" || f.Empty() {
		return where(r.queue)
	}
	return f.String()
}

// count is a flag that counts something: 0 or more.
type count int

func (c *count) Type() string   { return "number" }
func (c *count) String() string { return zeroless(strconv.Itoa(int(*c))) }
func (c *count) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("use a whole number from 0 to %d", math.MaxInt32)
	}
	*c = count(n)
	return nil
}

// percent is a flag that is a share: 0 to 100, nil when it was not said.
type percent struct{ of **int }

func (p percent) Type() string { return "percent" }
func (p percent) String() string {
	if p.of == nil || *p.of == nil {
		return ""
	}
	return strconv.Itoa(**p.of)
}

func (p percent) Set(text string) error {
	n, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	if err != nil || n < 0 || n > 100 {
		return fmt.Errorf("use a whole number from 0 to 100")
	}
	*p.of = &n
	return nil
}

// perSecond is a flag that says how fast.
type perSecond float64

func (r *perSecond) Type() string   { return "rate" }
func (r *perSecond) String() string { return zeroless(strconv.FormatFloat(float64(*r), 'f', -1, 64)) }

func (r *perSecond) Set(text string) error {
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err == nil && n == 0:
		return fmt.Errorf("leave it out for as fast as it goes")
	case err != nil || !(n > 0 && n <= queue.MaxPace):
		return fmt.Errorf("use a number of jobs a second like 50 or 0.5, at most %d", queue.MaxPace)
	}
	*r = perSecond(n)
	return nil
}

// zeroless is how a flag's value is shown that means something else when it was not said.
func zeroless(text string) string {
	if text == "0" {
		return ""
	}
	return text
}
