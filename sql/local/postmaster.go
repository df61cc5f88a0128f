package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// answer is what our socket says about the server.
type answer int

const (
	silent  answer = iota // nothing listens
	notYet                // it is starting or stopping
	serving               // it is ours and takes connections
)

// ask connects on our socket and asks whose server it is. An error means that
// a server answers which is not ours.
func (p place) ask(ctx context.Context) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.url("postgres"))
	var refused *pgconn.PgError
	switch {
	case errors.As(err, &refused) && refused.Code == "57P03": // cannot_connect_now
		return notYet, nil
	case errors.As(err, &refused) && refused.Code == "53300": // too_many_connections
		return serving, nil
	case errors.As(err, &refused):
		return silent, fmt.Errorf("the server on %s: %w", p.socket, err)
	case err != nil:
		return silent, nil
	}
	defer func() { _ = conn.Close(ctx) }()
	var data string
	if err := conn.QueryRow(ctx, "SHOW data_directory").Scan(&data); err != nil {
		return notYet, nil // it was just going down
	}
	if !sameFile(data, p.data()) {
		return silent, fmt.Errorf("the socket in %s is served by another server, whose data is in %s", p.socket, data)
	}
	return serving, nil
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// postmaster returns the process that postmaster.pid names if it is really the
// server of our data directory, 0 if there is none.
func (p place) postmaster() int {
	pid, err := p.pidInFile()
	if err != nil || pid <= 1 || !p.runsOurData(pid) {
		return 0
	}
	return pid
}

// pidFile is the name of the file in the data directory that names the process.
const pidFile = "postmaster.pid"

func (p place) pidInFile() (int, error) {
	data, err := p.openData()
	if err != nil {
		return 0, err
	}
	defer func() { _ = data.Close() }()
	text, err := readOwned(data, pidFile)
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(text, "\n")
	return strconv.Atoi(strings.TrimSpace(first))
}

// runsOurData reports whether the process is a server on our data directory:
// PostgreSQL makes that its working directory. A zombie has none.
func (p place) runsOurData(pid int) bool {
	if runtime.GOOS == "linux" {
		dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
		if err == nil || !errors.Is(err, os.ErrPermission) {
			return err == nil && sameFile(dir, p.data())
		}
	}
	out, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), p.data())
}

// errRunning is returned where a server was thought to be down.
var errRunning = errors.New("the server runs")

// disown makes a postmaster.pid that names nobody of ours harmless. PostgreSQL
// would not start while the process it names lives. The file is not removed,
// for it also says which shared memory the old server used, and PostgreSQL
// makes sure that no orphan of that server is still writing. So only the
// process id is replaced, by our own: PostgreSQL takes that of its grandparent
// for stale (CreateLockFile in miscinit.c), and if we die now, it is stale.
func (p place) disown() error {
	data, err := p.openData()
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }()
	text, err := readOwned(data, pidFile)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	default:
		first, rest, _ := strings.Cut(text, "\n")
		pid, err := strconv.Atoi(strings.TrimSpace(first))
		switch {
		case err != nil: // empty or cut off: the disk was full
			err = data.Remove(pidFile)
		case p.runsOurData(pid):
			err = errRunning
		default:
			err = overwrite(data, pidFile, strconv.Itoa(os.Getpid())+"\n"+rest)
		}
		if err != nil {
			return err
		}
	}
	socket, err := openFolder(p.socket, p.runner)
	if err != nil {
		return err
	}
	defer func() { _ = socket.Close() }()
	for _, left := range []string{".s.PGSQL." + port, ".s.PGSQL." + port + ".lock"} {
		if err := socket.Remove(left); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// overwrite replaces the content of a file and keeps its owner.
func overwrite(folder *os.Root, name, text string) error {
	file, err := openOwned(folder, name, os.O_WRONLY, 0) // cut only when it is known what was opened
	if err != nil {
		return err
	}
	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteString(text)
	}
	return errors.Join(err, file.Close())
}

// orphans is what PostgreSQL says when processes of a killed server still live.
const orphans = "pre-existing shared memory block"

// bringUp returns when the server takes connections, starting it if need be.
// The caller holds start.lock, so nobody else of ours starts or stops it; but
// it may be starting or stopping because of somebody who was killed.
func (p place) bringUp(ctx context.Context, bin binaries, o Options) error {
	deadline := time.Now().Add(o.patience())
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var mute time.Time // since when a server of ours runs without answering
	for {
		now, err := p.ask(ctx)
		if err != nil {
			return err
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case now == serving:
			return nil
		case now == silent && p.postmaster() == 0:
			err := p.start(ctx, bin, o)
			// It may come up although our start failed: whoever was killed
			// while starting it was just ahead of us.
			passing := err != nil && (strings.Contains(err.Error(), orphans) || p.postmaster() != 0)
			if !passing || time.Now().After(deadline) {
				return err
			}
		case now == silent && mute.IsZero():
			mute = time.Now()
		case now == silent && time.Since(mute) > 10*time.Second:
			// Its socket is gone, as when /tmp is swept: nobody can use it.
			if err := p.halt(ctx, bin, Fast); err != nil {
				return err
			}
			continue
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server is neither up nor down after %s; its log %s ends with:\n%s", o.patience(), p.log(), p.logTail())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// start starts a server that is down.
func (p place) start(ctx context.Context, bin binaries, o Options) error {
	if err := p.disown(); err != nil {
		return fmt.Errorf("start the server: %w", withCure(err, p))
	}
	if err := p.configure(o); err != nil {
		return err
	}
	if err := p.prepareLog(); err != nil {
		return fmt.Errorf("start the server: %w", withCure(err, p))
	}
	seconds := strconv.Itoa(int(o.patience().Seconds()))
	_, err := p.runner.run(ctx, p.folder, bin.path("pg_ctl"), "start", "-s", "-w", "-t", seconds, "-D", p.data(), "-l", p.log())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("%w\nthe server's log %s ends with:\n%s", err, p.log(), p.logTail())
		return fmt.Errorf("start the server: %w", withCure(err, p))
	}
	return nil
}

// Mode is how a server is stopped.
type Mode string

const (
	Fast      Mode = "fast"      // roll back, disconnect everybody, write everything
	Immediate Mode = "immediate" // as in a crash: the next start recovers from the WAL
)

// halt stops the server if it runs. It returns when the server is down.
func (p place) halt(ctx context.Context, bin binaries, mode Mode) error {
	if p.postmaster() == 0 {
		return nil
	}
	_, err := p.runner.run(ctx, p.folder, bin.path("pg_ctl"), "stop", "-s", "-w", "-t", "60", "-m", string(mode), "-D", p.data())
	if err != nil && p.postmaster() != 0 {
		return fmt.Errorf("stop the server: %w", err)
	}
	return nil
}
