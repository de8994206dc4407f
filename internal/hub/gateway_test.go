package hub_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"piwatch/internal/control"
	"piwatch/internal/hub"
)

// withGateway keeps the gateway's state in a file; retries follow at once.
func withGateway(file string) func(*hub.Options) {
	return func(o *hub.Options) {
		o.Gateway = hub.GatewayOptions{State: file, Backoff: func(int) time.Duration { return 0 }}
	}
}

// asks is a session whose model is of this provider.
func asks(name, api string, urls ...string) func(*control.BridgeHello) {
	return func(h *control.BridgeHello) { h.Provider = &control.ProviderEvent{Name: name, API: api, URLs: urls} }
}

func (c *client) gateway() control.GatewayState {
	c.t.Helper()
	state, err := c.Gateway(c.ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return state
}

// joinGateway is a hub whose gateway is on, who watches it, and a session whose
// provider acme has an address.
func joinGateway(t *testing.T, address string) (*testHub, *client, *watcher, *bridge) {
	t.Helper()
	h := start(t, withGateway(filepath.Join(t.TempDir(), "gateway.json")))
	c := h.client()
	w := c.watch()
	c.turns(true, "info: ")
	return h, c, w, h.join(hello("s1", asks("acme", "x", address)))
}

// turns turns the gateway on or off and expects this beginning of the reply.
func (c *client) turns(on bool, want string, providers ...string) {
	c.t.Helper()
	reply, err := c.SetGateway(c.ctx, control.GatewaySetParams{On: on, Providers: providers})
	if err != nil || !strings.HasPrefix(reply.Level+": "+reply.Text, want) {
		c.t.Fatalf("on=%v %v: %+v, %v; want %q", on, providers, reply, err, want)
	}
}

// joined expects that the answer to hello points the provider.
func (b *bridge) joined() control.PointParams {
	b.t.Helper()
	if b.welcome.Gateway == nil {
		b.t.Fatal("the welcome does not point the provider")
	}
	return *b.welcome.Gateway
}

// pointed is the next request of the hub, which has to be one to point.
func (b *bridge) pointed() control.PointParams {
	b.t.Helper()
	select {
	case m := <-b.got:
		var p control.PointParams
		if err := json.Unmarshal(m.params, &p); err != nil || m.method != control.Point {
			b.t.Fatalf("got %s %s", m.method, m.params)
		}
		return p
	case <-b.ctx.Done():
		b.t.Fatal("nothing to point")
	}
	return control.PointParams{}
}

func TestGatewaySwitch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "gateway.json")
	h := start(t, withGateway(file))
	c := h.client()
	b := h.join(hello("s1", asks("acme", "openai-completions", "https://api.acme.example/v1")))
	if s := c.gateway(); s.On || s.Port != 0 || s.Sessions[0].On || s.Sessions[0].Why != "" {
		t.Errorf("at first: %+v", s)
	}
	c.turns(true, "info: The gateway is on for all providers.")
	first := b.pointed()
	s := c.gateway()
	if want := fmt.Sprintf("http://127.0.0.1:%d/", s.Port); first.Provider != "acme" || !strings.HasPrefix(first.URL, want) || !strings.HasSuffix(first.URL, "/https/api.acme.example/v1") {
		t.Errorf("pointed %+v, want %s…", first, want)
	}
	if at := s.Sessions[0]; !at.On || at.Upstream != "https://api.acme.example" || at.Session != "s1" {
		t.Errorf("session %+v", at)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the state file: %v, %v", info, err)
	}
	c.turns(false, "info: The gateway is on for all providers but acme.", "acme")
	if p := b.pointed(); p.URL != "" || p.Provider != "acme" {
		t.Errorf("put back: %+v", p)
	}
	c.turns(true, "info: The gateway is on for all providers.", "acme")
	if p := b.pointed(); p != first {
		t.Errorf("pointed again at %+v, before at %+v", p, first)
	}
	c.turns(false, "info: The gateway is off.")
	b.pointed()
	if s := c.gateway(); s.On || s.Port != 0 {
		t.Errorf("at last: %+v", s)
	}
	if reachable(s.Port) { // s is from when it was on
		t.Error("it still listens")
	}
	c.turns(true, "warning: The gateway is on for acme, other.\nNo session uses a provider named other now; used are: acme.", "other", "acme", "other")
	b.pointed()
	c.turns(false, "info: The gateway is on for other.", "acme")
	b.pointed()
	c.turns(true, "error: Nothing changed: a provider has a name", "")
}

// Changes at the same time are all made, and all kept.
func TestGatewayChangesTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gateway.json")
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	t.Run("first", func(t *testing.T) {
		c := start(t, withGateway(file)).client()
		made := make(chan error, len(names))
		for _, name := range names {
			go func() {
				_, err := c.SetGateway(c.ctx, control.GatewaySetParams{On: true, Providers: []string{name}})
				made <- err
			}()
		}
		for range names {
			if err := <-made; err != nil {
				t.Fatal(err)
			}
		}
		if s := c.gateway(); !slices.Equal(s.Providers, names) {
			t.Errorf("on for %q, want %q", s.Providers, names)
		}
	})
	t.Run("again", func(t *testing.T) {
		if s := start(t, withGateway(file)).client().gateway(); !slices.Equal(s.Providers, names) {
			t.Errorf("on for %q, want %q", s.Providers, names)
		}
	})
}

// eventually waits for a state that nothing announces.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	late := time.After(patience)
	for !done() {
		select {
		case <-ticker.C:
		case <-late:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// reachable reports whether something listens at a port of loopback.
func reachable(port int) bool {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// It listens until the bridges have pointed their providers back, and goes on to
// when it is turned on meanwhile.
func TestGatewayOffWaitsForBridges(t *testing.T) {
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprint("on again ", again), func(t *testing.T) {
			h := start(t, withGateway(filepath.Join(t.TempDir(), "gateway.json")))
			c := h.client()
			b := h.join(hello("s1", asks("acme", "x", "https://a.example")))
			c.turns(true, "info: ")
			b.pointed()
			port := c.gateway().Port
			release := b.block()
			replied := make(chan error, 2)
			set := func(on bool) {
				_, err := c.SetGateway(c.ctx, control.GatewaySetParams{On: on})
				replied <- err
			}
			go set(false)
			b.pointed()
			if s := c.gateway(); s.On || s.Port != port || !reachable(port) {
				t.Errorf("before the bridge has pointed it back: %+v, reachable %v", s, reachable(port))
			}
			n := 1
			if again {
				n = 2
				go set(true)
				eventually(t, "the gateway to be on again", func() bool { return c.gateway().On })
			}
			release()
			for range n {
				if err := <-replied; err != nil {
					t.Fatal(err)
				}
			}
			if s := c.gateway(); s.On != again || reachable(port) != again {
				t.Errorf("at last %+v, reachable %v", s, reachable(port))
			}
		})
	}
}

// The next hub has the same port and the same addresses; when the port is
// taken, another one, and the bridge is told.
func TestGatewayIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gateway.json")
	acme := hello("s1", asks("acme", "openai-completions", "https://api.acme.example/v1"))
	var first control.PointParams
	t.Run("first", func(t *testing.T) {
		h := start(t, withGateway(file))
		h.client().turns(true, "info: ")
		first = h.join(acme).joined()
	})
	t.Run("again", func(t *testing.T) {
		h := start(t, withGateway(file))
		if got := h.join(acme).joined(); got != first {
			t.Errorf("pointed at %+v, before at %+v", got, first)
		}
	})
	t.Run("port taken", func(t *testing.T) {
		listener, err := net.Listen("tcp4", strings.Split(strings.TrimPrefix(first.URL, "http://"), "/")[0])
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		h := start(t, withGateway(file))
		got := h.join(acme).joined()
		if got.URL == first.URL || strings.SplitN(got.URL, "/", 4)[3] != strings.SplitN(first.URL, "/", 4)[3] {
			t.Errorf("pointed at %+v, before at %+v: want another port alone", got, first)
		}
	})
	t.Run("state is junk", func(t *testing.T) {
		if err := os.WriteFile(file, []byte("{junk"), 0o600); err != nil {
			t.Fatal(err)
		}
		h := start(t, withGateway(file))
		if s := h.client().gateway(); s.On {
			t.Errorf("on: %+v", s)
		}
		h.client().turns(true, "info: ")
	})
	t.Run("state of another type", func(t *testing.T) {
		if err := os.WriteFile(file, []byte(`{"all": true, "port": 4, "providers": "acme"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		h := start(t, withGateway(file))
		if s := h.client().gateway(); s.On || s.Port != 0 {
			t.Errorf("on: %+v", s)
		}
	})
	t.Run("no state", func(t *testing.T) {
		h := start(t)
		h.client().turns(true, "error: This hub has no gateway.")
	})
	t.Run("not to be written", func(t *testing.T) {
		blocked := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(blocked, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		h := start(t, withGateway(filepath.Join(blocked, "gateway.json")))
		c := h.client()
		c.turns(true, "error: Nothing changed: ")
		if s := c.gateway(); s.On {
			t.Errorf("on: %+v", s)
		}
	})
}

// What cannot be pointed goes direct, and the reason is said.
func TestGatewayGoesDirect(t *testing.T) {
	h := start(t, withGateway(filepath.Join(t.TempDir(), "gateway.json")))
	c := h.client()
	c.turns(true, "info: ")
	port := c.gateway().Port
	for _, test := range []struct {
		provider control.ProviderEvent
		why      string
	}{
		{control.ProviderEvent{Name: "codex", API: "openai-codex-responses", URLs: []string{"https://c.example"}}, "WebSocket"},
		{control.ProviderEvent{Name: "bedrock", API: "bedrock-converse-stream", URLs: []string{"https://b.example"}}, "SDK of AWS"},
		{control.ProviderEvent{Name: "github-copilot", API: "openai-completions", URLs: []string{"https://g.example"}}, "comes with its login"},
		{control.ProviderEvent{Name: "two", API: "x", URLs: []string{"https://a.example", "https://b.example"}}, "2 different addresses"},
		{control.ProviderEvent{Name: "none", API: "x"}, "have no address"},
		{control.ProviderEvent{Name: "ws", API: "x", URLs: []string{"wss://a.example"}}, "only http and https"},
		{control.ProviderEvent{Name: "taken", API: "x", URLs: []string{"https://a.example"}, Other: "another extension points it"}, "left alone"},
		{control.ProviderEvent{Name: "self", API: "x", URLs: []string{fmt.Sprintf("http://localhost:%d/x", port)}}, "already"},
	} {
		t.Run(test.provider.Name, func(t *testing.T) {
			b := h.join(hello("s-"+test.provider.Name, func(h *control.BridgeHello) { h.Provider, h.Pid = &test.provider, 7 }))
			for _, s := range c.gateway().Sessions {
				if s.Provider == test.provider.Name && (s.On || !strings.Contains(s.Why, test.why)) {
					t.Errorf("%+v, want %q", s, test.why)
				}
			}
			if len(b.got) != 0 || b.welcome.Gateway != nil {
				t.Errorf("the bridge was asked to point it: %+v", b.welcome.Gateway)
			}
		})
	}
}

// Another model: its provider is pointed, and the one before put back. A bridge
// that refuses is said to go direct.
func TestGatewayFollowsTheModel(t *testing.T) {
	_, c, w, b := joinGateway(t, "https://a.example")
	b.joined()
	b.tell(control.ProviderIs, control.ProviderEvent{Name: "acme", API: "x", URLs: []string{"https://a.example"}})
	if len(b.got) != 0 {
		t.Errorf("asked for what is so already: %+v", <-b.got)
	}
	b.refuse(control.Point, "") // the receipt of putting back does not matter
	b.refuse(control.Point, "Pi does not take it")
	b.tell(control.ProviderIs, control.ProviderEvent{Name: "other", API: "x", URLs: []string{"https://b.example"}})
	if p := b.pointed(); p != (control.PointParams{Provider: "acme"}) {
		t.Errorf("put back: %+v", p)
	}
	if p := b.pointed(); p.Provider != "other" || !strings.HasSuffix(p.URL, "/https/b.example") {
		t.Errorf("pointed: %+v", p)
	}
	w.notice("gateway: other goes direct: Pi does not take it")
	if at := c.gateway().Sessions[0]; at.On || at.Why != "Pi does not take it" {
		t.Errorf("%+v", at)
	}
}

// A bridge that cannot do what the answer to its hello says tells so.
func TestGatewayWelcomeRefused(t *testing.T) {
	_, c, w, b := joinGateway(t, "https://a.example")
	b.joined()
	b.tell(control.ProviderIs, control.ProviderEvent{Name: "acme", API: "x", URLs: []string{"https://a.example"}, Other: "Pi does not take it"})
	w.notice("gateway: acme goes direct: Pi does not take it")
	if at := c.gateway().Sessions[0]; at.On || !strings.HasPrefix(at.Why, "Pi does not take it") {
		t.Errorf("%+v", at)
	}
}

// What happens to a request is recorded in its session and told to who watches.
func TestGatewayRecords(t *testing.T) {
	h, c, w, b := joinGateway(t, "http://127.0.0.1:1")
	through := b.joined().URL
	reply, err := c.TestGateway(c.ctx, "http://127.0.0.1:1/") // this one is not counted
	if err != nil || reply.Level != "error" || !strings.Contains(reply.Text, "No answer after") || strings.Contains(reply.Text, "http://") {
		t.Errorf("test: %+v, %v", reply, err)
	}
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", c.gateway().Port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	path := "/" + strings.SplitN(through, "/", 4)[3]
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		b.wants(fmt.Sprintf(`record gateway {"kind":"retry","provider":"acme","cause":"refused","retry":%d,"of":3}`, i+1))
	}
	b.wants(`record gateway {"kind":"failed","provider":"acme","cause":"refused","retry":3,"of":3}`)
	var status control.CommandReply
	b.call(control.Command, control.CommandParams{Name: "guard", Args: "status"}, &status)
	for _, want := range []string{
		"Guard: on.", "\ngateway: on for all providers, 127.0.0.1:", "\nrequests: 1, tried again after refused×3, which helped 0 times",
		"\nof this session: 1, tried again after refused×3, which helped 0 times",
	} {
		if !strings.Contains(status.Text, want) {
			t.Errorf("/guard status lacks %q: %s", want, status.Text)
		}
	}
	w.notice("gateway: acme: refused after 3 retries, passed on as it was")
	h.clock.advance(sec)
	push := w.until(func(p control.Push) bool {
		return p.Gateway != nil && p.Gateway.Traffic != nil && len(p.Gateway.Traffic.Providers) == 1
	})
	for _, p := range push.Gateway.Traffic.Providers {
		if p.Retries["refused"] != 3 || p.Failed["refused"] != 1 {
			t.Errorf("pushed %+v", p)
		}
	}
	lines := strings.Join(push.Gateway.Lines(time.Now()), "\n")
	if !strings.Contains(lines, "requests: 1, tried again after refused×3, which helped 0 times") {
		t.Errorf("lines:\n%s", lines)
	}
}

// A hub that ends lets an answer that is on its way come to its end; its port is
// free meanwhile, for the hub to come.
func TestGatewayDrains(t *testing.T) {
	upstream, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	goOn := make(chan struct{})
	go func() {
		conn, err := upstream.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
		<-goOn
		_, _ = io.WriteString(conn, "more")
	}()
	file := filepath.Join(t.TempDir(), "gateway.json")
	h := start(t, withGateway(file))
	c := h.client()
	c.turns(true, "info: ")
	b := h.join(hello("s1", asks("acme", "x", "http://"+upstream.Addr().String())))
	host, path, _ := strings.Cut(strings.TrimPrefix(b.joined().URL, "http://"), "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	half := make([]byte, 4)
	if _, err := io.ReadFull(res.Body, half); err != nil || string(half) != "half" {
		t.Fatalf("%q, %v", half, err)
	}
	if err := c.StopHub(h.ctx, "test"); err != nil {
		t.Fatal(err)
	}
	// The connections of clients end at the same time as the port gets free.
	var next net.Listener
	eventually(t, "the port to get free while an answer is on its way", func() bool {
		next, err = net.Listen("tcp4", host)
		return err == nil
	})
	_ = next.Close()
	close(goOn)
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "more" {
		t.Errorf("the answer ends with %q, %v", rest, err)
	}
	h.waitEnd()
}
