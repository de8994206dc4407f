package gateway_test

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// The roots of the system and the proxy of the environment are used: in a
// process of its own, since both are read once.
func TestEnvironment(t *testing.T) {
	const mark = "PIWATCH_TEST_UPSTREAM"
	if upstream := os.Getenv(mark); upstream != "" {
		r := newRig(t, nil)
		r.url = r.address("s", upstream)
		r.want("ask", 200, "hello")
		return
	}
	server := secure(t, true, func(w http.ResponseWriter, _ *http.Request) { status(200, "hello")(w) })
	var connects atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "example.com:443" {
			status(400, "no")(w)
			return
		}
		connects.Add(1)
		up, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			return
		}
		defer up.Close()
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(up, conn) }()
		_, _ = io.Copy(conn, up)
	}))
	defer proxy.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestEnvironment$", "-test.count=1")
	cmd.Env = append(os.Environ(), mark+"=https://example.com", "HTTPS_PROXY="+proxy.URL, "SSL_CERT_FILE="+roots, "NO_PROXY=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if connects.Load() == 0 {
		t.Error("the proxy was not asked")
	}
}
