package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"piwatch/internal/pi"
)

// aborted is what Pi writes into a row that the user broke off.
const aborted = "Operation aborted"

// answer is one call of the model, streamed at its pace. It returns a row that
// is not in the session yet, and the answer with ids for its calls.
func (p *Pi) answer(ctx context.Context) (*row, Answer) {
	r := &row{Role: pi.RoleAssistant, Content: []block{}, API: "openai-completions", Provider: p.setup.Provider, Model: p.setup.Model,
		Usage: &usage{}, Level: "medium", Timestamp: p.clock.Now().UnixMilli()}
	if ctx.Err() != nil { // Esc in a tool: Pi makes an empty aborted row, without a request
		return p.finish(r, pi.StopAborted, aborted), Answer{}
	}
	messages, err := p.session.context()
	if err != nil {
		return p.finish(r, pi.StopError, err.Error()), Answer{}
	}
	request := Request{N: len(p.requests) + 1, Messages: messages, Tools: p.session.declared()}
	if p.check != nil {
		request.Check = p.check.id
	}
	p.requests = append(p.requests, request)
	if p.check == nil && p.link != nil {
		p.given = p.newestPart(messages)
	}
	r.ResponseID = fmt.Sprintf("stand-in-%d", request.N)
	a := p.setup.Script(request)

	a.Calls = slices.Clone(a.Calls)
	calls := make([]block, len(a.Calls))
	for i := range a.Calls {
		c := &a.Calls[i]
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", request.N, i)
		}
		if c.Args == nil {
			c.Args = map[string]any{}
		}
		calls[i] = block{Type: "toolCall", ID: c.ID, Name: c.Name, Arguments: c.Args}
	}
	for _, part := range []struct {
		moment Moment
		after  []block // streamed when the moment is over
		takes  time.Duration
	}{
		{BeforeAnswer, thinkingBlocks(a.Thinking), a.First + pace(a.Pace, a.Thinking)},
		{InThinking, nonEmpty(a.Text), pace(a.Pace, a.Text)},
		{InText, calls, 0},
		{InArguments, nil, 0},
	} {
		if p.pause(ctx, part.moment, a.Hold == part.moment, part.takes) != nil {
			return p.finish(r, pi.StopAborted, aborted), a
		}
		r.Content = append(r.blocks(), part.after...)
	}
	r.Usage = usageOf(size(messages), r, a.Tokens)
	stop := a.Stop
	switch {
	case a.Error != "":
		stop = pi.StopError
	case stop == "" && len(calls) > 0:
		stop = pi.StopToolUse
	case stop == "":
		stop = pi.StopStop
	}
	r.RawStop = rawStops[stop]
	return p.finish(r, stop, a.Error), a
}

// rawStops are a provider's words for the stop reasons; it has none for a
// failure.
var rawStops = map[string]string{pi.StopStop: "stop", pi.StopLength: "length", pi.StopToolUse: "tool_calls"}

func (p *Pi) finish(r *row, stop, why string) *row {
	r.StopReason, r.ErrorMessage = stop, why
	took := p.clock.Now().UnixMilli() - r.Timestamp
	r.DurationMs = &took
	return r
}

// pause gives up the tick at a moment of the run. It returns an error when the
// run was aborted.
func (p *Pi) pause(ctx context.Context, moment Moment, hold bool, d time.Duration) error {
	if !hold && d <= 0 {
		return ctx.Err()
	}
	p.moment = moment
	var release chan struct{}
	if hold {
		release = make(chan struct{})
		p.release = release
	}
	p.bump()
	p.mu.Unlock()
	err := p.clock.Sleep(ctx, d)
	if hold {
		select {
		case <-release:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	p.mu.Lock()
	p.moment, p.release = NoMoment, nil
	p.bump()
	if err == nil {
		err = ctx.Err()
	}
	return err
}

// Release lets a held run go on. It reports whether one was held.
func (p *Pi) Release() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.release == nil {
		return false
	}
	close(p.release)
	p.release = nil
	return true
}

func pace(each time.Duration, text string) time.Duration {
	return each * time.Duration(len(strings.Fields(text)))
}

func thinkingBlocks(thinking string) []block {
	if thinking == "" {
		return nil
	}
	return []block{{Type: "thinking", Thinking: thinking, Signature: "reasoning_content"}}
}

func nonEmpty(text string) []block {
	if text == "" {
		return nil
	}
	return textBlocks(text)
}

func usageOf(input int, r *row, output int) *usage {
	if output == 0 {
		raw, _ := encode(r.Content)
		output = max(len(raw)/4, 1)
	}
	return &usage{Input: input, Output: output, TotalTokens: input + output}
}

func textOf(r *row) string {
	var parts []string
	for _, b := range r.blocks() {
		if b.Type == "text" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
