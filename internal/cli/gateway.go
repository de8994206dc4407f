package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"piwatch/internal/config"
	"piwatch/internal/control"
	"piwatch/internal/gateway"
	"piwatch/internal/hub"
	"piwatch/internal/timeline"
)

// testTimeout bounds piwatch gateway test: three retries and their waits fit
// into it.
const testTimeout = 90 * time.Second

func (a *app) gatewayCommand() *cobra.Command {
	cmd := group(&cobra.Command{
		Use:     "gateway",
		GroupID: groupSetUp,
		Short:   "Try again what a provider's own gateway dropped",
		Long: `The gateway is a proxy on loopback, in the hub, between Pi and its providers. It
tries a request again, up to three times, that failed with 502, 503, 504, 520 to
525, 533 or without an answer, as long as nothing of one has reached Pi. All
else, 429 included, passes as it is. The bridge points the provider of each
session at it; without the hub, or after "off", Pi asks the provider directly.

The config file takes silence, cut and retry_after in the table [gateway].`,
		Example: `  piwatch gateway on
  piwatch gateway on anthropic openrouter
  piwatch gateway status
  piwatch gateway off openrouter
  piwatch gateway test https://api.example.com/v1/models`,
	})
	status := &cobra.Command{
		Use:   "status",
		Short: "Say what passes the gateway, what was tried again and what waits",
		Args:  args(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.gatewayStatus(cmd.Context()) },
	}
	a.addJSON(status)
	cmd.AddCommand(
		a.gatewaySwitch("on", "Turn it on, for all providers or for these; it stays on"),
		a.gatewaySwitch("off", "Turn it off, for all providers or for these"),
		status,
		&cobra.Command{
			Use:     "test URL",
			Short:   "Ask a URL through the gateway, without a key",
			Example: "  piwatch gateway test https://api.example.com/v1/models",
			Args:    args(1, 1),
			RunE:    func(cmd *cobra.Command, args []string) error { return a.gatewayTest(cmd.Context(), args[0]) },
		},
	)
	return cmd
}

func (a *app) gatewaySwitch(word, short string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     word + " [PROVIDER...]",
		Short:   short,
		Long:    short + ".\n\nPROVIDER is the name by which Pi knows it, as before the / of a model.",
		Example: "  piwatch gateway " + word + "\n  piwatch gateway " + word + " anthropic openrouter",
		Args:    args(0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.setGateway(cmd.Context(), control.GatewaySetParams{On: word == "on", Providers: args})
		},
	}
	a.addJSON(cmd)
	return cmd
}

// setGateway starts a hub where there is none: what is on is kept by it.
func (a *app) setGateway(ctx context.Context, params control.GatewaySetParams) error {
	if err := a.outsidePi(); err != nil {
		return err
	}
	starter, err := a.starter("cli")
	if err != nil {
		return err
	}
	client, err := control.EnsureHub(ctx, starter)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 2*callTimeout)
	defer cancel()
	reply, err := client.SetGateway(ctx, params)
	return a.told(reply, err, "piwatch gateway status says more")
}

func (a *app) gatewayTest(ctx context.Context, url string) error {
	if err := a.outsidePi(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	client, err := a.dial(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	reply, err := client.TestGateway(ctx, url)
	return a.told(reply, err, "piwatch hub log says more")
}

func (a *app) gatewayStatus(ctx context.Context) error {
	return a.withHub(ctx, func(ctx context.Context, client *control.Client) error {
		state, err := client.Gateway(ctx)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(state)
		}
		now := time.Now()
		for _, line := range state.Lines(now) {
			fmt.Fprintln(a.out, timeline.OneLine(line))
		}
		return printGatewayRows(a.out, state.Rows(now))
	})
}

// printGatewayRows prints the upstreams as a table. NO END are streams that
// ended without their terminator, SILENT those that said nothing for long.
func printGatewayRows(out io.Writer, upstreams []control.GatewayRow) error {
	if len(upstreams) == 0 {
		return nil
	}
	var rows [][]string
	for _, p := range upstreams {
		rows = append(rows, []string{
			p.Provider, p.Upstream, fmt.Sprint(p.Requests), fmt.Sprint(p.Active), p.TriedAgain, fmt.Sprint(p.Recovered),
			p.FailedWith, fmt.Sprint(p.Broken), fmt.Sprint(p.Unterminated), fmt.Sprint(p.Silent), p.BreakerText,
		})
	}
	fmt.Fprintln(out)
	return printTable(out, []string{"PROVIDER", "UPSTREAM", "REQUESTS", "NOW", "TRIED AGAIN", "HELPED", "FAILED", "BROKEN", "NO END", "SILENT", "BREAKER"}, rows)
}

// gatewayOptions are those of the hub's gateway; the config is read each time.
func (a *app) gatewayOptions(log *slog.Logger) (hub.GatewayOptions, error) {
	state, err := config.GatewayState(a.env)
	if err != nil {
		return hub.GatewayOptions{}, err
	}
	errs := newErrors{log: log}
	settings := keptFor(time.Second, func() gateway.Settings {
		out := gateway.DefaultSettings()
		file, err := config.File(a.env)
		var set config.Gateway
		if err == nil {
			set, err = config.ReadGateway(file)
		}
		errs.note(err)
		if set.Silence != nil {
			out.Silence = *set.Silence
		}
		if set.RetryAfter != nil {
			out.RetryAfter = *set.RetryAfter
		}
		out.Cut = set.Cut
		return out
	})
	return hub.GatewayOptions{State: state, Settings: settings}, nil
}
