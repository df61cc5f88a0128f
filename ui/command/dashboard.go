package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"github.com/leasetop/leasetop/queue"
	"github.com/leasetop/leasetop/queue/watch"
	"github.com/leasetop/leasetop/ui"
	"github.com/leasetop/leasetop/ui/cli"
	"github.com/leasetop/leasetop/ui/plain"
	"github.com/leasetop/leasetop/workers/demo"
	"github.com/leasetop/leasetop/workers/faults"
	"github.com/leasetop/leasetop/workers/scenario"
)

// dashboard shows the queue, live, until it is quit or ctx ends. On the private
// server it also runs the demonstration.
func dashboard(ctx context.Context, w cli.Where, fresh, wantPlain bool, alerts ui.Alerts) (err error) {
	noScreen := plainReason(wantPlain)
	if noScreen != "" {
		fmt.Fprintf(os.Stderr, "leasetop: %s: printing events and depths as lines until interrupted\n", noScreen)
	}
	w.Fresh = fresh
	w.MaxConns = 10
	var news chan ui.ServerNews
	if noScreen == "" {
		news = make(chan ui.ServerNews, 16)
		w.Revived = func(text string, down bool) {
			select {
			case news <- ui.ServerNews{Text: text, Down: down}:
			default: // the screen has ended, or is far behind: it shows what it has
			}
		}
	}
	d, err := cli.Open(ctx, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := unusable(ctx, d); err != nil {
		return err
	}
	// What runs is ended below, in order, not by ctx: outcomes are written after a signal, too.
	lasting := context.WithoutCancel(ctx)
	feed := watch.Start(lasting, d.Queue, watch.Options{})
	defer feed.Close()
	if !d.Private() {
		damage := faults.NewDamage(faults.Target{Queue: d.Queue})
		if noScreen == "" {
			looking, stop := context.WithCancel(lasting)
			defer stop()
			go func() { _ = damage.Look(looking) }() // where it cannot be told, nothing is said
		}
		return show(ctx, d, feed, nil, damage, alerts, news, noScreen)
	}
	shop, err := openShop(lasting, d)
	if err != nil {
		return err
	}
	defer func() {
		// Beside the workers: where the database hangs each waits for its own connections.
		var ending sync.WaitGroup
		ending.Go(feed.Close)
		defer ending.Wait()
		err = errors.Join(err, shop.close(lasting))
	}()
	if err := shop.begin(lasting, d); err != nil {
		return err
	}
	return show(ctx, d, feed, shop, shop.damage, alerts, news, noScreen)
}

// plainReason says why there is no screen; "" when there is one.
func plainReason(wanted bool) string {
	switch {
	case wanted:
		return "plain mode"
	case !term.IsTerminal(os.Stdout.Fd()):
		return "standard output is no terminal, so going on in plain mode"
	case os.Getenv("TERM") == "dumb":
		return "TERM is dumb, so going on in plain mode"
	case !term.IsTerminal(os.Stdin.Fd()):
		return "standard input is no terminal, so going on in plain mode"
	}
	return ""
}

// unusable is the one line that a named database gets in which nothing can be seen: it
// lacks the schema, or is not UTF-8, or does not let this role in or look. A database that does not answer is the dashboard's to show: it may come back.
func unusable(ctx context.Context, d *cli.Database) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err := d.Ping(ctx)
	for _, final := range []error{queue.ErrSchemaMissing, queue.ErrEncoding, queue.ErrRefused, queue.ErrForbidden} {
		if errors.Is(err, final) {
			return d.Explain(err)
		}
	}
	return nil
}

// show shows it, on the screen or as lines. shop is nil where there is no demonstration.
func show(ctx context.Context, d *cli.Database, feed *watch.Feed, shop *shop, damage *faults.Damage, alerts ui.Alerts, news <-chan ui.ServerNews, noScreen string) error {
	if noScreen != "" {
		if shop == nil {
			return plain.Run(ctx, feed, nil, alerts.Limits, os.Stdout)
		}
		err := plain.Run(ctx, feed, shop.crew, alerts.Limits, os.Stdout)
		return errors.Join(err, heal(ctx, damage))
	}
	sweeping, stop := context.WithCancel(ctx)
	var swept sync.WaitGroup
	swept.Go(func() { scenario.SweepServers(sweeping, "") })
	defer swept.Wait()
	defer stop()
	config := ui.Config{
		Feed: feed, Jobs: d.Queue, Origin: d.Origin(), By: cli.Operator(), Alerts: alerts, Server: news, Tmux: os.Getenv("TMUX") != "",
		Scenarios: playhouse{d.Ground()}, Faults: damage,
	}
	if shop != nil {
		config.Workers, config.Demo, config.Serves = shop.crew, shop, demo.Queues()
	}
	err := ui.Run(ctx, config)
	return errors.Join(err, heal(ctx, damage))
}
