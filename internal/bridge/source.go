// Package bridge holds the extension that runs inside Pi, and puts it there.
//
// The extension is the modules in src, part of the program. Pi wants one file:
// they are joined, see [Extension]. What is installed is that file with the path
// of the installing program in it, and a first line that says whose it is and
// what it was: see [Source].
package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// The lines of the extension that name the program to start a hub with, and the
// release that the bridge is of, which it tells the hub.
const (
	binaryLine  = "const PIWATCH_BIN = \"piwatch\";\n"
	versionLine = "const BRIDGE_VERSION = \"0.1.0\";\n"
)

// The first line of an installed file. The sum is over what follows the line,
// so that a file someone has edited is not taken for ours.
const markFormat = "// piwatch bridge %s; installed by piwatch install; do not edit (sum %s)\n"

var markPattern = regexp.MustCompile(`^// piwatch bridge (\S+); installed by piwatch install; do not edit \(sum ([0-9a-f]{16})\)\n`)

// Source is the extension as it is installed by the program at the path binary,
// which must be absolute, of a release.
func Source(binary, version string) ([]byte, error) {
	switch {
	case !filepath.IsAbs(binary):
		return nil, fmt.Errorf("the path of piwatch, %q, is not absolute", binary)
	case !utf8.ValidString(binary):
		return nil, fmt.Errorf("the path of piwatch, %q, is not valid UTF-8, which the bridge cannot hold", binary)
	case version == "" || strings.ContainsAny(version, " \t\r\n;"):
		return nil, fmt.Errorf("%q is not a version", version)
	}
	extension, err := Extension()
	if err != nil {
		return nil, err
	}
	body := extension
	for _, set := range []struct{ line, value string }{{binaryLine, binary}, {versionLine, version}} {
		if strings.Count(body, set.line) != 1 {
			return nil, fmt.Errorf("the extension does not hold the line %q once", strings.TrimSpace(set.line))
		}
		quoted, err := json.Marshal(set.value)
		if err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(set.line, "=")
		body = strings.Replace(body, set.line, name+"= "+string(quoted)+";\n", 1)
	}
	return []byte(fmt.Sprintf(markFormat, version, sum(body)) + body), nil
}

func sum(body string) string {
	hash := sha256.Sum256([]byte(body))
	return hex.EncodeToString(hash[:8])
}

// mark reads the first line of a file.
func mark(file string) (version string, ours, edited bool) {
	found := markPattern.FindStringSubmatch(file)
	if found == nil {
		return "", false, false
	}
	return found[1], true, sum(file[len(found[0]):]) != found[2]
}
