// Piwatch keeps Pi coding agents at work, and shows and steers them.
package main

import (
	"os"
	"runtime/debug"
	"strings"

	"piwatch/internal/cli"
)

// Set by the linker for a release, see internal/release.
var release, commit, date string

func main() { os.Exit(cli.Main(build())) }

// build is what the linker was told, else what Go recorded; a build from a work
// tree is devel.
func build() cli.Build {
	b := cli.Build{Version: release, Commit: commit, Date: date}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if b.Version == "" {
		b.Version = "devel"
		if strings.HasPrefix(info.Main.Version, "v") {
			b.Version = strings.TrimPrefix(info.Main.Version, "v")
		}
	}
	if b.Commit != "" {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				b.Version = "devel" // there is no release with changes
			}
		}
	}
	return b
}
