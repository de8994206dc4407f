package bridge

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// fileName is the name of the extension in a folder of extensions. Pi loads
// every .ts file there.
const fileName = "piwatch.ts"

// Path is where the bridge is installed: dir is Pi's agent folder (for all
// projects of the user) or the .pi folder of one project.
func Path(dir string) string { return filepath.Join(dir, "extensions", fileName) }

// State is what is installed in one folder.
type State string

// The states.
const (
	Missing State = "missing"
	Current State = "current" // what this program would write
	Other   State = "other"   // written by another release, or by a program elsewhere
	Edited  State = "edited"  // written by piwatch and changed since
	Foreign State = "foreign" // not written by piwatch
)

// Status is what is installed in one folder.
type Status struct {
	Path    string
	State   State
	Version string // of the installed bridge, "" when missing or foreign
}

// Change is what Install or Uninstall did.
type Change string

// The changes.
const (
	Created   Change = "created"
	Updated   Change = "updated"
	Unchanged Change = "unchanged"
	Removed   Change = "removed"
	Absent    Change = "absent" // there was nothing to remove
)

// RefusedError says that a file was left alone because it is not, or not any
// more, what piwatch wrote.
type RefusedError struct{ Status Status }

func (e *RefusedError) Error() string {
	if e.Status.State == Edited {
		return e.Status.Path + " was edited after piwatch wrote it, and was left alone"
	}
	return e.Status.Path + " was not written by piwatch, and was left alone"
}

// Hint says how to go on.
func (e *RefusedError) Hint() string {
	if e.Status.State == Edited {
		return "keep your changes elsewhere, then repeat the command with --force"
	}
	return "move it away, then repeat the command"
}

// Inspect says what is installed in dir, compared with what binary would
// install as version.
func Inspect(dir, binary, version string) (Status, error) {
	status, data, err := read(dir)
	if err != nil || status.State != Other {
		return status, err
	}
	want, err := Source(binary, version)
	if err != nil {
		return status, err
	}
	if data == string(want) {
		status.State = Current
	}
	return status, nil
}

// read gives the Status without telling Other from Current, and the file.
func read(dir string) (Status, string, error) {
	status := Status{Path: Path(dir), State: Missing}
	info, err := os.Lstat(status.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return status, "", nil
	}
	if err != nil {
		return status, "", err
	}
	status.State = Foreign
	if !info.Mode().IsRegular() {
		return status, "", nil // a link, too: it leads to what someone else keeps
	}
	data, err := os.ReadFile(status.Path)
	if err != nil {
		return status, "", err
	}
	version, ours, edited := mark(string(data))
	switch {
	case !ours:
	case edited:
		status.State, status.Version = Edited, version
	default:
		status.State, status.Version = Other, version
	}
	return status, string(data), nil
}

// refuse is the error for a file that is not ours to touch. force gives an
// edited file free, never a foreign one.
func refuse(status Status, force bool) error {
	if status.State == Foreign || status.State == Edited && !force {
		return &RefusedError{status}
	}
	return nil
}

// Install puts the bridge into dir: binary is the absolute path of the program,
// version its release. A file that is there already and is not what piwatch
// wrote is a *[RefusedError]; force overwrites one that was edited. A Pi that
// loads its extensions meanwhile sees the old file or the new one.
func Install(dir, binary, version string, force bool) (Status, Change, error) {
	want, err := Source(binary, version)
	if err != nil {
		return Status{}, "", err
	}
	status, data, err := read(dir)
	if err == nil {
		err = refuse(status, force)
	}
	if err != nil {
		return status, "", err
	}
	if data == string(want) {
		status.State = Current
		return status, Unchanged, nil
	}
	change := Updated
	if status.State == Missing {
		change = Created
	}
	if err := replace(status.Path, want); err != nil {
		return status, "", fmt.Errorf("install the bridge: %w", err)
	}
	return Status{status.Path, Current, version}, change, nil
}

// Place writes the bridge into dir for a Pi that is told to load it from there,
// and returns its path. Its name holds its sum: another content is another file,
// so that one in use is never changed.
func Place(dir, binary, version string) (string, error) {
	want, err := Source(binary, version)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "piwatch-"+sum(string(want))+".ts")
	if data, err := os.ReadFile(path); err == nil && string(data) == string(want) {
		return path, nil
	}
	if err := replace(path, want); err != nil {
		return "", fmt.Errorf("place the bridge: %w", err)
	}
	return path, nil
}

// replace writes the file beside its place and moves it there. The name of the
// new file does not end in .ts, so that Pi never loads a half of it.
func replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+fileName+".*.new")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// Uninstall removes the bridge from dir. A file that is not what piwatch wrote
// is a *[RefusedError]; force removes one that was edited.
func Uninstall(dir string, force bool) (Status, Change, error) {
	status, _, err := read(dir)
	if err == nil {
		err = refuse(status, force)
	}
	if err != nil {
		return status, "", err
	}
	if status.State == Missing {
		return status, Absent, nil
	}
	if err := os.Remove(status.Path); err != nil {
		return status, "", fmt.Errorf("uninstall the bridge: %w", err)
	}
	return Status{Path: status.Path, State: Missing}, Removed, nil
}
