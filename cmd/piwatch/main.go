// Piwatch keeps Pi coding agents at work, and shows and steers them.
package main

import (
	"os"
	"runtime/debug"
	"strings"

	"piwatch/internal/cli"
)

// release is set by the linker for a release, see the Makefile.
var release string

func main() { os.Exit(cli.Main(version())) }

// version is the release, or for a program that go install built, what Go
// recorded; a build from a work tree is devel.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return "devel"
}
