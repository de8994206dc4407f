package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// deadline ends a test that hangs; nothing in it is expected to take that long.
const deadline = 20 * time.Second

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	return ctx
}

// pair is two ends that are connected.
func pair(t *testing.T, left, right Handler, options ...Option) (*Conn, *Conn) {
	t.Helper()
	a, b := net.Pipe()
	l := NewConn(context.Background(), a, left, options...)
	r := NewConn(context.Background(), b, right, options...)
	t.Cleanup(func() { _, _ = l.Close(), r.Close() })
	return l, r
}

// raw is a Conn whose other side is the test, byte by byte.
func raw(t *testing.T, h Handler, options ...Option) (*Conn, net.Conn) {
	t.Helper()
	a, b := net.Pipe()
	c := NewConn(context.Background(), a, h, options...)
	t.Cleanup(func() { _, _ = c.Close(), b.Close() })
	if err := b.SetDeadline(time.Now().Add(deadline)); err != nil {
		t.Fatal(err)
	}
	return c, b
}

func wait(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(deadline):
		t.Fatalf("no end of: %s", what)
	}
}

func TestCallsGoBothWays(t *testing.T) {
	ctx := testContext(t)
	echo := func(name string) Handler {
		return func(_ context.Context, _ *Conn, method string, params json.RawMessage) (any, error) {
			return map[string]any{"at": name, "method": method, "params": params}, nil
		}
	}
	left, right := pair(t, echo("left"), echo("right"))
	for _, c := range []struct {
		from *Conn
		want string
	}{
		{left, `{"at":"right","method":"decide","params":{"z":1,"a":[2]}}`},
		{right, `{"at":"left","method":"decide","params":{"z":1,"a":[2]}}`},
	} {
		var got json.RawMessage
		if err := c.from.Call(ctx, Decide, json.RawMessage(`{"z":1, "a":[2]}`), &got); err != nil {
			t.Fatal(err)
		}
		assertJSON(t, got, c.want)
	}
}

func assertJSON(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParametersKeepTheirBytes(t *testing.T) {
	const params = `{"zebra":1,"apple":{"y":1.50,"b":"\u00e9<"}}`
	got := make(chan string, 1)
	_, peer := raw(t, func(_ context.Context, _ *Conn, _ string, params json.RawMessage) (any, error) {
		got <- string(params)
		return nil, nil
	})
	if _, err := io.WriteString(peer, `{"jsonrpc":"2.0","method":"record","params":`+params+"}\n"); err != nil {
		t.Fatal(err)
	}
	if p := <-got; p != params {
		t.Errorf("the handler got %s, want %s", p, params)
	}
}

func TestMessagesAreHandledInTheirOrder(t *testing.T) {
	ctx := testContext(t)
	const many = 500
	var got []int
	var mu sync.Mutex
	left, _ := pair(t, nil, func(_ context.Context, _ *Conn, method string, params json.RawMessage) (any, error) {
		if method == "last" {
			return nil, nil
		}
		var n int
		if err := json.Unmarshal(params, &n); err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, n)
		return nil, nil
	})
	for n := range many {
		if err := left.Notify(ctx, Tree, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := left.Call(ctx, "last", nil, nil); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(got) != many {
		t.Fatalf("%d of %d notifications before the answer to the call after them", len(got), many)
	}
	for i, n := range got {
		if n != i {
			t.Fatalf("notification %d came as number %d", n, i)
		}
	}
}

func TestErrorsCrossTheWire(t *testing.T) {
	ctx := testContext(t)
	left, _ := pair(t, nil, func(_ context.Context, _ *Conn, method string, params json.RawMessage) (any, error) {
		switch method {
		case "params":
			return nil, Decode(json.RawMessage(`"text"`), &struct{}{})
		case "session":
			return nil, fmt.Errorf("%w: abc", ErrNoSession)
		case "protocol":
			return nil, fmt.Errorf("hello: %w", &ProtocolError{Hub: 7, Peer: 1, Version: "3.2.1"})
		case "passed on":
			return nil, &Error{Code: -32001, Message: "from elsewhere"}
		case "plain":
			return nil, errors.New("it did not work")
		}
		return nil, fmt.Errorf("%w: %s", ErrUnknownMethod, method)
	})
	for _, c := range []struct {
		method string
		is     error
		text   string
	}{
		{"params", ErrParams, "bad parameters: "},
		{"session", ErrNoSession, "no such session: abc"},
		{"passed on", ErrNoSession, "from elsewhere"},
		{"nonsense", ErrUnknownMethod, "unknown method: nonsense"},
		{"plain", nil, "it did not work"},
	} {
		err := left.Call(ctx, c.method, nil, nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.text) {
			t.Errorf("%s: %v, want it to begin with %q", c.method, err, c.text)
		}
		for _, class := range []error{ErrParams, ErrNoSession, ErrUnknownMethod, ErrInternal} {
			if errors.Is(err, class) != (class == c.is) {
				t.Errorf("%s: errors.Is(%v, %v) is wrong", c.method, err, class)
			}
		}
	}
	var protocol *ProtocolError
	if err := left.Call(ctx, "protocol", nil, nil); !errors.As(err, &protocol) || *protocol != (ProtocolError{7, 1, "3.2.1"}) {
		t.Errorf("protocol: %v", err)
	}
}

func TestWithoutAHandlerEveryMethodIsUnknown(t *testing.T) {
	left, _ := pair(t, nil, nil)
	if err := left.Call(testContext(t), Hello, nil, nil); !errors.Is(err, ErrUnknownMethod) {
		t.Errorf("got %v", err)
	}
}

func TestPanicIsAnAnswerAndNoCrash(t *testing.T) {
	ctx := testContext(t)
	told := make(chan error, 3)
	hook := OnError(func(_ string, err error) { told <- err })
	left, _ := pair(t, nil, func(_ context.Context, _ *Conn, method string, _ json.RawMessage) (any, error) {
		switch method {
		case "at once":
			panic("oh")
		case "later":
			return Later(func(context.Context) (any, error) { panic("oh") }), nil
		}
		return "well", nil
	}, hook)
	for _, method := range []string{"at once", "later"} {
		if err := left.Call(ctx, method, nil, nil); !errors.Is(err, ErrInternal) {
			t.Errorf("%s: %v", method, err)
		}
		if err := <-told; !strings.Contains(err.Error(), "panic: oh") || !strings.Contains(err.Error(), "conn_test.go") {
			t.Errorf("%s: the hook was told %v, without the place", method, err)
		}
	}
	var got string
	if err := left.Call(ctx, "other", nil, &got); err != nil || got != "well" {
		t.Errorf("after the panics: %q, %v", got, err)
	}
}

func TestErrorOfANotificationGoesToTheHook(t *testing.T) {
	told := make(chan string, 1)
	left, _ := pair(t, nil, nil, OnError(func(method string, err error) { told <- method + ": " + err.Error() }))
	if err := left.Notify(testContext(t), "hum", nil); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != "hum: unknown method: hum" {
		t.Errorf("the hook was told %q", got)
	}
}

func TestHandlerMustNotWaitForItsOwnConnection(t *testing.T) {
	left, _ := pair(t, nil, func(ctx context.Context, c *Conn, _ string, _ json.RawMessage) (any, error) {
		return nil, c.Call(ctx, "back", nil, nil)
	})
	err := left.Call(testContext(t), "go", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "a handler must not wait") {
		t.Errorf("got %v", err)
	}
}

func TestLaterLetsTheConnectionGoOn(t *testing.T) {
	ctx := testContext(t)
	release := make(chan struct{})
	left, _ := pair(t,
		func(context.Context, *Conn, string, json.RawMessage) (any, error) { return "asked back", nil },
		func(_ context.Context, c *Conn, method string, _ json.RawMessage) (any, error) {
			if method != Settled {
				close(release)
				return nil, nil
			}
			return Later(func(ctx context.Context) (any, error) {
				<-release
				var got string
				err := c.Call(ctx, SendCheck, nil, &got)
				return got, err
			}), nil
		})
	answer := make(chan string, 1)
	go func() {
		var got string
		if err := left.Call(ctx, Settled, nil, &got); err != nil {
			got = err.Error()
		}
		answer <- got
	}()
	if err := left.Call(ctx, "meanwhile", nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := <-answer; got != "asked back" {
		t.Errorf("the late answer is %q", got)
	}
}

func TestLaterEndsWithTheConnection(t *testing.T) {
	ctx := testContext(t)
	ended := make(chan struct{})
	left, right := pair(t, nil, func(context.Context, *Conn, string, json.RawMessage) (any, error) {
		return Later(func(ctx context.Context) (any, error) {
			defer close(ended)
			<-ctx.Done()
			return nil, ctx.Err()
		}), nil
	})
	failed := make(chan error, 1)
	go func() { failed <- left.Call(ctx, Settled, nil, nil) }()
	_ = right.Call(ctx, "there and back, so that settled has arrived", nil, nil)
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	wait(t, "the Later", ended)
	if err := <-failed; !errors.Is(err, ErrClosed) {
		t.Errorf("the call ended with %v", err)
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	left, peer := raw(t, nil)
	go func() { _, _ = io.Copy(io.Discard, peer) }() // reads, never answers
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := left.Call(ctx, Sessions, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestRequestsWithoutAnswerAreBounded(t *testing.T) {
	c, peer := raw(t, nil)
	go func() { _, _ = io.Copy(io.Discard, peer) }() // reads, never answers
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range maxOpen {
		if err := c.Call(ctx, Sessions, nil, nil); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if err := c.Call(ctx, Sessions, nil, nil); !errors.Is(err, ErrBusy) {
		t.Errorf("request %d: %v", maxOpen+1, err)
	}
}

func TestContextEndsTheConnection(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	ctx, cancel := context.WithCancel(context.Background())
	c := NewConn(ctx, a, nil)
	cancel()
	wait(t, "the connection", c.Done())
	if err := c.Notify(context.Background(), Bye, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("notify after the end: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("a second end: %v", err)
	}
}

func TestCloseSendsWhatIsQueued(t *testing.T) {
	c, peer := raw(t, nil)
	for range 3 {
		if err := c.Notify(t.Context(), Bye, nil); err != nil {
			t.Fatal(err)
		}
	}
	read := make(chan int, 1)
	go func() {
		all, _ := io.ReadAll(peer)
		read <- strings.Count(string(all), "\n")
	}()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if n := <-read; n != 3 {
		t.Errorf("%d of 3 messages arrived", n)
	}
	if err := c.Err(); err != nil {
		t.Errorf("cause of the end: %v", err)
	}
}

func TestPeerThatLeavesIsNoFault(t *testing.T) {
	c, peer := raw(t, nil)
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
	wait(t, "the connection", c.Done())
	if err := c.Err(); err != nil {
		t.Errorf("cause of the end: %v", err)
	}
}

// readLine reads one line of the peer of a raw connection.
func readLine(t *testing.T, peer net.Conn) string {
	t.Helper()
	line, err := bufio.NewReader(peer).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}
