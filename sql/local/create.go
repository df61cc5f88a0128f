package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// superuser is the only role of a private server.
const superuser = "postgres"

// create makes the data directory: fill fills an empty folder beside it, which
// is renamed when it is whole, so that a run killed in the middle leaves nothing
// that looks like data. The caller holds start.lock.
func (p place) create(fill func(dir string) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("create the data directory %s: %w", p.data(), withCure(err, p))
		}
	}()
	folder, err := p.open()
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	name := fmt.Sprintf("data.new-%d-%08x", os.Getpid(), rand.Uint32())
	half := filepath.Join(p.folder, name)
	if err = makeFolder(half, 0o700, p.runner); err == nil {
		err = fill(half)
	}
	if err == nil {
		err = folder.Rename(name, filepath.Base(p.data()))
	}
	if err != nil {
		_ = folder.RemoveAll(name)
	}
	return err
}

// sweep removes what runs killed in the middle of initdb or of a wipe left.
func (p place) sweep() {
	left, _ := filepath.Glob(filepath.Join(p.folder, "data.*-*"))
	for _, dir := range left {
		_ = p.discard(filepath.Base(dir)) // if it cannot be removed now, the next run tries again
	}
}

// discard removes what has the name in the server's folder, and all below it.
func (p place) discard(name string) error {
	folder, err := p.open()
	if err != nil {
		return err
	}
	return errors.Join(folder.RemoveAll(name), folder.Close())
}

// initdb initialises dir, an empty folder of the runner's.
func (p place) initdb(ctx context.Context, bin binaries, dir string, more ...string) error {
	args := []string{
		"--pgdata=" + dir, "--username=" + superuser, "--encoding=UTF8",
		// Whoever gets at the socket is in a 0700 folder of the runner's.
		"--auth-local=trust", "--auth-host=reject",
	}
	args = append(args, more...)
	out, err := p.runner.run(ctx, p.folder, bin.path("initdb"), append(args, "--locale=C.UTF-8")...)
	if err != nil && strings.Contains(out, "invalid locale name") { // macOS and older systems have none
		_, err = p.runner.run(ctx, p.folder, bin.path("initdb"), append(args, "--locale=C")...)
	}
	if err != nil {
		return err
	}
	data, err := openFolder(dir, p.runner)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }()
	conf, err := openOwned(data, "postgresql.conf", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = conf.WriteString("\n# Written anew by leasetop at each start.\ninclude '../server.conf'\n")
	return errors.Join(err, conf.Close())
}

// copyPristine fills dir from a data directory that was initialised once for
// this version and account: initdb takes a second or two, a copy a tenth of
// that, most of which would be the first WAL segment if it had the usual 16 MB.
// Copies share a system identifier, which only servers made for tests may.
func (p place) copyPristine(ctx context.Context, bin binaries, dir string) error {
	name := fmt.Sprintf("pristine-%s-%d", bin.version, p.runner.uid)
	pristine := p
	pristine.folder = filepath.Join(filepath.Dir(p.folder), name)
	if err := makeFolder(pristine.folder, 0o755, p.owner); err != nil {
		return err
	}
	lock, err := pristine.startLock(ctx)
	if err != nil {
		return err
	}
	defer lock.release()
	if _, err := os.Stat(pristine.data()); err != nil {
		pristine.sweep()
		err := pristine.create(func(half string) error { return pristine.initdb(ctx, bin, half, "--no-sync", "--wal-segsize=1") })
		if err != nil {
			return err
		}
	}
	_, err = p.runner.run(ctx, p.folder, "cp", "-R", "-p", pristine.data()+"/.", dir)
	return err
}

var settingForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// configure writes server.conf.
func (p place) configure(o Options) error {
	settings := map[string]string{
		"listen_addresses":        "",
		"port":                    port,
		"unix_socket_directories": p.socket,
		"unix_socket_permissions": "0700",
		"cluster_name":            "leasetop " + filepath.Base(p.folder),
		"max_connections":         "200",
		"shared_buffers":          "128MB",
		"wal_level":               "logical",
		"max_replication_slots":   "20",
		"max_wal_senders":         "20",
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"log_line_prefix":         "%m [%p] %a ",
		"logging_collector":       "off",
		"log_destination":         "stderr",
		"fsync":                   "on",
		"max_slot_wal_keep_size":  "2GB", // a forgotten slot may not fill the disk
		"leasetop.demonstration":  "on",  // nothing here is anybody's but ours: see queue.Demonstration
	}
	if o.Unsafe {
		// synchronous_commit stays on: the WAL stream sends only what has been
		// flushed, and an asynchronous commit is flushed up to 0.6 s later.
		settings["fsync"] = "off"
		settings["full_page_writes"] = "off"
		settings["checkpoint_timeout"] = "1h"
		settings["max_wal_size"] = "256MB" // it may be memory
		settings["min_wal_size"] = "32MB"
	}
	maps.Copy(settings, o.Settings)

	var text strings.Builder
	text.WriteString("# Written by leasetop at each start.\n")
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if !settingForm.MatchString(key) || strings.ContainsAny(settings[key], "\n\r\x00") {
			return fmt.Errorf("server setting %q = %q is not a PostgreSQL setting", key, settings[key])
		}
		value := strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(settings[key])
		fmt.Fprintf(&text, "%s = '%s'\n", key, value)
	}
	folder, err := p.open()
	if err != nil {
		return fmt.Errorf("configure the server: %w", withCure(err, p))
	}
	defer func() { _ = folder.Close() }()
	name := filepath.Base(p.conf())
	if err := writeAnew(folder, name+".new", text.String()); err != nil {
		return fmt.Errorf("configure the server: %w", withCure(err, p))
	}
	if err := folder.Rename(name+".new", name); err != nil {
		return fmt.Errorf("configure the server: %w", err)
	}
	return nil
}

// writeAnew makes a file that everybody may read, whatever our umask. Where the
// folder is another account's, what has the name may be a link to a file that is
// not ours to write: it is removed, never followed.
func writeAnew(folder *os.Root, name, text string) error {
	if err := folder.RemoveAll(name); err != nil {
		return err
	}
	file, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Chmod(0o644), file.Close())
}
