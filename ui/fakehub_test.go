package ui

import (
	"context"
	"errors"
	"sync"

	"piwatch/internal/control"
)

// steered is what a fake hub was asked for.
type steered struct {
	method string
	params control.SteerParams
}

// fakeHub is a hub that says what the test tells it to.
type fakeHub struct {
	sessions []control.Session
	pushes   chan control.Push
	asked    chan steered

	mu     sync.Mutex
	reply  control.CommandReply
	fail   error
	dials  int
	detail control.TargetDetail
}

func newFakeHub(sessions ...control.Session) *fakeHub {
	return &fakeHub{sessions: sessions, pushes: make(chan control.Push), asked: make(chan steered, 64)}
}

func (h *fakeHub) dial(context.Context) (Hub, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dials++
	if h.fail != nil {
		return nil, h.fail
	}
	return h, nil
}

func (h *fakeHub) Watch(context.Context) ([]control.Session, <-chan control.Push, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions, h.pushes, nil
}

func (h *fakeHub) Steer(_ context.Context, method string, params control.SteerParams) (control.CommandReply, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked <- steered{method, params}
	if h.reply.Level == levelError {
		return control.CommandReply{}, errors.New(h.reply.Text)
	}
	return h.reply, nil
}

func (h *fakeHub) Inspect(_ context.Context, session string) (control.TargetDetail, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.detail.ID != session {
		return control.TargetDetail{}, errors.New("no session " + session + " is known")
	}
	return h.detail, nil
}

func (h *fakeHub) answer(level, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reply = control.CommandReply{Level: level, Text: text}
}

func (h *fakeHub) Close() error { return nil }
