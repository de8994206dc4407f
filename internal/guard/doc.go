// Package guard catches silent stops: an answer that ends with "stop" and holds
// no visible word and no tool call. Such an agent is asked for its next action
// at once, a few times in a row and a few times more between two messages of
// the user; then the breaker trips and nothing more is sent.
//
// It classifies answers, counts, and says what is to be sent; it does no I/O
// and has no clock. What must survive is in the records it leaves in the session
// file.
package guard
