// Package control is the channel between the hub, the bridges inside Pi and
// the clients: the messages, their framing, and both ends of the socket.
//
// The channel speaks JSON-RPC 2.0 over a Unix socket, one message a line, no
// batches. A line holds at most [MaxLine] bytes. Both ends may call methods of
// the other. What a peer sends that is not such a line ends the connection; an
// unknown method is answered as such and does not.
//
// The parts:
//
//   - messages.go: every method with its parameters and its answer
//   - [Conn]: one connection, the same for both ends
//   - [SocketPath], [Listen], [Dial]: where the socket is, and who may use it
//   - [Client]: a connection of the TUI or the CLI to the hub
//   - [EnsureHub]: a Client, and a hub is started when there is none
package control
