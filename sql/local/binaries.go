package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// oldestMajor is the oldest PostgreSQL the queue's SQL is written for.
const oldestMajor = 14

// ErrNoBinaries is returned when PostgreSQL is neither installed nor can be
// downloaded.
var ErrNoBinaries = errors.New("PostgreSQL's server programs were not found")

// ErrVersion is returned when the data directory was made by a PostgreSQL of
// another major version than any that is installed.
var ErrVersion = errors.New("the data was made by another PostgreSQL version")

// binaries is a folder with PostgreSQL's server programs.
type binaries struct {
	dir     string
	version string // "15.18"
}

func (b binaries) path(program string) string { return filepath.Join(b.dir, program) }

// major is what a data directory's PG_VERSION says: "15", or "9.6" of old.
func (b binaries) major() string {
	digits := strings.IndexFunc(b.version, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		return b.version
	}
	if b.version[:digits] == "9" {
		return strings.Join(strings.SplitN(b.version, ".", 3)[:2], ".")
	}
	return b.version[:digits]
}

// Find returns the folder with PostgreSQL's server programs (initdb, pg_ctl,
// postgres): LEASETOP_PG_BIN if set, else the first of PATH, pg_config, the
// usual folders of Debian, Fedora, Homebrew and Postgres.app, newest first,
// and a copy downloaded earlier. It downloads nothing: [Start] does, if
// nothing is found. The error wraps [ErrNoBinaries].
func Find(ctx context.Context) (string, error) {
	us := accountOf(uint32(os.Geteuid()), uint32(os.Getegid()))
	found, err := findBinaries(ctx, us, "/", "")
	return found.dir, err
}

// findBinaries finds binaries that the account can run, of the major version
// given if that is not empty. The error wraps ErrNoBinaries or ErrVersion.
func findBinaries(ctx context.Context, as account, in, major string) (binaries, error) {
	var unfit []string // found, but of no use, and why
	otherVersion := false
	for _, dir := range candidates(ctx) {
		found, err := examine(ctx, as, in, dir)
		if ctx.Err() != nil {
			return binaries{}, ctx.Err()
		}
		switch n, _ := strconv.Atoi(found.major()); {
		case err != nil:
			unfit = append(unfit, fmt.Sprintf("%s (%v)", dir, err))
		case major != "" && found.major() != major:
			otherVersion = true
			unfit = append(unfit, fmt.Sprintf("%s (version %s)", dir, found.version))
		case n < oldestMajor:
			unfit = append(unfit, fmt.Sprintf("%s (version %s is older than %d)", dir, found.version, oldestMajor))
		default:
			return found, nil
		}
	}
	if otherVersion {
		return binaries{}, fmt.Errorf("%w: PostgreSQL %s; found were %s. Install PostgreSQL %s, point LEASETOP_PG_BIN to its bin folder, or start over with --fresh",
			ErrVersion, major, strings.Join(unfit, ", "), major)
	}
	if os.Getenv(binVariable) != "" {
		return binaries{}, fmt.Errorf("%w in LEASETOP_PG_BIN: %s", ErrNoBinaries, strings.Join(unfit, ", "))
	}
	if len(unfit) > 0 {
		return binaries{}, fmt.Errorf("%w; of no use were %s", ErrNoBinaries, strings.Join(unfit, ", "))
	}
	return binaries{}, ErrNoBinaries
}

// binVariable names the environment variable that overrides the search.
const binVariable = "LEASETOP_PG_BIN"

// candidates lists folders that hold, or may hold, the server's programs, best
// first. LEASETOP_PG_BIN stands alone: who sets it wants that one and no other.
func candidates(ctx context.Context) []string {
	if dir := os.Getenv(binVariable); dir != "" {
		return []string{dir}
	}
	var dirs []string
	for _, program := range []string{"postgres", "initdb", "pg_ctl"} {
		// Debian and Homebrew link some of the programs into PATH, not all:
		// where the link points to is the whole set.
		if path, err := exec.LookPath(program); err == nil {
			if path, err = filepath.EvalSymlinks(path); err == nil {
				dirs = append(dirs, filepath.Dir(path))
			}
		}
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu, Alpine (/usr/libexec below)
		"/usr/libexec/postgresql*",          // Alpine
		"/usr/pgsql-*/bin",                  // Fedora, RHEL: packages of postgresql.org
		"/usr/local/pgsql/bin",              // built from source
		"/opt/homebrew/opt/postgresql*/bin", // Homebrew on Apple silicon
		"/usr/local/opt/postgresql*/bin",    // Homebrew on Intel
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		found, _ := filepath.Glob(pattern)
		slices.SortFunc(found, func(a, b string) int { return versionIn(b) - versionIn(a) })
		dirs = append(dirs, found...)
	}
	if cache, err := CacheFolder(); err == nil {
		dirs = append(dirs, filepath.Join(fetchedFolder(cache), "bin"))
	}
	var kept []string
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil && !slices.Contains(kept, dir) {
			kept = append(kept, dir)
		}
	}
	return kept
}

// versionIn returns the last number in a path, 0 if there is none.
func versionIn(path string) int {
	fields := strings.FieldsFunc(path, func(r rune) bool { return r < '0' || r > '9' })
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fields[len(fields)-1])
	return n
}

// examine looks whether the folder has all we need and the account can run it
// from the folder in.
func examine(ctx context.Context, as account, in, dir string) (binaries, error) {
	b := binaries{dir: dir}
	for _, program := range []string{"initdb", "pg_ctl", "postgres"} {
		if _, err := os.Stat(b.path(program)); err != nil {
			return b, fmt.Errorf("%s is missing", program)
		}
	}
	out, err := as.run(ctx, in, b.path("postgres"), "--version")
	if err != nil {
		return b, fmt.Errorf("as %s: %w", as.name, err)
	}
	// postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)
	fields := strings.Fields(out)
	if len(fields) < 3 || fields[0] != "postgres" {
		return b, fmt.Errorf("unknown version %q", out)
	}
	b.version = fields[2]
	return b, nil
}
