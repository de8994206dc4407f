package cli

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"piwatch/internal/control"
	"piwatch/internal/doctor"
)

// outputs are what the commands print with --json: one value, a list of them,
// or one a line as they come.
var outputs = []struct {
	commands string
	how      string
	value    any
}{
	{"status, ls", "a list; status SESSION: one", control.Session{}},
	{"ls --all", "a list", listed{}},
	{"start, stop, pause, resume, nudge, skip, extend, mode, set, fold, unfold, rollback, guard", "one", control.CommandReply{}},
	{"loops", "a list", control.Target{}},
	{"loops SESSION", "one", control.TargetDetail{}},
	{"replay --loops", "one for each file", replayedLoops{}},
	{"log", "one a line, for each row; a row that changed comes again", loggedRow{}},
	{"wait", "one a line, for each session as it ends", endedSession{}},
	{"run", "one a line: start, each row, question, end", runEvent{}},
	{"doctor", "one", doctor.Report{}},
	{"config show", "a list", shownSetting{}},
	{"version", "one", versionInfo{}},
	{"gateway status", "one", control.GatewayState{}},
	{"gateway on, gateway off", "one", control.CommandReply{}},
	{"hub status", "one", hubState{}},
}

// jsonTopic is the help topic that lists the fields.
func jsonTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "json",
		Short: "The fields of what --json prints",
		Long:  "What --json prints. Fields are added, and none is renamed, removed or changed.\nTimes are RFC 3339. A field marked ? is left out where there is nothing to say.\n\n" + jsonReference(),
	}
}

// jsonReference lists the fields of all outputs.
func jsonReference() string {
	var b strings.Builder
	for i, o := range outputs {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s\n", o.commands, o.how)
		writeFields(&b, reflect.TypeOf(o.value), "  ")
	}
	return b.String()
}

var (
	timeType    = reflect.TypeFor[time.Time]()
	rawJSONType = reflect.TypeFor[json.RawMessage]()
)

// writeFields lists the fields of a struct, those of structs in it indented.
func writeFields(b *strings.Builder, t reflect.Type, indent string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			writeFields(b, f.Type, indent)
			continue
		}
		if strings.Contains(options, "omit") {
			name += "?"
		}
		kind, inner := jsonType(f.Type)
		fmt.Fprintf(b, "%s%-10s %s\n", indent, name, kind)
		if inner != nil {
			writeFields(b, inner, indent+"  ")
		}
	}
}

// jsonType is how a type is written in JSON; inner is the struct it is made of.
func jsonType(t reflect.Type) (kind string, inner reflect.Type) {
	switch {
	case t == timeType:
		return "time", nil
	case t == rawJSONType:
		return "any", nil
	case t == reflect.TypeFor[time.Duration]():
		return "number, nanoseconds", nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return jsonType(t.Elem())
	case reflect.Slice:
		kind, inner = jsonType(t.Elem())
		return "list of " + kind, inner
	case reflect.Map:
		kind, inner = jsonType(t.Elem())
		return "object of " + kind, inner
	case reflect.Struct:
		return "object", t
	case reflect.Bool:
		return "true or false", nil
	case reflect.String:
		return "text", nil
	}
	return "number", nil
}
