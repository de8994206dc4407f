package bridge

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestJoin(t *testing.T) {
	got, err := join([]string{"low.ts", "mid.ts", "top.ts"}, []string{
		`// Low.
import { a, type B } from "pkg";

export const low = a("import { x } from \"y\";");
export type Low = B;
const own = 1;
`,
		`// Mid.
import type { C } from "pkg";
import { type Low, low } from "./low.ts";
import { B } from "pkg";
import { d } from "node:d";

export class Mid implements C {
	export = new B(low, d); // not a statement
}
`,
		`import {
	low,
} from "./low.ts";
import { Mid } from "./mid.ts";

export default function top(): Mid {
	return low;
}
`,
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `import { d } from "node:d";
import { B, type C, a } from "pkg";

// ---- low.ts
// Low.

const low = a("import { x } from \"y\";");
type Low = B;
const own = 1;

// ---- mid.ts
// Mid.

class Mid implements C {
	export = new B(low, d); // not a statement
}

// ---- top.ts

export default function top(): Mid {
	return low;
}
`
	if got != want {
		t.Errorf("joined:\n%s\nwant:\n%s", got, want)
	}
}

func TestJoinRefusesWhatWouldNotWork(t *testing.T) {
	const low, top = "export const low = 1;\nconst own = 2;\n", "export default function top() {}\n"
	for _, c := range []struct{ low, top, want string }{
		{`import { top } from "./top.ts";` + "\n" + low, top, "low.ts imports from ./top.ts, which is not before it"},
		{`import { low } from "./low.ts";` + "\n" + low, top, "low.ts imports from ./low.ts, which is not before it"},
		{low, `import { x } from "../low.ts";` + "\n" + top, "which is not before it"},
		{low, `import { high } from "./low.ts";` + "\n" + top, "top.ts imports high, which ./low.ts does not export"},
		{low, `import { own } from "./low.ts";` + "\n" + top, "top.ts imports own, which ./low.ts does not export"},
		{low, `import { low as deep } from "./low.ts";` + "\n" + top, "under another name"},
		{low, `import { own as x } from "pkg";` + "\n" + top, "under another name"},
		{low, `import { own } from "pkg";` + "\n" + top, "own of pkg is own of low.ts too"},
		{low, "function own() {}\n" + top, "own of top.ts is own of low.ts too"},
		{low + "function own() {}\n", top, "own of low.ts is own of low.ts too"},
		{`import { top } from "pkg";` + "\n" + low, top, "top of top.ts is top of pkg too"},
		{`import { x } from "pkg";` + "\n" + low, `import { x } from "other";` + "\n" + top, "x of other is x of pkg too"},
		{low, "import top from \"pkg\";\n" + top, `top.ts: "import top from \"pkg\";" is neither`},
		{low, "export { low };\n" + top, "neither an import of names nor a declaration"},
		{low, "const { a } = low;\n" + top, "neither an import of names nor a declaration"},
		{low, "start();\n" + top, "neither an import of names nor a declaration"},
		{low + "export default function a() {}\n", top, "low.ts has a default export; that is for top.ts"},
	} {
		if _, err := join([]string{"low.ts", "top.ts"}, []string{c.low, c.top}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("low.ts:\n%stop.ts:\n%sgave %v, want %q", c.low, c.top, err, c.want)
		}
	}
}

// A module that is not in the order would not be installed. Each says at its
// beginning what it is for, and stays small.
func TestModules(t *testing.T) {
	files, err := fs.Glob(modules, "src/*")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, path.Base(file))
		data, err := fs.ReadFile(modules, file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(data), "// ") {
			t.Errorf("%s does not begin with what it is for", file)
		}
		if lines := strings.Count(string(data), "\n"); lines > 300 {
			t.Errorf("%s has %d lines; what could be a module of its own?", file, lines)
		}
	}
	if got, want := fmt.Sprint(names), fmt.Sprint(slices.Sorted(slices.Values(order))); got != want {
		t.Errorf("modules: %s\nin order: %s", got, want)
	}
}

func TestExtensionIsOneModule(t *testing.T) {
	joined := extension(t)
	for _, c := range []struct {
		text  string
		times int
	}{
		{"\nexport ", 1},
		{"\nexport default function piwatch(", 1},
		{`from "./`, 0},
		{"\n// ---- check.ts\n", 1},
		{binaryLine, 1},
	} {
		if n := strings.Count(joined, c.text); n != c.times {
			t.Errorf("%q is there %d times, want %d", c.text, n, c.times)
		}
	}
}
