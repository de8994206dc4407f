package replay

import (
	"encoding/json"
	"strings"
	"testing"

	"piwatch/internal/watchdog"
)

// Records of the scripts.
const (
	startKeep  = `{"by":"pi","settings":{"timeout":30,"max":5,"mode":"keep"}}`
	checkOne   = `{"id":"c1","n":1,"max":50,"reason":"idle for 60 s"}`
	sayDone    = `{"check":"c1","end":"answered","decision":"done","note":"all there"}`
	sayGoOn    = `{"check":"c1","end":"answered","decision":"continue"}`
	sayNothing = `{"check":"c1","end":"no_answer","why":"no call of the tool"}`
	voidByEsc  = `{"check":"c1","end":"void","why":"interrupted by the user"}`
)

func TestReplay(t *testing.T) {
	const wrote = "the user wrote before it was due"
	for _, c := range []struct {
		name, settings string
		recorded       bool
		script, want   []string
	}{{
		name:   "the user came back late",
		script: []string{"0 user build", "10 says I will go on.", "200 user go on", "210 says Done.", "230 user thanks"},
		want:   []string{"10 stop: ask 1/50@70=unknown, user@200", "210 stop: short (" + wrote + ") due 270, user@230", "230 nothing: cut_off (the file ends in the run)"},
	}, {
		name: "another timeout", settings: "timeout=200",
		script: []string{"0 user build", "10 says A.", "200 user go on", "210 says B."},
		want:   []string{"10 stop: short (" + wrote + ") due 210, user@200", "210 stop: ends (the file ends before it was due) due 410"},
	}, {
		name: "no grace", settings: "timeout=0",
		script: []string{"0 user build", "10 says A.", "11 user go on", "12 calls bash", "13 result bash", "14 says B."},
		want:   []string{"10 stop: ask 1/50@10=unknown, user@11", "14 stop: ask 1/50@14=unknown"},
	}, {
		name:   "exactly on time is the user's",
		script: []string{"0 user build", "10 says A.", "70 user go on", "71 says B."},
		want:   []string{"10 stop: short (" + wrote + ") due 70, user@70", "71 stop: ends (the file ends before it was due) due 131"},
	}, {
		name:   "interrupted until the user's next message",
		script: []string{"0 user build", "5 aborted no", "500 ext wake up", "510 says A.", "900 user on", "905 says B.", "1000 user more", "1001 says C."},
		want: []string{
			"5 aborted: interrupted (interrupted; waits for the user's next message), extension@500",
			"510 stop: interrupted (interrupted; waits for the user's next message), user@900",
			"905 stop: ask 1/50@965=unknown, user@1000",
			"1001 stop: ends (the file ends before it was due) due 1061",
		},
	}, {
		name:   "an abort that Pi calls an error",
		script: []string{"0 user build", "5 error Operation aborted", "500 user on", "501 says A."},
		want:   []string{"5 error: interrupted (interrupted; waits for the user's next message), user@500", "501 stop: ends (the file ends before it was due) due 561"},
	}, {
		name: "the cap", settings: "max=1",
		script: []string{"0 user build", "10 says A.", "100 ext report", "110 says B.", "300 ext report", "310 says C.", "400 user on", "410 says D.", "500 user on"},
		want: []string{
			"10 stop: ask 1/1@70=unknown, extension@100",
			"110 stop: off (off: the cap of 1 checks was reached) ended max, extension@300",
			"310 stop: off (off: the cap of 1 checks was reached), user@400",
			"410 stop: off (off: the cap of 1 checks was reached), user@500",
			"500 nothing: cut_off (the file ends in the run)",
		},
	}, {
		name:   "nobody asked for anything",
		script: []string{"0 ext report", "10 says A.", "1000 ext report", "1010 says B."},
		want: []string{
			"10 stop: held (the session has no message of the user yet), extension@1000",
			"1010 stop: held (the session has no message of the user yet)",
		},
	}, {
		name:   "a note of an extension is no run",
		script: []string{"0 user build", "10 says A.", "20 ext note", "100 ext wake up", "110 says B."},
		want:   []string{"10 stop: ask 1/50@70=unknown, extension@100", "110 stop: ends (the file ends before it was due) due 170"},
	}, {
		name:   "a message of an extension within a run",
		script: []string{"0 user build", "0 ext context", "10 calls bash", "11 result bash", "11 ext steer", "12 says A."},
		want:   []string{"12 stop: ends (the file ends before it was due) due 72"},
	}, {
		name:   "an error that Pi retries is no idle time, and one that stays is",
		script: []string{"0 user build", "10 error 502", "200 says A.", "210 user more", "220 error 400", "900 user again", "901 says B."},
		want: []string{
			"200 stop: short (" + wrote + ") due 260, user@210",
			"220 error: ask 1/50@280=unknown, user@900",
			"901 stop: ends (the file ends before it was due) due 961",
		},
	}, {
		name:   "a message that waited in the queue",
		script: []string{"0 user build", "10 calls bash", "300 result bash", "300 user@50 this way", "310 says A.", "310.1 user@60 and that", "320 says B."},
		want:   []string{"320 stop: ends (the file ends before it was due) due 380"},
	}, {
		name:   "what waited in the queue is back in the editor after an abort",
		script: []string{"0 user build", "10 aborted no", "100 user@5 this way", "110 says A."},
		want:   []string{"10 aborted: interrupted (interrupted; waits for the user's next message), user@100", "110 stop: ends (the file ends before it was due) due 170"},
	}, {
		name:   "the message was sent before its row was written",
		script: []string{"0 user build", "10 says A.", "90 user@60 go on", "91 says B."},
		want:   []string{"10 stop: short (" + wrote + ") due 70, user@60", "91 stop: ends (the file ends before it was due) due 151"},
	}, {
		name:   "idle time begins anew after a compaction",
		script: []string{"0 user build", "10 says A.", "50 compaction All about A.", "200 user go on", "201 says B."},
		want:   []string{"10 stop: ask 1/50@110=unknown, user@200", "201 stop: ends (the file ends before it was due) due 261"},
	}, {
		name:   "keys pause the countdown, which goes on with the time that was left",
		script: []string{"0 user build", "10 says A.", "50 shell ls", "200 user go on", "201 says B.", "220 model m2", "221 user x", "222 says C."},
		want: []string{
			"10 stop: ask 1/50@72=unknown, user@200",
			"201 stop: short (" + wrote + "), user@221",
			"222 stop: ends (the file ends before it was due) due 282",
		},
	}, {
		name:   "the choices at the start are no keys",
		script: []string{"0 model m1", "0 user build", "1 says A."},
		want:   []string{"1 stop: ends (the file ends before it was due) due 61"},
	}, {
		name:   "Pi was ended in a run",
		script: []string{"0 user build", "10 calls bash", "500 user where were we", "510 says A.", "600 user more", "900 user hello", "910 says B."},
		want: []string{
			"10 toolUse: cut_off (the run has no end on this branch: Pi or a tool ended it, or the branch was left), user@500",
			"510 stop: ask 1/50@570=unknown, user@600",
			"600 nothing: cut_off (the run has no end on this branch: Pi or a tool ended it, or the branch was left), user@900",
			"910 stop: ends (the file ends before it was due) due 970",
		},
	}, {
		name:   "the file begins in a run",
		script: []string{"0 result bash", "10 says A.", "100 user on", "101 says B."},
		want:   []string{"10 stop: held (the session has no message of the user yet), user@100", "101 stop: ends (the file ends before it was due) due 161"},
	}, {
		name:   "the agent went on, nobody knows why",
		script: []string{"0 user build", "10 aborted no", "20 user on", "21 says A.", "21 ask", "22 says no", "200 outcome " + sayNothing, "210 says B."},
		want: []string{
			"10 aborted: interrupted (interrupted; waits for the user's next message), user@20",
			"21 stop: ask 1/50@81=no_answer, agent@210",
			"200 really outcome",
			"210 stop: ends (the file ends before it was due) due 270",
		},
	}, {
		name:   "a clock that was set is no idle time",
		script: []string{"1000 user build", "1010 says A.", "500 user go on", "510 says B.", "600 user go on", "601 says C."},
		want: []string{
			"1010 stop: short (" + wrote + ") due 560, user@500",
			"510 stop: ask 1/50@570=unknown, user@600",
			"601 stop: ends (the file ends before it was due) due 661",
		},
	}, {
		name:   "labels of a clone keep their old times",
		script: []string{"1000 user build", "1010 says A.", "5 label here", "1020 user go on", "1021 says B."},
		want:   []string{"1010 stop: short (" + wrote + ") due 1070, user@1020", "1021 stop: ends (the file ends before it was due) due 1081"},
	}, {
		name:   "rows without a time pass none",
		script: []string{"? user build", "? says A.", "? user go on", "? says B."},
		want:   []string{"? stop: short (" + wrote + "), user@?", "? stop: ends (the file ends before it was due)"},
	}, {
		name:   "a recorded answer in the same idle time counts",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "70 ask", "75 calls watchdog_decide", "75 result watchdog_decide", "75 outcome " + sayDone, "500 user more", "501 says B."},
		want: []string{
			"10 stop: ask 1/50@70=done ended done, user@500", "70 really check", "75 really outcome",
			"501 stop: off (off: the agent answered done)",
		},
	}, {
		name: "and ends nothing in keep mode", settings: "mode=keep",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "75 outcome " + sayDone, "100 ext report", "101 says B.", "500 user more", "501 says C.", "600 user x", "601 says D."},
		want: []string{
			"10 stop: ask 1/50@70=done ended done, extension@100", "70 really check", "75 really outcome",
			"101 stop: suspended (suspended after done; the user's next message resumes it), user@500",
			"501 stop: ask 1/50@561=unknown, user@600",
			"601 stop: ends (the file ends before it was due) due 661",
		},
	}, {
		name: "also when it was given before the imagined check", settings: "timeout=120",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "75 outcome " + sayDone, "500 user more", "501 says B."},
		want: []string{
			"10 stop: ask 1/50@130=done ended done, user@500", "70 really check", "75 really outcome",
			"501 stop: off (off: the agent answered done)",
		},
	}, {
		name: "piwatch was faster", settings: "timeout=120",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "70 ask", "75 calls watchdog_decide", "75 result watchdog_decide", "75 outcome " + sayGoOn, "75 work on", "80 says B."},
		want: []string{
			"10 stop: short (piwatch sent it back to work before it was due) due 130, piwatch@75", "70 really check", "75 really outcome",
			"80 stop: ends (the file ends before it was due) due 200",
		},
	}, {
		name: "piwatch was slower", settings: "timeout=20",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "70 ask", "75 outcome " + sayGoOn, "75 work on", "80 says B.", "500 user x", "501 says C."},
		want: []string{
			"10 stop: ask 1/50@30=continue, piwatch@75", "70 really check", "75 really outcome",
			"80 stop: ask 2/50@100=unknown, user@500", "501 stop: ends (the file ends before it was due) due 521",
		},
	}, {
		name:   "no answer: it counts again in the same idle time",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "70 ask", "75 says Well.", "75 outcome " + sayNothing, "500 user x", "501 says B."},
		want: []string{
			"10 stop: ask 1/50@70=no_answer 2/50@135=unknown, user@500", "70 really check", "75 really outcome",
			"501 stop: ends (the file ends before it was due) due 561",
		},
	}, {
		name:   "Esc in a check interrupts",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "70 ask", "75 aborted no", "75 outcome " + voidByEsc, "500 ext x", "501 says B."},
		want: []string{
			"10 stop: ask 1/50@70=void, extension@500", "70 really check", "75 really outcome",
			"501 stop: interrupted (interrupted; waits for the user's next message)",
		},
	}, {
		name:   "the agent stopped it by itself",
		script: []string{"0 user build", "10 calls watchdog_decide", "10 result watchdog_decide", `10 outcome {"end":"answered","decision":"done"}`, "500 user x", "501 says B."},
		want: []string{
			"10 tool: off (off: the agent answered done), user@500", "10 really outcome",
			"501 stop: off (off: the agent answered done)",
		},
	}, {
		name:   "what a person did with the real one is not imagined",
		script: []string{"0 start " + startKeep, "0 user build", "10 says A.", `20 pause {"by":"tui","on":true}`, `30 stop {"by":"cli","reason":"stopped"}`, "200 user x", "201 says B."},
		want: []string{
			"0 really start", "10 stop: ask 1/50@70=unknown, user@200", "20 really pause", "30 really stop",
			"201 stop: ends (the file ends before it was due) due 261",
		},
	}, {
		name:   "a branch that was left",
		script: []string{"0 user build", "10 says A.", "100 user this way", "110 says B.", "< 1", "900 user that way", "910 says C.", "911 ext x", "912 says D.", "< 6", "930 user end", "931 says E."},
		want: []string{
			"10 stop: ask 1/50@70=unknown, branch@100",
			"910 stop: short (the branch was left before it was due) due 970, branch@911",
			"931 stop: ends (the file ends before it was due) due 991",
		},
	}, {
		name:   "an exchange that was folded off the branch",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "70 ask", "75 calls watchdog_decide", "75 result watchdog_decide", "< 2", "75 outcome " + sayDone, "500 user more", "501 says B."},
		want: []string{
			"10 stop: ask 1/50@70=done ended done, user@500", "70 really check", "75 really outcome",
			"501 stop: off (off: the agent answered done)",
		},
	}, {
		name:   "a child that stands before its parent in the file",
		script: []string{"0 user build", "< 4", "20 result bash", "< 0", "10 calls bash", "< 2", "30 says A."},
		want:   []string{"30 stop: ends (the file ends before it was due) due 90"},
	}, {
		name:   "an answer with calls that was aborted",
		script: []string{"0 user build", "10 broken bash", "100 user on", "101 says A."},
		want:   []string{"10 aborted: interrupted (interrupted; waits for the user's next message), user@100", "101 stop: ends (the file ends before it was due) due 161"},
	}, {
		name:   "the run ended on a tool, since piwatch asked",
		script: []string{"0 user build", "10 result bash", "70 check " + checkOne, "75 outcome " + sayNothing, "90 user on", "91 says A."},
		want: []string{
			"10 tool: ask 1/50@70=no_answer, user@90", "70 really check", "75 really outcome",
			"91 stop: ends (the file ends before it was due) due 151",
		},
	}, {
		name:   "a check whose end was not recorded",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "70 ask", "75 says Well.", "100 user on", "101 says B."},
		want: []string{
			"10 stop: ask 1/50@70=unknown, user@100", "70 really check",
			"101 stop: ends (the file ends before it was due) due 161",
		},
	}, {
		name:   "a check that the bridge ended by an abort",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "70 ask", "75 aborted no", "75 outcome " + sayNothing, "500 user on", "501 says B."},
		want: []string{
			"10 stop: ask 1/50@70=no_answer 2/50@135=unknown, user@500", "70 really check", "75 really outcome",
			"501 stop: ends (the file ends before it was due) due 561",
		},
	}, {
		name:   "a fold that was undone by hand is no second answer",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "75 outcome " + sayDone, `80 outcome {"check":"c1","end":"answered","decision":"done","again":true}`, "81 user on", "82 says B."},
		want: []string{
			"10 stop: ask 1/50@70=done ended done, user@81", "70 really check", "75 really outcome",
			"82 stop: off (off: the agent answered done)",
		},
	}, {
		name: "only an answer is kept for a later check", settings: "timeout=120",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "75 outcome " + sayNothing, "500 user on", "501 says B."},
		want: []string{
			"10 stop: ask 1/50@130=unknown, user@500", "70 really check", "75 really outcome",
			"501 stop: ends (the file ends before it was due) due 621",
		},
	}, {
		name: "and only in the same idle time", settings: "timeout=120",
		script: []string{"0 user build", "10 says A.", "70 check " + checkOne, "75 outcome " + sayDone, "100 user on", "101 says B.", "500 user on", "501 says C."},
		want: []string{
			"10 stop: short (" + wrote + ") due 130, user@100", "70 really check", "75 really outcome",
			"101 stop: ask 1/50@221=unknown, user@500", "501 stop: ends (the file ends before it was due) due 621",
		},
	}, {
		name:   "the countdown begins anew when the clock was set",
		script: []string{"1000 user build", "1010 says A.", "1040 ext note", "500 ext note", "700 user on", "701 says B."},
		want:   []string{"1010 stop: ask 1/50@560=unknown, user@700", "701 stop: ends (the file ends before it was due) due 761"},
	}, {
		name: "as recorded: started by the environment after Pi was ended", recorded: true,
		script: []string{"0 user build", "1 says A.", "2 user on", "10 calls bash", `500 start {"by":"env","settings":{"timeout":30,"max":5,"mode":"once"}}`, "600 user x", "601 says A."},
		want: []string{
			"1 stop: off (off), user@2",
			"10 toolUse: cut_off (the run has no end on this branch: Pi or a tool ended it, or the branch was left), user@600", "500 really start",
			"601 stop: ends (the file ends before it was due) due 631",
		},
	}, {
		name: "as recorded: never started", recorded: true,
		script: []string{"0 user build", "10 says A.", "500 user x", "501 says B."},
		want:   []string{"10 stop: off (off), user@500", "501 stop: off (off)"},
	}, {
		name: "as recorded", recorded: true,
		script: []string{
			"0 user build", "10 says A.", "100 start " + startKeep, "140 user x", "150 says B.", `155 pause {"by":"tui","on":true}`,
			"300 user y", "301 says C.", `310 pause {"by":"tui","on":false}`, `312 set {"by":"tui","settings":{"timeout":100,"max":5,"mode":"once"}}`,
			"412.5 check " + checkOne, "420 outcome " + sayGoOn, "420 work on", "430 says D.", `440 stop {"by":"cli","reason":"stopped"}`, "900 user z", "901 says E.",
		},
		want: []string{
			"10 stop: ask 1/5@130=unknown, user@140", "100 really start",
			"150 stop: paused (paused by hand), user@300", "155 really pause",
			"301 stop: ask 1/5@412=continue, piwatch@420", "310 really resume", "312 really set", "412.5 really check", "420 really outcome",
			"430 stop: off (off: stopped by hand), user@900", "440 really stop",
			"901 stop: off (off: stopped by hand)",
		},
	}, {
		name: "as recorded: asked by hand", recorded: true,
		script: []string{"0 start " + startKeep, "0 user build", "10 says A.", "15 check " + checkOne, "15 ask", "20 outcome " + sayNothing, "30 user x", "31 says B."},
		want: []string{
			"0 really start", "10 stop: ask 1/5@15=no_answer, user@30", "15 really check", "20 really outcome",
			"31 stop: ends (the file ends before it was due) due 61",
		},
	}, {
		name: "as recorded: stopped in a check", recorded: true,
		script: []string{"0 start " + startKeep, "0 user build", "10 says A.", "40 check " + checkOne, "40 ask", `45 stop {"by":"cli","reason":"stopped"}`, "46 outcome " + sayDone, "100 user x", "101 says B."},
		want: []string{
			"0 really start", "10 stop: ask 1/5@40=void, user@100", "40 really check", "45 really stop", "46 really outcome",
			"101 stop: off (off: stopped by hand)",
		},
	}, {
		name: "as recorded: started by hand after Pi was ended", recorded: true,
		script: []string{"0 user build", "10 calls bash", "500 start " + startKeep, "600 user x", "601 says A."},
		want: []string{
			"10 toolUse: ask 1/5@530=unknown, user@600", "500 really start",
			"601 stop: ends (the file ends before it was due) due 631",
		},
	}, {
		name:     "damaged records are absent",
		script:   []string{"0 start 7", "0 set []", "0 pause 1", "0 stop false", "0 user build", "10 says A.", `20 check "x"`, "20 outcome 1", "200 user x", "201 says B."},
		recorded: true,
		want:     []string{"10 stop: off (off), user@200", "201 stop: off (off)"},
	}} {
		t.Run(c.name, func(t *testing.T) {
			r := Run(script(t, c.script...), Options{Settings: settings(t, c.settings), Recorded: c.recorded})
			got, want := strings.Join(told(r), "\n"), strings.Join(c.want, "\n")
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Times at the end of the calendar, and behind it, neither count nor break JSON.
func TestFarTimes(t *testing.T) {
	tree := treeOf([]byte(`{"type":"message","id":"a","message":{"role":"user","content":"x","timestamp":1e15}}
{"type":"message","id":"b","parentId":"a","timestamp":"9999-12-31T23:59:59Z","message":{"role":"assistant","content":"x","stopReason":"stop"}}
{"type":"message","id":"c","parentId":"b","timestamp":"0001-01-01T00:00:00Z","message":{"role":"user","content":"x"}}
{"type":"message","id":"d","parentId":"c","timestamp":"9998-12-31T23:59:59Z","message":{"role":"assistant","content":"x","stopReason":"stop"}}
`))
	r := Run(tree, Options{Settings: watchdog.Defaults()})
	if got, want := len(r.Steps), 2; got != want {
		t.Errorf("%d steps, want %d", got, want)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}
