package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"piwatch/internal/loop"
)

// Supervisor is what the supervisor runs with in one folder, and where each
// value comes from.
type Supervisor struct {
	loop.Settings
	// Origin is where a value comes from, by its name: OriginDefault, OriginRun,
	// or file:line.
	Origin map[string]string
}

// Origins that are no file.
const (
	OriginDefault = "default"
	OriginRun     = "set at run time"
)

// supervisorTable is the table of the user's config file.
const supervisorTable = "supervisor"

// trustedKey names, in that table, the folders whose project file may widen
// what the supervisor does by itself.
const trustedKey = "trustedFolders"

// ProjectSupervisor is the project's file in a folder.
func ProjectSupervisor(folder string) string {
	return filepath.Join(folder, ".pi", "watchdog-supervisor.json")
}

// LoadSupervisor reads the settings for a folder: the defaults, then the table
// supervisor of the user's file, then the project's file, then what was changed
// at run time. user and folder may be "" for none. What is wrong is left out and
// told in the joined errors, with file, line, key and what is allowed.
//
// A project's file comes with the work and may have been written by an agent:
// it cannot name commands, and cannot let piwatch send more by itself, unless
// the user's file trusts the folder.
func LoadSupervisor(user, folder string, changes []loop.Change) (Supervisor, error) {
	s := newSupervisor()
	var errs []error
	trusted := false
	if user != "" {
		source, err := read(user)
		if err != nil {
			errs = append(errs, err)
		}
		folders, wrong := s.user(source)
		errs = append(errs, wrong...)
		trusted = slices.ContainsFunc(folders, func(dir string) bool { return within(folder, dir) })
	}
	if folder != "" {
		errs = append(errs, s.project(ProjectSupervisor(folder), trusted))
	}
	for _, c := range changes {
		errs = append(errs, s.set(c.Key, c.Value, OriginRun, ""))
	}
	return s, errors.Join(errs...)
}

func newSupervisor() Supervisor {
	s := Supervisor{Settings: loop.DefaultSettings(), Origin: map[string]string{}}
	for _, f := range loop.Fields() {
		s.Origin[f.Name] = OriginDefault
	}
	return s
}

// user takes what stands in the user's file, and gives the folders it trusts.
func (s *Supervisor) user(file source) (trusted []string, errs []error) {
	table := file.tables[supervisorTable]
	for _, key := range sortedKeys(table) {
		value := table[key]
		if key != trustedKey {
			if err := s.set(key, value, file.where(supervisorTable, key), supervisorTable+"."); err != nil {
				errs = append(errs, err)
			}
			continue
		}
		folders, ok := texts(value)
		if _, isText := value.(string); !ok || isText {
			errs = append(errs, file.wrong(supervisorTable, key, value, trustedAllowed))
			continue
		}
		trusted = folders
	}
	return trusted, errs
}

const trustedAllowed = `a list of folders, as in ["/home/me/work"]`

// supervisorReference are the settings of the supervisor, as people read of them.
func supervisorReference() []Setting {
	var all []Setting
	defaults := loop.DefaultSettings()
	for _, f := range loop.Fields() {
		all = append(all, Setting{Table: supervisorTable, Key: f.Name, Default: fieldInTOML(f.Get(&defaults)), Allowed: strings.Replace(f.Allowed, ", null", "", 1), What: f.Says})
	}
	return append(all, Setting{
		Table: supervisorTable, Key: trustedKey, Default: "[]", Allowed: "a list of folders",
		What: "folders whose .pi/watchdog-supervisor.json may let piwatch send more by itself",
	})
}

func (s *Supervisor) set(key string, value any, origin, prefix string) error {
	next, err := s.With(key, value)
	if err != nil {
		return fmt.Errorf("%s: %s%w", origin, prefix, err)
	}
	s.Settings, s.Origin[key] = next, origin
	return nil
}

// commands are settings of other tables that run something: they have no place
// in a file that comes with the work.
var commands = []string{"on_stop", "onStop"}

func (s *Supervisor) project(file string, trusted bool) error {
	values, err := readJSON(file)
	if err != nil {
		return err
	}
	var errs []error
	for _, v := range values {
		origin := fmt.Sprintf("%s:%d", file, v.line)
		before, was := s.Settings, s.Origin[v.key]
		switch {
		case v.key == "$schema":
			continue
		case slices.Contains(commands, v.key):
			errs = append(errs, fmt.Errorf("%s: %s: a project cannot name a command; it belongs into the user's config", origin, v.key))
			continue
		}
		if err := s.set(v.key, v.value, origin, ""); err != nil {
			errs = append(errs, err)
			continue
		}
		if widened := s.Widens(&before); len(widened) > 0 && !trusted {
			s.Settings, s.Origin[v.key] = before, was
			errs = append(errs, fmt.Errorf("%s: %s: a project cannot let piwatch send more by itself; set it in the user's config, or name the folder in %s.%s there",
				origin, strings.Join(widened, ", "), supervisorTable, trustedKey))
		}
	}
	return errors.Join(errs...)
}

// within says whether a folder is another one or below it. Relative ones are
// within none.
func within(folder, dir string) bool {
	if !filepath.IsAbs(folder) || !filepath.IsAbs(dir) {
		return false
	}
	rel, err := filepath.Rel(filepath.Clean(dir), filepath.Clean(folder))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// located is a field of a JSON file.
type located struct {
	key   string
	value any
	line  int
}

// maxJSON bounds a file of settings, in bytes.
const maxJSON = 1 << 20

// readJSON reads the fields of a JSON file with the lines they stand in. One
// that does not exist holds nothing; of one that is no JSON nothing counts.
func readJSON(file string) ([]located, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxJSON) {
		err = errors.New("not a file of at most 1 MiB")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the config: %s: %w", file, err)
	}
	lineAt := func(offset int64) int { return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n")) }
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	wrong := func(err error) error { return fmt.Errorf("%s:%d: %w", file, lineAt(dec.InputOffset()), err) }
	if open, err := dec.Token(); err != nil {
		return nil, wrong(err)
	} else if open != json.Delim('{') {
		return nil, wrong(errors.New("must be an object in braces"))
	}
	var fields []located
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, wrong(err)
		}
		one := located{key: key.(string), line: lineAt(dec.InputOffset())} // in an object, a key is a string
		if err := dec.Decode(&one.value); err != nil {
			return nil, wrong(err)
		}
		fields = append(fields, one)
	}
	if _, err := dec.Token(); err != nil {
		return nil, wrong(err)
	}
	return fields, nil
}

// InTOML gives the values as they are written in TOML, by their names with the
// table.
func (s *Supervisor) InTOML() map[string]string {
	all := map[string]string{}
	for _, f := range loop.Fields() {
		all[supervisorTable+"."+f.Name] = fieldInTOML(f.Get(&s.Settings))
	}
	return all
}

// fieldInTOML writes a value; TOML has no null, and true says the same.
func fieldInTOML(value any) string {
	if mode, ok := value.(loop.Mode); ok {
		value = string(mode)
	}
	if value == nil {
		value = true
	}
	return inTOML(value)
}
