package editor

import (
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// prefix begins the names of the folders of drafts.
const prefix = "leasetop-edit-"

// Sweep looks for drafts of this user that a program left that was killed. It deletes
// those that nobody wrote to, and returns where the others are: what was typed is the
// operator's to delete. A draft that a program or an editor still has is left alone.
func Sweep() (kept []string) {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, folder := range folders {
		kept = append(kept, sweep(folder)...)
	}
	return kept
}

// sweep takes care of one folder, if it is one of this user and nobody's any more.
func sweep(folder string) (kept []string) {
	lock, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer lock.Close()
	info, err := lock.Stat()
	if err != nil || !ours(info) || syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil
	}
	found, err := lock.ReadDir(-1)
	if err != nil {
		return nil
	}
	clean := true
	for _, one := range found {
		info, err := one.Info()
		if err != nil || !info.Mode().IsRegular() || time.Duration(info.ModTime().Nanosecond()) != untouched {
			clean = false
		}
		kept = append(kept, filepath.Join(folder, one.Name()))
	}
	if clean && len(found) == 1 { // an empty one may be in the making
		_ = os.RemoveAll(folder)
		return nil
	}
	return kept
}

// ours tells whether a file is this user's.
func ours(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
