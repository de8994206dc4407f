package watchdog

import (
	"testing"
	"time"
)

func TestStatus(t *testing.T) {
	view := func(p Phase) View { return View{Phase: p, Count: 2, Settings: Settings{Max: 50}} }
	for _, c := range []struct {
		view           View
		symbols, ascii string
	}{
		{view(Off), "", ""},
		{view(Working), "⏱▶ 2/50", "wd:> 2/50"},
		{view(Checking), "⏱▶ 2/50", "wd:> 2/50"},
		{view(Typing), "⏱✍ 2/50", "wd:~ 2/50"},
		{view(Paused), "⏱⏸ 2/50", "wd:= 2/50"},
		{view(Suspended), "⏱⏸ 2/50", "wd:= 2/50"},
		{view(Interrupted), "⏱⏹ 2/50", "wd:! 2/50"},
		{view(Lost), LostStatus, "wd:x"},
	} {
		if got := c.view.Status(begin, Symbols); got != c.symbols {
			t.Errorf("%s: %q, want %q", c.view.Phase, got, c.symbols)
		}
		if got := c.view.Status(begin, ASCII); got != c.ascii {
			t.Errorf("%s in ASCII: %q, want %q", c.view.Phase, got, c.ascii)
		}
	}
}

func TestStatusSaysKeep(t *testing.T) {
	v := View{Phase: Suspended, Count: 2, Settings: Settings{Max: 50, Mode: Keep}}
	if got := v.Status(begin, Symbols); got != "⏱⏸ 2/50 keep" {
		t.Errorf("in keep mode: %q", got)
	}
}

// Whole seconds, rounded up: it never shows 0 before its time.
func TestStatusSeconds(t *testing.T) {
	for left, want := range map[time.Duration]string{
		23 * sec:                              "⏱23s 2/50",
		22*sec + 1:                            "⏱23s 2/50",
		22 * sec:                              "⏱22s 2/50",
		1:                                     "⏱1s 2/50",
		0:                                     "⏱0s 2/50",
		-sec:                                  "⏱0s 2/50",
		24 * time.Hour:                        "⏱86400s 2/50",
		500*time.Millisecond + 59*time.Second: "⏱60s 2/50",
	} {
		v := View{Phase: Counting, Count: 2, Settings: Settings{Max: 50}, Deadline: begin.Add(left)}
		if got := v.Status(begin, Symbols); got != want {
			t.Errorf("%s left: %q, want %q", left, got, want)
		}
	}
}

func TestStatusText(t *testing.T) {
	for _, c := range []struct {
		name string
		play func(*testing.T) *scenario
		want string
	}{
		{"never started", func(t *testing.T) *scenario { return unwatched(t, State{}) }, "Watchdog: off."},
		{"stopped", func(t *testing.T) *scenario { s := watched(t, ""); s.stop(); return s }, "Watchdog: off: stopped by hand."},
		{"done", func(t *testing.T) *scenario { s := asked(t, ""); s.answered(Done, "all green"); return s },
			"Watchdog: off: the agent answered done. Note: all green"},
		{"counting", func(t *testing.T) *scenario {
			s := watched(t, "timeout=60 message=go on")
			s.wait(2500 * time.Millisecond)
			return s
		}, "Watchdog: counting, 0 of 50 checks, timeout=60 max=50 mode=once message=go on. Asks in 58 s."},
		{"working", func(t *testing.T) *scenario { s := watched(t, ""); s.run(); return s },
			"Watchdog: working, 0 of 50 checks, timeout=60 max=50 mode=once. Not counting: the agent is working."},
		{"checking", func(t *testing.T) *scenario { return asked(t, "max=2") },
			"Watchdog: checking, 1 of 2 checks, timeout=10 max=2 mode=once. Not counting: a check is open."},
		{"suspended", func(t *testing.T) *scenario { s := asked(t, "mode=keep"); s.answered(WaitUser, ""); return s },
			"Watchdog: suspended, 1 of 50 checks, timeout=10 max=50 mode=keep. Not counting: suspended after wait_user; the user's next message resumes it."},
	} {
		s := c.play(t)
		if got := s.e.View(s.now).StatusText(s.now); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A paused countdown says how much is left; an open check, which it is.
func TestViewFields(t *testing.T) {
	s := watched(t, "timeout=10")
	s.wait(3 * sec)
	s.key()
	if v := s.e.View(s.now); v.Left != 7*sec || !v.Deadline.IsZero() {
		t.Errorf("while typing: %+v", v)
	}
	s = asked(t, "")
	if v := s.e.View(s.now); v.Check != "c1" || v.Settings.Timeout != 10 {
		t.Errorf("during a check: %+v", v)
	}
	s.answered(Continue, "tests next")
	if v := s.e.View(s.now); v.Last != Continue || v.Note != "tests next" || v.Check != "" {
		t.Errorf("after continue: %+v", v)
	}
}
