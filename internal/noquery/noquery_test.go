package noquery

import (
	"os"
	"testing"
)

func TestDoneGivesTheEnvironmentBack(t *testing.T) {
	t.Setenv(variable, "") // puts back what was, at the end
	for _, c := range []struct {
		was string
		had bool
	}{{"", false}, {"", true}, {"yes", true}} {
		was, had = c.was, c.had
		if err := os.Setenv(variable, "true"); err != nil {
			t.Fatal(err)
		}
		if c.was != "" {
			if err := os.Setenv(variable, c.was); err != nil {
				t.Fatal(err)
			}
		}
		Done()
		if got, set := os.LookupEnv(variable); got != c.was || set != c.had {
			t.Errorf("of %q, set %v, there is %q, set %v", c.was, c.had, got, set)
		}
	}
}
