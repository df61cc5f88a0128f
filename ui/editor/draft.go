package editor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Draft is a text that is being edited, in a file that nobody else may read, in a folder
// of its own, where the editor's backups and swap files are too. The folder is locked as
// long as the program or the editor lives: see [Sweep].
type Draft struct {
	Path  string
	given string
	lock  *os.File // the folder
}

// draftMost is how many bytes are edited.
const draftMost = 16 << 20

// untouched is the part of a second at which a draft was written that nobody has written
// to since.
const untouched = 271828182 * time.Nanosecond

// NewDraft writes a text into a file of this name. One of more than 16 MB is refused.
func NewDraft(name, text string) (*Draft, error) {
	if len(text) > draftMost {
		return nil, errors.New("the text is larger than the 16 MB that can be edited")
	}
	folder, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, fmt.Errorf("a file to edit: %w", err)
	}
	d := &Draft{Path: filepath.Join(folder, name), given: text}
	if err := d.write(folder); err != nil {
		d.Remove()
		return nil, fmt.Errorf("a file to edit: %w", err)
	}
	return d, nil
}

// write writes the draft below the folder that it opened, and only if that is this
// user's: who owns the folder of temporary files may have replaced the one just made,
// or put a link in place of the draft.
func (d *Draft) write(folder string) (err error) {
	in, err := os.OpenRoot(folder + "/.") // with "/." a pipe is an error: it would block
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if d.lock, err = in.Open("."); err != nil {
		return err
	}
	info, err := d.lock.Stat()
	if err != nil {
		return err
	}
	if !ours(info) || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s was replaced by somebody else: set TMPDIR to a folder of yours", folder)
	}
	if err = syscall.Flock(int(d.lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	name := filepath.Base(d.Path)
	file, err := in.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(d.given)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	at := time.Now().Truncate(time.Second).Add(untouched)
	return in.Chtimes(name, at, at)
}

// Text reads what the draft is now. What an editor left that is no file is not waited for.
func (d *Draft) Text() (string, error) {
	text, err := read(d.Path)
	if err != nil {
		return "", fmt.Errorf("the edited file: %w", err)
	}
	return text, nil
}

func read(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return "", errors.New("the editor left a link in its place")
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("the editor left something else in its place, which is no file")
	}
	text, err := io.ReadAll(io.LimitReader(f, draftMost+1))
	if err == nil && len(text) > draftMost {
		err = errors.New("larger than 16 MB")
	}
	return string(text), err
}

// Changed tells whether there is anything in the draft that would be lost with it, also
// when it cannot be read.
func (d *Draft) Changed() bool {
	text, err := d.Text()
	return err == nil && text != d.given || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// Beside tells whether the editor left anything beside the draft, as one does that was
// killed: what was typed may be in there.
func (d *Draft) Beside() bool {
	found, err := os.ReadDir(filepath.Dir(d.Path))
	if err != nil {
		return false
	}
	for _, one := range found {
		if one.Name() != filepath.Base(d.Path) {
			return true
		}
	}
	return false
}

// Remove deletes the draft, and all that the editor left beside it.
func (d *Draft) Remove() {
	_ = os.RemoveAll(filepath.Dir(d.Path))
	if d.lock != nil {
		_ = d.lock.Close()
	}
}
