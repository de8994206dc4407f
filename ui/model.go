package ui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"piwatch/internal/control"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
	"piwatch/themes"
)

// pane is one of the two panes.
type pane int

const (
	paneList pane = iota
	paneStory
)

// overlay is what covers the right pane.
type overlay uint8

// One bit each: a key is bound in some of them.
const (
	overlayNone overlay = 1 << iota
	overlayHelp
	overlayLog
	overlayReview // it covers the whole screen
	overlayThemes
	overlayGateway
	overlayInspect
)

// Model is the screen.
type Model struct {
	o         Options
	render    *lipgloss.Renderer
	themes    []themes.Theme
	theme     themes.Theme
	ground    string // sets the colours of the background
	env       env
	w, h      int
	keys      []binding
	list      sessionList
	story     storyPane
	log       messageLog
	focus     pane
	over      overlay
	gateway   gatewayPanel
	inspector inspectPanel
	overUp    int // lines the help is scrolled down
	review    reviewPane
	picker    themePicker
	ask       *dialog
	sure      *question
	alarm     alarm
	mouse     bool
	// helpFind is what is looked for in the help.
	helpFind string
	hub      Hub // nil while there is none
	hubWhy   string
	hubLost  int       // the message that it went, in the log
	due      time.Time // when the next tick comes; zero: none was ordered
	crash    error

	next func() tea.Msg    // waits for the feed; nil: there is none
	open func(path string) // follows another session file; nil: none
	// aside runs what takes the place of the screen.
	aside func(run func() error) error
	// after orders a message for later.
	after func(time.Duration, tea.Msg) tea.Cmd
}

func newModel(o Options, r *lipgloss.Renderer, all []themes.Theme, theme themes.Theme) *Model {
	m := &Model{o: o, render: r, themes: all, list: newSessionList(o.Select), over: overlayNone, mouse: o.Mouse, after: never, aside: atOnce}
	keys, problems := rebind(bindings(), o.Keys)
	m.keys = keys
	for _, p := range append(problems, o.Problems...) {
		m.log.add(o.Now(), levelError, "", p)
	}
	m.env.signs, m.env.still = symbolSigns, o.Still
	if o.ASCII {
		m.env.signs = asciiSigns
	}
	if o.Redial == nil && o.Hub == nil {
		m.hubWhy = "no hub: read-only"
	} else {
		m.hubWhy = "connecting to the hub"
	}
	m.setTheme(theme)
	m.story.show("")
	return m
}

func (m *Model) setTheme(t themes.Theme) {
	m.theme = t
	profile := m.render.ColorProfile()
	few, err := themes.Pick(m.themes, themes.Default)
	if err == nil {
		t = t.For(profile, few)
	}
	m.env.styles, m.ground = t.Styles(m.render), t.Ground(profile)
	m.env.look++
}

// never is the clock of a screen without a feed.
func never(time.Duration, tea.Msg) tea.Cmd { return nil }

// atOnce is for a screen without a terminal.
func atOnce(run func() error) error { return run() }

// Init waits for the feed.
func (m *Model) Init() tea.Cmd {
	if m.next == nil {
		return nil
	}
	return m.next
}

// tick says that something may have changed by itself.
type tick struct{}

// replied is the hub's answer to what was asked for.
type replied struct {
	session string
	reply   control.CommandReply
	err     error
	method  string
	asked   control.SteerParams
}

// Update routes a message to what it is for.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.env.now = m.o.Now()
	var cmds []tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = max(msg.Width, 0), max(msg.Height, 0)
	case tea.KeyMsg:
		for _, one := range m.split(msg) {
			cmds = append(cmds, m.key(one))
		}
	case tea.MouseMsg:
		cmds = append(cmds, m.pointer(tea.MouseEvent(msg)))
	case fed:
		for _, one := range msg {
			cmds = append(cmds, m.take(one))
		}
		cmds = append(cmds, m.next)
	case tick:
		if !m.env.now.Before(m.due) {
			m.due = time.Time{}
		}
	default:
		cmds = append(cmds, m.take(msg))
	}
	m.list.arrange(m.env.now)
	m.follow()
	cmds = append(cmds, m.tick(), m.dismissLater(), m.ring())
	return m, tea.Batch(cmds...)
}

// take takes in what the feed and the commands say.
func (m *Model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case hubUp:
		m.hub, m.hubWhy = msg.hub, ""
		m.log.dismiss(m.hubLost)
		m.list.setLive(msg.sessions)
	case hubPush:
		return m.push(msg.Push)
	case hubDown:
		m.hubGone(msg.err)
	case filesChanged:
		for _, info := range msg.changed {
			m.list.setFile(info)
		}
		for _, path := range msg.gone {
			m.list.dropFile(path)
		}
		m.list.loaded = m.list.loaded || msg.first
	case filesTrouble:
		m.say(levelWarning, "", msg.why)
	case entriesCame:
		if msg.path == m.story.path {
			m.story.take(msg)
			if m.over == overlayReview {
				m.review.set(m.story.rows)
			}
		}
	case stale:
		m.log.dismiss(msg.line)
	case wholeText:
		if msg.path == m.story.path {
			m.story.takeWhole(msg.key, msg.text)
		}
	case readIt:
		return m.run("PAGER", "less", msg.file, msg.dir)
	case notShown:
		m.notShown(msg.why)
	case said:
		m.say(msg.level, "", msg.text)
	case fileTrouble:
		if msg.path == m.story.path {
			m.story.trouble = timeline.OneLine(msg.why)
		}
	case replied:
		m.replied(msg)
	case inspected:
		m.inspector.take(msg)
	case crashed:
		m.crash = msg.err
		return tea.Quit
	}
	return nil
}

func (m *Model) push(p control.Push) tea.Cmd {
	switch {
	case p.Session != nil:
		m.list.putLive(*p.Session)
	case p.Notice != nil:
		m.say(p.Notice.Level, p.Notice.Session, p.Notice.Text)
	case p.Target != nil:
		m.list.putTarget(*p.Target)
		if m.over == overlayInspect && p.Target.ID == m.inspector.session {
			return m.askInspect()
		}
	case p.Gone != "":
		m.list.dropLive(p.Gone, m.env.now)
	case p.Gateway != nil:
		m.gateway = gatewayPanel{*p.Gateway, true}
	}
	return nil
}

func (m *Model) hubGone(err error) {
	m.list.lose()
	m.gateway = gatewayPanel{}
	had := m.hub != nil
	m.hub = nil
	if m.o.Redial == nil {
		m.hubWhy = "no hub: read-only"
	} else {
		m.hubWhy = "hub gone, reconnecting"
	}
	if had && err != nil {
		m.say(levelWarning, "", m.hubWhy+": "+err.Error())
		m.hubLost = m.log.count
	} else if err != nil && m.o.Redial != nil {
		m.hubWhy = timeline.OneLine("no hub, trying again: " + err.Error())
	}
}

func (m *Model) replied(r replied) {
	if r.err != nil {
		m.say(levelError, r.session, r.err.Error())
		return
	}
	if r.reply.Level == control.Confirm {
		m.sure = &question{text: r.reply.Text, yes: func() tea.Cmd {
			r.asked.Sure = true
			return m.steer(r.method, r.asked)
		}}
		return
	}
	m.say(r.reply.Level, r.session, r.reply.Text)
}

// say puts a message into the bottom line and the log.
func (m *Model) say(level, session, text string) {
	title := ""
	if s := m.list.all[session]; s != nil {
		title = s.title()
	}
	m.log.add(m.env.now, level, title, text)
}

// follow keeps the right pane on the selected session.
func (m *Model) follow() {
	path := ""
	if s := m.list.current(); s != nil {
		path = s.path()
	}
	if path == m.story.path {
		return
	}
	m.story.show(path)
	m.review.set(nil)
	if m.over == overlayReview {
		m.over = overlayNone
	}
	if m.open != nil {
		m.open(path)
	}
}

// tick orders the moment at which something on the screen changes by itself:
// the second of a countdown or a clock, an age in the list.
func (m *Model) tick() tea.Cmd {
	now := m.env.now
	due := m.changes(now)
	if due.IsZero() || m.w <= 0 || m.h <= 0 || !m.due.IsZero() && !due.Before(m.due) {
		return nil
	}
	m.due = due
	return m.after(due.Sub(now), tick{})
}

// changes is that moment; zero when there is none.
func (m *Model) changes(now time.Time) time.Time {
	var due time.Time
	for _, s := range m.list.shown {
		due = sooner(due, s.ages(now), now)
	}
	if m.over == overlayGateway && !m.o.Still {
		for _, deadline := range m.gateway.deadlines() {
			if deadline.After(now) {
				due = sooner(due, now.Add(restOf(deadline.Sub(now))), now)
			}
		}
	}
	s := m.list.current()
	if s == nil || m.o.Still {
		return due
	}
	if view := s.view(); view.Phase == watchdog.Counting && view.Deadline.After(now) {
		// The text changes when a whole second is over, not a second from now.
		due = sooner(due, now.Add(restOf(view.Deadline.Sub(now))), now)
	}
	return sooner(due, s.moves(now), now)
}

// noticeTime is how long a message hides keys of the bottom line. It stays in
// the log.
const noticeTime = 8 * time.Second

// stale says that a message was in the bottom line long enough.
type stale struct{ line int }

// said is what a command wants to be said.
type said struct{ level, text string }

// dismissLater orders the end of a message that is new in the bottom line.
func (m *Model) dismissLater() tea.Cmd {
	line, ok := m.log.takeNew()
	if !ok {
		return nil
	}
	return m.after(noticeTime, stale{line})
}

// steerTimeout is how long the hub may take to answer.
const steerTimeout = 10 * time.Second

// steer asks the hub; the answer comes as a message.
func (m *Model) steer(method string, p control.SteerParams) tea.Cmd {
	hub := m.hub
	if hub == nil {
		m.say(levelWarning, "", m.hubWhy)
		return nil
	}
	p.By = "tui"
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), steerTimeout)
		defer cancel()
		reply, err := hub.Steer(ctx, method, p)
		return replied{p.Session, reply, err, method, p}
	}
}
