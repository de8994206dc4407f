package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"piwatch/internal/bridge"
	"piwatch/internal/config"
	"piwatch/internal/control"
	"piwatch/internal/ending"
	"piwatch/internal/headless"
	"piwatch/internal/pi"
	"piwatch/internal/tail"
	"piwatch/internal/timeline"
	"piwatch/internal/watchdog"
)

const (
	// joinWithin is how long a Pi may take until its bridge is with the hub.
	joinWithin = 60 * time.Second
	// settleWithin is how long a Pi may take to come to rest at the end.
	settleWithin = 5 * time.Second
)

// taskRun is one run of piwatch run.
type taskRun struct {
	app   *app
	flags runFlags
	began time.Time
	pi    *headless.Pi
	state headless.State

	mu    sync.Mutex // of what the follower of the file touches
	story story
	rows  rowPrinter
	told  int // messages of the user that were there before the last prompt

	// What the hub says, by session: it may come before Pi says which one is ours.
	phases  map[string]watchdog.Phase
	refused map[string]string // why the watchdog is not started

	news   chan struct{} // the file or the hub said something
	caught chan struct{} // closed when the file was read for the first time
}

// runEvent is one object of piwatch run --json.
type runEvent struct {
	Type    string     `json:"type"` // start, row, question, end
	Session string     `json:"session,omitempty"`
	File    string     `json:"file,omitempty"`
	Pid     int        `json:"pid,omitempty"`
	Row     *loggedRow `json:"row,omitempty"`
	End     string     `json:"end,omitempty"` // done, wait_user, max, breaker, stopped, error, timeout, interrupted
	Note    string     `json:"note,omitempty"`
	Result  string     `json:"result,omitempty"` // the agent's last text
	Checks  int        `json:"checks,omitempty"`
	Seconds float64    `json:"seconds,omitempty"`
	Code    *int       `json:"code,omitempty"` // the exit code, of an end
}

func (a *app) runTask(ctx context.Context, task string, args []string, flags runFlags) error {
	settings, errSettings := a.settingsOf(flags)
	task, errTask := readTask(task, a.in)
	program, errPi := a.findPi(flags.pi)
	starter, errHub := a.starter("cli")
	file, errBridge := a.bridgeFile()
	for _, err := range []error{errSettings, piArgs(args), errTask, errPi, errHub, errBridge} {
		if err != nil {
			return err
		}
	}
	// The hub is there before Pi, whose bridge would else have to start it.
	client, err := control.EnsureHub(ctx, starter)
	if err != nil {
		return err
	}
	_ = client.Close() // the watch has its own
	command := []string{program, "-e", file}
	if flags.model != "" {
		command = append(command, "--model", flags.model)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	p, err := headless.Start(headless.Options{Command: append(command, args...), Dir: flags.dir, Env: envFor(os.Environ(), settings)})
	if err != nil {
		return err
	}
	r := &taskRun{
		app: a, flags: flags, began: time.Now(), pi: p, rows: a.progress(flags),
		phases: map[string]watchdog.Phase{}, refused: map[string]string{},
		news: make(chan struct{}, 1), caught: make(chan struct{}),
	}
	return r.supervise(ctx, starter, task, signals)
}

// supervise plays the run and ends Pi, whatever happens.
func (r *taskRun) supervise(ctx context.Context, starter control.Starter, task string, signals <-chan os.Signal) error {
	ctx, stop := context.WithCancelCause(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop(nil)
	if r.flags.total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.flags.total, &endError{kind: ending.Timeout, note: "after " + r.flags.total.String()})
		defer cancel()
	}
	work.Go(func() { r.obey(ctx, signals, stop) })
	work.Go(func() {
		watchHub(ctx, func(ctx context.Context) (*control.Client, error) { return control.EnsureHub(ctx, starter) }, r.hear)
	})
	end, err := r.play(ctx, &work, task)
	if cause := context.Cause(ctx); cause != nil {
		err = cause
		r.abort()
	} else {
		r.settle()
	}
	r.pi.Close()
	stop(nil)
	work.Wait()
	return r.finish(end, err)
}

// obey stops the run at the first signal, and kills Pi at the second.
func (r *taskRun) obey(ctx context.Context, signals <-chan os.Signal, stop context.CancelCauseFunc) {
	asked := false
	for {
		select {
		case sig := <-signals:
			if asked {
				r.pi.Kill()
			} else {
				asked = true
				fmt.Fprintln(r.app.err, "piwatch: stopping the agent; once more to kill it")
				stop(&signalError{sig})
			}
		case <-r.pi.Done():
			return
		}
	}
}

// abort ends the run of the agent, in good order where Pi still answers.
func (r *taskRun) abort() {
	ctx, cancel := context.WithTimeout(context.Background(), settleWithin)
	defer cancel()
	_ = r.pi.Abort(ctx) // what it does not do, Close does
	r.pi.WaitSettled(ctx)
}

func (r *taskRun) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), settleWithin)
	defer cancel()
	r.pi.WaitSettled(ctx)
}

// play gives Pi the task and follows it to an end, with the answers of the user
// where there is one.
func (r *taskRun) play(ctx context.Context, work *sync.WaitGroup, task string) (ending.Ending, error) {
	if err := r.join(ctx, work); err != nil {
		return ending.Ending{Kind: ending.Failed}, err
	}
	in := bufio.NewReader(r.app.in)
	for {
		r.mu.Lock()
		r.told = r.story.spoken
		r.mu.Unlock()
		started, err := r.pi.Prompt(ctx, task)
		if err != nil {
			return ending.Ending{Kind: ending.Failed}, err
		}
		if !started {
			return ending.Ending{Kind: ending.Done, Note: "Pi took it as a command"}, nil
		}
		end, err := r.await(ctx)
		if err != nil || end.Kind != ending.WaitUser || !end.Watched || !r.app.asks() {
			return end, err
		}
		r.settle()
		answer, err := r.askUser(ctx, in, end)
		if answer == "" || err != nil {
			return end, err
		}
		task = answer
	}
}

// join waits until the hub watches the session.
func (r *taskRun) join(ctx context.Context, work *sync.WaitGroup) error {
	within, cancel := context.WithTimeoutCause(ctx, joinWithin, errors.New("the bridge of Pi did not come to the hub; piwatch doctor may know why"))
	defer cancel()
	var err error
	if r.state, err = r.pi.State(within); err != nil {
		return err
	}
	if r.state.File == "" {
		return errNoFile
	}
	r.event(runEvent{Type: "start", Session: r.state.Session, File: r.state.File, Pid: r.pi.PID()})
	work.Go(func() { r.follow(ctx) })
	select {
	case <-r.caught:
	case <-within.Done():
		return context.Cause(within)
	}
	for {
		r.mu.Lock()
		phase, joined := r.phases[r.state.Session]
		refused := r.refused[r.state.Session]
		r.mu.Unlock()
		switch {
		case joined && phase != watchdog.Off:
			return nil
		case joined && refused != "":
			return errors.New(refused)
		}
		select {
		case <-r.news:
		case <-r.pi.Done():
			return r.pi.Err()
		case <-within.Done():
			return context.Cause(within)
		}
	}
}

// await waits for an end that came after the last prompt.
func (r *taskRun) await(ctx context.Context) (ending.Ending, error) {
	for {
		r.mu.Lock()
		end, spoken := r.story.ends.Ending(), r.story.spoken > r.told
		r.mu.Unlock()
		switch {
		case !spoken:
		case end.Kind != ending.None:
			return end, nil
		case end.Error != "":
			end.Kind, end.Note = ending.Failed, end.Error
			return end, nil
		}
		select {
		case <-r.news:
		case <-r.pi.Done():
			return ending.Ending{Kind: ending.Failed}, r.pi.Err()
		case <-ctx.Done():
			return ending.Ending{}, context.Cause(ctx)
		}
	}
}

// askUser shows the agent's question and reads an answer; "" when there is none.
func (r *taskRun) askUser(ctx context.Context, in *bufio.Reader, end ending.Ending) (string, error) {
	text := r.result()
	r.event(runEvent{Type: "question", Note: end.Note, Result: text})
	answers := make(chan string, 1)
	go func() { // a read from a terminal cannot be taken back; it ends with this process
		answer, _ := question(in, r.app.err, fmt.Sprintf("\n%s\n\nthe agent needs you: %s\n> ", timeline.Clean(text), timeline.OneLine(end.Note)))
		answers <- answer
	}()
	select {
	case answer := <-answers:
		return answer, nil
	case <-r.pi.Done():
		return "", r.pi.Err()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// hear takes in what the hub says.
func (r *taskRun) hear(ev hubEvent) {
	r.mu.Lock()
	switch p := ev.push; {
	case p.Session != nil:
		r.phases[p.Session.ID] = p.Session.Watch.Phase
	case p.Notice != nil && strings.HasPrefix(p.Notice.Text, "PI_WATCHDOG: "): // all else ends no start
		r.refused[p.Notice.Session] = p.Notice.Text
	}
	r.mu.Unlock()
	r.wake()
}

func (r *taskRun) wake() {
	select {
	case r.news <- struct{}{}:
	default: // one is on its way
	}
}

// follow reads the session file as it grows, until ctx ends.
func (r *taskRun) follow(ctx context.Context) {
	watcher := tail.NewWatcher()
	defer watcher.Close()
	first := true
	_ = tail.NewFollower(r.state.File, tail.Options{Watcher: watcher}).Run(ctx, func(ev tail.Event) { // it ends with ctx only
		r.mu.Lock()
		defer r.mu.Unlock()
		if ev.Kind == tail.PollingOnly || !r.story.take(ev) {
			return
		}
		if first {
			first = false
			r.rows.skip(r.story.builder.Rows()) // of a session that goes on
			close(r.caught)
		} else {
			_ = r.rows.print(r.story.builder.Rows()) // who does not read the progress gets the result
		}
		r.wake()
	})
}

// finish prints what is left, and the result.
func (r *taskRun) finish(end ending.Ending, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.File != "" {
		if s, errRead := readStory(context.Background(), r.state.File, wholeTexts); errRead == nil {
			_ = r.rows.print(s.builder.Rows()) // as in follow
			r.story = *s
		}
	}
	result := r.lastText()
	kind, note := string(end.Kind), end.Note
	var timeout *endError
	var sig *signalError
	switch {
	case errors.As(err, &timeout):
		kind, note = string(timeout.kind), timeout.note
	case errors.As(err, &sig):
		kind, note = "interrupted", ""
	case err != nil:
		kind, note = string(ending.Failed), err.Error()
		err = &endError{kind: ending.Failed, note: err.Error()}
	case end.Kind != ending.Done:
		err = &endError{kind: end.Kind, note: end.Note}
	}
	if r.app.json {
		code := codeOf(err)
		r.event(runEvent{
			Type: "end", Session: r.state.Session, End: kind, Note: note, Result: result,
			Checks: r.story.ends.Ending().Checks, Seconds: time.Since(r.began).Seconds(), Code: &code,
		})
	} else if result != "" {
		if r.app.tty {
			result = timeline.Clean(result)
		}
		fmt.Fprintln(r.app.out, strings.TrimRight(result, "\n"))
	}
	return err
}

// event prints an object, with --json.
func (r *taskRun) event(ev runEvent) {
	if r.app.json {
		_ = r.app.printLine(ev) // who does not read it has the exit code
	}
}

// result is the agent's last text.
func (r *taskRun) result() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastText()
}

// lastText is the last text of the agent after the user's last message, outside
// of checks, as it stands in the file.
func (r *taskRun) lastText() string {
	rows := r.story.builder.Rows()
	for i := len(rows) - 1; i >= 0 && rows[i].Kind != timeline.User; i-- {
		if rows[i].Kind != timeline.Agent {
			continue
		}
		file, err := pi.Load(r.state.File)
		if err != nil {
			return rows[i].Body
		}
		if e, ok := file.Tree.Get(rows[i].Entry); ok && e.Message != nil {
			return strings.TrimSpace(e.Message.Text())
		}
	}
	return ""
}

// progress prints the rows of a run.
func (a *app) progress(flags runFlags) rowPrinter {
	switch {
	case a.json:
		return &jsonRows{said: map[string]string{}, write: func(l loggedRow) error {
			return a.printLine(runEvent{Type: "row", Row: &l})
		}}
	case flags.quiet:
		return noRows{}
	}
	return lineRows{timeline.NewPrinter(cutTo(a.err), timeline.DaysSince(time.Now()))}
}

// noRows prints nothing.
type noRows struct{}

func (noRows) print([]*timeline.Row) error { return nil }
func (noRows) skip([]*timeline.Row)        {}

// bridgeFile is the bridge as this program loads it into a Pi it starts: a file
// of its own for each content, which stays.
func (a *app) bridgeFile() (string, error) {
	state, err := config.StateDir(a.env)
	if err != nil {
		return "", err
	}
	binary, err := executable()
	if err != nil {
		return "", err
	}
	return bridge.Place(filepath.Join(state, "bridge"), binary, a.version)
}
