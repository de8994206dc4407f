package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"piwatch/internal/control"
)

// gatewayState is the content of the state file.
type gatewayState struct {
	Port      int      `json:"port"`
	Key       []byte   `json:"key"`
	All       bool     `json:"all"`
	Providers []string `json:"providers,omitempty"` // on, where not all are
	Except    []string `json:"except,omitempty"`    // off, where all are
}

func (s gatewayState) on() bool { return s.All || len(s.Providers) > 0 }

// wants reports whether a provider is to go through the gateway.
func (s gatewayState) wants(provider string) bool {
	if s.All {
		return !slices.Contains(s.Except, provider)
	}
	return slices.Contains(s.Providers, provider)
}

// set turns the gateway on or off, for some providers or for all.
func (s *gatewayState) set(on bool, providers []string) {
	switch {
	case len(providers) == 0:
		s.All, s.Providers, s.Except = on, nil, nil
	case on && s.All:
		s.Except = without(s.Except, providers)
	case on:
		s.Providers = append(without(s.Providers, providers), providers...)
	case s.All:
		s.Except = append(without(s.Except, providers), providers...)
	default:
		s.Providers = without(s.Providers, providers)
	}
	s.Providers, s.Except = sorted(s.Providers), sorted(s.Except)
}

func without(all, gone []string) []string {
	var rest []string
	for _, name := range all {
		if !slices.Contains(gone, name) {
			rest = append(rest, name)
		}
	}
	return rest
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// say tells in a line what is on.
func (s gatewayState) say() string {
	switch {
	case s.All && len(s.Except) > 0:
		return "The gateway is on for all providers but " + strings.Join(s.Except, ", ") + "."
	case s.All:
		return "The gateway is on for all providers."
	case s.on():
		return "The gateway is on for " + strings.Join(s.Providers, ", ") + "."
	}
	return "The gateway is off."
}

// unused says which providers no session asks now, and which ones are asked: a
// name may be mistyped. It is empty when there is nothing to say.
func unused(providers []string, sessions []control.PointedAt) string {
	var used []string
	for _, s := range sessions {
		used = append(used, s.Provider)
	}
	used = sorted(used)
	strange := without(providers, used)
	switch {
	case len(strange) == 0:
		return ""
	case len(used) == 0:
		used = []string{"none"}
	}
	return fmt.Sprintf("No session uses a provider named %s now; used are: %s.", strings.Join(sorted(strange), ", "), strings.Join(used, ", "))
}

// readGatewayState reads the state file. One that is not there is no error.
func readGatewayState(path string) (gatewayState, error) {
	var s gatewayState
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return gatewayState{}, err // what was read before the error is half a state
	}
	return s, nil
}

// save replaces the state file, or leaves it as it was.
func (s gatewayState) save(path string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".gateway-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(append(data, '\n'))
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
