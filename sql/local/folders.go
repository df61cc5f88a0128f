package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Folders returns the folders of the servers under dir whose names begin with prefix,
// whether they run or not. dir is as in [Options].
func Folders(dir, prefix string) ([]string, error) {
	base, err := baseFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("find local servers: %w", err)
	}
	entries, err := os.ReadDir(base)
	if err != nil {
		return nil, fmt.Errorf("find local servers: %w", err)
	}
	var folders []string
	for _, entry := range entries {
		if entry.IsDir() && strings.HasPrefix(entry.Name(), prefix) {
			folders = append(folders, filepath.Join(base, entry.Name()))
		}
	}
	return folders, nil
}
