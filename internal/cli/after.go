package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// after says what may stand after SESSION beside the arguments of a command.
type after int

const (
	anyFlag   after = iota
	negatives       // any flag, and a number below zero, which looks like one
	freeText        // no flag but --help: a message may hold anything
)

// args checks what is given, with SESSION.
func (f after) args(who *naming, least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, given []string) error {
		given, err := f.take(cmd, given)
		if err != nil {
			return err
		}
		return who.args(least, most)(cmd, given)
	}
}

// take sets the flags that the parser left among the arguments, and gives the
// others. It is an error where flags are not allowed, and pflag.ErrHelp when help
// is asked for.
func (f after) take(cmd *cobra.Command, given []string) (rest []string, err error) {
	if f == anyFlag {
		return given, nil
	}
	var late []string
	for i, arg := range given {
		if f == freeText && strings.HasPrefix(arg, "message=") {
			rest = append(rest, given[i:]...)
			break
		}
		name, value, isFlag := flagOf(cmd, arg)
		switch {
		case !isFlag:
			rest = append(rest, arg)
		case name == "help":
			return nil, pflag.ErrHelp // on which cobra prints it
		case f == freeText:
			late = append(late, arg)
		default:
			if err := cmd.Flags().Set(name, value); err != nil {
				return nil, &usageError{err.Error(), cmd.CommandPath()}
			}
		}
	}
	if len(late) > 0 {
		name := lastSession
		if last := cmd.Flags().Lookup("last"); !last.Changed && len(rest) > 0 {
			name = rest[0]
		}
		line := strings.Join(append([]string{cmd.CommandPath()}, append(late, name)...), " ")
		return nil, &usageError{"flags go before SESSION: " + line, cmd.CommandPath()}
	}
	return rest, nil
}

// flagOf reads an argument as one of the command's flags, all of which stand
// without a value.
func flagOf(cmd *cobra.Command, arg string) (name, value string, ok bool) {
	flag := cmd.Flags().Lookup(strings.TrimPrefix(arg, "--"))
	switch {
	case len(arg) == 2 && arg[0] == '-' && arg[1] != '-':
		flag = cmd.Flags().ShorthandLookup(arg[1:])
	case !strings.HasPrefix(arg, "--"):
		flag = nil
	}
	if flag == nil {
		return "", "", false
	}
	return flag.Name, flag.NoOptDefVal, true
}
