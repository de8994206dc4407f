package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"piwatch/internal/timeline"
)

// findCheck is the id of the check that a person means: by the number on its
// card, the last one of that number, or by its id or a unique beginning of it.
// A session without a file has no numbers to look up: the name is the id then.
func findCheck(ctx context.Context, file, name string) (string, error) {
	if file == "" {
		return name, nil
	}
	s, err := readStory(ctx, file, wholeTexts)
	if err != nil {
		return "", err
	}
	cards := s.builder.Cards()
	number, errNumber := strconv.Atoi(name)
	var found []string
	for i := len(cards) - 1; i >= 0; i-- {
		c := cards[i].Card
		switch {
		case c.ID == "":
		case errNumber == nil && c.N == number, c.ID == name:
			return c.ID, nil
		case errNumber != nil && strings.HasPrefix(c.ID, name):
			found = append(found, c.ID)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return "", &refusedError{text: fmt.Sprintf("%s is not the number or id of one check in this session", quote(name)), hint: checksHint(cards)}
}

func checksHint(cards []*timeline.Row) string {
	if len(cards) == 0 {
		return "no check was asked in it"
	}
	last := cards[len(cards)-1].Card
	return fmt.Sprintf("it has %d checks, the last is %s; piwatch log shows them", len(cards), last.Number())
}
