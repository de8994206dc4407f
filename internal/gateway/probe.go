package gateway

import (
	"context"
	"net/http"
)

// Probe asks an address behind the gateway once and gives the status of the
// answer. The error of one without holds the address.
func Probe(ctx context.Context, address string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	transport := &http.Transport{} // to loopback, past every proxy
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
