package demo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"piwatch/internal/demo"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// record is the session file, read on as it grows.
type record struct {
	mu     sync.Mutex
	path   string
	size   int64
	parser pi.Parser
	tree   pi.Tree
}

// read reads what is new; false: there is no file yet. The caller holds mu.
func (f *record) read() bool {
	file, err := os.Open(f.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false
		}
		panic(err)
	}
	defer file.Close()
	var fresh bytes.Buffer
	if _, err := file.Seek(f.size, 0); err != nil {
		panic(err)
	}
	if _, err := fresh.ReadFrom(file); err != nil {
		panic(err)
	}
	for line := range bytes.Lines(fresh.Bytes()) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		for _, e := range f.parser.Add(bytes.TrimSuffix(line, []byte("\n")), f.size) {
			f.tree.Add(e)
		}
		f.size += int64(len(line))
	}
	return true
}

// request judges what the model is sent, when it is sent.
func (f *record) request(r demo.Request, breach func(rule, format string, args ...any)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	checks := 0
	for _, m := range r.Messages {
		if bytes.Contains(m.Content, []byte("automated check, not the user")) {
			checks++
		}
	}
	if checks > 1 || checks == 1 && r.Check == "" {
		breach(ruleFold, "request %d holds %d checks, open is %q", r.N, checks, r.Check)
	}
	if !f.read() {
		breach(ruleFile, "request %d, and there is no file", r.N)
		return
	}
	items := f.tree.Context()
	closed := map[string]bool{}
	for e := range f.tree.All() {
		if o, ok := outcome(e); ok && o.Fold != watchdog.FoldNone {
			for _, id := range o.Rows {
				closed[id] = true
			}
		}
	}
	var want []demo.Message
	for _, item := range items {
		if item.State != pi.Visible && item.State != pi.Replaced {
			continue
		}
		if closed[item.Entry.ID] {
			breach(ruleFold, "request %d holds the entry %s of a closed exchange", r.N, item.Entry.ID)
		}
		switch m, ok := messageOf(item); {
		case !ok:
		case item.Entry.Compaction != nil:
			want = slices.Insert(want, 0, m)
		default:
			want = append(want, m)
		}
	}
	if why := differ(r.Messages, want); why != "" {
		breach(ruleContext, "request %d: %s", r.N, why)
	}
}

// messageOf is an entry as the provider is sent it.
func messageOf(item pi.ContextItem) (demo.Message, bool) {
	e := item.Entry
	text := func(s string) json.RawMessage {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode([]map[string]string{{"text": s, "type": "text"}}); err != nil {
			panic(err)
		}
		return bytes.TrimSpace(out.Bytes())
	}
	m := demo.Message{Role: pi.RoleUser}
	switch {
	case e.Compaction != nil:
		m.Content = text(e.Compaction.Summary)
	case e.CustomMessage != nil:
		m.Content = text(e.CustomMessage.Text())
	case e.Message == nil || e.Message.Role == pi.RoleSystem:
		return m, false
	default:
		row := read[struct {
			Message struct {
				Role    string
				Call    string `json:"toolCallId"`
				IsError bool
				Content json.RawMessage
			}
		}](e.Raw).Message
		m = demo.Message{Role: row.Role, Call: row.Call, IsError: row.IsError, Content: row.Content}
	}
	if item.State == pi.Replaced {
		m.Content = read[struct{ Content json.RawMessage }](item.Edit.ContextEdit.Replacement).Content
	}
	return m, true
}

// differ says how two contexts differ, "" when they do not. The words around a
// summary are Pi's.
func differ(got, want []demo.Message) string {
	short := func(all []demo.Message) string {
		var lines []string
		for _, m := range all {
			lines = append(lines, m.Role+" "+string(m.Content[:min(len(m.Content), 120)]))
		}
		return strings.Join(lines, "\n  ")
	}
	like := func(g, w demo.Message) bool {
		if g.Role != w.Role || g.Call != w.Call || g.IsError != w.IsError {
			return false
		}
		var a, b []map[string]any
		if json.Unmarshal(g.Content, &a) != nil || json.Unmarshal(w.Content, &b) != nil || len(a) != len(b) {
			return false
		}
		for i := range a {
			if s, ok := b[i]["text"].(string); ok && strings.HasSuffix(a[i]["text"].(string), "\n\n"+s) {
				a[i]["text"] = s
			}
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return bytes.Equal(x, y)
	}
	if slices.EqualFunc(got, want, like) {
		return ""
	}
	return "sent\n  " + short(got) + "\nthe rows say\n  " + short(want)
}

func outcome(e *pi.Entry) (o watchdog.Outcome, ok bool) {
	if e.Custom == nil || e.Custom.CustomType != watchdog.RecordOutcome {
		return o, false
	}
	return read[watchdog.Outcome](e.Custom.Data), true
}

// judge looks at all that can be seen while all is quiet.
func (m *machine) judge() {
	m.t.Helper()
	s := m.pi.State()
	judgeTools(m.doctored(m.events()), m.rules.breach)
	m.file.mu.Lock()
	defer m.file.mu.Unlock()
	exists := m.file.read()
	if d := m.file.parser.Damage(); d.Total() != 0 {
		m.rules.breach(ruleFile, "%+v", d)
	}
	if d := m.file.tree.Damage(); d.Total() != 0 {
		m.rules.breach(ruleFile, "%+v", d)
	}
	if err := m.pi.Err(); err != nil {
		m.rules.breach(ruleFile, "%v", err)
	}
	leaf := m.file.tree.Leaf()
	if m.moved != "" && m.file.size == m.movedAt {
		leaf = m.moved
	}
	branch := m.file.tree.Branch(leaf)
	m.judgeOutcomes(s, branch)
	if m.relay == nil || !s.Connected {
		return
	}
	m.judgeView()
	if exists && !m.unlike && len(m.waiting) == 0 {
		m.judgeRecord(watchdog.Rebuild(branch))
	}
}

// judgeOutcomes: each check that was asked has ended once. One that was open
// when Pi was killed ends when the next Pi finds it on its branch.
func (m *machine) judgeOutcomes(s demo.State, branch []pi.Entry) {
	ends := map[string]int{}
	for e := range m.file.tree.All() {
		if o, ok := outcome(e); ok && !o.Again {
			ends[o.Check]++
		}
	}
	for e := range m.file.tree.All() {
		if e.Custom == nil || e.Custom.CustomType != watchdog.RecordCheck {
			continue
		}
		id := read[watchdog.Check](e.Custom.Data).ID
		here := slices.ContainsFunc(branch, func(b pi.Entry) bool { return b.ID == e.ID })
		switch n := ends[id]; {
		case n == 1, n == 0 && (id == s.Facts.Check || m.orphans[id] && !(here && s.Connected)):
		default:
			m.rules.breach(ruleOutcome, "check %s has %d outcomes (open %q)", id, n, s.Facts.Check)
		}
	}
}

// judgeTools looks at what became of tool calls.
func judgeTools(events []demo.Event, breach func(rule, format string, args ...any)) {
	open := false
	for _, e := range events {
		switch {
		case e.Kind == demo.Asked:
			open = true
		case e.Kind == demo.Closed && e.Outcome.Check != "":
			open = false
		case e.Kind == demo.Blocked && !open:
			breach(ruleTools, "%s was blocked, no check is open", e.Text)
		case e.Kind == demo.ToolRan && open:
			breach(ruleTools, "%s ran in a check", e.Text)
		}
	}
}

// judgeView compares what the hub shows with what happened.
func (m *machine) judgeView() {
	sessions, err := m.client.Sessions(context.Background())
	if err != nil || len(sessions) != 1 {
		m.rules.breach(ruleView, "%d sessions, %v", len(sessions), err)
		return
	}
	v, r := sessions[0].Watch, m.rules
	r.mu.Lock()
	defer r.mu.Unlock()
	var want watchdog.Phase
	switch {
	case !r.on:
		want = watchdog.Off
	case r.suspended:
		want = watchdog.Suspended
	case r.paused:
		want = watchdog.Paused
	case r.interrupted:
		want = watchdog.Interrupted
	case slices.Contains([]watchdog.Phase{watchdog.Off, watchdog.Suspended, watchdog.Paused, watchdog.Interrupted, watchdog.Lost}, v.Phase):
		want = "at work"
	default:
		want = v.Phase
	}
	if v.Phase != want {
		r.wrong(ruleView, "it is %s, shown is %s (%s)", want, v.Phase, v.Why)
	}
	if v.Count != r.count || r.on && v.Settings != r.settings {
		r.wrong(ruleView, "it is %d, %v; shown is %d, %v", r.count, r.settings, v.Count, v.Settings)
	}
	if v.Check != r.open {
		r.wrong(ruleView, "open is %q, shown is %q", r.open, v.Check)
	}
}

// judgeRecord compares what the file says with what happened.
func (m *machine) judgeRecord(s watchdog.State) {
	r := m.rules
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.selfStop {
		return // it is written when the turn ends
	}
	type state struct {
		on, paused, suspended bool
		count                 int
		settings              watchdog.Settings
	}
	want := state{r.on, r.paused, r.suspended, r.count, r.settings}
	got := state{s.On, s.Paused, s.Suspended, s.Count, s.Settings}
	if !r.on && !s.On {
		got.settings = want.settings
	}
	if got != want {
		r.wrong(ruleRecord, "the file says %+v, it is %+v", got, want)
	}
}
