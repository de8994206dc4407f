package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"piwatch/internal/gateway"
)

// flow begins a stream of events.
func flow(w http.ResponseWriter) func(string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(200)
	flush := http.NewResponseController(w).Flush
	_ = flush()
	return func(text string) {
		_, _ = io.WriteString(w, text)
		_ = flush()
	}
}

// Each event is there before the next is sent.
func TestEventsAreNotHeldBack(t *testing.T) {
	next := make(chan struct{})
	r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		send := flow(w)
		for i := range 20 {
			send(fmt.Sprintf("data: %d\n\n", i))
			<-next
		}
		send("data: [DONE]\n\n")
	})
	res, err := r.post("/", "ask")
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(res.Body)
	for i := range 20 {
		line, err := in.ReadString('\n')
		if err != nil || line != fmt.Sprintf("data: %d\n", i) {
			t.Fatalf("%q, %v", line, err)
		}
		_, _ = in.ReadString('\n')
		next <- struct{}{}
	}
	rest, err := io.ReadAll(in)
	if err != nil || string(rest) != "data: [DONE]\n\n" {
		t.Errorf("%q, %v", rest, err)
	}
	_ = res.Body.Close()
	if p := r.settled().Providers[0]; p.Unterminated+p.Broken != 0 {
		t.Errorf("counts %+v", p.Counts)
	}
}

// An answer that breaks after its first byte is passed on at once as broken.
func TestBreakInMidStream(t *testing.T) {
	for _, how := range []string{"reset", "end"} {
		t.Run(how, func(t *testing.T) {
			cut := make(chan struct{})
			r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				flow(w)("data: some\n\n")
				<-cut
				if how == "end" {
					panic(http.ErrAbortHandler)
				}
				reset(w)
			})
			res, err := r.post("/", "ask")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			first := make([]byte, 12)
			if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "data: some\n\n" {
				t.Fatalf("%q, %v", first, err)
			}
			close(cut)
			if rest, err := io.ReadAll(res.Body); err == nil || len(rest) > 0 {
				t.Errorf("the answer ended well, with %q", rest)
			}
			r.event(gateway.Broken)
			p := r.settled().Providers[0]
			if r.count() != 1 || p.Broken != 1 || p.Answers["200"] != 1 || p.Breaker.Failed != 0 {
				t.Errorf("%d requests, %+v", r.count(), p)
			}
		})
	}
}

func TestTerminators(t *testing.T) {
	chat := `data: {"choices":[{"delta":{"content":"x"},"finish_reason":null}]}` + "\n\n"
	for _, c := range []struct {
		name string
		text string
		want bool
	}{
		{"chat completions", chat + "data: [DONE]\n\n", true},
		{"no blank line after the end", chat + "data: [DONE]", true},
		{"CRLF", "data: x\r\n\r\ndata: [DONE]\r\n\r\n", true},
		{"CR", "data: x\r\rdata: [DONE]\r\r", true},
		{"messages, CR", "event: message_stop\rdata: {}\r\r", true},
		{"CR, cut", "data: x\r\rdata: [DO\r\r", false},
		{"a reason and no DONE", chat + `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n", true},
		{"a reason, and the use of tokens after it", chat + `data: {"choices":[{"finish_reason":"stop"}]}` + "\n\ndata: {\"usage\":\"" + strings.Repeat("u", 1_500) + "\"}\n\n", true},
		{"a reason, long before the end", chat + `data: {"choices":[{"finish_reason":"stop"}]}` + "\n\n" + strings.Repeat(chat, 40), false},
		{"chat completions, cut", chat + chat, false},
		{"cut in the last line", chat + "data: [DO", false},
		{"DONE in a text", `data: {"content":"data: [DONE]"}` + "\n\n", false},
		{"messages", "event: message_start\ndata: {}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", true},
		{"messages, cut", "event: message_start\ndata: {}\n\nevent: message_delta\ndata: {}\n\n", false},
		{"responses", "event: response.completed\ndata: {\"type\":\"response.completed\",\"x\":\"" + strings.Repeat("y", 5_000) + "\"}\n\n", true},
		{"responses that failed", "event: response.failed\ndata: {}\n\n", true},
		{"responses, no event line", `data: {"type":"response.incomplete"}` + "\n\n", true},
		{"responses, cut", "event: response.created\ndata: {\"type\":\"response.created\"}\n\n", false},
		{"an error", `data: {"error":{"message":"overloaded"}}` + "\n\n", true},
		{"Gemini", `data: {"candidates": [{"finishReason": "STOP"}]}` + "\r\n\r\n", true},
		{"only comments", ": ping\n\n: ping\n\n", false},
		{"DONE, no space", "data:[DONE]\n\n", true},
		{"messages, no space", "event:message_start\ndata:{}\n\nevent:message_stop\ndata:{}\n\n", true},
		{"messages, no event line and no space", `data:{"type":"message_stop"}` + "\n\n", true},
		{"messages, spaces in the JSON", `data: { "type" : "message_stop" }` + "\n\n", true},
		{"messages, CRLF", "event: message_stop\r\ndata: {}\r\n\r\n", true},
		{"responses, no space", "event:response.completed\ndata:{}\n\n", true},
		{"responses, the type is not first", `data: {"sequence_number":9,"type":"response.completed","response":{}}` + "\n\n", true},
		{"another event that begins so", "event: message_stop_soon\ndata: {\"type\":\"response.completed.not\"}\n\n", false},
		{"a type within a text", `data: {"delta":"{\"type\":\"message_stop\"}"}` + "\n\n", false},
		{"an error of messages", `data: {"type":"error","error":{}}` + "\n\n", true},
		{"Pi's messages", `data: {"type":"text_end"}` + "\n\n" + `data: {"type":"done","reason":"stop"}` + "\n\n", true},
		{"Pi's messages, cut", `data: {"type":"text_end"}` + "\n\n", false},
		{"no error", `data: {"error":null,"choices":[]}` + "\n\n", false},
		{"a reason, spaced", `data: {"choices":[{"finish_reason" :  "stop"}]}` + "\n\n", true},
		{"a reason that begins as its name", chat + `data: {"choices":[{"finish_reason":"finished"}]}` + "\n\n", true},
		{"CR and LF", "data: x\r\rdata: y\n\rdata: [DONE]\r\n", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 2, 7, 1000, len(c.text)} {
				var pieces []string
				for rest := c.text; rest != ""; {
					n := min(size, len(rest))
					pieces, rest = append(pieces, rest[:n]), rest[n:]
				}
				if got := gateway.Terminated(pieces...); got != c.want {
					t.Errorf("in pieces of %d bytes: %v, want %v", size, got, c.want)
				}
			}
		})
	}
}

// withCut has answers cut.
func withCut(o *gateway.Options) {
	o.Settings = func() gateway.Settings { s := gateway.DefaultSettings(); s.Cut = true; return s }
}

// A stream without its terminator is told of, and cut where the user wants that
// and the API is one whose terminator is known.
func TestUnterminated(t *testing.T) {
	for _, c := range []struct {
		path      string
		cut, want bool
	}{
		{"/v1/chat/completions", false, false},
		{"/v1/chat/completions", true, true},
		{"/v1/messages", true, true},
		{"/v1/responses?x=1", true, true},
		{"/v1beta/models/gemini:streamGenerateContent?alt=sse", true, true},
		{"/v1/events", true, false},
	} {
		t.Run(fmt.Sprint(c.path, " cut ", c.cut), func(t *testing.T) {
			options := []func(*gateway.Options){}
			if c.cut {
				options = append(options, withCut)
			}
			r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) { flow(w)("data: some\n\n") }, options...)
			res, err := r.post(c.path, "ask")
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if string(text) != "data: some\n\n" || (err != nil) != c.want {
				t.Errorf("%q, %v", text, err)
			}
			if e := r.event(gateway.Unterminated); e.Cut != c.want || e.Route.Provider != "scripted" {
				t.Errorf("event %+v", e)
			}
			if p := r.settled().Providers[0]; p.Unterminated != 1 || p.Silent+p.Broken != 0 {
				t.Errorf("counts %+v", p.Counts)
			}
		})
	}
}

// Whether a stream that comes compressed has its terminator is not known: it
// passes.
func TestPackedStream(t *testing.T) {
	for packing, want := range map[string]int{"gzip": 0, "br": 0, "identity": 1} {
		t.Run(packing, func(t *testing.T) {
			r := newRig(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", packing)
				flow(w)("\x1f\x8b packed")
			}, withCut)
			res, err := r.post("/v1/chat/completions", "ask")
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if string(text) != "\x1f\x8b packed" || (err != nil) != (want == 1) {
				t.Errorf("%q, %v", text, err)
			}
			if p := r.settled().Providers[0]; p.Unterminated != want {
				t.Errorf("counts %+v", p.Counts)
			}
		})
	}
}

// A stream with no bytes at all, and answers that are no streams, have no
// terminator to miss.
func TestNothingToTerminate(t *testing.T) {
	r := newRig(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			flow(w)
			return
		}
		status(200, "data: x\n\n")(w)
	})
	r.want("a", 200, "")
	r.want("b", 200, "data: x\n\n")
	if p := r.settled().Providers[0]; p.Unterminated != 0 || r.count() != 2 {
		t.Errorf("%d requests, counts %+v", r.count(), p.Counts)
	}
}

func TestSilence(t *testing.T) {
	const limit = 50 * time.Millisecond
	for _, c := range []struct {
		name       string
		began, cut bool
	}{
		{"in a stream", true, false},
		{"in a stream, cut", true, true},
		{"before the answer", false, false},
		{"before the answer, cut", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			goOn := make(chan struct{})
			r := newRig(t, func(_ int, w http.ResponseWriter, req *http.Request) {
				wait := func() {
					select {
					case <-goOn:
					case <-req.Context().Done():
					}
				}
				if !c.began {
					wait()
				}
				send := flow(w)
				send("data: some\n\n")
				if c.began {
					wait()
				}
				send("data: [DONE]\n\n")
			}, func(o *gateway.Options) {
				o.Settings = func() gateway.Settings { return gateway.Settings{Silence: limit, Cut: c.cut} }
			})
			type end struct {
				text string
				err  error
			}
			ended := make(chan end, 1)
			go func() {
				res, err := r.post("/", "ask")
				if err != nil {
					ended <- end{"", err}
					return
				}
				text, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				ended <- end{string(text), err}
			}()
			if e := r.event(gateway.Silent); e.Cut != c.cut || e.Silent < limit {
				t.Errorf("event %+v", e)
			}
			if !c.cut {
				close(goOn)
			}
			got := <-ended
			if c.cut && got.err == nil || !c.cut && (got.err != nil || got.text != "data: some\n\ndata: [DONE]\n\n") {
				t.Errorf("%q, %v", got.text, got.err)
			}
			p := r.settled().Providers[0]
			if p.Silent != 1 || r.count() != 1 {
				t.Errorf("%d requests, counts %+v", r.count(), p.Counts)
			}
		})
	}
}
