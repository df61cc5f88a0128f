package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// plants are what another user may put in place of a file of ours.
var plants = map[string]func(path, victim string) error{
	"a pipe":          func(path, _ string) error { return syscall.Mkfifo(path, 0o666) },
	"a link":          func(path, victim string) error { return os.Symlink(victim, path) },
	"a hard link":     func(path, victim string) error { return os.Link(victim, path) },
	"a folder":        func(path, _ string) error { return os.Mkdir(path, 0o777) },
	"a dangling link": func(path, victim string) error { return os.Symlink(victim+".none", path) },
}

// planted is a server's place in a folder of another user's, if root runs the test.
func planted(t *testing.T) place {
	t.Helper()
	base := reachableFolder(t)
	if os.Geteuid() == 0 {
		if err := os.Chown(base, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	p, err := findPlace(base, "main")
	if err != nil {
		t.Fatal(err)
	}
	if err := makeFolder(p.data(), 0o700, p.runner); err != nil {
		t.Fatal(err)
	}
	return p
}

// promptly fails when f does not come back.
func promptly(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatalf("%s: hangs", what)
		return nil
	}
}

// Every place where the program opens a file in a server's folder, with each thing
// that may have been put there.
func TestPlantedFilesAreRefusedAndTheirTargetsLeftAlone(t *testing.T) {
	t.Parallel()
	uses := map[string]func(place) (file string, use func() error){
		"log":        func(p place) (string, func() error) { return p.log(), p.prepareLog },
		"start lock": func(p place) (string, func() error) { return lockUse(p, "start.lock") },
		"users lock": func(p place) (string, func() error) { return lockUse(p, "users.lock") },
		"process id": func(p place) (string, func() error) { return filepath.Join(p.data(), pidFile), p.disown },
		"version": func(p place) (string, func() error) {
			return filepath.Join(p.data(), "PG_VERSION"), func() error { _, err := p.version(); return err }
		},
		"process id that is overwritten": func(p place) (string, func() error) {
			return filepath.Join(p.data(), pidFile), func() error {
				data, err := p.openData()
				if err != nil {
					return nil
				}
				defer data.Close()
				return overwrite(data, pidFile, "1\n")
			}
		},
	}
	for use, at := range uses {
		for what, plant := range plants {
			t.Run(use+"/"+what, func(t *testing.T) {
				t.Parallel()
				p := planted(t)
				victim := filepath.Join(filepath.Dir(p.folder), "victim")
				if err := os.WriteFile(victim, []byte("1\nmine\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				path, do := at(p)
				if err := plant(path, victim); err != nil {
					t.Fatal(err)
				}
				err := promptly(t, use, do)
				missing := what == "a dangling link" && (errors.Is(err, fs.ErrNotExist) || err == nil && use == "process id")
				if !missing && (err == nil || !strings.Contains(err.Error(), filepath.Base(path))) {
					t.Errorf("%s in place of %s gave %v, want an error that names it", what, path, err)
				}
				wantVictim(t, victim)
			})
		}
	}
}

func lockUse(p place, name string) (file string, use func() error) {
	return filepath.Join(p.folder, name), func() error {
		lock, err := p.lock(name)
		if err == nil {
			lock.release()
		}
		return err
	}
}

// wantVictim fails unless the file is as it was.
func wantVictim(t *testing.T, victim string) {
	t.Helper()
	text, err := os.ReadFile(victim)
	if err != nil || string(text) != "1\nmine\n" {
		t.Errorf("the target holds %q, %v", text, err)
	}
	info, err := os.Lstat(victim)
	if err != nil || info.Mode() != 0o600 || uidOf(info) != uint32(os.Geteuid()) {
		t.Errorf("the target was changed: %v, %v", info, err)
	}
}

// The settings are written in place of whatever is there.
func TestSettingsReplaceWhatWasPlanted(t *testing.T) {
	t.Parallel()
	for what, plant := range plants {
		p := planted(t)
		victim := filepath.Join(filepath.Dir(p.folder), "victim")
		if err := os.WriteFile(victim, []byte("1\nmine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := plant(p.conf()+".new", victim); err != nil {
			t.Fatal(err)
		}
		if err := promptly(t, what, func() error { return p.configure(Options{}) }); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if info, err := os.Lstat(p.conf()); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: the settings are %v, %v", what, info, err)
		}
		wantVictim(t, victim)
	}
}

func TestPlantedLogIsNotWaitedForWhenItsEndIsRead(t *testing.T) {
	t.Parallel()
	p := planted(t)
	if err := syscall.Mkfifo(p.log(), 0o666); err != nil {
		t.Fatal(err)
	}
	var tail string
	_ = promptly(t, "the end of the log", func() error { tail = p.logTail(); return nil })
	if !strings.Contains(tail, "not a regular file") {
		t.Errorf("the end of the log is %q", tail)
	}
}

// In place of a folder, too, anything may stand.
func TestPlantedFoldersAreRefused(t *testing.T) {
	t.Parallel()
	for what, plant := range plants {
		if what == "a folder" {
			continue
		}
		p := planted(t)
		victim := filepath.Join(filepath.Dir(p.folder), "victim")
		if err := os.WriteFile(victim, []byte("1\nmine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(p.folder, "planted")
		if err := plant(path, victim); err != nil {
			t.Fatal(err)
		}
		if err := promptly(t, what, func() error { return makeFolder(path, 0o700, p.runner) }); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s in place of a folder gave %v", what, err)
		}
		if err := promptly(t, what, func() error { _, err := openFolder(path, p.runner); return err }); err == nil {
			t.Errorf("%s was opened as a folder", what)
		}
		wantVictim(t, victim)
	}
}

// Once it was found, the folder itself may be replaced.
func TestReplacedFolderIsRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root uses a folder of somebody else's")
	}
	p := planted(t)
	stolen := filepath.Join(reachableFolder(t), "roots")
	if err := os.Mkdir(stolen, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"server.conf", "data.new-1", "start.lock"} {
		if err := os.WriteFile(filepath.Join(stolen, name), []byte("1\nmine\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(p.folder, p.folder+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(stolen, p.folder); err != nil {
		t.Fatal(err)
	}
	p.sweep()
	for what, do := range map[string]func() error{
		"lock":      func() error { _, err := p.lock("start.lock"); return err },
		"log":       p.prepareLog,
		"configure": func() error { return p.configure(Options{}) },
		"create":    func() error { return p.create(func(string) error { return nil }) },
		"remove":    func() error { return removeFolder(p.folder, p.owner) },
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "belongs to root") {
			t.Errorf("%s in a folder of root's gave %v", what, err)
		}
	}
	entries, err := os.ReadDir(stolen)
	if err != nil || len(entries) != 3 {
		t.Errorf("root's folder holds %v, %v", entries, err)
	}
	for _, entry := range entries {
		wantVictim(t, filepath.Join(stolen, entry.Name()))
	}
}

func TestFolderOfRootsThatHoldsAnythingIsNotGivenAway(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root gives folders away")
	}
	base := reachableFolder(t)
	if err := os.Chown(base, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	owner, path := accountOf(12345, 12345), filepath.Join(base, "main")
	if err := os.MkdirAll(filepath.Join(path, "secret"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := makeFolder(path, 0o700, owner); err == nil || !strings.Contains(err.Error(), "belongs to root") {
		t.Errorf("a folder of root's gave %v", err)
	}
	if uid, _, err := ownerOf(path); err != nil || uid != 0 {
		t.Errorf("it belongs to %d now, %v", uid, err)
	}
	if err := os.Remove(filepath.Join(path, "secret")); err != nil {
		t.Fatal(err)
	}
	if err := makeFolder(path, 0o700, owner); err != nil { // made by a run that was killed before it gave it away
		t.Error(err)
	}
}

func TestFolderThatOthersMayWriteIsNotUsed(t *testing.T) {
	t.Parallel()
	p := planted(t)
	if err := os.Chmod(p.folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := p.prepareLog(); err == nil || !strings.Contains(err.Error(), "can be written by others") {
		t.Errorf("a folder that everybody may write gave %v", err)
	}
	if _, err := findPlace(filepath.Dir(p.folder), "main"); err != nil { // which closes it
		t.Fatal(err)
	}
	if err := p.prepareLog(); err != nil {
		t.Error(err)
	}
}
