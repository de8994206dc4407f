package timeline

import (
	"testing"
	"time"

	"piwatch/internal/watchdog"
)

func TestWhatASessionWaitsFor(t *testing.T) {
	s := newScript(t)
	want := func(what WaitsFor, text string, failures int) {
		t.Helper()
		story := build(s.entries()).Story()
		if w := story.Wait; w.For != what || w.What != text || w.Failures != failures {
			t.Errorf("after %d lines it waits for %q %q after %d failures, want %q %q %d", len(s.lines), w.For, w.What, w.Failures, what, text, failures)
		}
	}
	want(ForNothing, "", 0)
	s.user("go")
	want(ForModel, "", 0)
	s.agent("toolUse", called("c1", "bash", block{"command": "make"}), called("c2", "read", block{"path": "a.go"}))
	want(ForTool, "bash make", 0)
	s.result("c1", "bash", "ok", false)
	want(ForTool, "read a.go", 0)
	s.result("c2", "read", "ok", false)
	want(ForModel, "", 0)
	failed := s.failed("502: bad gateway")
	want(ForNothing, "502: bad gateway", 1)
	s.omit(failed) // Pi 1.6.0, before it asks again
	want(ForRetry, "502: bad gateway", 1)
	if story := build(s.entries()).Story(); story.Standing != Working {
		t.Errorf("a session that Pi tries again for is %s", story.Standing)
	}
	s.failed("502: bad gateway")
	want(ForNothing, "502: bad gateway", 2)
	s.user("again")
	s.failed(`401: {"error":"invalid x-api-key"}`)
	want(ForLogin, `401: {"error":"invalid x-api-key"}`, 1)
	s.user("again")
	s.agent("aborted", called("c3", "bash", block{"command": "sleep 9"}))
	want(ForNothing, "", 0)
	s.user("again")
	s.agent("stop", text1("done"))
	want(ForNothing, "", 0)
	s.user("again")
	s.failed("429: slow down")
	want(ForQuota, "429: slow down", 1)
	s.entry("model_change", map[string]any{"provider": "other", "modelId": "m"})
	want(ForNothing, "", 0)
	s.user("again")
	s.ask("k1", 1)
	s.answer("done", "")
	s.outcome(watchdog.Outcome{Check: "k1", End: watchdog.EndAnswered, Decision: watchdog.Done})
	want(ForNothing, "", 0)
}

func TestTroubles(t *testing.T) {
	at := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	for text, want := range map[string]struct {
		what  WaitsFor
		until time.Duration // 0: none that can be believed
	}{
		"502: bad gateway":                                        {ForNothing, 0},
		"Connection error.":                                       {ForNothing, 0},
		`401: {"message":"bad key"}`:                              {ForLogin, 0},
		"Your credit balance is too low":                          {ForLogin, 0},
		"OAuth token has expired, log in again":                   {ForLogin, 0},
		"429: slow down":                                          {ForQuota, 0},
		"Rate limit reached. Please try again in 12.5s.":          {ForQuota, 12500 * time.Millisecond},
		"usage limit reached, try again in 2h30m":                 {ForQuota, 150 * time.Minute},
		"usage limit reached: try again in 2 hours and 5 minutes": {ForQuota, 125 * time.Minute},
		"429: retry after 30 seconds":                             {ForQuota, 30 * time.Second},
		"429: retry-after: 400 days":                              {ForQuota, 0},
		"quota exceeded, resets at 2026-11-30T16:00:00Z":          {ForQuota, 2 * time.Hour},
		"quota exceeded, reset was 2026-11-30T13:00:00Z":          {ForQuota, 0},
		`{"type":"usage_limit_reached","resets_at":1796050800}`:   {ForQuota, time.Hour},
		"You've hit your usage limit. It resets 3pm (UTC)":        {ForQuota, time.Hour},
		"You've hit your usage limit. It resets at 1:30 pm UTC":   {ForQuota, 23*time.Hour + 30*time.Minute},
		"usage limit, resets at 99:99":                            {ForQuota, 0},
		"rate limit of 5 an hour":                                 {ForQuota, 0},
	} {
		what, until := trouble(text, at)
		if left := until.Sub(at); what != want.what || want.until == 0 && !until.IsZero() || want.until != 0 && left != want.until {
			t.Errorf("%q asks for %q, and in %v, want %q and %v", text, what, left, want.what, want.until)
		}
	}
}

func (s *script) failed(text string) string {
	s.t.Helper()
	return s.entry("message", map[string]any{"message": map[string]any{
		"role": "assistant", "content": []any{}, "stopReason": "error", "errorMessage": text,
	}})
}
