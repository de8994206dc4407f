package ui

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"piwatch/internal/pi"
	"piwatch/internal/timeline"
)

// fileInfo is what the list shows of a session file.
type fileInfo struct {
	Path    string
	ModTime time.Time
	Size    int64
	ID, Cwd string
	Parent  string // file of the session that started it
	Name    string
	Story   timeline.Story
}

const (
	// headBytes and tailBytes are read of a large session for the list. Pi
	// 1.6.0 writes 5 to 30 KB before the first message of the user; where that
	// is not found, headMost is read.
	headBytes = 32 << 10
	headMost  = 256 << 10
	tailBytes = 64 << 10
	// glanceEntries is how many entries a glance takes in until it begins anew
	// with the end of the file.
	glanceEntries = 2000
	// markBytes before the place that was read up to are compared, to see
	// whether the file is still the same.
	markBytes = 64
)

// glance is what is known of a session file from its beginning and its end,
// and goes on from there as the file grows.
type glance struct {
	info    fileInfo
	first   string // first words of the user
	parser  pi.Parser
	build   timeline.Builder
	offset  int64  // read up to here; always the start of a line
	mark    []byte // the bytes before it
	entries int
}

// briefParser reads what a glance needs.
var briefParser = pi.Parser{Lean: true, Text: timeline.BriefText}

// readInfo glances at a file once.
func readInfo(found pi.Found) (fileInfo, error) {
	var g glance
	err := g.start(found)
	return g.info, err
}

// start reads the beginning and the end of a file. One that is small enough is
// read whole.
func (g *glance) start(found pi.Found) error {
	file, err := os.Open(found.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	g.reset(found)
	if found.Size <= headBytes+tailBytes {
		if err := g.readFrom(file, 0, found.Size); err != nil {
			return err
		}
	} else {
		for head := int64(headBytes); ; head = headMost {
			g.reset(found)
			if err := g.readFrom(file, 0, min(head, found.Size)); err != nil {
				return err
			}
			if g.info.Story.First != "" || head == headMost {
				break
			}
		}
		g.first = g.info.Story.First
		g.parser, g.build = briefParser, timeline.Builder{}
		if err := g.readEnd(file, found.Size); err != nil {
			return err
		}
	}
	if g.info.ID == "" {
		g.info.ID = filepath.Base(found.Path)
	}
	return nil
}

func (g *glance) reset(found pi.Found) {
	*g = glance{info: fileInfo{Path: found.Path, ModTime: found.ModTime, Size: found.Size}, parser: briefParser}
}

// errOther says that the file is another one than was read before.
var errOther = errors.New("the file was rewritten")

// more reads what was appended. The error is errOther when the glance has to
// begin anew.
func (g *glance) more(found pi.Found) error {
	if found.Size < g.offset || found.Size-g.offset > tailBytes || g.entries > glanceEntries {
		return errOther
	}
	file, err := os.Open(found.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	// One read for both: what was there before, and what came.
	from := g.offset - int64(len(g.mark))
	data := make([]byte, found.Size-from)
	n, err := file.ReadAt(data, from)
	if err != nil && err != io.EOF {
		return err
	}
	fresh, same := bytes.CutPrefix(data[:n], g.mark)
	if !same {
		return errOther
	}
	g.info.ModTime, g.info.Size = found.ModTime, found.Size
	g.take(fresh, g.offset)
	return nil
}

// readEnd reads the last lines of a file.
func (g *glance) readEnd(file io.ReaderAt, size int64) error {
	from := size - tailBytes
	data := make([]byte, tailBytes)
	n, err := file.ReadAt(data, from)
	if err != nil && err != io.EOF {
		return err
	}
	line := bytes.IndexByte(data[:n], '\n') + 1 // the first line is cut
	g.take(data[line:n], from+int64(line))
	return nil
}

func (g *glance) readFrom(file io.ReaderAt, from, to int64) error {
	data := make([]byte, to-from)
	n, err := file.ReadAt(data, from)
	if err != nil && err != io.EOF {
		return err
	}
	g.take(data[:n], from)
	return nil
}

// take reads lines. A line that is not complete is left for later.
func (g *glance) take(data []byte, offset int64) {
	end := bytes.LastIndexByte(data, '\n') + 1
	for rest := data[:end]; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		g.add(g.parser.Add(line, offset))
		offset += int64(len(line)) + 1
		rest = after
	}
	g.offset = offset
	if end > 0 {
		g.mark = bytes.Clone(data[max(end-markBytes, 0):end])
	}
	g.info.Story = g.build.Story()
	if g.first != "" {
		g.info.Story.First = g.first
	}
}

func (g *glance) add(entries []pi.Entry) {
	for i := range entries {
		e := &entries[i]
		if e.Header != nil {
			g.info.ID, g.info.Cwd, g.info.Parent = e.Header.ID, e.Header.Cwd, e.Header.ParentSession
		}
		if e.SessionInfo != nil {
			g.info.Name = e.SessionInfo.Name
		}
		g.entries++
		g.build.Add(timeline.DigestBrief(e))
	}
}
