package cli

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// completedFiles is how many of the newest session files are offered.
const completedFiles = 30

// completer offers the words after a command.
type completer = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective)

// completeLive offers the sessions with a bridge for the first argument, and
// then what next offers; nil offers nothing.
func (a *app) completeLive(n *naming, next func(typed string) []string) completer {
	return a.complete(n, 1, next, func(cmd *cobra.Command) []target { return a.liveIfAny(cmd.Context()) })
}

// completeAny offers all sessions, for a command that reads.
func (a *app) completeAny(n *naming) completer {
	return a.complete(n, 1, nil, a.allTargets)
}

func (a *app) allTargets(cmd *cobra.Command) []target {
	targets := a.liveIfAny(cmd.Context())
	known := map[string]bool{}
	for _, t := range targets {
		known[t.ID] = true
	}
	cwd, err := os.Getwd()
	if err != nil {
		return targets
	}
	files, _ := a.sessionFiles(cwd) // a completion has nobody to tell an error
	for _, f := range files[:min(len(files), completedFiles)] {
		if t, ok := fileTarget(f.Path); ok && !known[t.ID] {
			targets = append(targets, t)
		}
	}
	return targets
}

// complete offers sessions for the first so many arguments, -1 for all.
func (a *app) complete(n *naming, sessions int, next func(string) []string, find func(*cobra.Command) []target) completer {
	return func(cmd *cobra.Command, given []string, typed string) ([]string, cobra.ShellCompDirective) {
		sessions := sessions
		if n != nil && n.last {
			sessions = 0
		}
		if sessions >= 0 && len(given) >= sessions {
			if next == nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return begins(next(typed), typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		targets := find(cmd)
		words := []string{here + "\tthe session of this folder"}
		for i, id := range shorten(targets) {
			words = append(words, id+"\t"+strings.ReplaceAll(targets[i].label(), "\t", " "))
		}
		return begins(words, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

func begins(words []string, typed string) []string {
	var all []string
	for _, word := range words {
		if strings.HasPrefix(word, typed) {
			all = append(all, word)
		}
	}
	return all
}

// settingWords are the words of the settings grammar. Where a key has few
// values, they are words too.
func settingWords(string) []string {
	return []string{
		"timeout=\tseconds of idleness before a check", "max=\tchecks between two messages of yours",
		"mode=once\tdone or wait_user ends it", "mode=keep\tdone or wait_user suspends it until you write",
		"message=\tadded when the agent is sent back to work",
	}
}

func modeWords(string) []string { return []string{"once", "keep"} }
