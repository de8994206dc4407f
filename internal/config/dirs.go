// Package config knows where piwatch keeps its files.
//
// The folders follow the XDG Base Directory Specification, on macOS too. Every
// function reads the environment when it is called, and nothing is kept: env is
// os.Getenv, or a table. A variable that holds no absolute path does not
// count, as the specification says. The place of the hub's socket is
// control.SocketPath.
package config

import (
	"errors"
	"path/filepath"
)

// ErrNoHome says that there is no place for files.
var ErrNoHome = errors.New("HOME is not set to an absolute path")

// Dir is the folder of what the user sets: $XDG_CONFIG_HOME/piwatch, else
// ~/.config/piwatch.
func Dir(env func(string) string) (string, error) {
	return below(env, "XDG_CONFIG_HOME", ".config")
}

// ThemeDir is the folder of the user's own themes, below Dir.
func ThemeDir(env func(string) string) (string, error) {
	dir, err := Dir(env)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "themes"), nil
}

// StateDir is the folder of logs and of what is remembered:
// $XDG_STATE_HOME/piwatch, else ~/.local/state/piwatch.
func StateDir(env func(string) string) (string, error) {
	return below(env, "XDG_STATE_HOME", ".local/state")
}

// HubLog is the file the hub writes its log to, in StateDir.
func HubLog(env func(string) string) (string, error) {
	dir, err := StateDir(env)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "hub.log"), nil
}

// GatewayState is the file that keeps the gateway's port, key and what is on, in
// StateDir.
func GatewayState(env func(string) string) (string, error) {
	dir, err := StateDir(env)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "gateway.json"), nil
}

func below(env func(string) string, variable, fallback string) (string, error) {
	if dir := env(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "piwatch"), nil
	}
	home := env("HOME")
	if !filepath.IsAbs(home) {
		return "", ErrNoHome
	}
	return filepath.Join(home, fallback, "piwatch"), nil
}
