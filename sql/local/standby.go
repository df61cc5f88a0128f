package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrNoCopies is wrapped by the error of [Server.Standby] where the program that copies
// a running server, pg_basebackup, is not installed: a PostgreSQL that was downloaded
// comes without.
var ErrNoCopies = errors.New("PostgreSQL's pg_basebackup was not found")

// Standby makes a hot standby of the server: another server, which o says, that follows
// this one by physical replication and takes no writes until [Server.Promote]. What data
// it had is wiped first: [ErrInUse] if another leasetop uses it. Settings are those of
// this server, then o's. As root both must be run by the same account, which they are
// under one Dir.
func (s *Server) Standby(ctx context.Context, o Options) (*Server, error) {
	o.Fresh = true
	o.Settings = maps.Clone(o.Settings)
	if o.Settings == nil {
		o.Settings = map[string]string{}
	}
	for name, value := range s.options.Settings {
		if _, own := o.Settings[name]; !own {
			o.Settings[name] = value
		}
	}
	return startServer(ctx, o, s)
}

// copyRunning fills dir, an empty folder of the runner's, from a server that runs, and
// has it follow that one.
func (p place) copyRunning(ctx context.Context, bin binaries, from *Server, dir string) error {
	if p.runner.uid != from.runner.uid {
		return fmt.Errorf("it would be run by %s, who cannot reach the server of %s: choose a folder under %s",
			p.runner.name, from.runner.name, filepath.Dir(from.folder))
	}
	program := bin.path("pg_basebackup")
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("%w in %s: install the package postgresql or postgresql-client, with its version %s", ErrNoCopies, bin.dir, bin.major())
	}
	args := []string{
		"--pgdata=" + dir, "--host=" + from.socket, "--port=" + port, "--username=" + superuser, "--no-password",
		"--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream",
	}
	if from.options.Unsafe {
		args = append(args, "--no-sync")
	}
	_, err := p.runner.run(ctx, p.folder, program, args...)
	return err
}

// Promote makes a standby a primary of its own, which takes writes when Promote returns.
// It does so whether or not the server that it follows is there still.
func (s *Server) Promote(ctx context.Context) error {
	return s.exclusively(ctx, "promote", func(bin binaries) error {
		_, err := s.runner.run(ctx, s.folder, bin.path("pg_ctl"), "promote", "-s", "-w", "-t", strconv.Itoa(int(s.options.patience().Seconds())), "-D", s.data())
		return err
	})
}

// Await has each commit on this server wait, from now on, until a standby has it, so that
// what was acknowledged survives the loss of this server; while that standby is away
// commits do not come back. nil waits for nobody.
func (s *Server) Await(ctx context.Context, standby *Server) error {
	if err := s.await(ctx, standby); err != nil {
		return fmt.Errorf("local server %q: commits that wait for a standby: %w", s.options.Name, err)
	}
	return nil
}

func (s *Server) await(ctx context.Context, standby *Server) error {
	conn, err := pgx.Connect(ctx, s.URL("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	// Not from package sql: this package knows no schema, and ALTER SYSTEM takes no parameters.
	statement := "ALTER SYSTEM RESET synchronous_standby_names"
	if standby != nil {
		// A standby is called by its cluster_name: see configure. As one name in quotes.
		name := `"leasetop ` + filepath.Base(standby.folder) + `"`
		statement = "ALTER SYSTEM SET synchronous_standby_names = '" + strings.ReplaceAll(name, "'", "''") + "'"
	}
	if _, err := conn.Exec(ctx, statement); err != nil {
		return err
	}
	return s.exclusively(ctx, "reload", func(bin binaries) error {
		_, err := s.runner.run(ctx, s.folder, bin.path("pg_ctl"), "reload", "-s", "-D", s.data())
		return err
	})
}
