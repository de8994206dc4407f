package ui

import (
	"bytes"
	"context"
	"io"
	"os"
	"runtime"

	"piwatch/internal/pi"
	"piwatch/internal/tail"
	"piwatch/internal/timeline"
)

// reader turns the lines of a file into messages. The lines go in portions to
// some workers, which read them at the same time; only what depends on the
// lines before is done in turn.
type reader struct {
	feed  *feed
	ctx   context.Context
	path  string
	large bool

	filling  portion
	free     chan []byte // buffers to fill
	portions chan portion
	last     turn // that of the last portion

	// drafts reads lines by themselves, and never changes. parser and damage,
	// how much was told of it, belong to the worker whose turn it is to place.
	drafts pi.Parser
	parser pi.Parser
	damage int
}

// portion are some lines on their way.
type portion struct {
	data   []byte
	lines  []span
	reset  bool // the file is another one than before
	caught bool // this is the end of the file
	before turn
	own    turn
}

// span is a line in the data of a portion, and its place in the file.
type span struct {
	from, to int
	offset   int64
}

// turn tells the portion after when its turn is: to be placed, and to be sent.
type turn struct{ placed, sent chan struct{} }

func newTurn() turn { return turn{make(chan struct{}), make(chan struct{})} }

const (
	// linesAtOnce and bytesAtOnce are how much of a file is one portion.
	linesAtOnce = 256
	bytesAtOnce = 256 << 10
	// mostWorkers read a file.
	mostWorkers = 4
)

func newReader(f *feed, ctx context.Context, path string) *reader {
	r := &reader{feed: f, ctx: ctx, path: path, portions: make(chan portion), free: make(chan []byte, mostWorkers), last: newTurn()}
	close(r.last.placed)
	close(r.last.sent)
	return r
}

// workers is how many of them are of use.
func (r *reader) workers() int { return min(runtime.GOMAXPROCS(0), mostWorkers) }

// glimpse reads the end of a file that is not small, so that something is seen
// before all of it was read. What is wrong with the file is told later.
func (r *reader) glimpse() {
	file, err := os.Open(r.path)
	if err != nil {
		return
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil || stat.Size() < glimpseFrom {
		return
	}
	if r.large = stat.Size() >= largeFrom; r.large {
		r.drafts = briefParser
	}
	end := make([]byte, min(stat.Size(), glimpseBytes))
	n, err := file.ReadAt(end, stat.Size()-int64(len(end)))
	if err != nil && err != io.EOF {
		return
	}
	parser, digest := r.drafts, r.digest()
	msg := entriesCame{path: r.path, glimpse: true}
	_, rest, _ := bytes.Cut(end[:n], []byte("\n")) // the first line is cut
	for {
		line, after, found := bytes.Cut(rest, []byte("\n"))
		if !found {
			break
		}
		for _, e := range parser.Add(line, stat.Size()-int64(len(end)-n+len(rest))) {
			msg.entries = append(msg.entries, digest(&e))
		}
		rest = after
	}
	r.feed.send(r.ctx, msg)
}

// digest is how entries are digested: those of a large file further.
func (r *reader) digest() func(*pi.Entry) timeline.Entry {
	if r.large {
		return timeline.DigestBrief
	}
	return timeline.Digest
}

// event takes in what the follower tells.
func (r *reader) event(ev tail.Event) {
	switch ev.Kind {
	case tail.Lines:
		for _, line := range ev.Lines {
			r.fill(line)
		}
		if !ev.More {
			r.filling.caught = true
			r.handOut()
		}
	case tail.Reset:
		r.filling = portion{reset: true}
		r.handOut()
	case tail.Missing:
		r.feed.send(r.ctx, fileTrouble{r.path, "the session has no file: " + ev.Reason})
	case tail.Trouble:
		r.feed.send(r.ctx, fileTrouble{r.path, "the file cannot be read: " + ev.Reason})
	case tail.PollingOnly:
		r.feed.send(r.ctx, fileTrouble{r.path, ev.Reason})
	}
}

// fill copies a line: the follower uses its buffer again.
func (r *reader) fill(line tail.Line) {
	p := &r.filling
	if p.data == nil {
		select {
		case p.data = <-r.free:
		default:
		}
	}
	from := len(p.data)
	p.data = append(p.data, line.Data...)
	p.lines = append(p.lines, span{from, len(p.data), line.Offset})
	if len(p.lines) == linesAtOnce || len(p.data) >= bytesAtOnce {
		r.handOut()
	}
}

func (r *reader) handOut() {
	p := r.filling
	r.filling = portion{}
	p.before, p.own = r.last, newTurn()
	r.last = p.own
	select {
	case <-r.ctx.Done():
	case r.portions <- p:
	}
}

// work reads portions until there are no more.
func (r *reader) work() {
	digest := r.digest()
	for p := range r.portions {
		drafts := make([]pi.Draft, len(p.lines))
		for i, s := range p.lines {
			drafts[i] = r.drafts.Draft(p.data[s.from:s.to:s.to], s.offset)
		}
		if !r.await(p.before.placed) {
			return
		}
		entries, damage := r.place(p, drafts)
		close(p.own.placed)

		msg := entriesCame{path: r.path, reset: p.reset, caught: p.caught, entries: make([]timeline.Entry, 0, len(entries)+len(damage))}
		for i := range entries {
			msg.entries = append(msg.entries, digest(&entries[i]))
		}
		for _, d := range damage {
			msg.entries = append(msg.entries, timeline.DigestDamage(d))
		}
		if !r.await(p.before.sent) {
			return
		}
		r.feed.send(r.ctx, msg)
		close(p.own.sent)
	}
}

func (r *reader) await(turn <-chan struct{}) bool {
	select {
	case <-r.ctx.Done():
		return false
	case <-turn:
		return true
	}
}

// place gives the lines of a portion their place, and tells what is wrong with
// them.
func (r *reader) place(p portion, drafts []pi.Draft) ([]pi.Entry, []pi.Damage) {
	if p.reset || r.parser.Lines() == 0 {
		r.parser, r.damage = r.drafts, 0
	}
	entries := make([]pi.Entry, 0, len(drafts))
	for _, d := range drafts {
		entries = r.parser.Place(entries, d)
	}
	list := r.parser.Damage().List
	damage := list[r.damage:]
	r.damage = len(list)
	select {
	case r.free <- p.data[:0]:
	default:
	}
	return entries, damage
}
