// Package release builds what is given to others: for each platform a static
// program with completions, man pages and a list of what is in it, in one archive,
// and the checksums of all. Two builds of one commit are the same to the byte: no
// path, no time and no name of a machine is in them.
package release

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"piwatch/internal/cli"
)

// Platforms are those a release is built for.
var Platforms = []Platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// Platform is an operating system and a processor, as Go names them.
type Platform struct{ OS, Arch string }

func (p Platform) String() string { return p.OS + "-" + p.Arch }

// Options say what is built.
type Options struct {
	Module    string // folder of go.mod
	Out       string // folder of the archives; made when it is missing
	Version   string // x.y.z, or devel
	Commit    string
	Date      time.Time // of the commit; the time of all files
	Platforms []Platform
	Log       func(format string, args ...any)
}

// Artefact is one file of a release.
type Artefact struct {
	Name    string
	Size    int64 // bytes
	Program int64 // bytes of the program in it
	Sum     string
}

// Build builds the archives and checksums.txt, and returns the archives.
func Build(ctx context.Context, o Options) ([]Artefact, error) {
	work, err := os.MkdirTemp("", "piwatch-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, err
	}
	common, err := o.common()
	if err != nil {
		return nil, err
	}
	var all []Artefact
	var sums strings.Builder
	for _, p := range o.Platforms {
		o.Log("building %s", p)
		one, err := o.platform(ctx, p, work, common)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		all = append(all, one)
		fmt.Fprintf(&sums, "%s  %s\n", one.Sum, one.Name)
	}
	return all, os.WriteFile(filepath.Join(o.Out, "checksums.txt"), []byte(sums.String()), 0o644)
}

// common are the files that are the same on every platform.
func (o Options) common() ([]file, error) {
	files, err := documents(cli.Root(cli.Build{Version: o.Version, Commit: o.Commit, Date: o.Date.Format(time.RFC3339)}), o.Version, o.Date)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(o.Module, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, data: data})
	}
	return files, nil
}

func (o Options) platform(ctx context.Context, p Platform, work string, common []file) (Artefact, error) {
	program := filepath.Join(work, p.String(), "piwatch")
	if err := o.compile(ctx, p, program); err != nil {
		return Artefact{}, err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return Artefact{}, err
	}
	contents, err := contentsOf(program, o.Version, o.Date)
	if err != nil {
		return Artefact{}, err
	}
	files := append(slices.Clone(common), file{name: "piwatch", data: data, mode: 0o755}, file{name: "sbom.cdx.json", data: contents})
	base := fmt.Sprintf("piwatch-%s-%s", o.Version, p)
	var packed bytes.Buffer
	if err := pack(&packed, base, files, o.Date); err != nil {
		return Artefact{}, err
	}
	name := base + ".tar.gz"
	if err := os.WriteFile(filepath.Join(o.Out, name), packed.Bytes(), 0o644); err != nil {
		return Artefact{}, err
	}
	sum := sha256.Sum256(packed.Bytes())
	return Artefact{name, int64(packed.Len()), int64(len(data)), hex.EncodeToString(sum[:])}, nil
}

// compile builds the program: static, without paths, without what the version
// control says of the work tree, which is given instead.
func (o Options) compile(ctx context.Context, p Platform, to string) error {
	flags := []string{"-s", "-w", "-buildid="}
	for _, set := range [][2]string{{"release", o.Version}, {"commit", o.Commit}, {"date", o.Date.Format(time.RFC3339)}} {
		flags = append(flags, "-X", "main."+set[0]+"="+set[1])
	}

	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", strings.Join(flags, " "), "-o", to, "./cmd/piwatch")
	cmd.Dir = o.Module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch, "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}

// Commit asks git for the commit of the work tree and its time. A tree with
// changes has none that says what is in it.
func Commit(ctx context.Context, dir string) (commit string, date time.Time, err error) {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	changes, err := git("status", "--porcelain", "--untracked-files=no")
	switch {
	case err != nil:
		return "", time.Time{}, fmt.Errorf("ask git: %w", err)
	case changes != "":
		return "", time.Time{}, errors.New("the work tree has changes that are in no commit: a release is built of a commit")
	}
	text, err := git("log", "-1", "--format=%H %cI")
	if err != nil {
		return "", time.Time{}, fmt.Errorf("ask git: %w", err)
	}
	commit, when, _ := strings.Cut(text, " ")
	date, err = time.Parse(time.RFC3339, when)
	return commit, date.UTC(), err
}
