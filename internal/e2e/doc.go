// Package e2e runs the real Pi in tests: it fetches the versions piwatch
// supports, gives each test a home of its own, answers Pi's requests from a
// script, and drives Pi over RPC, in print and JSON mode and in a terminal.
//
// The parts:
//
//   - [Pi]: an installed version, see [RequirePi] and [EachPi]
//   - [Home]: HOME, agent dir, project and XDG dirs of one test
//   - [Provider]: the scripted model, keeps every request byte by byte
//   - [RPC], [PrintRun], [Pane]: the three ways to run Pi
//   - [Piwatch]: the piwatch program built from this module
//
// Every wait ends at the deadline of [Timeout] and fails the test with what is
// known at that moment: requests, events, screens, stderr and the hub's log.
// The methods of a Home and of what it starts fail its test, so they are for
// the goroutine of that test.
package e2e
