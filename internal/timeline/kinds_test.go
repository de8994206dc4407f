package timeline

import (
	"strings"
	"testing"
	"unicode/utf8"

	"piwatch/internal/watchdog"
)

func TestEachKindHasALabelOfItsOwn(t *testing.T) {
	seen := map[string]Kind{}
	for kind, k := range kinds {
		if k.label == "" || utf8.RuneCountInString(k.label) > LabelWidth {
			t.Errorf("the label of %s is %q", kind, k.label)
		}
		if other, twice := seen[k.label]; twice {
			t.Errorf("%s and %s are both %q", kind, other, k.label)
		}
		seen[k.label] = kind
	}
}

// A record that cannot be read is shown as it is.
func TestRecordsThatCannotBeRead(t *testing.T) {
	for kind := range records {
		if kind == watchdog.RecordTool {
			continue
		}
		s := newScript(t)
		s.custom(kind, []int{1})
		rows := build(s.entries()).Rows()
		if len(rows) != 1 || rows[0].Kind != Watch || !strings.Contains(rows[0].Title, "[1]") {
			t.Errorf("a broken %s became %v", kind, said(rows))
		}
	}
}

func TestTheOnStopCommandIsARow(t *testing.T) {
	s := newScript(t)
	s.custom(watchdog.RecordHook, watchdog.Hook{Event: "done", Result: "exit status 3: no such \x1b[31mhost"})
	wantRows(t, build(s.entries()).Rows(), `
		watch: on-stop command for done: exit status 3: no such host`)
}
