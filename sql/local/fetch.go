package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"time"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// fetchedFolder is where a downloaded PostgreSQL lives in the cache.
func fetchedFolder(cache string) string {
	return filepath.Join(cache, "postgresql-"+fetchVersion)
}

// origin is where an archive comes from, and what it must be.
type origin struct {
	repository string // the address of the repository
	platform   string // as the repository calls it: "linux-arm64v8"
	digest     string // SHA-256 of the archive, in hexadecimal
}

// pinned returns the origin of the programs for this machine. It is an error if
// the product knows no digest for it, since the download could not be checked.
func pinned() (origin, error) {
	// The embedded-postgres library knows the repository. Its own download takes
	// whatever comes when no digest is published, and unpacks it wherever the
	// archive says. So only the address is used, which the library keeps private.
	repository := reflect.ValueOf(embedded.DefaultConfig()).FieldByName("binaryRepositoryURL").String()
	o := origin{repository: repository, platform: platform()}
	o.digest = pins[o.platform]
	if o.digest == "" || !strings.HasPrefix(repository, "https://") {
		return origin{}, fmt.Errorf("there is no PostgreSQL %s for %s whose digest is known, so a download could not be checked", fetchVersion, o.platform)
	}
	return o, nil
}

// platform is this machine as the repository calls it.
func platform() string {
	arch := runtime.GOARCH
	if arch == "arm64" {
		arch = "arm64v8"
	}
	if _, err := os.Stat("/etc/alpine-release"); err == nil {
		arch += "-alpine"
	}
	return runtime.GOOS + "-" + arch
}

func (o origin) url() string {
	name := "embedded-postgres-binaries-" + o.platform
	return o.repository + "/io/zonky/test/postgres/" + name + "/" + fetchVersion + "/" + name + "-" + fetchVersion + ".jar"
}

// fetch downloads PostgreSQL's programs into the cache, once. The archive is
// unpacked only if its digest is the pinned one, and whatever goes wrong,
// nothing of the attempt is left behind.
func fetch(ctx context.Context, cache string, from origin, progress func(string)) (err error) {
	sweepDownloads(cache)
	work, err := os.MkdirTemp(cache, downloads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	busy, err := holdFolder(work)
	if err != nil {
		return err
	}
	defer busy.release()

	progress(fmt.Sprintf("downloading PostgreSQL %s, once", fetchVersion))
	done := reportProgress(progress)
	archive, err := from.archive(ctx)
	done()
	if err != nil {
		return err
	}
	unpacked := filepath.Join(work, "pg")
	if err := unpack(archive, unpacked); err != nil {
		return err
	}
	return install(unpacked, fetchedFolder(cache))
}

// archiveLimit bounds a download. The archives have up to 30 MB.
const archiveLimit = 256 << 20

// archive downloads the archive and checks its digest.
func (o origin) archive(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url(), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get %s: the server says %s", o.url(), printable(response.Status))
	}
	archive, err := io.ReadAll(io.LimitReader(response.Body, archiveLimit))
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", o.url(), err)
	}
	sum := sha256.Sum256(archive)
	if got := hex.EncodeToString(sum[:]); got != o.digest {
		return nil, fmt.Errorf("%s is not the archive it should be, and was not unpacked: its checksum (SHA-256) is %s, not %s", o.url(), got, o.digest)
	}
	return archive, nil
}

// reportProgress reports progress every few seconds until the returned function is called.
func reportProgress(progress func(string)) (done func()) {
	began, end, ended := time.Now(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				progress(fmt.Sprintf("still downloading PostgreSQL (%s)", time.Since(began).Round(time.Second)))
			}
		}
	}()
	return func() {
		close(end)
		<-ended
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

// downloads begins the names of the folders of downloads under way.
const downloads = "download-"

// sweepDownloads removes what killed downloads left. A download under way holds
// a lock on its folder.
func sweepDownloads(cache string) {
	left, _ := filepath.Glob(filepath.Join(cache, downloads+"*"))
	for _, dir := range left {
		if lock, err := holdFolder(dir); err == nil {
			_ = os.RemoveAll(dir) // if it cannot be removed now, the next download tries again
			lock.release()
		}
	}
}

// holdFolder locks a folder. It is an error if another has the lock.
func holdFolder(dir string) (*fileLock, error) {
	file, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	lock := &fileLock{file: file}
	if got, err := lock.tryExclusive(); !got {
		lock.release()
		return nil, errors.Join(fmt.Errorf("%s is in use", dir), err)
	}
	return lock, nil
}
