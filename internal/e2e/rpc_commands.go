package e2e

// Prompt sends a prompt and waits until Pi took it, not until it is done. A
// command of an extension ("/watchdog") has run when Prompt returns.
func (r *RPC) Prompt(text string) {
	r.home.t.Helper()
	r.Start("prompt", map[string]any{"message": text}).Must()
}

// Turn sends a prompt and waits until the agent has settled.
func (r *RPC) Turn(text string) {
	r.home.t.Helper()
	r.Prompt(text)
	r.WaitSettled()
}

// Steer queues a message for after the running turn.
func (r *RPC) Steer(text string) {
	r.home.t.Helper()
	r.Start("steer", map[string]any{"message": text}).Must()
}

// FollowUp queues a message for after the run.
func (r *RPC) FollowUp(text string) {
	r.home.t.Helper()
	r.Start("follow_up", map[string]any{"message": text}).Must()
}

// Abort aborts the run and waits until Pi is idle.
func (r *RPC) Abort() {
	r.home.t.Helper()
	r.Start("abort", nil).Must()
}

// NewSession starts an empty session.
func (r *RPC) NewSession() {
	r.home.t.Helper()
	r.uncancelled(r.Start("new_session", nil))
}

// SwitchSession loads another session file.
func (r *RPC) SwitchSession(path string) {
	r.home.t.Helper()
	r.uncancelled(r.Start("switch_session", map[string]any{"sessionPath": path}))
}

// Fork makes a new session that ends before a user message.
func (r *RPC) Fork(entryID string) {
	r.home.t.Helper()
	r.uncancelled(r.Start("fork", map[string]any{"entryId": entryID}))
}

// Clone copies the active branch into a new session.
func (r *RPC) Clone() {
	r.home.t.Helper()
	r.uncancelled(r.Start("clone", nil))
}

func (r *RPC) uncancelled(p *Pending) {
	r.home.t.Helper()
	if p.Must().Bool("cancelled") {
		r.home.Fatalf("an extension cancelled %s", p.command)
	}
}

// Compact compacts the context and waits for the end; it returns the summary's data.
func (r *RPC) Compact() Record {
	r.home.t.Helper()
	return r.Start("compact", nil).Must()
}

// State is Pi's get_state.
func (r *RPC) State() Record {
	r.home.t.Helper()
	return r.Start("get_state", nil).Must()
}

// SessionFile is the path of the session's file, which may not exist yet: Pi
// creates it at the first user message (1.6.0) or the first assistant message
// (0.81.1). Empty with --no-session.
func (r *RPC) SessionFile() string {
	r.home.t.Helper()
	return r.State().Str("sessionFile")
}

// SessionID is the session's id.
func (r *RPC) SessionID() string {
	r.home.t.Helper()
	return r.State().Str("sessionId")
}

// Commands are the names of the slash commands that extensions, templates and
// skills offer.
func (r *RPC) Commands() []string {
	r.home.t.Helper()
	list, _ := r.Start("get_commands", nil).Must()["commands"].([]any)
	var names []string
	for _, item := range list {
		if command, ok := item.(map[string]any); ok {
			names = append(names, Record(command).Str("name"))
		}
	}
	return names
}
