package pi

import "slices"

// ContextState says what becomes of an entry in the next request to the model.
type ContextState int

const (
	// Silent entries never reach the model: settings, labels, custom state.
	Silent ContextState = iota
	// Visible entries reach the model as they are.
	Visible
	// Omitted entries are left out by a context edit.
	Omitted
	// Replaced entries reach the model with other content.
	Replaced
	// Summarised entries are before the cut of the latest compaction.
	Summarised
	// Dropped entries are assistant messages that ended in an error or an
	// abort: Pi keeps them and sends none of them again (both).
	Dropped
)

// String is the state in one word.
func (s ContextState) String() string {
	return [...]string{"silent", "visible", "omitted", "replaced", "summarised", "dropped"}[s]
}

// ContextItem is an entry of a branch and what the model sees of it.
type ContextItem struct {
	Entry *Entry
	State ContextState
	// Edit is the context edit that counts for the entry: the latest one on
	// the branch; nil when there is none. It is also set for entries that were
	// edited before they were summarised.
	Edit *Entry
}

// Context tells for each entry of the active branch, root first, what the
// model sees of it. It follows Pi 1.6.0; 0.81.1 has no context edits and shows
// edited entries unchanged.
func (t *Tree) Context() []ContextItem { return t.ContextOf(t.Leaf()) }

// ContextOf is Context for the branch that ends in the given entry.
func (t *Tree) ContextOf(leafID string) []ContextItem {
	edits := make(map[string]*Entry)
	var branch []ContextItem
	var compaction *Entry
	for e := range t.Up(leafID) {
		if edit := e.ContextEdit; edit != nil && edits[edit.TargetID] == nil {
			edits[edit.TargetID] = e
		}
		if e.Compaction != nil && compaction == nil {
			compaction = e
		}
		branch = append(branch, ContextItem{Entry: e})
	}
	slices.Reverse(branch)
	kept := compaction == nil
	for i := range branch {
		item := &branch[i]
		e := item.Entry
		if edit := edits[e.ID]; edit != nil && edit != e {
			item.Edit = edit
		}
		if compaction != nil && (e == compaction || e.ID == compaction.Compaction.FirstKeptEntryID) {
			kept = true
		}
		item.State = e.baseState()
		switch {
		case item.State == Silent:
		case !kept, beforeCut(e, compaction):
			item.State = Summarised
		default:
			item.State = editedState(e, item.State, item.Edit)
		}
		if e == compaction {
			compaction = nil
		}
	}
	return branch
}

// beforeCut finds the entries in the kept range that a compaction stands for
// all the same: the system messages, folded into its own, and older
// compactions. compaction is nil once the walk is past it.
func beforeCut(e, compaction *Entry) bool {
	if compaction == nil || e == compaction {
		return false
	}
	return e.Compaction != nil || e.Message != nil && e.Message.Role == RoleSystem
}

// baseState is the state of an entry that nothing edited or summarised.
func (e *Entry) baseState() ContextState {
	switch {
	case e.CustomMessage != nil, e.Compaction != nil:
		return Visible
	case e.BranchSummary != nil && e.BranchSummary.Summary != "":
		return Visible
	case e.Message == nil:
		return Silent
	case e.Message.Role == RoleBashExecution && e.Message.ExcludeFromContext:
		return Silent
	case e.Message.Role == RoleAssistant && (e.Message.StopReason == StopError || e.Message.StopReason == StopAborted):
		return Dropped
	}
	return Visible
}

// editedState applies an edit. Omission works on any entry, new content only
// on the roles whose content may be edited (1.6.0).
func editedState(e *Entry, state ContextState, edit *Entry) ContextState {
	switch {
	case edit == nil:
		return state
	case edit.ContextEdit.Omit:
		return Omitted
	case len(edit.ContextEdit.Replacement) == 0 || state == Dropped:
		return state
	case e.CustomMessage != nil:
		return Replaced
	case e.Message == nil:
		return state
	}
	switch e.Message.Role {
	case RoleUser, RoleAssistant, RoleToolResult, RoleCustom:
		return Replaced
	}
	return state
}
