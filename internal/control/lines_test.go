package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// message is a notification of exactly n bytes.
func message(n int) string {
	const head, tail = `{"jsonrpc":"2.0","method":"m","params":"`, `"}`
	return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
}

func TestLongestLineIsRead(t *testing.T) {
	got := make(chan int, 1)
	_, peer := raw(t, func(_ context.Context, _ *Conn, _ string, params json.RawMessage) (any, error) {
		got <- len(params)
		return nil, nil
	})
	line := message(MaxLine)
	if _, err := io.WriteString(peer, line+"\n"); err != nil {
		t.Fatal(err)
	}
	if n := <-got; n < MaxLine-100 {
		t.Errorf("%d bytes of parameters came of a line of %d", n, len(line))
	}
}

func TestTooLongLineEndsTheConnection(t *testing.T) {
	c, peer := raw(t, nil)
	answer := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(peer)
		answer <- string(all)
	}()
	// The write may fail in its middle: the connection ends before it is read.
	_, _ = io.WriteString(peer, message(MaxLine+1)+"\n")
	wait(t, "the connection", c.Done())
	if !errors.Is(c.Err(), ErrLineTooLong) {
		t.Errorf("cause of the end: %v", c.Err())
	}
	if text := <-answer; !strings.Contains(text, ErrLineTooLong.Error()) {
		t.Errorf("the peer was told %q", text)
	}
}

func TestLineWithoutEndIsBounded(t *testing.T) {
	c, peer := raw(t, nil)
	go func() { _, _ = io.Copy(io.Discard, peer) }()
	block := make([]byte, 64<<10)
	for i := 0; ; i++ {
		if _, err := peer.Write(block); err != nil {
			break
		}
		if i > 2*MaxLine/len(block) {
			t.Fatal("a line of 2 MiB is still read")
		}
	}
	wait(t, "the connection", c.Done())
	if !errors.Is(c.Err(), ErrLineTooLong) {
		t.Errorf("cause of the end: %v", c.Err())
	}
}

func TestTooLongMessageIsTheCallersError(t *testing.T) {
	ctx := testContext(t)
	long := strings.Repeat("x", MaxLine)
	told := make(chan error, 1)
	left, _ := pair(t, nil, func(_ context.Context, _ *Conn, method string, _ json.RawMessage) (any, error) {
		if method == "long answer" {
			return long, nil
		}
		return nil, nil
	}, OnError(func(_ string, err error) { told <- err }))
	if err := left.Call(ctx, "m", long, nil); !errors.Is(err, ErrLineTooLong) {
		t.Errorf("call: %v", err)
	}
	if err := left.Notify(ctx, "m", long); !errors.Is(err, ErrLineTooLong) {
		t.Errorf("notify: %v", err)
	}
	if err := left.Call(ctx, "long answer", nil, nil); !errors.Is(err, ErrInternal) || !strings.Contains(err.Error(), ErrLineTooLong.Error()) {
		t.Errorf("answer: %v", err)
	}
	if err := <-told; !errors.Is(err, ErrLineTooLong) {
		t.Errorf("the hook was told %v", err)
	}
	if err := left.Call(ctx, "m", "short", nil); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestValueThatIsNoJSONIsTheCallersError(t *testing.T) {
	ctx := testContext(t)
	left, _ := pair(t, nil, func(_ context.Context, _ *Conn, method string, _ json.RawMessage) (any, error) {
		return make(chan int), nil
	})
	if err := left.Notify(ctx, "m", json.RawMessage(`{"torn`)); err == nil {
		t.Error("torn JSON was sent")
	}
	if err := left.Call(ctx, "m", nil, nil); err == nil || !strings.Contains(err.Error(), "chan int") {
		t.Errorf("an answer that is no JSON: %v", err)
	}
}

func TestMalformedLinesEndTheConnection(t *testing.T) {
	for name, line := range map[string]string{
		"no JSON":            "hello there",
		"torn":               `{"jsonrpc":"2.0","method":`,
		"empty":              "",
		"a number":           "12",
		"a batch":            `[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]`,
		"an empty batch":     "[]",
		"neither kind":       `{"jsonrpc":"2.0","id":1}`,
		"both kinds":         `{"id":1,"method":"a","result":1}`,
		"method not a text":  `{"id":1,"method":4}`,
		"id an object":       `{"id":{},"method":"a"}`,
		"id a fraction":      `{"id":1.5,"method":"a"}`,
		"a raw NUL":          "{\"id\":1,\"method\":\"a\x00\"}",
		"two on one line":    `{"method":"a"}{"method":"b"}`,
		"ten thousand deep":  `{"method":"a","params":` + strings.Repeat("[", 20000),
		"HTTP at the socket": "GET / HTTP/1.1\r",
	} {
		t.Run(name, func(t *testing.T) {
			c, peer := raw(t, nil)
			if _, err := io.WriteString(peer, line+"\n"); err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(peer)
			if err != nil {
				t.Fatal(err)
			}
			wait(t, "the connection", c.Done())
			if !errors.Is(c.Err(), ErrMalformed) {
				t.Errorf("cause of the end: %v", c.Err())
			}
			if text := string(answer); !strings.Contains(text, "-32700") || !strings.HasSuffix(text, "\n") {
				t.Errorf("the peer was told %q", text)
			}
		})
	}
}

func TestTornLastLineIsAFault(t *testing.T) {
	c, peer := raw(t, func(context.Context, *Conn, string, json.RawMessage) (any, error) {
		t.Error("half a line was handled")
		return nil, nil
	})
	if _, err := io.WriteString(peer, `{"method":"a"}`); err != nil {
		t.Fatal(err)
	}
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
	wait(t, "the connection", c.Done())
	if c.Err() == nil {
		t.Error("no cause of the end")
	}
}

func TestStrayAnswersAreIgnored(t *testing.T) {
	c, peer := raw(t, func(context.Context, *Conn, string, json.RawMessage) (any, error) { return "here", nil })
	lines := `{"id":null,"error":{"code":-32700,"message":"what?"}}
{"id":99,"result":1}
{"id":"x","error":{"code":1,"message":"m"}}
{"id":"mine","method":"a"}
`
	if _, err := io.WriteString(peer, lines); err != nil {
		t.Fatal(err)
	}
	if line := readLine(t, peer); !strings.Contains(line, `"mine"`) || !strings.Contains(line, `"here"`) {
		t.Errorf("the answer is %s", line)
	}
	if c.Err() != nil {
		t.Error(c.Err())
	}
}

func TestPeerThatDoesNotReadFillsTheQueue(t *testing.T) {
	c, _ := raw(t, nil)
	block := strings.Repeat("x", MaxLine/2)
	var err error
	for range 2*maxQueue/len(block) + 1 {
		if err = c.Notify(t.Context(), "m", block); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrSlowPeer) {
		t.Errorf("the queue ends with %v", err)
	}
	wait(t, "the connection", c.Done())
	if !errors.Is(c.Err(), ErrSlowPeer) {
		t.Errorf("cause of the end: %v", c.Err())
	}
}

func TestWriteThatHangsEndsTheConnection(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	l := newLines(a, 10*time.Millisecond)
	if err := l.WriteObject("nobody reads this"); err != nil {
		t.Fatal(err)
	}
	wait(t, "the writer", l.done)
	if !errors.Is(l.err(), ErrSlowPeer) {
		t.Errorf("cause of the end: %v", l.err())
	}
	if err := l.WriteObject("more"); !errors.Is(err, ErrClosed) {
		t.Errorf("write after the end: %v", err)
	}
}

func TestCloseDoesNotWaitForAPeerThatDoesNotRead(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	l := newLines(a, 10*time.Millisecond)
	if err := l.WriteObject("nobody reads this"); err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() { defer close(closed); _ = l.Close() }()
	wait(t, "Close", closed)
}

func FuzzConn(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"hello","params":{}}` + "\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"method":"bye"}` + "\n"))
	f.Add([]byte("{}\n[]\n\x00\xff\n"))
	f.Add([]byte(`{"id":1,"method":"panic"}` + "\n" + `{"id":"1","method":"later"}` + "\n"))
	f.Add([]byte(`{"id":-1,"method":"x","params":[1e999]}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, b := net.Pipe()
		c := NewConn(context.Background(), a, func(_ context.Context, _ *Conn, method string, params json.RawMessage) (any, error) {
			switch method {
			case "panic":
				panic(method)
			case "later":
				return Later(func(context.Context) (any, error) { return params, nil }), nil
			}
			return params, nil
		})
		read := make(chan struct{})
		go func() { defer close(read); _, _ = io.Copy(io.Discard, b) }()
		_, _ = b.Write(data)
		_ = b.Close()
		<-c.Done()
		_ = c.Close()
		<-c.lines.done
		<-read
		if n := cap(c.lines.line); n > MaxLine+keepBuffer {
			t.Errorf("the buffer has grown to %d bytes", n)
		}
	})
}
