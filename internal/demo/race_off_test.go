//go:build !race

package demo_test

import "math"

// longest is how many actions of a history are done.
const longest = math.MaxInt
