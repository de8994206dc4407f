package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var date = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// copyModule copies what a build needs to another place.
func copyModule(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || d.Name() == "dist" || d.Name() == "bin"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !d.Type().IsRegular(), strings.HasSuffix(name, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), data, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func build(t *testing.T, module, out string) []Artefact {
	t.Helper()
	all, err := Build(context.Background(), Options{
		Module: module, Out: out, Version: "1.2.3", Commit: "0123abc", Date: date,
		Platforms: []Platform{{runtime.GOOS, runtime.GOARCH}}, Log: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Two builds of one commit, in two folders, are the same to the byte; the program
// in them runs, is static, and knows what it is.
func TestBuildIsReproducible(t *testing.T) {
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, one, two := filepath.Join(t.TempDir(), "another", "place"), t.TempDir(), t.TempDir()
	copyModule(t, module, elsewhere)
	first := build(t, module, one)
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TZ", "Asia/Tokyo")
	second := build(t, elsewhere, two)
	if !slices.Equal(first, second) {
		t.Errorf("the first build is %+v, the second %+v", first, second)
	}
	for _, name := range []string{first[0].Name, "checksums.txt"} {
		a, errA := os.ReadFile(filepath.Join(one, name))
		b, errB := os.ReadFile(filepath.Join(two, name))
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is not the same twice: %v", name, err)
		}
	}

	files := unpack(t, filepath.Join(one, first[0].Name))
	base := "piwatch-1.2.3-" + runtime.GOOS + "-" + runtime.GOARCH + "/"
	for _, name := range []string{
		"piwatch", "LICENSE", "README.md", "CHANGELOG.md", "sbom.cdx.json", "completions/piwatch.bash", "completions/_piwatch",
		"completions/piwatch.fish", "man/man1/piwatch.1", "man/man1/piwatch-run.1", "man/man1/piwatch-hub-log.1", "man/man1/piwatch-json.1",
	} {
		if len(files[base+name]) == 0 {
			t.Errorf("the archive has no %s", name)
		}
	}
	for name, data := range files {
		if bytes.Contains(data, []byte(module)) || bytes.Contains(data, []byte(elsewhere)) {
			t.Errorf("%s names a folder of this machine", name)
		}
	}
	var list bom
	if err := json.Unmarshal(files[base+"sbom.cdx.json"], &list); err != nil || list.Format != "CycloneDX" || len(list.Components) < 10 {
		t.Errorf("the list of contents has %d parts, %v", len(list.Components), err)
	}
	for _, c := range list.Components[1:] {
		if len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64 || c.Version == "" {
			t.Errorf("the part %+v has no sum", c)
		}
	}

	program := filepath.Join(t.TempDir(), "piwatch")
	if err := os.WriteFile(program, files[base+"piwatch"], 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "version").CombinedOutput()
	if want := "piwatch 1.2.3\ncommit 0123abc of 2026-03-01T08:00:00Z\n"; err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("it says %q, %v", out, err)
	}
	if bytes.Contains(files[base+"piwatch"], []byte("ld-linux")) {
		t.Error("the program is not static")
	}
	man := string(files[base+"man/man1/piwatch.1"])
	for _, want := range []string{".TH \"PIWATCH\" 1 \"2026-03-01\" \"piwatch 1.2.3\"", ".SH EXIT STATUS"} {
		if !strings.Contains(man, want) {
			t.Errorf("the man page does not hold %q", want)
		}
	}
}

// unpack reads an archive, and holds that it says nothing of who made it.
func unpack(t *testing.T, path string) map[string][]byte {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	zip, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	if zip.Name != "" || !zip.ModTime.IsZero() {
		t.Errorf("the archive has a name %q and a time %v", zip.Name, zip.ModTime)
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(zip); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.Uname != "" || !header.ModTime.Equal(date) {
			t.Errorf("%s is of %d:%d %q, %v", header.Name, header.Uid, header.Gid, header.Uname, header.ModTime)
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCommit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-03-01T10:00:00+02:00", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if _, _, err := Commit(context.Background(), dir); err == nil {
		t.Error("a folder without a repository has a commit")
	}
	git("init", "-q")
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	git("add", ".")
	git("commit", "-q", "-m", "one")
	commit, when, err := Commit(context.Background(), dir)
	if err != nil || len(commit) != 40 || !when.Equal(date) || when.Location() != time.UTC {
		t.Errorf("%s, %v, %v", commit, when, err)
	}
	if err := os.WriteFile(file, []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Commit(context.Background(), dir); err == nil || !strings.Contains(err.Error(), "has changes") {
		t.Errorf("a tree with changes: %v", err)
	}
}
