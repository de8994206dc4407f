package hub_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/internal/control"
	"piwatch/internal/hub"
)

// A session without a bridge is judged from its file, from what is appended.
func TestJudgedFromTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "--w--", "s.jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	n := 0
	write := func(fields string) {
		t.Helper()
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		n++
		if _, err := fmt.Fprintf(f, "{%s,\"id\":\"e%d\",\"parentId\":\"e%d\"}\n", fields, n, n-1); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte(`{"type":"session","version":3,"id":"filed","cwd":"/w"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := start(t, func(o *hub.Options) { o.SessionDirs = []string{dir} })
	c := h.client()
	w := h.client().watch()
	turn := func(i int) {
		write(fmt.Sprintf(`"type":"message","message":{"role":"assistant","stopReason":"toolUse","content":[{"type":"toolCall","id":"c%d","name":"bash","arguments":{"command":"make"}}]}`, i))
		write(fmt.Sprintf(`"type":"message","message":{"role":"toolResult","toolCallId":"c%d","toolName":"bash","isError":true,"content":[{"type":"text","text":"no rule"}]}`, i))
	}
	write(`"type":"message","message":{"role":"user","content":"go"}`)
	for i := range 4 {
		turn(i)
	}
	if got := w.notice("Maybe stuck"); got.Session != "filed" || !strings.Contains(got.Text, "shown on the screen; the session is not steered: alertMode=main_only") {
		t.Errorf("%+v", got)
	}
	got := c.targets()["filed"]
	if got.Source != "file" || got.State != "working" || got.Finding == nil || got.Cwd != "/w" {
		t.Errorf("%+v", got)
	}
	write(`"type":"message","message":{"role":"assistant","stopReason":"stop","content":[{"type":"text","text":"I give up."}]}`)
	w.until(func(p control.Push) bool {
		return p.Target != nil && p.Target.State == "idle" && p.Target.Finding == nil
	})

	// With a bridge its word counts, and the file is let be.
	b := h.join(hello("filed", func(h *control.BridgeHello) { h.File = file }))
	b.run(false)
	for i := range 4 {
		turn(10 + i)
	}
	b.circle(3)
	if got := c.targets()["filed"]; got.Source != "bridge" || got.Finding != nil {
		t.Errorf("with a bridge: %+v", got)
	}
}
