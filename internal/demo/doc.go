// Package demo is a stand-in for Pi with its bridge, and the story that
// piwatch demo plays with it.
//
// A [Pi] speaks the channel that the real bridge speaks and writes the session
// files that Pi 1.6.0 writes; its model is a [Script]. It needs no Node, no
// key and no network, and its clock is injected, so that the hub can be tested
// in milliseconds. What it does follows measurements of Pi 1.6.0; the tests
// with the real Pi are the proof, this package is the fast path.
//
// Where to look: session.go and context.go are the session file and what the
// model is sent, run.go to tools.go the agent, user.go the person at the
// keyboard, link.go, serve.go, check.go and report.go the bridge; story.go and
// plain.go are piwatch demo.
package demo
