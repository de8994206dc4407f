package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// CacheVar names the environment variable that moves the cache of npm installs.
const CacheVar = "PIWATCH_TEST_CACHE"

// installTimeout bounds one npm install and the wait for another process that
// does it.
const installTimeout = 10 * time.Minute

// errNoNpm says that a package is not in the cache and cannot be fetched.
var errNoNpm = errors.New("npm is not installed")

// CacheDir is where npm packages and built programs are kept between runs:
// $PIWATCH_TEST_CACHE, else piwatch-test in the user's cache directory.
func CacheDir() (string, error) {
	if dir := os.Getenv(CacheVar); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the test cache: %w", err)
	}
	return filepath.Join(base, "piwatch-test"), nil
}

// npmInstall makes sure that the cache folder name holds the packages, and
// returns its path. good decides whether an install that is there can be used.
// It is safe for many processes at once, and a folder is either whole or absent.
func npmInstall(name string, good func(dir string) bool, packages ...string) (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, name)
	if good(dir) {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("make the test cache: %w", err)
	}
	unlock, err := lockFile(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if good(dir) {
		return dir, nil
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", errNoNpm
	}
	temp, err := os.MkdirTemp(cache, name+".tmp-")
	if err != nil {
		return "", fmt.Errorf("make the install folder: %w", err)
	}
	defer os.RemoveAll(temp)
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	args := append([]string{"install", "--prefix", temp, "--ignore-scripts", "--no-audit", "--no-fund"}, packages...)
	cmd := exec.CommandContext(ctx, npm, args...)
	cmd.Dir = temp
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("npm install %v: %w\n%s", packages, err, lastLines(out.String(), 12))
	}
	if !good(temp) {
		return "", fmt.Errorf("npm install %v: what was asked for is not in it", packages)
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("replace a broken install: %w", err)
	}
	if err := os.Rename(temp, dir); err != nil {
		return "", fmt.Errorf("put the install in place: %w", err)
	}
	return dir, nil
}

// shareCompiled has Pis with the temporary folder tmp keep there what they made
// of TypeScript extensions, for the next Pi: that of the bridge takes more than
// half of Pi's start (measured). Pi's loader finds it by the content, and makes
// what is not whole again.
func shareCompiled(tmp string) error {
	cache, err := CacheDir()
	if err != nil {
		return err
	}
	compiled := filepath.Join(cache, "jiti")
	if err := os.MkdirAll(compiled, 0o755); err != nil {
		return fmt.Errorf("make the test cache: %w", err)
	}
	return os.Symlink(compiled, filepath.Join(tmp, "jiti"))
}

// lockFile takes an exclusive lock on path, waiting for other processes.
func lockFile(path string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), installTimeout)
	defer cancel()
	lock := flock.New(path)
	if _, err := lock.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = lock.Close() }, nil
}
