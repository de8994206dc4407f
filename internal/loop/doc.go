// Package loop finds agents that go in circles: the same call with the same
// result again and again, the same input to the model or output from it many
// times in a row, tools that run for long without an edit.
//
// A Detector is a pure function of events and time, one for a session: no I/O,
// no goroutine, no clock of its own. It keeps hashes and short previews, in a
// bounded amount of memory, and takes a bounded time for an event. What it says
// is advice: a finding means "maybe stuck".
//
// Events come from a session file (Reader) or from a bridge; both go through
// the same digests. A new rule is a file of its own with a field in Detector.
package loop
