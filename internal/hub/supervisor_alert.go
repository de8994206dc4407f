package hub

import (
	"cmp"
	"fmt"
	"strings"

	"piwatch/internal/control"
	"piwatch/internal/loop"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

// maxSays bounds a line of evidence, in bytes.
const maxSays = 300

func publicFinding(f loop.Finding) *control.Finding {
	out := &control.Finding{Rule: string(f.Rule), Confidence: string(f.Confidence), Key: f.Key, At: f.At.UnixMilli()}
	for i := range f.Evidence {
		out.Says = append(out.Says, cutText(timeline.OneLine(f.Evidence[i].Says()), maxSays))
	}
	return out
}

func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// found tells of a finding whom the settings name. Whatever is not told says by
// which setting.
func (v *supervisor) found(t *target, f loop.Finding) {
	v.configure(t) // a change in a file counts at once
	finding := publicFinding(f)
	if !t.set.Enabled {
		v.hub.notice(t.id, "info", "Maybe stuck, not told: enabled=false. "+finding.Says[0])
		return
	}
	t.told = finding
	told := v.tell(t, finding)
	v.hub.notice(t.id, "warning", fmt.Sprintf("Maybe stuck (%s, %s): %s. %s.", f.Rule, f.Confidence, finding.Says[0], strings.Join(told, "; ")))
	v.record(t, loop.Record{
		Event: loop.RecordFound, Rule: finding.Rule, Confidence: finding.Confidence, Key: finding.Key, Says: finding.Says, Told: told,
	})
	v.shown(t)
}

// shown brings the clients up to date on a session and its target.
func (v *supervisor) shown(t *target) {
	if t.session != nil {
		t.session.show()
	}
	v.show(t)
}

// tell says what became of a finding.
func (v *supervisor) tell(t *target, f *control.Finding) []string {
	now := v.hub.clock.Now()
	if why := v.held(t); why != "" {
		return []string{"not told: " + why}
	}
	if ok, wait := v.cooldown.Allow(now, t.id, f.Key, t.set.CooldownSec); !ok {
		why := fmt.Sprintf("not told again: cooldownSec=%d", t.set.CooldownSec)
		if wait > 0 {
			why += fmt.Sprintf(", %d s are left", int(wait.Seconds()+0.999))
		}
		return []string{why}
	}
	var told []string
	main := v.targets[t.link.Parent]
	switch {
	case !t.set.TellsMain():
		told = append(told, fmt.Sprintf("the parent is not told: alertMode=%s", t.set.AlertMode))
	case !isChild(t.link):
		told = append(told, "shown on the screen")
	case main == nil || main.session == nil:
		told = append(told, "the parent cannot be told: it has no bridge")
	default:
		v.alert(t, main, alertText(t, f))
		told = append(told, "the parent is told")
	}
	return append(told, v.rescue(t, "", t.set.DryRun(), f.Key, "settings"))
}

// held says why nothing of a session is told just now.
func (v *supervisor) held(t *target) string {
	if t.paused {
		return "paused by hand (/watchdog resume)"
	}
	if t.session != nil && t.session.engine.View(v.hub.clock.Now()).Phase == watchdog.Paused {
		return "the watchdog is paused by hand (/watchdog resume)"
	}
	return ""
}

// alert leaves a message with the bridge of another session.
func (v *supervisor) alert(t, main *target, text string) {
	wake := main.session.engine.View(v.hub.clock.Now()).Phase != watchdog.Off
	main.session.driver().send(control.SendAlert, control.AlertParams{Target: t.id, Text: text, Wake: wake})
}

func alertText(t *target, f *control.Finding) string {
	return fmt.Sprintf("piwatch (automated, not the user): your sub-agent %s may be stuck, %s confidence (%s).\n%s\nThis is advice; nothing was stopped.",
		t.title(), f.Confidence, f.Rule, strings.Join(f.Says, "\n"))
}

// clearedText is told in the place of an alert that has not been told yet.
func clearedText(t *target, f *control.Finding) string {
	return fmt.Sprintf("piwatch (automated, not the user): your sub-agent %s seemed stuck for a time (%s), and is not any more.\n%s",
		t.title(), f.Rule, strings.Join(f.Says, "\n"))
}

func (t *target) title() string {
	return cmp.Or(cutText(timeline.OneLine(t.name), 80), t.id)
}

// rescue steers a session, or only says what would be sent, and says what became
// of it. text "" is the rescue message of the settings.
func (v *supervisor) rescue(t *target, text string, dry bool, key, by string) string {
	text = cmp.Or(text, t.set.RescueMessage)
	switch {
	case !t.set.Steers():
		return fmt.Sprintf("the session is not steered: alertMode=%s", t.set.AlertMode)
	case dry:
		v.record(t, loop.Record{Event: loop.RecordDryRun, By: by, Key: key, Text: text})
		return "dry run, nothing is sent (steerDryRunDefault). It would be: " + timeline.OneLine(text)
	}
	return v.send(t, text, key, by)
}

// send steers a session.
func (v *supervisor) send(t *target, text, key, by string) string {
	switch {
	case t.session == nil:
		return "it cannot be steered: it has no bridge"
	case t.state != stateWorking:
		return "it is not steered: it does not run"
	}
	b := t.session.driver()
	b.enqueue(request{method: control.SendRescue, params: control.RescueParams{Text: text, Key: key}, got: func(r control.Receipt) {
		if r.Result != control.Sent && r.Result != control.Queued {
			v.hub.notice(t.id, "warning", "Not steered: "+r.Reason+".")
			return
		}
		v.hub.notice(t.id, "info", "Steered: "+timeline.OneLine(text))
		v.record(t, loop.Record{Event: loop.RecordSteered, By: by, Key: key, Text: text})
	}})
	return sentWords
}

// sentWords say that a session is steered.
const sentWords = "the session is steered"

// cleared: a session goes on after it was maybe stuck.
func (v *supervisor) cleared(t *target) {
	was := t.told
	t.told = nil
	v.hub.notice(t.id, "info", "Not stuck any more.")
	v.record(t, loop.Record{Event: loop.RecordCleared, Rule: was.Rule, Key: was.Key})
	if main := v.targets[t.link.Parent]; main != nil && main.session != nil && isChild(t.link) {
		main.session.driver().send(control.SendAlert, control.AlertParams{Target: t.id, Text: clearedText(t, was), Amend: true})
	}
	v.shown(t)
}

// record writes into the session of a target, when it has a bridge.
func (v *supervisor) record(t *target, r loop.Record) {
	if t.session != nil {
		t.session.do(watchdog.Append{Type: loop.RecordType, Data: r})
	}
}
