package local

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Root may run a server in a folder that another user owns. That user can put
// anything there, and replace it between a look and a use: a link to a file of
// root's, a second name of it, a pipe that blocks whoever opens it. So a folder is
// opened once and its owner is checked on what was opened; files are opened below
// that, without following links or waiting, and checked on what was opened.

// openFolder opens a folder that must be the account's, and that nobody else can write.
func openFolder(path string, owner account) (*os.Root, error) {
	// With "/." a pipe in its place is an error. Without, it would block.
	folder, err := os.OpenRoot(path + "/.")
	if err != nil {
		return nil, err
	}
	info, err := folder.Stat(".")
	if err == nil {
		err = trusted(path, info, owner)
	}
	if err != nil {
		_ = folder.Close()
		return nil, err
	}
	return folder, nil
}

func trusted(path string, info fs.FileInfo, owner account) error {
	if uid := uidOf(info); uid != owner.uid {
		return fmt.Errorf("%s belongs to %s, not to %s: remove it, or set LEASETOP_HOME to another place", path, accountOf(uid, 0).name, owner.name)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s can be written by others: chmod go-w it, or set LEASETOP_HOME to another place", path)
	}
	return nil
}

// openOwned opens a regular file in the folder. Anything else is refused, and so
// is a file that has another name: it may be a file of somebody else's that was
// linked there.
func openOwned(folder *os.Root, name string, flag int, perm fs.FileMode) (*os.File, error) {
	file, err := folder.OpenFile(name, flag|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, perm)
	there, statErr := folder.Lstat(name)
	switch {
	case err != nil && statErr == nil && !there.Mode().IsRegular():
		return nil, notRegular(folder, name)
	case err != nil:
		return nil, err
	}
	info, err := file.Stat()
	if err = errors.Join(err, statErr); err == nil {
		// The path's own link count: while it is 1, this is the file's only name.
		switch st, ok := there.Sys().(*syscall.Stat_t); {
		case !there.Mode().IsRegular(), !os.SameFile(info, there):
			err = notRegular(folder, name)
		case !ok || st.Nlink != 1:
			err = fmt.Errorf("%s/%s has another name, a hard link: remove it", clean(folder), name)
		}
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func notRegular(folder *os.Root, name string) error {
	return fmt.Errorf("%s/%s is not a regular file: remove it", clean(folder), name)
}

// clean is the folder's path as the user knows it.
func clean(folder *os.Root) string {
	path := folder.Name()
	if n := len(path) - len("/."); n > 0 && path[n:] == "/." {
		return path[:n]
	}
	return path
}

// giveTo makes what was opened, and is root's, the account's.
func giveTo(file *os.File, to account) error {
	info, err := file.Stat()
	if err != nil || to.self() || uidOf(info) == to.uid {
		return err
	}
	if uid := uidOf(info); uid != 0 {
		return fmt.Errorf("%s belongs to %s, not to %s: remove it", file.Name(), accountOf(uid, 0).name, to.name)
	}
	return file.Chown(int(to.uid), int(to.gid))
}

// readLimit bounds the files that are read whole: a process id, a version.
const readLimit = 64 << 10

// readOwned reads a small file in the folder.
func readOwned(folder *os.Root, name string) (string, error) {
	file, err := openOwned(folder, name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, readLimit))
	return string(text), err
}

func uidOf(info fs.FileInfo) uint32 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Uid
	}
	return ^uint32(0)
}
