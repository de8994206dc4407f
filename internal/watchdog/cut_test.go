package watchdog

import (
	"strings"
	"testing"
	"time"
)

// cutOff is a session whose last answer was cut by the token limit: it counts.
func cutOff(t *testing.T, line string) *scenario {
	s := watched(t, line)
	s.user()
	s.facts.Cut = true
	s.settle()
	s.forget()
	return s
}

func TestCutAnswerIsSentOnWithoutACheck(t *testing.T) {
	s := cutOff(t, "timeout=10 max=3 message=mind the tests")
	s.counts(10 * sec)
	var sent []SendWork
	s.now = s.now.Add(10 * sec)
	for _, effect := range s.e.Step(s.now, Tick{}) {
		if work, ok := effect.(SendWork); ok {
			sent = append(sent, work)
		}
	}
	if len(sent) != 1 || sent[0].Record == nil {
		t.Fatalf("sent %+v", sent)
	}
	work := sent[0]
	if want := (Check{ID: "c1", N: 1, Max: 3, Reason: "the answer was cut by the token limit", Waited: 10}); *work.Record != want || work.Check != "c1" {
		t.Errorf("record %+v", *work.Record)
	}
	if !strings.HasPrefix(work.Text, CutText) || !strings.HasSuffix(work.Text, "mind the tests") {
		t.Errorf("text %q", work.Text)
	}
	if work.Settle != s.facts.Settle || work.Leaf != s.facts.Leaf {
		t.Errorf("fence %d %q", work.Settle, work.Leaf)
	}
	s.counted(1)
	s.is(Working, "the work message is on its way")
	s.step(Delivered{Check: "c1", Work: true, Sent: true, Facts: &s.facts})
	s.ownRun()
	s.facts.Cut = false
	s.settle()
	s.counts(10 * sec)
	s.wait(10 * sec)
	s.wants("check c2 2/3") // an answer of its own: asked as ever
}

func TestCutAnswersReachTheCap(t *testing.T) {
	s := cutOff(t, "timeout=10 max=2")
	for _, id := range []string{"c1", "c2"} {
		s.wait(10 * sec)
		s.wants("work " + id)
		s.step(Delivered{Check: id, Work: true, Sent: true, Facts: &s.facts})
		s.ownRun()
		s.settle()
	}
	s.wants("record stop", "ended max")
	s.is(Off, "off: the cap of 2 checks was reached")
}

func TestCutAnswerAndADraft(t *testing.T) {
	s := cutOff(t, "timeout=10")
	s.draft(true)
	s.wait(time.Hour)
	s.wantsNothing()
	s.counted(0)
}

func TestRefusedOnwardIsNotCounted(t *testing.T) {
	s := cutOff(t, "timeout=10")
	s.wait(10 * sec)
	s.wants("work c1")
	s.step(Delivered{Check: "c1", Work: true, Reason: "a dialog is open", Facts: &s.facts})
	s.counted(0)
	s.counts(10 * sec)
	s.wait(10 * sec)
	s.wants("work c2")
	s.step(Delivered{Check: "c2", Work: true, Reason: "a dialog is open", Facts: &s.facts})
	s.wait(time.Hour) // waits for the next settle
	s.wantsNothing()
}

func TestNudgeOfACutAnswer(t *testing.T) {
	s := cutOff(t, "timeout=100")
	s.nudge()
	s.wants("info: Sending it on now, without a check: its answer was cut.", "work c1")
}

func TestRebuildCountsOnward(t *testing.T) {
	r := &rows{t: t}
	r.user()
	r.record(RecordStart, Start{By: "tui", Settings: Defaults()})
	r.assistant("length")
	r.record(RecordOnward, Check{ID: "c1", N: 1, Max: 50})
	r.work("c1")
	r.assistant("length")
	r.record(RecordOnward, Check{ID: "c2", N: 2, Max: 50})
	if s := Rebuild(r.read); s.Count != 2 || s.Open != "" || s.Owed != "" || !s.On {
		t.Errorf("%+v", s)
	}
}
