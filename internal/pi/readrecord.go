package pi

// record is what readRecord makes of one object of a session file.
type record struct {
	entry Entry
	reader
	// timed says that there is a timestamp, badTime that it is not readable.
	timed, badTime bool
	// firstKept is the index that a compaction of a version 1 file names.
	firstKept *int
}

// readRecord reads an object that scan has accepted, and of each text of a
// message at most limit bytes, when that is not zero. Its raw parts show the
// bytes given; placing the entry in the tree is the parser's work.
func readRecord(v value, limit int) *record {
	r := new(record)
	r.limit = limit
	e := &r.entry
	var room [12]field
	all := v.list(room[:0])
	for _, f := range all {
		if string(f.key) == "type" {
			r.text(&e.Type, f.key, f.value)
		}
	}
	e.make()
	for _, f := range all {
		switch string(f.key) {
		case "type":
		case "id":
			r.text(&e.ID, f.key, f.value)
		case "parentId":
			r.text(&e.ParentID, f.key, f.value)
		case "timestamp":
			var stamp reader
			stamp.time(&e.Time, f.key, f.value)
			r.timed, r.badTime = !f.value.isNull(), stamp.odd != ""
		default:
			r.payload(f.key, f.value)
		}
	}
	if e.Header != nil {
		e.Header.ID, e.Header.Time = e.ID, e.Time
		e.Header.Version = max(e.Header.Version, 1)
	}
	return r
}

// make prepares the payload of the entry's type.
func (e *Entry) make() {
	switch e.Type {
	case TypeSession:
		e.Header = new(Header)
	case TypeCustom:
		e.Custom = new(Custom)
	case TypeCustomMessage:
		e.CustomMessage = new(CustomMessage)
	case TypeContextEdit:
		e.ContextEdit = new(ContextEdit)
	case TypeCompaction:
		e.Compaction = new(Compaction)
	case TypeBranchSummary:
		e.BranchSummary = new(BranchSummary)
	case TypeModelChange:
		e.ModelChange = new(ModelChange)
	case TypeThinkingLevel:
		e.ThinkingLevel = new(ThinkingLevel)
	case TypeLabel:
		e.Label = new(Label)
	case TypeSessionInfo:
		e.SessionInfo = new(SessionInfo)
	case TypeUsage:
		e.Usage = new(UsageEntry)
	}
}

func (r *record) payload(key []byte, v value) {
	e := &r.entry
	switch {
	case e.Type == TypeMessage && string(key) == "message":
		if v[0] == '{' {
			e.Message = r.message(v)
		} else if !v.isNull() {
			r.wrong(key)
		}
	case e.Header != nil:
		r.header(e.Header, key, v)
	case e.Custom != nil:
		switch string(key) {
		case "customType":
			r.text(&e.Custom.CustomType, key, v)
		case "data":
			e.Custom.Data = v.raw()
		}
	case e.CustomMessage != nil:
		r.customMessage(e.CustomMessage, key, v)
	case e.ContextEdit != nil:
		switch string(key) {
		case "targetId":
			r.text(&e.ContextEdit.TargetID, key, v)
		case "replacement":
			e.ContextEdit.Omit, e.ContextEdit.Replacement = v.isNull(), nil
			if !v.isNull() {
				e.ContextEdit.Replacement = v.raw()
			}
		}
	case e.Compaction != nil:
		r.compaction(e.Compaction, key, v)
	case e.BranchSummary != nil:
		r.branchSummary(e.BranchSummary, key, v)
	default:
		r.small(key, v)
	}
}

func (r *record) header(h *Header, key []byte, v value) {
	switch string(key) {
	case "version":
		var n int64
		r.int(&n, key, v)
		h.Version = int(n)
	case "cwd":
		r.text(&h.Cwd, key, v)
	case "parentSession":
		r.text(&h.ParentSession, key, v)
	}
}

func (r *record) customMessage(c *CustomMessage, key []byte, v value) {
	switch string(key) {
	case "customType":
		r.text(&c.CustomType, key, v)
	case "content":
		// What a watchdog sends is read in full, which the limit of messages
		// need not leave room for.
		limit := r.limit
		if limit > 0 {
			r.limit = max(limit, LeanText)
		}
		c.Content = r.content(v)
		r.limit = limit
	case "display":
		r.flag(&c.Display, key, v)
	case "details":
		c.Details = v.raw()
	}
}

func (r *record) compaction(c *Compaction, key []byte, v value) {
	switch string(key) {
	case "summary":
		r.text(&c.Summary, key, v)
	case "firstKeptEntryId":
		r.text(&c.FirstKeptEntryID, key, v)
	case "firstKeptEntryIndex":
		r.optional(&r.firstKept, key, v)
	case "tokensBefore":
		r.int(&c.TokensBefore, key, v)
	case "fromHook":
		r.flag(&c.FromHook, key, v)
	case "details":
		c.Details = v.raw()
	case "usage":
		r.usage(&c.Usage, key, v)
	}
}

func (r *record) branchSummary(b *BranchSummary, key []byte, v value) {
	switch string(key) {
	case "summary":
		r.text(&b.Summary, key, v)
	case "fromId":
		r.text(&b.FromID, key, v)
	case "fromHook":
		r.flag(&b.FromHook, key, v)
	case "details":
		b.Details = v.raw()
	case "usage":
		r.usage(&b.Usage, key, v)
	}
}

// small reads the payloads of a few plain fields.
func (r *record) small(key []byte, v value) {
	e := &r.entry
	switch {
	case e.ModelChange != nil && string(key) == "provider":
		r.text(&e.ModelChange.Provider, key, v)
	case e.ModelChange != nil && string(key) == "modelId":
		r.text(&e.ModelChange.ModelID, key, v)
	case e.ThinkingLevel != nil && string(key) == "thinkingLevel":
		r.text(&e.ThinkingLevel.Level, key, v)
	case e.Label != nil && string(key) == "targetId":
		r.text(&e.Label.TargetID, key, v)
	case e.Label != nil && string(key) == "label":
		r.text(&e.Label.Label, key, v)
	case e.SessionInfo != nil && string(key) == "name":
		r.text(&e.SessionInfo.Name, key, v)
	case e.Usage != nil:
		switch string(key) {
		case "kind":
			r.text(&e.Usage.Kind, key, v)
		case "provider":
			r.text(&e.Usage.Provider, key, v)
		case "model":
			r.text(&e.Usage.Model, key, v)
		case "note":
			r.text(&e.Usage.Note, key, v)
		case "usage":
			r.usage(&e.Usage.Usage, key, v)
		}
	}
}
