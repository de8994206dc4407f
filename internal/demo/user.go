package demo

import (
	"context"
	"errors"
	"strings"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// activityPause bounds the reports of keys to four a second.
const activityPause = 250 * time.Millisecond

// errBusy refuses what Pi does only when it is idle.
var errBusy = errors.New("the agent is running")

// Prompt submits a message of the user. While the agent runs it steers; while
// Pi compacts it waits. The editor is left as it is.
func (p *Pi) Prompt(text string) { p.submit(text, "interactive", &p.steering) }

// FollowUp submits a message that waits until the agent stops.
func (p *Pi) FollowUp(text string) { p.submit(text, "interactive", &p.followUps) }

// PromptFrom submits a message from another source: rpc, or extension for one
// that no person wrote.
func (p *Pi) PromptFrom(source, text string) { p.submit(text, source, &p.steering) }

func (p *Pi) submit(text, source string, queue *[]queued) {
	p.mu.Lock()
	defer p.mu.Unlock()
	human := source != "extension"
	if p.link == nil {
		p.closeOrphan() // the request to come must not carry one
	}
	if p.check != nil {
		why := "the user spoke"
		if !human {
			why = "another extension sent a message"
		}
		p.check.makeVoid(why)
	}
	if human {
		p.aborted = false
	}
	if human {
		p.tell(control.Spoke, control.SpokeEvent{Text: text})
	}
	p.tell(control.Input, control.InputEvent{Source: source, Said: watchdog.Beginning(text)})
	if p.running || p.compacting {
		*queue = append(*queue, queued{text: text})
		p.bump()
		return
	}
	p.startRun(queued{text: text})
}

// Type puts text at the end of the editor's draft, one key for each letter.
func (p *Pi) Type(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draft += text
	p.pressed()
}

// Key presses a key that changes no text.
func (p *Pi) Key() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pressed()
}

// ClearDraft empties the editor.
func (p *Pi) ClearDraft() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draft = ""
	p.pressed()
}

// Enter submits the draft.
func (p *Pi) Enter() {
	p.mu.Lock()
	text := p.draft
	p.draft = ""
	p.pressed()
	p.mu.Unlock()
	if strings.TrimSpace(text) != "" {
		p.Prompt(text)
	}
}

// Esc aborts the run. What waits in the queues goes back into the editor.
func (p *Pi) Esc() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pressed()
	p.abort()
}

func (p *Pi) hasDraft() bool { return strings.TrimSpace(p.draft) != "" }

// pressed reports keys and the draft as the bridge does: at once, then at most
// four times a second. The caller holds mu.
func (p *Pi) pressed() {
	p.key = true
	p.bump()
	if p.timing {
		return
	}
	p.report()
	p.timing = true
	b := p.instance
	p.work.Go(func() {
		err := p.clock.Sleep(p.ctx, activityPause)
		p.mu.Lock()
		defer p.mu.Unlock()
		if err == nil && p.instance == b {
			p.timing = false
			p.report()
			p.bump()
		}
	})
}

func (p *Pi) report() {
	draft := p.hasDraft()
	if !p.key && draft == p.draftSent {
		return
	}
	p.tell(control.Activity, control.ActivityEvent{Key: p.key, Draft: draft})
	p.key, p.draftSent = false, draft
}

// OpenDialog opens a dialog of Pi.
func (p *Pi) OpenDialog() { p.dialog(1) }

// CloseDialog closes one.
func (p *Pi) CloseDialog() { p.dialog(-1) }

func (p *Pi) dialog(by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialogs = max(p.dialogs+by, 0)
	p.tell(control.Dialog, control.DialogEvent{Open: p.dialogs > 0})
	p.bump()
}

// Command types /watchdog with its arguments, or another command of piwatch,
// and returns what Pi shows.
func (p *Pi) Command(ctx context.Context, line string) (control.CommandReply, error) {
	name, args, _ := strings.Cut(strings.TrimPrefix(line, "/"), " ")
	var reply control.CommandReply
	p.mu.Lock()
	asked := p.call(control.Command, control.CommandParams{Name: name, Args: args}, &reply)
	p.mu.Unlock()
	select {
	case err := <-asked:
		return reply, err
	case <-ctx.Done():
		return control.CommandReply{}, ctx.Err()
	}
}

// Rename gives the session a display name.
func (p *Pi) Rename(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session.rename(name, p.clock.Now())
	p.tell(control.Renamed, control.RenamedEvent{Name: name, Model: p.modelName()})
	p.bump()
}

// Tree moves the leaf to an entry of the session, as /tree without a summary
// does: nothing is written, the next entry shows the branch.
func (p *Pi) Tree(entry string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running || p.compacting {
		return errBusy
	}
	if p.session.byID[entry] == nil {
		return errors.New("no entry " + entry)
	}
	p.session.leaf = entry
	p.settle++ // what was decided before does not fit any more
	p.foldHere()
	p.closeOrphan()
	p.tell(control.Tree, control.TreeEvent{Facts: p.facts(), Records: essence(p.session.branch())})
	p.bump()
	return nil
}

// Reload loads the extensions anew, as /reload does: another instance of the
// bridge, which counts from the start.
func (p *Pi) Reload() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running || p.compacting {
		return errBusy
	}
	p.unload("reload")
	p.status = ""
	p.load("reload")
	p.bump()
	return nil
}

// Compact starts a compaction that takes d; the last keep messages of the
// branch stay. What was submitted meanwhile runs afterwards.
func (p *Pi) Compact(d time.Duration, keep int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running || p.compacting {
		return errBusy
	}
	p.compacting = true
	p.tell(control.Compaction, control.CompactionEvent{On: true})
	p.bump()
	p.work.Go(func() {
		err := p.clock.Sleep(p.ctx, d)
		p.mu.Lock()
		defer p.mu.Unlock()
		if err != nil {
			return // the process is gone
		}
		p.session.compact(keep, p.clock.Now())
		p.compacting = false
		p.tell(control.Compaction, control.CompactionEvent{})
		p.bump()
		next := append(poll(&p.steering), poll(&p.followUps)...)
		if len(next) > 0 {
			p.steering = append(next[1:], p.steering...)
			p.startRun(next[0])
		}
	})
	return nil
}

func (s *session) rename(name string, now time.Time) {
	s.name = name
	s.add(&entry{kind: pi.TypeSessionInfo}, now, func(p place) any {
		return nameRecord{pi.TypeSessionInfo, p, name}
	})
}

// compact appends a compaction that keeps the last messages of the branch.
func (s *session) compact(keep int, now time.Time) {
	before, _ := s.context()
	first := ""
	branch := s.branch()
	for i := len(branch) - 1; i >= 0 && keep > 0; i-- {
		if e := branch[i]; e.message != nil || e.kind == pi.TypeCustomMessage {
			first = e.id
			keep--
		}
	}
	const summary = "What was done so far."
	s.add(&entry{kind: pi.TypeCompaction, text: summary, kept: first}, now, func(p place) any {
		if first == "" {
			first = p.ID // nothing is kept
		}
		tokens := size(before)
		return compactionRecord{Type: pi.TypeCompaction, place: p, Summary: summary, FirstKept: first, TokensBefore: tokens,
			Usage: usage{Input: tokens, Output: len(summary) / 4, TotalTokens: tokens + len(summary)/4}}
	})
}
