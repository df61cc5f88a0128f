package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// fetchVersion is the PostgreSQL that is downloaded where none is installed.
const fetchVersion = embedded.V17

// fetchedFolder is where a downloaded PostgreSQL lives in the cache.
func fetchedFolder(cache string) string {
	return filepath.Join(cache, "postgresql-"+string(fetchVersion))
}

// fetch downloads PostgreSQL's programs into the cache, once. An empty
// repository means the library's own choice.
//
// The embedded-postgres library does the download: it knows the archives for
// each system and checks their digests. It has no way to stop after that, so
// its Start is called with data that can never start, in a folder of its own;
// what counts is whether it got as far as unpacking, which it shows by making
// the runtime folder afterwards.
func fetch(ctx context.Context, cache, repository string, progress func(string)) error {
	work, err := os.MkdirTemp(cache, "download-")
	if err != nil {
		return err
	}
	unpacked, ran, data := filepath.Join(work, "pg"), filepath.Join(work, "run"), filepath.Join(work, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(fetchVersion), 0o600); err != nil {
		return err
	}
	config := embedded.DefaultConfig().Version(fetchVersion).Port(0).CachePath(work).
		BinariesPath(unpacked).RuntimePath(ran).DataPath(data).Logger(io.Discard)
	if repository != "" {
		config = config.BinaryRepositoryURL(repository)
	}

	progress(fmt.Sprintf("downloading PostgreSQL %s, once", fetchVersion))
	done := make(chan error, 1)
	go func() {
		// The library's download takes no context: when ours ends first, it
		// goes on by itself and tidies up after itself.
		err := embedded.NewDatabase(config).Start()
		if _, missing := os.Stat(ran); missing == nil {
			err = install(unpacked, fetchedFolder(cache))
		}
		done <- errors.Join(err, os.RemoveAll(work))
	}()
	began := time.Now()
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			progress(fmt.Sprintf("still downloading PostgreSQL (%s)", time.Since(began).Round(time.Second)))
		}
	}
}

// install moves the unpacked programs into place, all at once. Losing that
// race to another leasetop is as good as winning it.
func install(unpacked, target string) error {
	if err := os.Chmod(unpacked, 0o755); err != nil {
		return err
	}
	err := os.Rename(unpacked, target)
	if _, there := os.Stat(filepath.Join(target, "bin", "postgres")); there == nil {
		return nil
	}
	return err
}
