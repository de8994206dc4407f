// Package watchdog keeps an agent at work: its settings and their grammar, the
// engine that decides when an idle agent is asked and what follows from the
// answer, the records it leaves in the session file, the texts the model reads,
// and the one status line people see.
//
// The engine is a pure function of events and time; hub and bridge do what it
// wants.
package watchdog
