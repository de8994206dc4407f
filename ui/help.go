package ui

import (
	"strings"
)

// keyNames are the keys that are shown by another name than Bubble Tea's.
var keyNames = map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→", "pgdown": "pgdn", " ": "space"}

// keyName is a key as it is shown.
func keyName(key string, ascii bool) string {
	name, ok := keyNames[key]
	if !ok || ascii && name[0] >= 0x80 {
		return key
	}
	return name
}

// keyOf is the key of an action, as it is bound now.
func (m *Model) keyOf(id string) string {
	for i := range m.keys {
		if m.keys[i].id == id {
			return keyName(m.keys[i].keys[0], m.o.ASCII)
		}
	}
	return id
}

// title is the name of a binding in the bottom line.
func (m *Model) title(b *binding) string {
	if b.now != nil {
		return b.now(m)
	}
	return b.name
}

// bottomKeys is the bottom line: the keys that do something now, as far as
// there is room. Help and quit have theirs first, or it is them alone; where
// there is little, help, which says all the others.
func (m *Model) bottomKeys(e *env, w int, lastOnly bool) string {
	var first, last strings.Builder
	room := w
	take := func(to *strings.Builder, b *binding) {
		label, name := keyName(b.keys[0], m.o.ASCII), m.title(b)
		n := 1 + width(label) + 1 + width(name) + 1
		if name == "" || b.in&m.over == 0 || n > room || m.disabled(b) != "" {
			return
		}
		room -= n
		to.WriteString(" " + e.styles.Key.Render(label) + " " + e.styles.Muted.Render(name) + " ")
	}
	for i := range m.keys {
		if k := &m.keys[i]; k.last && (w >= roomForLast || k.id == "help") {
			take(&last, k)
		}
	}
	if lastOnly {
		return last.String()
	}
	for i := range m.keys {
		if !m.keys[i].last {
			take(&first, &m.keys[i])
		}
	}
	return first.String() + last.String()
}

// roomForLast is the width from which quit is always shown, beside help.
const roomForLast = 36

// helpLines is the help: every key, and of those that do nothing now, why.
// With a search only the lines that hold all its words.
func (m *Model) helpLines(e *env, w int) []string {
	labels, keyWidth := m.helpLabels()
	var lines []string
	for _, group := range groups {
		var part []string
		for i := range m.keys {
			k := &m.keys[i]
			if k.group == group && !k.pair && m.helpMatches(k, labels[i]) {
				part = append(part, m.helpLine(e, k, labels[i], w, keyWidth)...)
			}
		}
		if len(part) > 0 {
			lines = append(lines, " "+e.styles.TitleFocus.Render(clip(group, w-1, "")))
			lines = append(append(lines, part...), "")
		}
	}
	if len(lines) == 0 {
		lines = []string{" " + e.styles.Muted.Render(clip("no key does "+m.helpFind, w-1, e.signs.more))}
	}
	return lines
}

// helpLabels are the keys of each line, and the width of the widest.
func (m *Model) helpLabels() (labels []string, widest int) {
	labels = make([]string, len(m.keys))
	at := 0
	for i := range m.keys {
		if !m.keys[i].pair {
			at = i
		}
		for _, key := range m.keys[i].keys {
			labels[at] += " " + keyName(key, m.o.ASCII)
		}
	}
	for i := range labels {
		labels[i] = strings.TrimPrefix(labels[i], " ")
		widest = max(widest, width(labels[i]))
	}
	return labels, widest
}

func (m *Model) helpMatches(k *binding, label string) bool {
	text := strings.ToLower(k.about + " " + k.id + " " + label + " " + k.group)
	for _, word := range strings.Fields(strings.ToLower(m.helpFind)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// helpMost is how many lines a key may take: the reason why it does nothing now
// is not cut, however narrow the screen.
const helpMost = 40

func (m *Model) helpLine(e *env, k *binding, label string, w, keyWidth int) []string {
	text := k.about
	style := e.styles.Text
	if why := m.disabled(k); why != "" {
		text += " (" + why + ")"
		style = e.styles.Muted
	}
	if w < 60 {
		keyWidth = min(keyWidth, 10, max(w-11, 0)) // 8 cells of text and the spaces
	}
	parts, _ := wrap(text, max(w-keyWidth-3, 8), helpMost)
	lines := make([]string, len(parts))
	for i, p := range parts {
		before := strings.Repeat(" ", keyWidth+2)
		if i == 0 {
			before = "  " + e.styles.Key.Render(fit(label, keyWidth, ""))
		}
		lines[i] = clip(before+" "+style.Render(p), w, e.signs.more)
	}
	return lines
}
