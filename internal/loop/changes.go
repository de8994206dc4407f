package loop

import (
	"encoding/json"
	"strings"
)

// changes says whether a call may change files: a tool named so, or a shell
// command with the usual means. A call that changes something is progress the
// first time; the same change again is not.
func changes(tool string, args json.RawMessage) bool {
	name := strings.ToLower(tool)
	for _, part := range []string{"edit", "write", "patch", "replace", "create_file", "insert"} {
		if strings.Contains(name, part) && !strings.Contains(name, "todo") {
			return true
		}
	}
	if name != "bash" && name != "shell" && name != "exec" && name != "run" {
		return false
	}
	found := false
	walk(args, func(_, text string) { found = found || commandChanges(text) })
	return found
}

// changers are the beginnings of commands that change files.
var changers = []string{
	"sed -i", "perl -i", "perl -pi", "tee ", "patch ", "mv ", "cp ", "rm ", "mkdir ", "touch ", "ln ", "chmod ", "install ",
	"git apply", "git am", "git checkout", "git switch", "git commit", "git merge", "git rebase", "git cherry-pick", "git revert",
	"git reset", "git restore", "git pull", "git stash", "git bisect",
	"npm install", "npm i ", "npm ci", "pnpm add", "pnpm install", "yarn add", "pip install", "go get", "go mod tidy", "cargo add", "apt-get install",
	"gofmt -w", "prettier --write", "black ", "ruff --fix", "eslint --fix",
}

// maxCommand is how much of a command is looked at, in bytes.
const maxCommand = 4 << 10

func commandChanges(text string) bool {
	text = text[:min(len(text), maxCommand)]
	for _, name := range changers {
		for from := 0; ; {
			at := strings.Index(text[from:], name)
			if at < 0 {
				break
			}
			at += from
			if begins(text, at) {
				return true
			}
			from = at + len(name)
		}
	}
	return redirects(text)
}

// begins says whether a command begins at a place of a command line.
func begins(text string, at int) bool {
	before := strings.TrimRight(text[:at], " \t")
	return before == "" || strings.HasSuffix(before, "sudo") || strings.HasSuffix(before, "xargs") || strings.ContainsRune("\n;&|({", rune(before[len(before)-1]))
}

// redirects says whether the output goes into a file: not > /dev/null, 2>&1, ->
// and =>, and nothing inside quotes.
func redirects(text string) bool {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '>' && (i == 0 || text[i-1] != '-' && text[i-1] != '='):
			to := strings.TrimLeft(strings.TrimLeft(text[i:], ">"), " ")
			if to != "" && to[0] != '&' && to[0] != '(' && to[0] != '=' && !strings.HasPrefix(to, "/dev/") {
				return true
			}
		}
	}
	return false
}
