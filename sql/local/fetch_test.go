package local

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// programs are the entries of an archive like the real ones, whose programs only
// tell their version.
func programs() []tar.Header {
	entries := []tar.Header{{Typeflag: tar.TypeDir, Name: "bin/", Mode: 0o755}}
	for _, name := range []string{"initdb", "pg_ctl", "postgres"} {
		entries = append(entries, tar.Header{Typeflag: tar.TypeReg, Name: "bin/" + name, Mode: 0o755})
	}
	return append(entries,
		tar.Header{Typeflag: tar.TypeReg, Name: "./lib/libpq.so.5", Mode: 0o644},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "./lib/libpq.so", Linkname: "libpq.so.5"},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "lib/postgres", Linkname: "../bin/postgres"})
}

// jar packs the entries as the repository does: a tar, in xz, in a zip.
func jar(t *testing.T, entries []tar.Header) []byte {
	t.Helper()
	const script = "#!/bin/sh\necho 'postgres (PostgreSQL) 17.5'\n[ \"$1\" = --version ]\n"
	var plain, packed bytes.Buffer
	writer := tar.NewWriter(&plain)
	for _, entry := range entries {
		if entry.Typeflag == tar.TypeReg {
			entry.Size = int64(len(script))
		}
		if err := writer.WriteHeader(&entry); err != nil {
			t.Fatal(err)
		}
		if entry.Typeflag == tar.TypeReg {
			_, _ = writer.Write([]byte(script))
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	xz := exec.Command("xz", "-0", "-c")
	xz.Stdin = &plain
	out, err := xz.Output()
	if err != nil {
		t.Skipf("xz is needed to build the archive: %v", err)
	}
	archive := zip.NewWriter(&packed)
	entry, err := archive.Create("postgres-linux-x86_64.txz")
	if err == nil {
		_, err = entry.Write(out)
	}
	if err = errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// serve returns the origin of an archive, with its true digest.
func serve(t *testing.T, archive []byte) origin {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".jar") {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(archive)
	}))
	t.Cleanup(server.Close)
	sum := sha256.Sum256(archive)
	return origin{repository: server.URL, platform: "linux-amd64", digest: hex.EncodeToString(sum[:])}
}

// wantEmpty fails if the folder holds anything.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%s holds %v, %v; want nothing", dir, entries, err)
	}
}

func TestMissingPostgresIsFetchedAndNothingElseLeft(t *testing.T) {
	t.Parallel()
	cache := reachableFolder(t)
	if err := os.Mkdir(filepath.Join(cache, downloads+"killed"), 0o700); err != nil {
		t.Fatal(err)
	}
	var steps []string
	if err := fetch(t.Context(), cache, serve(t, jar(t, programs())), func(step string) { steps = append(steps, step) }); err != nil {
		t.Fatal(err)
	}
	us, err := serverAccount(cache)
	if err != nil {
		t.Fatal(err)
	}
	found, err := examine(t.Context(), us, "/", filepath.Join(fetchedFolder(cache), "bin"))
	if err != nil || found.version != "17.5" {
		t.Errorf("what was fetched cannot be run: %+v, %v", found, err)
	}
	if _, err := os.Stat(filepath.Join(fetchedFolder(cache), "lib", "libpq.so")); err != nil {
		t.Errorf("a link within the archive: %v", err)
	}
	if len(steps) == 0 || !strings.Contains(steps[0], "downloading PostgreSQL 17") {
		t.Errorf("progress was %q", steps)
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) != 1 {
		t.Errorf("the cache holds %v, %v", entries, err)
	}
}

// The digest is the product's own. What the repository says of it does not count.
func TestDownloadOfAnotherDigestIsRefused(t *testing.T) {
	t.Parallel()
	cache := reachableFolder(t)
	from := serve(t, jar(t, programs()))
	got := from.digest
	from.digest = pins["linux-amd64"]
	err := fetch(t.Context(), cache, from, func(string) {})
	if err == nil || !strings.Contains(err.Error(), got) || !strings.Contains(err.Error(), from.digest) {
		t.Errorf("an archive with another digest gave %v, want both digests", err)
	}
	wantEmpty(t, cache)
}

func TestEveryPinIsADigest(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for platform, digest := range pins {
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(digest) || seen[digest] != "" {
			t.Errorf("the digest of %s is %q, as that of %q", platform, digest, seen[digest])
		}
		seen[digest] = platform
	}
	from, err := pinned()
	if pins[platform()] == "" {
		if err == nil || !strings.Contains(err.Error(), platform()) {
			t.Errorf("a platform without a digest gave %+v, %v", from, err)
		}
	} else if err != nil || from.digest != pins[platform()] {
		t.Errorf("the origin here is %+v, %v", from, err)
	}
}

// An archive may be what it should be and still be unsound.
func TestArchiveWritesNothingOutsideOfItsFolder(t *testing.T) {
	t.Parallel()
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755} }
	link := func(name, to string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
	}
	outside := reachableFolder(t)
	for what, entries := range map[string][]tar.Header{
		"a name that goes up":                    {file("../../evil")},
		"a name that goes up and comes back":     {file("bin/../bin/evil")},
		"an absolute name":                       {file(outside + "/evil")},
		"a folder that goes up":                  {{Typeflag: tar.TypeDir, Name: "../evil/", Mode: 0o755}},
		"an absolute link":                       {link("etc", "/etc")},
		"a link that goes up":                    {link("up", "../..")},
		"a file through an absolute link":        {link("out", outside), file("out/evil")},
		"a file through a link that goes up":     {link("up", ".."), file("up/evil")},
		"a link that another link takes further": {{Typeflag: tar.TypeDir, Name: "d/", Mode: 0o755}, link("d/e", ".."), link("d/e/l", "../..")},
		"a link to be led out by a later one":    {link("l", "d/e/../evil"), {Typeflag: tar.TypeDir, Name: "d/", Mode: 0o755}, link("d/e", "..")},
		"a hard link to a file outside":          {{Typeflag: tar.TypeLink, Name: "passwd", Linkname: "/etc/passwd"}},
		"a hard link that goes up":               {{Typeflag: tar.TypeLink, Name: "passwd", Linkname: "../../../../../etc/passwd"}},
		"a second file of the same name":         {file("bin/postgres")},
		"a pipe":                                 {{Typeflag: tar.TypeFifo, Name: "pipe", Mode: 0o644}},
		"a device":                               {{Typeflag: tar.TypeChar, Name: "null", Mode: 0o666, Devmajor: 1, Devminor: 3}},
	} {
		cache := filepath.Join(reachableFolder(t), "cache")
		if err := os.Mkdir(cache, 0o755); err != nil {
			t.Fatal(err)
		}
		err := fetch(t.Context(), cache, serve(t, jar(t, append(programs(), entries...))), func(string) {})
		if err == nil || !strings.Contains(err.Error(), "the archive is not sound") {
			t.Errorf("%s gave %v", what, err)
		}
		wantEmpty(t, cache)
		wantEmpty(t, outside)
		if entries, _ := os.ReadDir(filepath.Dir(cache)); len(entries) != 1 {
			t.Errorf("%s: beside the cache stand %v", what, entries)
		}
	}
}

func TestArchiveThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	cache := reachableFolder(t)
	for _, text := range []string{"", "nonsense", string(jar(t, programs())[:300])} {
		if err := fetch(t.Context(), cache, serve(t, []byte(text)), func(string) {}); err == nil || !strings.Contains(err.Error(), "unpack PostgreSQL") {
			t.Errorf("an archive of %d bytes gave %v", len(text), err)
		}
	}
	wantEmpty(t, cache)
}

func TestDownloadEndsWithTheContext(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(asked)
		<-answer
	}))
	defer silent.Close()
	defer close(answer)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	cache := reachableFolder(t)
	go func() { done <- fetch(ctx, cache, origin{repository: silent.URL}, func(string) {}) }()
	<-asked
	sweepDownloads(cache) // another leasetop's: it must leave a download under way alone
	if entries, _ := os.ReadDir(cache); len(entries) != 1 {
		t.Errorf("a download under way was removed: %v", entries)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a download called off gave %v", err)
	}
	wantEmpty(t, cache)
}

func TestRefusedDownloadNamesTheCure(t *testing.T) {
	t.Parallel()
	got := howToInstall()
	if !strings.Contains(got, "install") || !strings.Contains(got, "postgresql") {
		t.Errorf("the cure is %q", got)
	}
}
