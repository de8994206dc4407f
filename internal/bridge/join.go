package bridge

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:embed src/*.ts
var modules embed.FS

// order lists the modules of the extension, downwards: one imports only from
// those before it. A new one is added here first, on purpose.
var order = []string{
	"protocol.ts", "safe.ts", "text.ts", "entry.ts", "screen.ts", // words
	"session.ts", "branch.ts", "channel.ts", "link.ts", "gateway.ts", // Pi, and the hub
	"fold_edits.ts", "fold_hook.ts", "fold.ts",
	"run.ts", "tool.ts", "check.ts",
	"compaction.ts", "keyboard.ts", "input.ts", "decide.ts",
	"facts.ts", "send.ts", "guard.ts", "settle.ts",
	"navigator.ts", "rollback.ts", "supervisor.ts", "artefact.ts", "command.ts",
	"piwatch.ts", // ties it all together; the default export is here
}

var (
	importPattern = regexp.MustCompile(`(?m)^import (type )?\{([^}]*)\} from "([^"]+)";\n`)
	declPattern   = regexp.MustCompile(`(?m)^(export )?(default )?(?:(?:async )?function|class|interface|type|const|let) (\w+)`)
	startPattern  = regexp.MustCompile(`(?m)^[A-Za-z].*`) // of a statement
)

// Extension is the extension in one file, with the program to start a hub with
// left to the search path.
func Extension() (string, error) {
	sources := make([]string, len(order))
	for i, name := range order {
		data, err := modules.ReadFile(path.Join("src", name))
		if err != nil {
			return "", err
		}
		sources[i] = string(data)
	}
	return join(order, sources)
}

// join makes one file of modules: the imports of packages first, then the
// modules in their order, without the imports and exports between them.
func join(names, sources []string) (string, error) {
	packages := map[string]map[string]bool{} // package, name imported from it, as a value
	exports := map[string]map[string]bool{}  // "./module.ts", name
	owners := map[string]string{}            // top-level name, module or package
	var body strings.Builder
	for i, source := range sources {
		for _, found := range importPattern.FindAllStringSubmatch(source, -1) {
			from, relative := found[3], strings.HasPrefix(found[3], ".")
			if relative && exports[from] == nil {
				return "", fmt.Errorf("%s imports from %s, which is not before it", names[i], from)
			}
			for name := range strings.SplitSeq(found[2], ",") {
				name, isType := strings.CutPrefix(strings.TrimSpace(name), "type ")
				switch {
				case name == "":
				case strings.Contains(name, " "):
					return "", fmt.Errorf("%s imports %q under another name", names[i], name)
				case relative && !exports[from][name]:
					return "", fmt.Errorf("%s imports %s, which %s does not export", names[i], name, from)
				case relative:
				case owners[name] != "" && owners[name] != from:
					return "", fmt.Errorf("%s of %s is %s of %s too", name, from, name, owners[name])
				default:
					if packages[from] == nil {
						packages[from] = map[string]bool{}
					}
					owners[name] = from
					packages[from][name] = packages[from][name] || !isType && found[1] == ""
				}
			}
		}
		source = importPattern.ReplaceAllString(source, "")
		own := map[string]bool{}
		for _, line := range startPattern.FindAllString(source, -1) {
			found := declPattern.FindStringSubmatch(line)
			switch {
			case found == nil:
				return "", fmt.Errorf("%s: %q is neither an import of names nor a declaration", names[i], line)
			case found[2] != "" && i < len(names)-1:
				return "", fmt.Errorf("%s has a default export; that is for %s", names[i], names[len(names)-1])
			case owners[found[3]] != "":
				return "", fmt.Errorf("%s of %s is %s of %s too", found[3], names[i], found[3], owners[found[3]])
			}
			owners[found[3]] = names[i]
			own[found[3]] = found[1] != ""
		}
		exports["./"+names[i]] = own
		source = declPattern.ReplaceAllStringFunc(source, func(decl string) string {
			if strings.HasPrefix(decl, "export default ") {
				return decl
			}
			return strings.TrimPrefix(decl, "export ")
		})
		fmt.Fprintf(&body, "\n// ---- %s\n%s", names[i], source)
	}
	var head strings.Builder
	for _, from := range slices.Sorted(maps.Keys(packages)) {
		var wanted []string
		for _, name := range slices.Sorted(maps.Keys(packages[from])) {
			if !packages[from][name] {
				name = "type " + name
			}
			wanted = append(wanted, name)
		}
		fmt.Fprintf(&head, "import { %s } from %q;\n", strings.Join(wanted, ", "), from)
	}
	return head.String() + body.String(), nil
}
