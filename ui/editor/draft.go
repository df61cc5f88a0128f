package editor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Draft is a text that is being edited, in a file that nobody else may read, in a folder
// of its own, where the editor's backups and swap files are too.
type Draft struct {
	Path  string
	given string
}

// draftMost is how many bytes of a draft are read.
const draftMost = 16 << 20

// NewDraft writes a text into a file of this name.
func NewDraft(name, text string) (*Draft, error) {
	folder, err := os.MkdirTemp("", "leasetop-edit-")
	if err != nil {
		return nil, fmt.Errorf("a file to edit: %w", err)
	}
	d := &Draft{filepath.Join(folder, name), text}
	if err := os.WriteFile(d.Path, []byte(text), 0o600); err != nil {
		d.Remove()
		return nil, fmt.Errorf("a file to edit: %w", err)
	}
	return d, nil
}

// Text reads what the draft is now.
func (d *Draft) Text() (string, error) {
	f, err := os.Open(d.Path)
	if err != nil {
		return "", fmt.Errorf("the edited file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, draftMost+1))
	if err == nil && len(text) > draftMost {
		err = errors.New("larger than 16 MB")
	}
	if err != nil {
		return "", fmt.Errorf("the edited file: %w", err)
	}
	return string(text), nil
}

// Changed tells whether there is anything in the draft that would be lost with it.
func (d *Draft) Changed() bool {
	text, err := d.Text()
	return err == nil && text != d.given
}

// Remove deletes the draft, and all that the editor left beside it.
func (d *Draft) Remove() { _ = os.RemoveAll(filepath.Dir(d.Path)) }
