package loop

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"piwatch/internal/pi"
)

// A trace is a session in a notation that reads as a story:
//
//	> TEXT               the user speaks
//	note TEXT            an automated message; "ask TEXT" one that opens a check
//	say TEXT             an answer without a call
//	TOOL ARGS => RESULT  an answer that calls a tool, and its result; =! an error
//	& TOOL ARGS => …     the same call as one more of the answer above
//	empty, fail TEXT, thinking TEXT   other answers
//	+90s                 time passes
//	x4 LINE, x4 { … }    four times; {n} counts, {t} is a time, {u} a UUID, {h} 8 hexadecimal digits
//	llm=3, idle=300      thresholds
//	!! RULE              the line above must raise this finding
type trace struct {
	name    string
	stuck   bool
	config  Config
	records []string // of a session file
	marks   []mark
}

// mark is a finding that must come with a record: at the latest with the last
// one of its line.
type mark struct {
	first, record int
	rule          Rule
}

func (m mark) String() string { return fmt.Sprintf("%s at record %d", m.rule, m.record) }

func traces(t *testing.T) []trace {
	t.Helper()
	data, err := os.ReadFile("testdata/traces.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []trace
	for _, story := range strings.Split("\n"+string(data), "\n== ")[1:] {
		head, body, _ := strings.Cut(story, "\n")
		label, name, _ := strings.Cut(head, ": ")
		w := &traceWriter{t: t, trace: trace{name: name, stuck: label == "stuck", config: Defaults()}, now: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
		w.record(`"type":"session","version":3,"cwd":"/w"`)
		w.lines(strings.Split(body, "\n"), 0)
		if w.stuck != (len(w.marks) > 0) || label != "stuck" && label != "healthy" {
			t.Fatalf("%s: the label and the marks do not fit", name)
		}
		all = append(all, w.trace)
	}
	return all
}

type traceWriter struct {
	t *testing.T
	trace
	now   time.Time
	n     int // of what is random
	calls int
	first int      // record of the line that is being written
	last  []string // blocks of calls in the answer that is being written
}

var times = regexp.MustCompile(`^x(\d+) (.*)$`)

func (w *traceWriter) lines(lines []string, n int) {
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		m := times.FindStringSubmatch(line)
		if m == nil {
			if line != "" {
				// Calls of one answer are written together, before their results.
				group := []string{line}
				for i+1 < len(lines) && (strings.HasPrefix(lines[i+1], "& ") || strings.HasPrefix(lines[i+1], "!!") && i+2 < len(lines) && strings.HasPrefix(lines[i+2], "& ")) {
					i++
					group = append(group, lines[i])
				}
				w.group(group, n)
			}
			continue
		}
		count, _ := strconv.Atoi(m[1])
		block := []string{m[2]}
		if m[2] == "{" {
			end := i + 1
			for lines[end] != "}" {
				end++
			}
			block, i = lines[i+1:end], end
		}
		for k := range count {
			w.lines(block, k+1)
		}
	}
}

func (w *traceWriter) group(lines []string, n int) {
	if len(lines) > 1 {
		for _, line := range lines {
			if tool, rest, _ := strings.Cut(strings.TrimPrefix(line, "& "), " "); !strings.HasPrefix(line, "!!") {
				args, _, _ := cutResult(w.fill(rest, n))
				w.last = append(w.last, w.callBlock(tool, args))
			}
		}
		w.calls -= len(w.last)
		w.answer(strings.Join(w.last, ","), "toolUse")
	}
	for _, line := range lines {
		w.line(strings.TrimPrefix(line, "& "), n, len(lines) > 1)
	}
	w.last = nil
}

func (w *traceWriter) line(line string, n int, called bool) {
	word, rest, _ := strings.Cut(line, " ")
	if word != "!!" {
		w.first = len(w.records)
	}
	rest = w.fill(rest, n)
	text := quote(rest)
	switch {
	case word == "!!":
		w.marks = append(w.marks, mark{w.first, len(w.records) - 1, Rule(rest)})
	case strings.HasPrefix(word, "llm="):
		w.config.LLMRepeat, _ = strconv.Atoi(word[4:])
	case strings.HasPrefix(word, "idle="):
		seconds, _ := strconv.Atoi(word[5:])
		w.config.IdleNoProgress = time.Duration(seconds) * time.Second
	case strings.HasPrefix(word, "+"):
		d, err := time.ParseDuration(word[1:])
		if err != nil {
			w.t.Fatal(err)
		}
		w.now = w.now.Add(d)
	case word == ">":
		w.message(`"role":"user","content":[{"type":"text","text":` + text + `}]`)
	case word == "note", word == "ask":
		w.record(`"type":"custom_message","customType":"piwatch.` + word + `","display":true,"content":` + text)
	case word == "say":
		w.answer(`{"type":"text","text":`+text+`}`, "stop")
	case word == "empty":
		w.message(`"role":"assistant","content":[],"stopReason":"stop"`)
	case word == "thinking":
		w.answer("", "stop")
	case word == "fail":
		w.message(`"role":"assistant","content":[],"stopReason":"error","errorMessage":` + text)
	default:
		args, result, failed := cutResult(rest)
		if !called {
			w.answer(w.callBlock(word, args), "toolUse")
			w.calls--
		}
		w.calls++
		w.message(fmt.Sprintf(`"role":"toolResult","toolCallId":"call_%d","toolName":%q,"isError":%t,"content":[{"type":"text","text":%s}]`, w.calls, word, failed, quote(result)))
	}
}

func cutResult(rest string) (args, result string, failed bool) {
	args, result, ok := strings.Cut(rest, " => ")
	if !ok {
		args, result, failed = strings.Cut(rest, " =! ")
	}
	return args, strings.ReplaceAll(result, "␛", "\x1b"), failed
}

func (w *traceWriter) callBlock(tool, args string) string {
	w.calls++
	if !strings.HasPrefix(args, "{") {
		args = `{"command":` + quote(args) + `}`
	}
	return fmt.Sprintf(`{"type":"toolCall","id":"call_%d","name":%q,"arguments":%s}`, w.calls, tool, args)
}

// answer always thinks something else.
func (w *traceWriter) answer(block, stop string) {
	w.n++
	thinking := fmt.Sprintf(`{"type":"thinking","thinking":"thought %d","thinkingSignature":"sig%d"}`, w.n, w.n)
	if block != "" {
		block = "," + block
	}
	w.message(`"role":"assistant","stopReason":"` + stop + `","content":[` + thinking + block + `]`)
}

func (w *traceWriter) message(fields string) { w.record(`"type":"message","message":{` + fields + `}`) }

func (w *traceWriter) record(fields string) {
	parent := "null"
	if n := len(w.records); n > 1 {
		parent = quote(strconv.Itoa(n - 1))
	}
	w.now = w.now.Add(time.Second)
	w.records = append(w.records, fmt.Sprintf(`{%s,"id":"%d","parentId":%s,"timestamp":%q}`, fields, len(w.records), parent, w.now.Format(time.RFC3339Nano)))
}

func (w *traceWriter) fill(text string, n int) string {
	w.n++
	hex := fmt.Sprintf("%08x", uint32(w.n*2654435761)|0xa0000001)
	at := w.now.Add(time.Duration(w.n) * time.Minute)
	return strings.NewReplacer("{n}", strconv.Itoa(n), "{t}", at.Format(time.TimeOnly), "{h}", hex,
		"{u}", hex+"-1111-4222-8333-"+hex+"abcd").Replace(text)
}

func quote(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

// look runs a trace and gives the findings by record.
func look(t *testing.T, tr trace) []mark {
	t.Helper()
	var parser pi.Parser
	var reader Reader
	d := New(tr.config)
	var found []mark
	for i, record := range tr.records {
		for _, e := range parser.Add([]byte(record), 0) {
			for _, ev := range reader.Read(&e) {
				for _, f := range d.Step(ev.At, ev.Event) {
					found = append(found, mark{i, i, f.Rule})
				}
			}
		}
	}
	if parser.Damage().Counts != nil && len(parser.Damage().Counts) > 0 {
		t.Fatalf("the trace is no session: %v", parser.Damage().Counts)
	}
	return found
}

// Every trace gives the findings it is marked with, at the record they are
// marked at, and no other. The figures of the whole table are printed.
func TestTraces(t *testing.T) {
	all := traces(t)
	if len(all) < 60 {
		t.Errorf("only %d traces", len(all))
	}
	var stuck, hits, alarms, missed, delay int
	for _, tr := range all {
		found := look(t, tr)
		for _, m := range tr.marks {
			stuck++
			at := -1
			for i, f := range found {
				if f.rule == m.rule && f.record >= m.first {
					at = i
					break
				}
			}
			if at < 0 {
				missed++
				t.Errorf("%s: no %v; found %v", tr.name, m, found)
				continue
			}
			hits++
			if late := found[at].record - m.record; late > 0 {
				delay += late
				t.Errorf("%s: %v came %d records late", tr.name, m, late)
			}
			found = append(found[:at:at], found[at+1:]...)
		}
		alarms += len(found)
		if len(found) > 0 {
			t.Errorf("%s: false alarms: %v", tr.name, found)
		}
	}
	percent := func(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	t.Logf("%d traces, %d findings expected: precision %.0f %%, recall %.0f %%, delay %.1f records",
		len(all), stuck, percent(hits, hits+alarms), percent(hits, stuck), float64(delay)/float64(max(hits, 1)))
}
