package e2e

import "errors"

// Events are all events so far, extension_ui_request among them.
func (r *RPC) Events() []Record { return r.events.all() }

// Mark is a point in the events for [RPC.EventsSince]: now.
func (r *RPC) Mark() int { return len(r.events.all()) }

// EventsSince are the events after a mark.
func (r *RPC) EventsSince(mark int) []Record { return r.events.all()[mark:] }

// WaitEvent blocks until an event matches that no earlier WaitEvent returned or
// passed over.
func (r *RPC) WaitEvent(what string, match func(Record) bool) Record {
	r.home.t.Helper()
	return r.await(&r.next, what, match)
}

// WaitSettled blocks until the next agent_settled: the run is over, with its
// retries and follow-ups.
func (r *RPC) WaitSettled() Record {
	r.home.t.Helper()
	return r.WaitEvent("agent_settled", IsType("agent_settled"))
}

// await looks for a match from *from on and moves it past the match.
func (r *RPC) await(from *int, what string, match func(Record) bool) Record {
	r.home.t.Helper()
	r.mu.Lock()
	at := *from
	r.mu.Unlock()
	var found Record
	err := r.events.wait(Timeout(), func(events []Record) bool {
		for ; at < len(events); at++ {
			if match(events[at]) {
				found = events[at]
				at++
				return true
			}
		}
		return false
	})
	if errors.Is(err, errClosed) {
		r.home.Fatalf("Pi ended (status %d) before %s", r.proc.exitCode(), what)
	} else if err != nil {
		r.home.Fatalf("no %s within %v", what, Timeout())
	}
	r.mu.Lock()
	*from = at
	r.mu.Unlock()
	return found
}

func isUI(method string) func(Record) bool {
	return func(e Record) bool { return e.Type() == "extension_ui_request" && e.Str("method") == method }
}

// Statuses are all texts that a footer status had, in order; a status that was
// cleared is the empty text.
func (r *RPC) Statuses(key string) []string { return statuses(r.events.all(), key) }

func statuses(events []Record, key string) []string {
	var texts []string
	for _, event := range events {
		if isUI("setStatus")(event) && event.Str("statusKey") == key {
			texts = append(texts, event.Str("statusText"))
		}
	}
	return texts
}

// WaitStatus blocks until a footer status has a text that matches: one that
// came since the last WaitStatus for the key, even if it was there for a moment
// only, or the one that is shown now.
func (r *RPC) WaitStatus(key, what string, match func(text string) bool) string {
	r.home.t.Helper()
	r.mu.Lock()
	from := r.statuses[key]
	r.mu.Unlock()
	var found string
	var texts []string
	err := r.events.wait(Timeout(), func(events []Record) bool {
		texts = statuses(events, key)
		for ; from < len(texts); from++ {
			if match(texts[from]) {
				found = texts[from]
				from++
				return true
			}
		}
		if n := len(texts); n > 0 && match(texts[n-1]) {
			found = texts[n-1]
			return true
		}
		return false
	})
	if err != nil {
		r.home.Fatalf("status %q never was %s: %v; it was %q", key, what, err, texts)
	}
	r.mu.Lock()
	r.statuses[key] = from
	r.mu.Unlock()
	return found
}

// Notification is a message that an extension showed.
type Notification struct {
	Text  string
	Level string // info, warning, error
}

// Notifications are all messages shown so far.
func (r *RPC) Notifications() []Notification {
	var list []Notification
	for _, event := range r.events.all() {
		if isUI("notify")(event) {
			list = append(list, Notification{event.Str("message"), event.Str("notifyType")})
		}
	}
	return list
}

// WaitNotification blocks until a message matches, an earlier one included.
func (r *RPC) WaitNotification(what string, match func(Notification) bool) Notification {
	r.home.t.Helper()
	start := 0
	event := r.await(&start, "notification "+what, func(e Record) bool {
		return isUI("notify")(e) && match(Notification{e.Str("message"), e.Str("notifyType")})
	})
	return Notification{event.Str("message"), event.Str("notifyType")}
}

// WaitDialog blocks until an extension opens the next dialog: select, confirm,
// input or editor. Answer it with [RPC.Answer].
func (r *RPC) WaitDialog() Record {
	r.home.t.Helper()
	return r.await(&r.dialogs, "dialog", func(e Record) bool {
		return isUI("select")(e) || isUI("confirm")(e) || isUI("input")(e) || isUI("editor")(e)
	})
}

// Answer answers a dialog: "confirmed" true or false, "value" text, or
// "cancelled" true.
func (r *RPC) Answer(dialog Record, field string, value any) {
	r.home.t.Helper()
	r.send(Record{"type": "extension_ui_response", "id": dialog.Str("id"), field: value})
}

// Pass passes over the events so far: the next WaitEvent looks at what comes
// from now on.
func (r *RPC) Pass() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next = len(r.events.all())
}
