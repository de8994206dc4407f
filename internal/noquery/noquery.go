// Package noquery keeps the terminal from being asked for the colour of its
// background, which Bubble Tea v1 does while its package is initialized: each
// command of piwatch would write to the terminal, wait for an answer, and leave
// one that comes late to the shell. The screen takes no colour from the answer.
//
// The question is left out where the variable CI is set. This package sets it,
// and Done takes it back. Packages are initialized in the order of their paths
// as soon as what they import is ready. Of ours nothing is but os. The question
// needs text/template, which imports os as well and whose path comes after: so
// this package is always first. A test looks at what a terminal gets.
package noquery

import "os"

const variable = "CI"

var was, had = os.LookupEnv(variable)

func init() {
	if was == "" {
		_ = os.Setenv(variable, "true") // if it fails the terminal is asked
	}
}

// Done gives the environment back. It is called once Bubble Tea is initialized,
// by the package that imports it.
func Done() {
	switch {
	case !had:
		_ = os.Unsetenv(variable)
	case was == "":
		_ = os.Setenv(variable, was)
	}
}
