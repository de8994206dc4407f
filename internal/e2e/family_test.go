package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"piwatch/internal/control"
)

// subagentExtension has a tool as sub-agent extensions do: it starts a Pi without
// extensions on a session file of its own, and names the file in its details.
const subagentExtension = `
import { spawn } from "node:child_process";

export default function (pi) {
	pi.registerTool({
		name: "subagent",
		label: "Sub-agent",
		description: "Runs a sub-agent.",
		parameters: { type: "object", properties: { task: { type: "string" } }, required: ["task"] },
		async execute(_id, params, _signal, onUpdate) {
			const child = spawn(COMMAND[0], [...COMMAND.slice(1), "-ne", "-p", "--session", FILE, params.task], { stdio: "ignore" });
			const ended = new Promise((resolve) => child.on("close", resolve));
			const said = Array.from({ length: 50 }, (_, i) => ({ role: "assistant", content: [{ type: "text", text: "step " + i }] }));
			const details = { mode: "single", results: [{ agent: "worker", messages: said, sessionFile: FILE }] };
			if (PARTS) onUpdate?.({ content: [{ type: "text", text: "it runs" }], details });
			await ended;
			return { content: [{ type: "text", text: "It has reported." }], details };
		},
	});
}
`

// A child without a bridge is found by what the tool that started it says of its
// file: to the bridge while the tool runs or when it has ended, or in the file of
// the parent. A hub that comes later knows it, too.
func TestChildByArtefact(t *testing.T) {
	EachPi(t, func(t *testing.T, pi *Pi) {
		for _, c := range []struct {
			name          string
			parts, bridge bool
		}{{"while it runs", true, true}, {"when it has ended", false, true}, {"of a parent without a bridge", true, false}} {
			t.Run(c.name, func(t *testing.T) {
				h := NewHome(t, pi, HomeOptions{Pis: 2})
				all := filepath.Join(h.Agent, "sessions")
				file := filepath.Join(all, "--sub--", "child.jsonl")
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				stop := startHub(t, h, judgesFiles(all))
				s := supervise(t, h)
				fill := strings.NewReplacer("COMMAND", mustJSON(t, pi.Command()), "FILE", mustJSON(t, file), "PARTS", mustJSON(t, c.parts))
				extension := h.WriteFile("subagent.ts", fill.Replace(subagentExtension))
				gate := h.Provider.NewGate("the child's second answer")
				parent := []Reply{Call("subagent", map[string]any{"task": "child task"}), Text("Done.")}
				child := []Reply{Call("bash", map[string]any{"command": "true"}), Text("ch").Gate(gate).Text("ild")}
				h.Provider.Handle(func(r *Request) Reply {
					script := &parent
					if isChild(r) {
						script = &child
					}
					if len(*script) == 0 {
						return Status(http.StatusBadRequest, `{"error":{"message":"the script has ended"}}`)
					}
					next := (*script)[0]
					*script = (*script)[1:]
					return next
				})
				launch := Launch{Extensions: []string{extension}}
				if c.bridge {
					launch.Extensions = append(launch.Extensions, bridgeFile(t))
				}
				rpc := h.StartRPC(launch)
				main := rpc.SessionID()
				rpc.Prompt("parent task")
				gate.WaitReached()
				byFile := func(t control.Target) bool { return t.File == file }
				linked := func(t control.Target) bool {
					return byFile(t) && t.Link == (control.Link{Parent: main, By: "artefact"})
				}
				if c.parts && c.bridge {
					s.wait("of the child that works", func(t control.Target) bool {
						return linked(t) && t.State == "working" && t.Source == "file"
					})
				} else if got := s.wait("of the child", byFile); got.Link != (control.Link{}) {
					t.Errorf("before it is named: %+v", got)
				}
				gate.Release()
				rpc.WaitSettled()
				s.wait("of the child that ended", func(t control.Target) bool { return linked(t) && t.State == "idle" })
				s.wait("of the parent", func(t control.Target) bool { return t.ID == main && (t.Source == "bridge") == c.bridge })

				stop()
				if c.bridge {
					all = filepath.Dir(file) // what it finds out it has from the bridge
				}
				startHub(t, h, judgesFiles(all))
				s = supervise(t, h)
				s.wait("of the child at another hub", linked)
				rpc.Close()
			})
		}
	})
}

func mustJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
