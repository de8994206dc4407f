package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) addJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print JSON; its fields: piwatch help json")
}

// printJSON prints one value, indented.
func (a *app) printJSON(v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.out, escapeControls(string(data))+"\n")
	return err
}

// printLine prints one value on one line, as one of many.
func (a *app) printLine(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.out, escapeControls(string(data))+"\n")
	return err
}

// escapeControls escapes what JSON allows in a text and a terminal obeys: DEL
// and the C1 controls. JSON itself escapes the others.
func escapeControls(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= 0x7f && r < 0xa0 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func workDir() (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the folder of this process: %w", err)
	}
	return cwd, nil
}
