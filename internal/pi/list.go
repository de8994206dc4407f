package pi

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Ext is the extension of session files.
const Ext = ".jsonl"

// Found is a session file in one of the session folders.
type Found struct {
	Path string
	// Size is in bytes, ModTime the file system's.
	Size    int64
	ModTime time.Time
}

// List finds the session files right in the folders and one folder further
// down, newest first. Folders that do not exist hold none; folders that cannot
// be read are errors, and the files of the others are found all the same.
func List(dirs []Dir) ([]Found, error) {
	var found []Found
	var problems []error
	seen := make(map[string]bool)
	for _, dir := range dirs {
		files, err := listDir(dir.Path, 1, seen)
		found = append(found, files...)
		problems = append(problems, err)
	}
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), strings.Compare(b.Path, a.Path))
	})
	return found, errors.Join(problems...)
}

// listDir finds the session files of one folder, and of those depth folders
// further down. seen holds the paths that were found already.
func listDir(dir string, depth int, seen map[string]bool) ([]Found, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("list sessions: %w", err)
	} else {
		err = nil
	}
	var found []Found
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if seen[path] || entry.Type().IsRegular() && !strings.HasSuffix(path, Ext) {
			continue
		}
		info, statErr := os.Stat(path) // Pi 1.6.0 follows links to folders
		switch {
		case statErr != nil: // gone since, or a link to nothing
		case info.IsDir() && depth > 0:
			deeper, deepErr := listDir(path, depth-1, seen)
			found = append(found, deeper...)
			err = errors.Join(err, deepErr)
		case info.Mode().IsRegular() && strings.HasSuffix(path, Ext):
			seen[path] = true
			found = append(found, Found{Path: path, Size: info.Size(), ModTime: info.ModTime()})
		}
	}
	return found, err
}
