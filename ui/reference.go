package ui

import "strings"

// Key is a line of the table of keys, as it is before the user's config.
type Key struct {
	Group string
	Keys  []string // as they are shown
	About string
	IDs   []string // names in the config, of what the keys do
}

// Reference are all keys, by their groups; with ascii in letters only.
func Reference(ascii bool) []Key {
	m := &Model{keys: bindings(), o: Options{ASCII: ascii}}
	labels, _ := m.helpLabels()
	var all []Key
	for _, group := range groups {
		for i, b := range m.keys {
			switch {
			case b.group != group:
			case b.pair:
				last := &all[len(all)-1]
				last.IDs = append(last.IDs, b.id)
			default:
				all = append(all, Key{Group: group, Keys: strings.Fields(labels[i]), About: b.about, IDs: []string{b.id}})
			}
		}
	}
	return all
}
