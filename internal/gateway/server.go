package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Limits of a connection from Pi.
const (
	headerTimeout  = 10 * time.Second // for a whole head to arrive
	keepAlive      = 2 * time.Minute  // without a request
	maxHeaderBytes = 1 << 20
)

// Server serves a gateway on loopback.
type Server struct {
	gateway  *Gateway
	server   *http.Server
	listener net.Listener
	port     int
	done     chan error
}

// Serve listens on this port of 127.0.0.1 and serves the gateway there; 0 takes
// any port. A port that is taken is an error.
func Serve(g *Gateway, port int) (*Server, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	s := &Server{
		gateway: g,
		server: &http.Server{
			Handler: g, ReadHeaderTimeout: headerTimeout, IdleTimeout: keepAlive, MaxHeaderBytes: maxHeaderBytes,
			ErrorLog: g.errorLog,
		},
		listener: listener,
		port:     listener.Addr().(*net.TCPAddr).Port,
		done:     make(chan error, 1),
	}
	go func() { s.done <- s.server.Serve(listener) }()
	return s, nil
}

// Port is where it listens.
func (s *Server) Port() int { return s.port }

// Base is the address of the gateway, as Key.URL takes it.
func (s *Server) Base() string { return "http://127.0.0.1:" + strconv.Itoa(s.port) }

// Stop takes no more connections; the port is free when it returns. Close has to
// follow.
func (s *Server) Stop() error { return s.listener.Close() }

// Close takes no more requests, lets those that go on come to their end until
// ctx ends, and then cuts them.
func (s *Server) Close(ctx context.Context) error {
	err := s.server.Shutdown(ctx)
	if errors.Is(err, net.ErrClosed) {
		err = nil // by Stop
	}
	if err != nil {
		err = s.server.Close()
	}
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) && !errors.Is(served, net.ErrClosed) {
		err = errors.Join(err, served)
	}
	s.gateway.Close()
	return err
}
