package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"
)

// MaxLine is the most bytes of one message, without its newline.
const MaxLine = 1 << 20

const (
	// maxQueue bounds the bytes that wait to be written.
	maxQueue = 8 * MaxLine
	// writeTimeout bounds one write. A peer that reads nothing for so long
	// while its socket buffer is full hangs or is stopped.
	writeTimeout = 10 * time.Second
	// drainTimeout bounds the writing of what is queued at Close.
	drainTimeout = time.Second
	// keepBuffer is the size of a read buffer that is kept between lines.
	keepBuffer = 64 << 10
)

// lines frames JSON messages as lines. A write only queues, so that no writer
// ever waits for the peer; a queue that is full, and a write that takes longer
// than its time, end the connection.
type lines struct {
	rwc          io.ReadWriteCloser
	reader       *bufio.Reader
	line         []byte          // the line that is being read
	params       json.RawMessage // the parameters of the line last read, byte by byte
	writeTimeout time.Duration

	mu     sync.Mutex
	wake   *sync.Cond
	queue  [][]byte
	queued int // bytes in queue
	closed bool
	cause  error
	done   chan struct{} // the writer has ended and rwc is closed
}

func newLines(rwc io.ReadWriteCloser, timeout time.Duration) *lines {
	l := &lines{
		rwc:          rwc,
		reader:       bufio.NewReaderSize(rwc, 4<<10),
		writeTimeout: timeout,
		done:         make(chan struct{}),
	}
	l.wake = sync.NewCond(&l.mu)
	go l.write()
	return l
}

// fail remembers the first cause of the end. That the other side went away is
// an end like any other, whichever call saw it.
func (l *lines) fail(cause error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := errors.Is(cause, syscall.EPIPE) || errors.Is(cause, syscall.ECONNRESET) || errors.Is(cause, io.ErrClosedPipe)
	if l.cause == nil && !l.closed && !left {
		l.cause = cause
	}
	return cause
}

// err is the cause of the end; nil when either side just closed.
func (l *lines) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cause
}

// ReadObject reads one line into v.
func (l *lines) ReadObject(v any) error {
	line, err := l.readLine()
	switch {
	case err == ErrLineTooLong:
		l.refuse(err)
		return l.fail(err)
	case err == io.EOF && len(line) == 0:
		return err
	case err != nil:
		return l.fail(fmt.Errorf("read: %w", err))
	}
	var raw struct {
		ID     json.RawMessage `json:"id,omitempty"`
		Method *string         `json:"method"`
		Params json.RawMessage `json:"params,omitempty"`
		Result json.RawMessage `json:"result,omitempty"`
		Error  json.RawMessage `json:"error,omitempty"`
	}
	err = json.Unmarshal(line, &raw)
	if err == nil && raw.Method != nil && raw.Result == nil && raw.Error == nil {
		// The library reads a message several times over: a request goes to it
		// without its parameters, which it need not see.
		params := raw.Params
		raw.Params = nil
		if line, err = json.Marshal(raw); err == nil {
			raw.Params = params
		}
	}
	if err == nil {
		err = json.Unmarshal(line, v)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
		l.refuse(err)
		return l.fail(err)
	}
	// The library sorts the keys of the parameters; a tool definition must
	// come out as it went in.
	l.params = raw.Params
	return nil
}

func (l *lines) readLine() ([]byte, error) {
	if cap(l.line) > keepBuffer {
		l.line = nil
	}
	l.line = l.line[:0]
	for {
		part, err := l.reader.ReadSlice('\n')
		if err == nil {
			part = part[:len(part)-1]
		}
		if len(l.line)+len(part) > MaxLine {
			return l.line, ErrLineTooLong
		}
		l.line = append(l.line, part...)
		if err != bufio.ErrBufferFull {
			return l.line, err
		}
	}
}

// refuse tells the peer why the connection ends.
func (l *lines) refuse(why error) {
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0",
		"id":      nil,
		"error":   map[string]any{"code": -32700, "message": why.Error() + "; the connection is closed"},
	})
	if err == nil {
		_ = l.enqueue(line)
	}
}

// WriteObject queues v as one line.
func (l *lines) WriteObject(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(line) > MaxLine {
		return ErrLineTooLong
	}
	return l.enqueue(line)
}

func (l *lines) enqueue(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if l.queued+len(line) > maxQueue {
		l.cause = ErrSlowPeer
		l.stop()
		_ = l.rwc.Close() // the writer hangs in a write
		return ErrSlowPeer
	}
	l.queued += len(line)
	l.queue = append(l.queue, append(line, '\n'))
	l.wake.Signal()
	return nil
}

// stop ends the queue; the caller holds mu.
func (l *lines) stop() {
	l.closed = true
	l.wake.Signal()
}

// write writes what is queued until the end, and then closes rwc.
func (l *lines) write() {
	defer close(l.done)
	defer l.rwc.Close()
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && !l.closed {
			l.wake.Wait()
		}
		if len(l.queue) == 0 {
			l.mu.Unlock()
			return
		}
		line := l.queue[0]
		l.queue = l.queue[1:]
		l.queued -= len(line) - 1
		l.mu.Unlock()

		// Closing works on every kind of rwc, a deadline does not.
		limit := time.AfterFunc(l.writeTimeout, func() {
			_ = l.fail(ErrSlowPeer)
			_ = l.rwc.Close()
		})
		_, err := l.rwc.Write(line)
		limit.Stop()
		if err != nil {
			_ = l.fail(fmt.Errorf("write: %w", err))
			l.mu.Lock()
			l.queue, l.queued = nil, 0
			l.stop()
			l.mu.Unlock()
			return
		}
	}
}

// Close writes what is queued, for a second at most, and closes.
func (l *lines) Close() error {
	l.mu.Lock()
	l.stop()
	l.mu.Unlock()
	limit := time.AfterFunc(min(drainTimeout, l.writeTimeout), func() { _ = l.rwc.Close() })
	defer limit.Stop()
	<-l.done
	return nil
}
