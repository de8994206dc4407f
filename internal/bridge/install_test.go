package bridge

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

const (
	binary  = "/usr/local/bin/piwatch"
	version = "1.2.3"
)

// assertOnly checks that a folder of extensions holds nothing but the bridge.
func assertOnly(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "extensions"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != fileName {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func install(t *testing.T, dir, binary, version string, want Change) {
	t.Helper()
	status, change, err := Install(dir, binary, version, false)
	if err != nil || change != want || status != (Status{Path(dir), Current, version}) {
		t.Fatalf("Install: %+v, %q, %v; want %q", status, change, err, want)
	}
	assertOnly(t, dir)
	source, err := Source(binary, version)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(Path(dir)); err != nil || !bytes.Equal(data, source) {
		t.Errorf("what is installed is not the source: %v", err)
	}
}

func assertState(t *testing.T, dir string, want State) {
	t.Helper()
	if status, err := Inspect(dir, binary, version); err != nil || status.State != want || status.Path != Path(dir) {
		t.Errorf("Inspect: %+v, %v; want %q", status, err, want)
	}
}

func TestInstallAndUninstall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	assertState(t, dir, Missing)
	install(t, dir, binary, version, Created)
	assertState(t, dir, Current)
	if info, err := os.Stat(Path(dir)); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
	install(t, dir, binary, version, Unchanged)
	install(t, dir, binary, "1.2.4", Updated)
	assertState(t, dir, Other)
	install(t, dir, "/elsewhere/piwatch", "1.2.4", Updated)
	assertState(t, dir, Other)
	for _, want := range []Change{Removed, Absent} {
		if status, change, err := Uninstall(dir, false); err != nil || change != want || status.State != Missing {
			t.Errorf("Uninstall: %+v, %q, %v; want %q", status, change, err, want)
		}
	}
	assertState(t, dir, Missing)
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "mine.ts")
	for name, place := range map[string]func(path string) error{
		"a file":         func(path string) error { return os.WriteFile(path, []byte("export default () => {}\n"), 0o600) },
		"an empty file":  func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a link":         func(path string) error { return os.Symlink(elsewhere, path) },
		"a folder":       func(path string) error { return os.Mkdir(path, 0o700) },
		"the bare file":  func(path string) error { return os.WriteFile(path, []byte(extension(t)), 0o600) },
		"invalid UTF-8…": func(path string) error { return os.WriteFile(path, []byte("\xff\x00// piwatch bridge"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "extensions"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := place(Path(dir)); err != nil {
				t.Fatal(err)
			}
			before, err := os.Lstat(Path(dir))
			if err != nil {
				t.Fatal(err)
			}
			assertState(t, dir, Foreign)
			_, _, installed := Install(dir, binary, version, true)
			_, _, removed := Uninstall(dir, true)
			for what, err := range map[string]error{"Install": installed, "Uninstall": removed} {
				var refused *RefusedError
				if !errors.As(err, &refused) || refused.Hint() == "" || refused.Status.Path != Path(dir) {
					t.Errorf("%s: %v", what, err)
				}
			}
			after, err := os.Lstat(Path(dir))
			if err != nil || !os.SameFile(before, after) || before.ModTime() != after.ModTime() {
				t.Errorf("it was touched: %v", err)
			}
			assertOnly(t, dir)
		})
	}
}

func TestEditedFileNeedsForce(t *testing.T) {
	for name, act := range map[string]func(dir string, force bool) error{
		"install": func(dir string, force bool) error {
			_, _, err := Install(dir, binary, version, force)
			return err
		},
		"uninstall": func(dir string, force bool) error {
			_, _, err := Uninstall(dir, force)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			install(t, dir, binary, version, Created)
			data, err := os.ReadFile(Path(dir))
			if err != nil {
				t.Fatal(err)
			}
			edited := append(data, "// my change\n"...)
			if err := os.WriteFile(Path(dir), edited, 0o644); err != nil {
				t.Fatal(err)
			}
			assertState(t, dir, Edited)
			var refused *RefusedError
			if err := act(dir, false); !errors.As(err, &refused) || refused.Status.Version != version {
				t.Errorf("without force: %v", err)
			}
			if now, err := os.ReadFile(Path(dir)); err != nil || !bytes.Equal(now, edited) {
				t.Errorf("it was touched: %v", err)
			}
			if err := act(dir, true); err != nil {
				t.Errorf("with force: %v", err)
			}
			if status, err := Inspect(dir, binary, version); err != nil || status.State == Edited {
				t.Errorf("with force: %+v, %v", status, err)
			}
		})
	}
}

func TestFolderOfExtensionsMayBeALink(t *testing.T) {
	dir, dotfiles := t.TempDir(), t.TempDir()
	if err := os.Symlink(dotfiles, filepath.Join(dir, "extensions")); err != nil {
		t.Fatal(err)
	}
	install(t, dir, binary, version, Created)
	if _, err := os.Stat(filepath.Join(dotfiles, fileName)); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(filepath.Join(dir, "extensions")); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is gone: %v", err)
	}
	if _, change, err := Uninstall(dir, false); err != nil || change != Removed {
		t.Errorf("Uninstall: %q, %v", change, err)
	}
}

func TestInstallIntoSomethingThatIsNoFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Install(dir, binary, version, false); err == nil {
		t.Error("it is no error")
	}
}
