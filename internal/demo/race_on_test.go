//go:build race

package demo_test

// longest is how many actions of a history are done under the race detector,
// which makes each several times as dear.
const longest = 12
