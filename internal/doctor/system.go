package doctor

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// What a screen with many folders of sessions needs of inotify.
const (
	fewInstances = 64
	fewWatches   = 4096
)

// lookInotify looks whether the file system's events come. Without them piwatch
// polls.
func lookInotify(_ context.Context, _ *World) []Finding {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return []Finding{warn("no file system events, piwatch polls: "+err.Error(), inotifyAdvice("max_user_instances", 512))}
	}
	_ = watcher.Close() // nothing was watched
	if runtime.GOOS != "linux" {
		return []Finding{ok("file system events")}
	}
	instances, watches := inotifyLimit("max_user_instances"), inotifyLimit("max_user_watches")
	text := fmt.Sprintf("inotify: %d instances, %d watches", instances, watches)
	switch {
	case instances > 0 && instances < fewInstances:
		return []Finding{warn(text+": few instances, shared with all your programs", inotifyAdvice("max_user_instances", 512))}
	case watches > 0 && watches < fewWatches:
		return []Finding{warn(text+": few watches, shared with all your programs", inotifyAdvice("max_user_watches", 65536))}
	}
	return []Finding{ok(text)}
}

func inotifyAdvice(name string, value int) string {
	return fmt.Sprintf("sudo sysctl fs.inotify.%s=%d", name, value)
}

// inotifyLimit is a limit of the kernel, 0 when it does not say.
func inotifyLimit(name string) int {
	data, err := os.ReadFile("/proc/sys/fs/inotify/" + name)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(data))) // 0 is unknown
	return n
}
