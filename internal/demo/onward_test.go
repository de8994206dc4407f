package demo_test

import (
	"strings"
	"testing"
	"time"

	"piwatch/internal/demo"
	"piwatch/internal/pi"
	"piwatch/internal/watchdog"
)

// cutAnswer is an answer that the token limit cut.
func cutAnswer(text string) demo.Answer { return demo.Answer{Text: text, Stop: pi.StopLength} }

// An answer that was cut leaves work for certain: no check asks for it. What it
// cost is counted, also by a hub that comes later.
func TestCutAnswer(t *testing.T) {
	h := newHouse(t, demo.Setup{
		Sessions: t.TempDir(),
		Script:   demo.Answers(cutAnswer("and then"), cutAnswer("and so"), demo.Say("There."), demo.Decide("done", "")),
	})
	h.watch("timeout=60 max=7")
	h.pi.Prompt("go")
	h.footer("⏱60s 0/7")
	h.advance(60 * time.Second)
	h.footer("⏱60s 1/7")
	h.restartHub()
	h.footer("⏱60s 1/7")
	h.advance(60 * time.Second)
	h.footer("⏱60s 2/7")
	same(t, "checks and work", []int{h.count(demo.Asked), h.count(demo.Worked)}, []int{0, 2})
	h.advance(60 * time.Second)
	h.footer("")
	same(t, "checks and work", []int{h.count(demo.Asked), h.count(demo.Worked)}, []int{1, 2})
	got := strings.Join(kinds(t, h.pi.File()), " ")
	if !strings.Contains(got, "user assistant "+watchdog.RecordOnward+" "+watchdog.MessageWork+" assistant "+watchdog.RecordOnward) {
		t.Errorf("the file holds %s", got)
	}
}

// An answer that was cut in a check is none of the session's own.
func TestCutAnswerInACheck(t *testing.T) {
	h := newHouse(t, demo.Setup{Script: demo.Answers(demo.Say("Done."), cutAnswer("I am"), demo.Decide("done", ""))})
	h.watch("timeout=60 max=7")
	h.pi.Prompt("go")
	h.footer("⏱60s 0/7")
	h.advance(60 * time.Second)
	h.footer("⏱60s 1/7")
	h.advance(60 * time.Second)
	h.footer("")
	same(t, "checks and work", []int{h.count(demo.Asked), h.count(demo.Worked)}, []int{2, 0})
}
