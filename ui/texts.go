package ui

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"piwatch/internal/pi"
	"piwatch/internal/timeline"
)

// meant is the row that a key is about; nil when there is none.
func (m *Model) meant() *timeline.Row {
	switch {
	case m.over == overlayReview:
		return m.review.row()
	case m.focus == paneStory:
		return m.story.row()
	}
	return nil
}

func needRow(m *Model) string {
	if m.meant() == nil && (m.focus == paneStory || m.list.current() == nil) {
		return "there is no row"
	}
	return ""
}

func needFile(m *Model) string {
	if s := m.list.current(); s == nil || s.path() == "" {
		return "this session has no file"
	}
	return ""
}

// rowText is all that the timeline knows of a row, as plain text.
func rowText(r *timeline.Row) string {
	text := timeline.Sentence(r)
	switch {
	case r.Card != nil:
		for _, row := range r.Card.Rows {
			text += "\n" + row.Kind.Label() + ": " + rowText(row)
		}
	case r.Tool != nil && r.Body != "":
		text += "\n" + r.Body
	case r.Body != "":
		text = r.Body
	}
	return text
}

// copyRow copies to the clipboard: in tmux through tmux, which is not to be
// passed by, else by OSC 52, which works over ssh too.
func (m *Model) copyRow() tea.Cmd {
	var text string
	if r := m.meant(); r != nil {
		text = rowText(r)
	} else {
		text = m.list.current().path()
	}
	m.say(levelInfo, "", fmt.Sprintf("copied %d characters", len([]rune(text))))
	if m.o.Getenv != nil && m.o.Getenv("TMUX") != "" {
		return func() tea.Msg {
			load := exec.Command("tmux", "load-buffer", "-w", "-")
			load.Stdin = strings.NewReader(text)
			if out, err := load.CombinedOutput(); err != nil {
				return said{levelError, "copy: tmux: " + err.Error() + " " + string(out)}
			}
			return nil
		}
	}
	return m.emit(ansi.SetSystemClipboard(text))
}

// readRow shows the whole row in the user's pager: also what the timeline has
// left out.
func (m *Model) readRow() tea.Cmd {
	r, path := m.meant(), ""
	if s := m.list.current(); s != nil {
		path = s.path()
	}
	if r == nil {
		return m.run("PAGER", "less", path)
	}
	return func() tea.Msg {
		dir, err := os.MkdirTemp("", "piwatch-*")
		if err != nil {
			return said{levelError, err.Error()}
		}
		file := filepath.Join(dir, "row.txt")
		if err := os.WriteFile(file, []byte(fullText(r, path)), 0o600); err != nil {
			return said{levelError, err.Error()}
		}
		return readIt{file, dir}
	}
}

// readIt says that a text is ready for the pager; its folder goes afterwards.
type readIt struct{ file, dir string }

// fullText is the row with nothing left out: what was cut is read from the
// session file again.
func fullText(r *timeline.Row, path string) string {
	if r.Rest == 0 || path == "" {
		return rowText(r) + "\n"
	}
	text, err := bodyOf(r, path)
	if err != nil {
		return rowText(r) + "\n\n(the rest cannot be read: " + err.Error() + ")\n"
	}
	return strings.Join(kept(timeline.Sentence(r), text), "\n\n") + "\n"
}

// bodyOf reads the text of a row from the session file: at its place, or where
// it is since, if the file was rewritten.
func bodyOf(r *timeline.Row, path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	id, offset := r.Source()
	for _, from := range []int64{offset, 0} {
		if _, err := file.Seek(from, io.SeekStart); err != nil {
			return "", err
		}
		lines := bufio.NewReaderSize(file, 64<<10)
		for err = nil; err == nil; {
			var line []byte
			line, err = lines.ReadBytes('\n')
			if text, ok := textIn(line, id, r); ok {
				return text, nil
			}
			if from > 0 {
				break
			}
		}
	}
	if err == nil || err == io.EOF {
		err = errors.New("its entry is not in the file any more")
	}
	return "", err
}

// textIn is the text of a row, if the line is the entry that it is of.
func textIn(line []byte, id string, r *timeline.Row) (string, bool) {
	if !bytes.Contains(line, []byte(id)) {
		return "", false
	}
	var parser pi.Parser
	for _, e := range parser.Add(bytes.TrimSuffix(line, []byte("\n")), 0) {
		if text, ok := timeline.Text(&e, r); ok {
			return text, true
		}
	}
	return "", false
}

// wholeText is the text of an opened row that was cut.
type wholeText struct{ path, key, text string }

// readWhole reads the text of a row that was opened; nil when it is all there.
func (m *Model) readWhole(r *timeline.Row) tea.Cmd {
	path := m.story.path
	if r == nil || path == "" {
		return nil
	}
	cut := *r // the row may change until it is read
	return func() tea.Msg {
		text, err := bodyOf(&cut, path)
		if err != nil {
			return said{levelError, "the rest of the text cannot be read: " + err.Error()}
		}
		return wholeText{path, cut.Key, text}
	}
}

// edit opens the session's file in the user's editor.
func (m *Model) edit() tea.Cmd { return m.run("EDITOR", "vi", m.list.current().path()) }

// run runs a program of the user on a file, in the place of the screen. It is
// a command line, as other programs take the variable: it may hold arguments.
func (m *Model) run(variable, otherwise, path string, clean ...string) tea.Cmd {
	line := ""
	if m.o.Getenv != nil {
		line = m.o.Getenv(variable)
	}
	if strings.TrimSpace(line) == "" {
		line = otherwise
	}
	cmd := exec.Command("sh", "-c", line+` "$1"`, "sh", path)
	// Many tell less to print what fits and leave: it would be gone with the
	// shell's screen.
	cmd.Env = append(os.Environ(), "LESS="+strings.TrimSpace(os.Getenv("LESS")+" -+F"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = m.o.In, m.o.Out, os.Stderr
	return tea.Exec(beside{cmd, m.aside}, func(err error) tea.Msg {
		for _, dir := range clean {
			_ = os.RemoveAll(dir) // it is a temporary folder, and the text stays where it is
		}
		if err != nil {
			return said{levelError, "$" + variable + " (" + line + "): " + err.Error()}
		}
		return nil
	})
}
