// Dist builds the archives of a release, see make dist.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"piwatch/internal/release"
)

func main() {
	version := flag.String("version", "devel", "release to build, x.y.z")
	out := flag.String("o", "dist", "folder of the archives")
	flag.Parse()
	if err := run(context.Background(), *version, *out); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, version, out string) error {
	commit, date, err := release.Commit(ctx, ".")
	if err != nil {
		return err
	}
	files, err := release.Build(ctx, release.Options{
		Module: ".", Out: out, Version: version, Commit: commit, Date: date, Platforms: release.Platforms,
		Log: func(format string, args ...any) { fmt.Printf(format+"\n", args...) },
	})
	for _, f := range files {
		fmt.Printf("%s  %.1f MB, the program in it %.1f MB\n", f.Name, float64(f.Size)/1e6, float64(f.Program)/1e6)
	}
	return err
}
