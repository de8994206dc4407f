package gateway

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// retried are the statuses that a gateway in front of a provider gives: 502 to
// 504, and Cloudflare's own.
var retried = []int{502, 503, 504, 520, 521, 522, 523, 524, 525, 533}

// The names of faults that have no status.
const (
	faultRefused     = "refused"
	faultReset       = "reset"
	faultTimeout     = "timeout"
	faultTLS         = "TLS"
	faultCertificate = "certificate" // not tried again: it will not be another one
	faultDNS         = "DNS"
	faultUnreachable = "unreachable"
	faultConnection  = "connection" // any other
	faultSilent      = "silent"     // not tried again: it took minutes
	faultLeft        = "left"       // Pi went away
)

var (
	// errSilent is the cause of a request that was cut because its answer went
	// silent.
	errSilent = errors.New("silent for too long")
	// errBroken is an answer that broke before it had a byte of body.
	errBroken = errors.New("the answer broke before its first byte")
)

// faultOf names what is wrong with an attempt: a status, or a fault of the
// connection. It is empty when nothing is that the gateway minds.
func faultOf(res *http.Response, err error) string {
	if err != nil {
		return faultOfError(err)
	}
	if slices.Contains(retried, res.StatusCode) {
		return strconv.Itoa(res.StatusCode)
	}
	return ""
}

func faultOfError(err error) string {
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
		timeout     net.Error
	)
	switch {
	case errors.Is(err, errSilent):
		return faultSilent
	case errors.Is(err, context.Canceled):
		return faultLeft
	case errors.As(err, &dns):
		return faultDNS
	case errors.As(err, &certificate):
		return faultCertificate
	case errors.As(err, &record), errors.As(err, &alert), strings.Contains(err.Error(), "TLS handshake"):
		return faultTLS
	case errors.Is(err, syscall.ECONNREFUSED):
		return faultRefused
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return faultUnreachable
	case errors.As(err, &timeout) && timeout.Timeout():
		return faultTimeout
	case errors.Is(err, errBroken), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return faultReset
	}
	return faultConnection
}

// lasting reports whether another attempt makes no sense.
func lasting(fault string) bool {
	return fault == faultCertificate || fault == faultSilent || fault == faultLeft
}

// retryAfter reads a Retry-After header, in seconds or as a date. 0: there is
// none, or nothing is left to wait.
func retryAfter(res *http.Response, now time.Time) time.Duration {
	if res == nil {
		return 0
	}
	text := strings.TrimSpace(res.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds, maxSeconds) * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// maxSeconds is the longest wait that is read as such; more does not fit a
// Duration.
const maxSeconds = 1e9
