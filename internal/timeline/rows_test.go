package timeline

import (
	"strings"
	"testing"
)

func TestRowsOfAPlainSession(t *testing.T) {
	s := newScript(t)
	s.entry("model_change", block{"provider": "anthropic", "modelId": "claude"})
	s.entry("thinking_level_change", block{"thinkingLevel": "high"})
	s.entry("session_info", block{"name": "my work"})
	s.entry("message", block{"message": block{"role": "system", "content": "the prompt"}})
	s.user("fix it\nplease")
	s.agent("toolUse", thought("hm"), text1("I look."), called("c1", "bash", block{"command": "go test", "timeout": 5}), called("c2", "read", block{"path": "a.go"}))
	s.result("c1", "bash", "FAIL", true)
	s.result("c2", "read", "package a", false)
	s.agent("toolUse", called("c3", "grep", block{"b": 1, "a": "x"}))
	s.entry("message", block{"message": block{"role": "bashExecution", "command": "ls", "output": "a\nb", "exitCode": 2}})
	s.entry("label", block{"targetId": "e1", "label": "here"})
	s.entry("usage", block{"kind": "cache_warm", "usage": block{"totalTokens": 7}})
	s.entry("compaction", block{"summary": "all of it", "firstKeptEntryId": "e1", "tokensBefore": 913})
	s.entry("branch_summary", block{"summary": "tried A", "fromId": "e1"})
	s.message("other:ext", "hello there", nil)
	s.custom("other.state", block{"on": true})
	s.entry("hologram", block{"x": 1})
	wantRows(t, build(s.entries()).Rows(), `
		set: model anthropic/claude
		set: thinking high
		set: named my work
		user: fix it
		think: hm
		agent: I look.
		tool: bash go test -> error 1s
		tool: read a.go -> ok 2s
		tool: grep a=x b=1 -> no result
		shell: ls (exit 2)
		set: label here
		set: use of tokens: cache_warm, 7
		compact: compacted, 913 tokens before
		branch: another branch was left; its summary
		ext: other:ext
		ext: other.state {"on":true}
		other: {"id":"e17","parentId":"e16","timestamp":"2026-11-30T12:00:17Z","type":"hologram","x":1}
	`)
}

func TestRowsOfStops(t *testing.T) {
	for _, c := range []struct {
		name, stop string
		blocks     []block
		want       string
		standing   Standing
	}{
		{"a word", "stop", []block{text1("done")}, "agent: done\n", Stopped},
		{"thinking only", "stop", []block{thought("hm")}, "think: hm\nsilent: stopped after thinking, without a word\n", Broken},
		{"inline thinking only", "stop", []block{text1("<think>hm</think>\n ")}, "think: hm\nsilent: stopped after thinking, without a word\n", Broken},
		{"inline thinking and a word", "stop", []block{text1("<thought>hm</thought>so")}, "think: hm\nagent: so\n", Stopped},
		{"inline thinking that never ends", "stop", []block{text1("<reasoning>hm")}, "think: hm\nsilent: stopped after thinking, without a word\n", Broken},
		{"nothing", "stop", nil, "silent: stopped without a word\n", Broken},
		{"white space", "stop", []block{text1(" \n")}, "silent: stopped without a word\n", Broken},
		{"a call", "stop", []block{called("c", "bash", block{"command": "ls"})}, "tool: bash ls -> no result\n", Working},
		{"aborted in text", "aborted", []block{text1("one two")}, "agent: one two\nabort: Operation aborted\n", Halted},
		{"error", "error", nil, "error: 502: bad gateway\n", Broken},
		{"length", "length", []block{text1("one tw")}, "agent: one tw\ncut: the answer was cut by the token limit\n", Broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t)
			s.agent(c.stop, c.blocks...)
			b := build(s.entries())
			if got := said(b.Rows()); got != c.want {
				t.Errorf("rows are %q, want %q", got, c.want)
			}
			if got := b.Story().Standing; got != c.standing {
				t.Errorf("the session stands at %q, want %q", got, c.standing)
			}
		})
	}
}

func TestRowsOfTheWatchdog(t *testing.T) {
	s := newScript(t)
	settings := block{"timeout": 60, "max": 50, "mode": "once"}
	s.custom("piwatch.tool", block{"name": decideTool})
	s.custom("piwatch.start", block{"by": "tui", "settings": settings})
	s.custom("piwatch.set", block{"by": "cli", "settings": block{"timeout": 5, "max": 9, "mode": "keep", "message": "go on"}})
	s.custom("piwatch.pause", block{"by": "pi", "on": true})
	s.custom("piwatch.pause", block{"by": "pi", "on": false})
	s.custom("piwatch.stop", block{"by": "pi", "reason": "max"})
	s.custom("piwatch.stop", block{"by": "pi", "reason": "comet"})
	s.custom("piwatch.stop", block{"by": "tui", "reason": "stopped"})
	s.custom("piwatch.gateway", block{"kind": "retry", "provider": "acme", "cause": "502", "retry": 1, "of": 3, "seconds": 2.5})
	s.custom("piwatch.gateway", block{"kind": "recovered", "provider": "acme", "cause": "200", "retry": 1, "of": 3})
	s.custom("piwatch.gateway", block{"kind": "failed", "provider": "acme", "cause": "reset", "retry": 3, "of": 3})
	s.custom("piwatch.gateway", block{"kind": "broken", "provider": "acme", "cause": "reset"})
	s.custom("piwatch.gateway", block{"kind": "silent", "provider": "acme", "seconds": 480, "cut": true})
	s.custom("piwatch.gateway", block{"kind": "unterminated", "provider": "acme"})
	s.custom("piwatch.gateway", block{"kind": "new", "provider": "acme", "cause": "what"})
	s.custom("piwatch.later", block{"exit": 1})
	s.custom("piwatch.start", "no object")
	b := build(s.entries())
	wantRows(t, b.Rows(), `
		watch: started by tui: timeout=60 max=50 mode=once
		watch: set by cli: timeout=5 max=9 mode=keep message=go on
		watch: paused by pi
		watch: resumed by pi
		watch: stopped: the cap of checks is reached
		watch: stopped by pi: comet
		watch: stopped by tui
		watch: gateway: acme: 502, retry 1 of 3 in 2.5 s
		watch: gateway: acme: answered 200 after 1 retry
		watch: gateway: acme: reset after 3 retries, passed on as it was
		watch: gateway: acme: the answer broke (reset)
		watch: gateway: acme: nothing said for 480 s; cut, so that Pi tries again
		watch: gateway: acme: the answer ended without its terminator
		watch: gateway: acme: new what
		watch: later {"exit":1}
		watch: start "no object"
	`)
	if st := b.Story(); st.Watched || st.Why != "stopped" || st.Settings.Max != 9 {
		t.Errorf("the story is %+v", st)
	}
}

func TestForeignEditsHideTheirTarget(t *testing.T) {
	s := newScript(t)
	s.user("one")
	bad := s.agent("error")
	s.omit(bad)
	s.agent("stop", text1("two"))
	s.entry("context_edit", block{"targetId": "e1", "replacement": block{"content": "other"}})
	wantRows(t, build(s.entries()).Rows(), `
		user: one
		error: 502: bad gateway [hidden]
		edit: Pi asks again, without the failed answer
		agent: two
		edit: replaced in the context: one
	`)
}

func TestRowsOfABranchThatWasLeftAreNotShown(t *testing.T) {
	s := newScript(t)
	first := s.user("one")
	s.agent("stop", text1("left"))
	s.leaf = first
	b := build(s.entries())
	if !strings.Contains(said(b.Rows()), "left") {
		t.Error("the branch is shown until another entry comes")
	}
	s.agent("stop", text1("taken"))
	b = build(s.entries())
	wantRows(t, b.Rows(), `
		user: one
		agent: taken
	`)
}

func TestDamageIsShownWhereItIsMet(t *testing.T) {
	s := newScript(t)
	s.user("one")
	torn := strings.Join(s.lines, "\n") + "\n{\"type\":\"mess\n"
	rows := build(parse(torn)).Rows()
	if len(rows) != 2 || rows[1].Kind != Damage || !strings.HasPrefix(rows[1].Title, "line 3 of the file: ") {
		t.Errorf("rows are\n%s", said(rows))
	}
}

func TestLongTextIsCut(t *testing.T) {
	s := newScript(t)
	s.user(strings.Repeat("é", maxBody))
	r := build(s.entries()).Rows()[0]
	if len(r.Body) > maxBody || r.Rest != 2*maxBody-len(r.Body) {
		t.Errorf("%d bytes are kept and %d left out of %d", len(r.Body), r.Rest, 2*maxBody)
	}
}
