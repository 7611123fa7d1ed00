package caudal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	callMax        = 30 * time.Second
	addressDefault = "http://127.0.0.1:8080"
	// unaskedBytesMax is how much is sent without asking whether it may be: who refuses more hangs up before the end, and is not heard.
	unaskedBytesMax = 1 << 20
)

// Option is a way to speak to a server over REST.
type Option func(*transport)

// WithHTTPClient uses this client: for authorities and certificates of your own, and for proxies.
func WithHTTPClient(client *http.Client) Option { return func(t *transport) { t.client = client } }

// WithToken sends a bearer token.
func WithToken(token string) Option { return WithHeader("Authorization", "Bearer "+token) }

// WithHeader sends a header with every request, such as an API key.
func WithHeader(name, value string) Option { return func(t *transport) { t.header.Set(name, value) } }

// WithHeadersOf adds headers to every request by its context, such as those of a trace.
func WithHeadersOf(add func(ctx context.Context, header http.Header)) Option {
	return func(t *transport) { t.headersOf = add }
}

// WithPatience is for how long a [Client] repeats requests while the server is away or busy; 30 seconds without it.
func WithPatience(patience time.Duration) Option { return func(t *transport) { t.patience = patience } }

type transport struct {
	address  string
	client   *http.Client
	header   http.Header
	patience time.Duration
	// headersOf may be nil.
	headersOf func(context.Context, http.Header)
	// unusable is why no request can be sent.
	unusable error
}

func newTransport(address string, options []Option) *transport {
	// As many kept connections as there may be handlers: the default keeps two.
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = 100
	t := &transport{
		address:  strings.TrimRight(or(address, addressDefault), "/"),
		client:   &http.Client{Transport: pool},
		header:   http.Header{"Accept": {"application/json"}},
		patience: 30 * time.Second,
	}
	for _, option := range options {
		option(t)
	}
	t.unusable = t.check()
	return t
}

// check looks for what would never work, but would look like a server that is away. It does not repeat what may be secret.
func (t *transport) check() error {
	parsed, err := url.Parse(t.address)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Hostname() == "" || parsed.RawQuery+parsed.Fragment != "" {
		given := t.address[strings.LastIndex(t.address, "@")+1:]
		return fmt.Errorf("caudal: the address %q is not one such as %s", given, addressDefault)
	}
	if port, err := strconv.ParseUint(or(parsed.Port(), "80"), 10, 16); err != nil || port == 0 {
		return fmt.Errorf("caudal: there is no port %s", parsed.Port())
	}
	for name, values := range t.header {
		if name == "" || strings.ContainsAny(name, " \t\r\n:") {
			return fmt.Errorf("caudal: no header has the name %q", name)
		}
		if strings.ContainsFunc(strings.Join(values, ""), func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			return fmt.Errorf("caudal: the header %s has a character that no header may have", name)
		}
	}
	return nil
}

type request struct {
	method, path   string
	body           any
	content        []byte
	contentType    string
	idempotencyKey string
	within         time.Duration
}

// call sends a request and reads the JSON of the answer into result, unless that is nil.
func (t *transport) call(ctx context.Context, r request, result any) error {
	if t.unusable != nil {
		return t.unusable
	}
	ctx, cancel := context.WithTimeout(ctx, max(r.within, callMax))
	defer cancel()
	content, contentType := r.content, r.contentType
	if r.body != nil {
		var err error
		if content, err = json.Marshal(r.body); err != nil {
			return err
		}
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, t.address+r.path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	sent.Header = t.header.Clone()
	if contentType == "" {
		contentType = "application/json"
	}
	sent.Header.Set("Content-Type", contentType)
	if r.idempotencyKey != "" {
		sent.Header.Set("Idempotency-Key", r.idempotencyKey)
	}
	if unaskedBytesMax < len(content) {
		sent.Header.Set("Expect", "100-continue")
	}
	if t.headersOf != nil {
		t.headersOf(ctx, sent.Header)
	}
	answer, err := t.client.Do(sent)
	if err != nil {
		return &UnavailableError{Err: err}
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return &UnavailableError{Err: fmt.Errorf("%s %s: %w", r.method, r.path, err)}
	}
	if answer.StatusCode < 200 || 299 < answer.StatusCode {
		return refusal(answer, text)
	}
	if result == nil || len(text) == 0 {
		return nil
	}
	err = json.Unmarshal(text, result)
	var noJSON *json.SyntaxError
	if errors.As(err, &noJSON) {
		// A proxy in between answers for a server that is away.
		return &UnavailableError{Err: fmt.Errorf("%s %s: the answer is no JSON: %w", r.method, r.path, err)}
	}
	return err
}

func refusal(answer *http.Response, text []byte) error {
	var body struct{ Error, Title, Message, Detail string }
	// A proxy in between may answer in other words than the server's.
	if json.Unmarshal(text, &body) != nil {
		body.Message = string(text)
	}
	refused := &APIError{Status: answer.StatusCode, Code: body.Error + body.Title, Message: body.Message + body.Detail}
	if !mayWorkLater(answer.StatusCode) {
		return refused
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return &UnavailableError{RetryAfter: time.Duration(seconds) * time.Second, Err: refused}
}

func mayWorkLater(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented:
		return false
	default:
		return 500 <= status
	}
}
