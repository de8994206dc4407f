package pi

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func noEnv(string) string { return "" }

func TestAgentDir(t *testing.T) {
	for value, want := range map[string]string{
		"": "/home/ada/.pi/agent", "/x/agent": "/x/agent", "~": "/home/ada", "~/a": "/home/ada/a", "~bob/a": "~bob/a", "file:///x/a%20b": "/x/a b",
	} {
		env := func(name string) string { return map[string]string{EnvAgentDir: value}[name] }
		if got := AgentDir(env, "/home/ada"); got != want {
			t.Errorf("AgentDir of %q: %q, want %q", value, got, want)
		}
	}
}

// The names are those that Pi 1.6.0 gives.
func TestFolderName(t *testing.T) {
	for cwd, want := range map[string]string{
		"/": "----", "/home/ada/garden": "--home-ada-garden--", "/home/ada/garden/": "--home-ada-garden--", "/a/b:c": "--a-b-c--",
		"/a-b/c": "--a-b-c--", "/with space/ü": "--with space-ü--", "/a/../b": "--b--", `/a\b`: "--a-b--",
	} {
		if got := FolderName(cwd); got != want {
			t.Errorf("FolderName of %q: %q, want %q", cwd, got, want)
		}
	}
}

func TestSessionDirs(t *testing.T) {
	tests := []struct {
		name          string
		env           map[string]string
		project, user string // settings files, "" for none
		flag          []string
		want          []string // path:source
		broken        string   // what the error names
	}{
		{name: "default", want: []string{"HOME/.pi/agent/sessions:default"}},
		{name: "agent dir", env: map[string]string{EnvAgentDir: "~/other"}, want: []string{"HOME/other/sessions:default"}},
		{name: "user settings", user: `{"sessionDir":"~/s"}`, want: []string{"HOME/s:user settings", "HOME/.pi/agent/sessions:default"}},
		{name: "with a byte order mark", user: "\ufeff" + `{"sessionDir":"~/s"}`, want: []string{"HOME/s:user settings", "HOME/.pi/agent/sessions:default"}},
		{name: "project before user", user: `{"sessionDir":"~/s"}`, project: `{"sessionDir":"local"}`, want: []string{"CWD/local:project settings", "HOME/.pi/agent/sessions:default"}},
		{name: "an empty one in the project", user: `{"sessionDir":"~/s"}`, project: `{"sessionDir":""}`, want: []string{"HOME/.pi/agent/sessions:default"}},
		{name: "a project without one", user: `{"sessionDir":"~/s"}`, project: `{"x":1}`, want: []string{"HOME/s:user settings", "HOME/.pi/agent/sessions:default"}},
		{name: "environment first", env: map[string]string{EnvSessionDir: "/e"}, project: `{"sessionDir":"/p"}`, want: []string{"/e:" + EnvSessionDir, "/p:project settings", "HOME/.pi/agent/sessions:default"}},
		{name: "flag before all", flag: []string{"", "~/f/"}, env: map[string]string{EnvSessionDir: "/e"}, want: []string{"HOME/f:--session-dir", "/e:" + EnvSessionDir, "HOME/.pi/agent/sessions:default"}},
		{name: "the same twice", env: map[string]string{EnvSessionDir: "/e"}, user: `{"sessionDir":"/e/"}`, want: []string{"/e:" + EnvSessionDir, "HOME/.pi/agent/sessions:default"}},
		{name: "broken user settings", user: `{"sessionDir":`, want: []string{"HOME/.pi/agent/sessions:default"}, broken: "HOME/.pi/agent/settings.json"},
		{name: "a number", project: `{"sessionDir":5}`, user: `{"sessionDir":"/s"}`, want: []string{"/s:user settings", "HOME/.pi/agent/sessions:default"}, broken: "CWD/.pi/settings.json"},
		{name: "empty file", user: " ", want: []string{"HOME/.pi/agent/sessions:default"}, broken: "HOME/.pi/agent/settings.json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			home, cwd := t.TempDir(), t.TempDir()
			places := strings.NewReplacer("HOME", home, "CWD", cwd)
			if test.user != "" {
				rewriteFile(t, filepath.Join(home, ".pi/agent/settings.json"), test.user)
			}
			if test.project != "" {
				rewriteFile(t, filepath.Join(cwd, ".pi/settings.json"), test.project)
			}
			dirs, err := SessionDirs(func(name string) string { return test.env[name] }, home, cwd, test.flag...)
			var got []string
			for _, d := range dirs {
				got = append(got, d.Path+":"+d.Source)
				if d.Flat == (d.Source == FromDefault) {
					t.Errorf("%s: flat %v", d.Path, d.Flat)
				}
			}
			for i := range test.want {
				test.want[i] = places.Replace(test.want[i])
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("dirs %v, want %v", got, test.want)
			}
			if broken := places.Replace(test.broken); (err != nil) != (broken != "") || err != nil && !strings.Contains(err.Error(), broken) {
				t.Errorf("error %v, want one that names %q", err, broken)
			}
		})
	}
}

func TestList(t *testing.T) {
	root := t.TempDir()
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, name := range []string{"--a--/1.jsonl", "--a--/2.jsonl", "flat.jsonl", "--a--/deep/3.jsonl", "--a--/notes.txt", "x.jsonl.bak"} {
		path := filepath.Join(root, name)
		rewriteFile(t, path, header+"\n")
		if err := os.Chtimes(path, old, old.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range [][2]string{{filepath.Join(root, "--a--"), "--linked--"}, {"/nowhere", "dangling.jsonl"}} {
		if err := os.Symlink(link[0], filepath.Join(root, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	found, err := List([]Dir{{Path: root}, {Path: root}, {Path: filepath.Join(root, "nobody")}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		name, err := filepath.Rel(root, f.Path)
		if err != nil || f.Size != int64(len(header)+1) {
			t.Errorf("%+v: %v", f, err)
		}
		got = append(got, name)
	}
	want := []string{"flat.jsonl", "--linked--/2.jsonl", "--a--/2.jsonl", "--linked--/1.jsonl", "--a--/1.jsonl"}
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if _, err := List([]Dir{{Path: filepath.Join(root, "flat.jsonl")}}); err == nil {
		t.Error("a file was listed as a folder")
	}
	if dirs, err := SessionDirs(noEnv, root, root); err != nil || len(dirs) != 1 {
		t.Errorf("%v, %v", dirs, err)
	}
}
