package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"piwatch/internal/config"
	"piwatch/internal/pi"
	"piwatch/themes"
)

// themeDirs are the folders of the user's themes and of Pi's.
func (a *app) themeDirs() (own, ofPi string, err error) {
	own, err = config.ThemeDir(a.env)
	return own, filepath.Join(pi.AgentDir(a.env, a.env("HOME")), "themes"), err
}

// pickTheme says whether there is a theme of this name, and which there are.
// Broken are the theme files that could not be read.
func (a *app) pickTheme(name string) (found bool, names string, broken error) {
	own, ofPi, err := a.themeDirs()
	if err != nil {
		return false, "", err
	}
	all, broken := themes.Load(own, ofPi)
	_, err = themes.Pick(all, name)
	return err == nil, strings.Join(themes.Names(all), ", "), broken
}

// refuseTheme is the error of a flag that names no theme; nil when there is one.
func (f *screenFlags) refuseTheme(a *app, command string) error {
	if f.theme == "" {
		return nil
	}
	found, names, broken := a.pickTheme(f.theme)
	if found {
		return nil
	}
	text := fmt.Sprintf("--theme: no theme %q; there are: %s", f.theme, names)
	if broken != nil {
		text += "\n" + broken.Error()
	}
	return &usageError{text, command}
}

// themeProblems are what is wrong with the theme of the config: first that there
// is none of the name, then the theme files that could not be read.
func (a *app) themeProblems(set config.Screen) []string {
	found, names, broken := a.pickTheme(set.Theme)
	if found {
		return nil
	}
	problems := []string{fmt.Sprintf("%s: screen.theme: %q does not fit; allowed: %s", set.ThemeWhere, set.Theme, names)}
	if broken != nil {
		problems = append(problems, strings.Split(broken.Error(), "\n")...)
	}
	return problems
}
