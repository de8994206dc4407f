package pi

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	header = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:00:00.000Z","cwd":"/w"}`
	one    = `{"type":"message","id":"1","parentId":null,"timestamp":"2026-01-02T03:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"one"}]}}`
	two    = `{"type":"message","id":"2","parentId":"1","timestamp":"2026-01-02T03:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"two"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"x"}}],"stopReason":"toolUse"}}`
	three  = `{"type":"custom","customType":"x","data":{"type":"message","timestamp":"2026-01-02T03:00:02.000Z"},"id":"3","parentId":"2","timestamp":"2026-01-02T03:00:03.000Z"}`
)

func lines(all ...string) string { return strings.Join(all, "\n") + "\n" }

func TestDamage(t *testing.T) {
	tests := []struct {
		name, data string
		ids        []string // of all entries, the header's among them
		damage     map[string]int
	}{
		{"sound", lines(header, one, two, three), []string{"s", "1", "2", "3"}, nil},
		{"empty", "", nil, nil},
		{"blank lines and CRLF", "\n  \n" + header + "\r\n" + one + "\r\n", []string{"s", "1"}, nil},
		{"last line without its newline", header + "\n" + one, []string{"s", "1"}, nil},
		{"malformed line", lines(header, "not a record", one), []string{"s", "1"}, map[string]int{DamageMalformed: 1}},
		{"values that are no objects", lines(header, `12`, `null`, `"x"`, `[`+one+`]`, one), []string{"s", "1"}, map[string]int{DamageMalformed: 4}},
		{"torn tail", lines(header, one) + two[:100], []string{"s", "1"}, map[string]int{DamageTorn: 1}},
		{"torn tail behind its blocks", lines(header, one) + two[:len(two)-3], []string{"s", "1"}, map[string]int{DamageTorn: 1}},
		{"torn right behind a block", lines(header, one) + two[:strings.Index(two, `,{"type":"toolCall"`)], []string{"s", "1"}, map[string]int{DamageTorn: 1}},
		{"torn inside a character", lines(header) + `{"type":"label","label":"` + "\xe2\x8f", []string{"s"}, map[string]int{DamageTorn: 1, DamageUTF8: 1}},
		{"torn line in the middle", lines(header, one[:60], two), []string{"s", "2"}, map[string]int{DamageTorn: 1, DamageOrphan: 1}},
		{"glued", lines(header, one+two, three), []string{"s", "1", "2", "3"}, map[string]int{DamageGlued: 1}},
		{"three glued with blanks", lines(header, one+" "+two+"\t"+three), []string{"s", "1", "2", "3"}, map[string]int{DamageGlued: 1}},
		{"glued to a torn record", lines(header, one, two[:120]+three), []string{"s", "1", "3"}, map[string]int{DamageTorn: 1, DamageOrphan: 1}},
		{"glued to a record torn in an object", lines(header, one, two[:len(two)-40]+three), []string{"s", "1", "3"}, map[string]int{DamageTorn: 1, DamageOrphan: 1}},
		{"glued and then torn", lines(header, one+two[:90]), []string{"s", "1"}, map[string]int{DamageTorn: 1}},
		{"glued without a newline", lines(header) + one + two, []string{"s", "1", "2"}, map[string]int{DamageGlued: 1}},
		{"rubbish between records", lines(header, one+"###"+two), []string{"s", "1", "2"}, map[string]int{DamageMalformed: 1, DamageGlued: 1}},
		{"objects of a torn record are no entries", lines(header, one, `{"type":"custom","id":"9","data":[`+`{"type":"message","timestamp":"2026-01-02T03:00:02.000Z"},`), []string{"s", "1"}, map[string]int{DamageTorn: 1}},
		{"byte order mark", "\ufeff" + lines(header, one), []string{"s", "1"}, map[string]int{DamageMalformed: 1}},
		{"NUL bytes before a record", lines(header, "\x00\x00\x00"+one), []string{"s", "1"}, map[string]int{DamageNUL: 1}},
		{"NUL bytes in a text", lines(header, strings.Replace(one, `"one"`, "\"o\x00e\"", 1)), []string{"s", "1"}, map[string]int{DamageNUL: 1}},
		{"nothing but NUL bytes", lines(header, one) + strings.Repeat("\x00", 512), []string{"s", "1"}, map[string]int{DamageNUL: 1}},
		{"invalid UTF-8", lines(header, strings.Replace(one, `"one"`, "\"o\xffe\"", 1)), []string{"s", "1"}, map[string]int{DamageUTF8: 1}},
		{"no header", lines(one, two), []string{"1", "2"}, map[string]int{DamageNoHeader: 1}},
		{"header after entries", lines(one, header, two), []string{"1", "s", "2"}, map[string]int{DamageLateHeader: 1}},
		{"two headers", lines(header, one, header), []string{"s", "1", "s"}, map[string]int{DamageExtraHeader: 1}},
		{"orphan", lines(header, two, three), []string{"s", "2", "3"}, map[string]int{DamageOrphan: 1}},
		{"parent after its child", lines(header, strings.Replace(two, ":02.", ":01.", 1), one), []string{"s", "2", "1"}, nil},
		{"id used twice", lines(header, one, one), []string{"s", "1", "1"}, map[string]int{DamageDuplicate: 1}},
		{"own parent", lines(header, strings.Replace(two, `"parentId":"1"`, `"parentId":"2"`, 1)), []string{"s", "2"}, map[string]int{DamageCycle: 1}},
		{"parents in a ring", lines(header, `{"type":"label","id":"a","parentId":"b"}`, `{"type":"label","id":"b","parentId":"a"}`), []string{"s", "a", "b"}, map[string]int{DamageCycle: 1}},
		{"time runs backwards", lines(header, strings.Replace(one, ":01.", ":09.", 1), two), []string{"s", "1", "2"}, map[string]int{DamageBackwards: 1}},
		{"labels of a clone keep their times", lines(header, one, `{"type":"label","id":"2","parentId":"1","timestamp":"2026-01-02T02:00:00.000Z"}`), []string{"s", "1", "2"}, nil},
		{"unreadable time", lines(header, strings.Replace(one, "2026-01-02T03:00:01.000Z", "tomorrow", 1)), []string{"s", "1"}, map[string]int{DamageTime: 1}},
		{"field of another kind", lines(header, strings.Replace(two, `"toolUse"`, `7`, 1)), []string{"s", "2"}, map[string]int{DamageField: 1, DamageOrphan: 1}},
		{"no type", lines(header, `{"id":"1","parentId":null}`), []string{"s", "1"}, map[string]int{DamageNoType: 1}},
		{"no id", lines(header, one, `{"type":"label"}`), []string{"s", "1", "v1-2"}, map[string]int{DamageNoID: 1}},
		{"message without a message", lines(header, `{"type":"message","id":"1","parentId":null,"message":null}`), []string{"s", "1"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := readAll([]byte(test.data))
			if got := ids(r.entries); !slices.Equal(got, test.ids) {
				t.Errorf("entries %q, want %q", got, test.ids)
			}
			if got := r.damage().Counts; !maps.Equal(got, test.damage) {
				t.Errorf("damage %v, want %v", r.damage().List, test.damage)
			}
			checkAccounted(t, []byte(test.data), r)
		})
	}
}

func TestPlacesInTheFile(t *testing.T) {
	data := lines(header, "", one+two, "rubbish", three)
	r := readAll([]byte(data))
	wantLines := []int{1, 3, 3, 5}
	for i, e := range r.entries {
		if record := data[e.Offset : e.Offset+e.Length]; record != string(e.Raw) || e.Line != wantLines[i] {
			t.Errorf("entry %s: line %d, bytes %q, raw %q", e.ID, e.Line, record, e.Raw)
		}
	}
	damage := r.damage().List
	if i := slices.IndexFunc(damage, func(d Damage) bool { return d.Kind == DamageMalformed }); i < 0 || damage[i].Line != 4 || damage[i].Offset != int64(strings.Index(data, "rubbish")) {
		t.Errorf("damage %+v", damage)
	}
}

func TestVersion1IsLinear(t *testing.T) {
	file, err := Load("../../testdata/sessions/hand-v1-linear.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if file.Header.Version != 1 || file.Header.ID != "sess-old" {
		t.Errorf("header %+v", file.Header)
	}
	branch := file.Tree.Branch(file.Tree.Leaf())
	if got, want := ids(branch), []string{"v1-1", "v1-2", "v1-3", "v1-4", "v1-5"}; !slices.Equal(got, want) {
		t.Fatalf("branch %v, want %v", got, want)
	}
	if got := branch[3].Compaction.FirstKeptEntryID; got != "v1-3" {
		t.Errorf("first kept entry %q, want that of index 3", got)
	}
	if m := branch[4].Message; m.Role != RoleCustom || m.CustomType != "gardener" || !m.Display {
		t.Errorf("hookMessage became %+v", m)
	}
	if n := file.Damage.Total(); n != 0 {
		t.Errorf("damage in a sound file: %v", file.Damage.List)
	}
}

func TestVersion2RolesAndHeader(t *testing.T) {
	file, err := Load("../../testdata/sessions/hand-v2-hook.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want := Header{Version: 2, ID: "sess-two", Cwd: "/home/ada/garden", ParentSession: "/home/ada/old.jsonl", Time: time.Date(2025, 12, 20, 10, 0, 0, 0, time.UTC)}
	if file.Header != want {
		t.Errorf("header %+v", file.Header)
	}
	if e, _ := file.Tree.Get("p2"); e.Message == nil || e.Message.Role != RoleCustom || e.IsRealUserMessage() {
		t.Errorf("hookMessage became %+v", e.Message)
	}
}

func TestDamageListIsBounded(t *testing.T) {
	r := readAll([]byte(strings.Repeat("x\n", maxDamage+50)))
	report := r.damage()
	if report.Counts[DamageMalformed] != maxDamage+50 || len(report.List) != maxDamage {
		t.Errorf("%d counted, %d listed", report.Counts[DamageMalformed], len(report.List))
	}
}

func TestLeanKeepsThePlaceAndCutsTheText(t *testing.T) {
	long := strings.Repeat("ä", LeanText)
	data := lines(header, strings.Replace(one, `"one"`, `"`+long+`"`, 1))
	path := writeFile(t, data)
	file, err := LoadLean(path)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := file.Tree.Get("1")
	b := e.Message.Content[0]
	if e.Raw != nil || b.Raw != nil || len(b.Text) > LeanText || int64(len(b.Text))+b.Cut != int64(len(long)) || !strings.HasPrefix(long, b.Text) {
		t.Fatalf("lean block of %d bytes, %d cut", len(b.Text), b.Cut)
	}
	full, err := ReadEntry(path, e)
	if err != nil {
		t.Fatal(err)
	}
	if full.Message.Text() != long || full.ID != "1" || full.Line != 2 {
		t.Error("ReadEntry did not bring the entry back in full")
	}
	rewriteFile(t, path, lines(header, two))
	if _, err := ReadEntry(path, e); err == nil {
		t.Error("ReadEntry read other bytes as the entry")
	}
}

// TestLeanKeepsNothingOfTheLine reuses the line's buffer, as a follower does.
func TestLeanKeepsNothingOfTheLine(t *testing.T) {
	for name, row := range map[string]string{
		"custom":         three,
		"custom message": `{"type":"custom_message","id":"3","content":"x","details":{"a":1}}`,
		"context edit":   `{"type":"context_edit","id":"3","targetId":"1","replacement":{"content":"y"}}`,
		"message":        two,
	} {
		t.Run(name, func(t *testing.T) {
			read := func() (Entry, []byte) {
				line := []byte(row)
				parser := Parser{Lean: true}
				return parser.Add(line, 0)[0], line
			}
			want, _ := read()
			got, line := read()
			clear(line)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v changed with the line", got)
			}
		})
	}
}

// TestHostileLines holds the cost of damaged lines: each of them would take
// minutes if every start of a record were tried to the end of the line.
func TestHostileLines(t *testing.T) {
	for name, piece := range map[string]string{
		"starts only":  `{"type":"`,
		"open objects": `{"type":{`,
		"open arrays":  `{"type":"a","x":[`,
		"open strings": `{"type":"a","x":"{`,
		"quoted":       `{"type":"m\"`,
		"small ones":   `{"type":""}`,
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(`{"x":` + strings.Repeat(piece, 1<<17) + "\n" + header + "\n")
			r := readAll(data)
			checkAccounted(t, data, r)
			if limit := (salvageEffort + 1) * len(data); r.parser.salvageRead > limit {
				t.Errorf("read %d bytes to salvage a line of %d", r.parser.salvageRead, len(data))
			}
			if _, ok := r.parser.Header(); !ok {
				t.Error("the line after it was not read")
			}
		})
	}
}
