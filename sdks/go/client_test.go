package caudal_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	caudal "caudal.dev/client"
)

type answer struct {
	status int // 0 is a connection that breaks
	body   string
}

// answered is a client whose requests get these answers, one after the other; and the idempotency keys it sends.
func answered(t *testing.T, answers ...answer) (*caudal.Client, func() []string) {
	t.Helper()
	keys := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := answers[0]
		answers = answers[1:]
		keys <- r.Header.Get("Idempotency-Key")
		if next.status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(next.status)
		_, _ = w.Write([]byte(next.body))
	}))
	t.Cleanup(server.Close)
	return caudal.NewClient(server.URL), func() []string {
		var all []string
		for len(keys) > 0 {
			all = append(all, <-keys)
		}
		return all
	}
}

func TestEveryCommandIsRepeatedWithItsKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.bpmn")
	if err := os.WriteFile(file, []byte("<a/>"), 0o600); err != nil {
		t.Fatal(err)
	}
	step := caudal.Step{InstanceID: "1", StepID: "s"}
	for name, command := range map[string]func(context.Context, *caudal.Client) error{
		"upload":             func(ctx context.Context, c *caudal.Client) error { _, err := c.Upload(ctx, "{}"); return err },
		"deploy":             func(ctx context.Context, c *caudal.Client) error { _, err := c.Deploy(ctx, file); return err },
		"start":              func(ctx context.Context, c *caudal.Client) error { _, err := c.Start(ctx, caudal.Start{}); return err },
		"cancel":             func(ctx context.Context, c *caudal.Client) error { _, err := c.Cancel(ctx, "1"); return err },
		"retry":              func(ctx context.Context, c *caudal.Client) error { _, err := c.Retry(ctx, "1"); return err },
		"complete user task": func(ctx context.Context, c *caudal.Client) error { return c.CompleteUserTask(ctx, step, "ann", nil) },
		"signal":             func(ctx context.Context, c *caudal.Client) error { return c.Signal(ctx, step, nil) },
		"broadcast signal":   func(ctx context.Context, c *caudal.Client) error { return c.BroadcastSignal(ctx, "s", nil) },
		"publish":            func(ctx context.Context, c *caudal.Client) error { return c.Publish(ctx, caudal.Message{}) },
		"submit": func(ctx context.Context, c *caudal.Client) error {
			_, err := c.Submit(ctx, "a", "", caudal.Submit{})
			return err
		},
		"cancel execution": func(ctx context.Context, c *caudal.Client) error { return c.CancelExecution(ctx, "1") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, keys := answered(t, answer{}, answer{429, "{}"}, answer{500, "{}"}, answer{200, "{}"})
			if err := command(t.Context(), client); err != nil {
				t.Fatal(err)
			}
			sent := keys()
			same(t, sent, []string{sent[0], sent[0], sent[0], sent[0]})
			same(t, sent[0] != "", true)
		})
	}
}

func TestWhichAnswersMayBeOthersLater(t *testing.T) {
	for status, isLater := range map[int]bool{
		400: false, 401: false, 404: false, 408: true, 409: false, 413: false, 429: true,
		500: true, 501: false, 502: true, 503: true, 504: true, 507: true, 599: true,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		err := caudal.REST(server.URL).Complete(t.Context(), "w", &caudal.Job{ID: "1"}, nil)
		server.Close()
		if err == nil || caudal.IsUnavailable(err) != isLater {
			t.Error(status, err)
		}
	}
}

func TestAPageOfSomebodyElseIsNotTheServersAnswer(t *testing.T) {
	client, _ := answered(t, answer{200, "<html>"}, answer{200, `{"id": "1"}`})
	if _, err := client.Instance(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
}

func TestALargeBodyIsNotSentUnasked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = w.Write([]byte(r.Header.Get("Expect")))
	}))
	t.Cleanup(server.Close)
	variables, _ := json.Marshal(map[string]string{"text": strings.Repeat("x", 20_000_000)})
	err := caudal.REST(server.URL).Complete(t.Context(), "w", &caudal.Job{ID: "1"}, variables)
	same(t, err.Error(), "100-continue (, 413)")
}

// sent is what a transport sends a request with, and to where.
type sent func(*http.Request)

func (s sent) RoundTrip(r *http.Request) (*http.Response, error) {
	s(r)
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
}

func TestAnErrorIsThrownForALease(t *testing.T) {
	var seen string
	over := caudal.WithHTTPClient(&http.Client{Transport: sent(func(r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = r.URL.Path + " " + string(body)
	})})
	if err := caudal.REST("", over).ThrowError(t.Context(), "w", &caudal.Job{ID: "7", Lease: 3}, "E", "no", json.RawMessage(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	same(t, seen, `/v1/jobs/7/error {"errorCode":"E","errorMessage":"no","lease":3,"variables":{"a":1},"workerId":"w"}`)
}

func TestAnAddressThatIsLeftOutIsThisMachine(t *testing.T) {
	var host string
	over := caudal.WithHTTPClient(&http.Client{Transport: sent(func(r *http.Request) { host = r.URL.Scheme + "://" + r.URL.Host })})
	if _, err := caudal.NewClient("", over).Instance(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	same(t, host, "http://127.0.0.1:8080")
}

func TestWhatCannotBeUsedIsRefusedAtOnce(t *testing.T) {
	for _, address := range []string{
		"127.0.0.1:8080", "localhost:8080", "localhost", "ftp://a", "http://", "http://:8080", "http://a:99999", "http://a:0", "http://a b", "http://a\n",
		"http://a?b=c", "u:secret@a:8080", "ftp://u:secret@a",
	} {
		refusedAtOnce(t, address)
	}
	refusedAtOnce(t, "http://127.0.0.1:9", caudal.WithToken("secret\n"))
	refusedAtOnce(t, "http://127.0.0.1:9", caudal.WithHeader("X Key", "secret"))
}

func refusedAtOnce(t *testing.T, address string, options ...caudal.Option) {
	t.Helper()
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(*caudal.JobContext, struct{}) (any, error) { return nil, nil })
	_, err := caudal.NewClient(address, options...).Instance(t.Context(), "1")
	runner := caudal.Runner{Registry: &registry, Engine: caudal.REST(address, options...), Logger: slog.New(slog.DiscardHandler)}
	for _, err := range []error{err, runner.Run(t.Context())} {
		if err == nil || caudal.IsUnavailable(err) || strings.Contains(err.Error(), "secret") {
			t.Error(address, err)
		}
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	options := []caudal.Option{caudal.WithToken("secret"), caudal.WithHeader("X-Api-Key", "secret"), caudal.WithPatience(0)}
	client, engine := caudal.NewClient("http://u:secret@127.0.0.1:9", options...), caudal.REST("http://u:secret@127.0.0.1:9", options...)
	_, err := client.Instance(t.Context(), "1")
	shown := fmt.Sprintf("%v %+v %#v %v %+v %#v %#v %v", client, client, client, engine, engine, engine, options, err)
	same(t, strings.Contains(shown, "secret"), false)
}

func TestRefusalsHaveTheServersWords(t *testing.T) {
	client, _ := answered(t, answer{404, `{"error": "NOT_FOUND", "message": "no such workflow"}`})
	_, err := client.Start(t.Context(), caudal.Start{DefinitionID: "a"})
	same(t, caudal.IsNotFound(err), true)
	same(t, err.Error(), "no such workflow (NOT_FOUND, 404)")
}

func TestAServerThatIsNotThere(t *testing.T) {
	client := caudal.NewClient("http://127.0.0.1:9", caudal.WithPatience(time.Nanosecond))
	_, err := client.Start(t.Context(), caudal.Start{DefinitionID: "a"})
	same(t, caudal.IsUnavailable(err), true)
}
