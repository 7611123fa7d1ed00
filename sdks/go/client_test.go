package caudal_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	caudal "caudal.dev/client"
)

const started = `{"processInstanceKey": "1", "processDefinitionId": "a", "processDefinitionVersion": 1}`

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

func TestAStartIsRepeatedWithItsKey(t *testing.T) {
	client, keys := answered(t, answer{}, answer{504, "{}"}, answer{201, started})
	done, err := client.Start(t.Context(), caudal.Start{DefinitionID: "a"})
	if err != nil || done.ID != "1" {
		t.Fatal(done, err)
	}
	sent := keys()
	same(t, sent, []string{sent[0], sent[0], sent[0]})
}

func TestAStartThatWasRefusedGetsAnotherKey(t *testing.T) {
	client, keys := answered(t, answer{429, "{}"}, answer{201, started})
	if _, err := client.Start(t.Context(), caudal.Start{DefinitionID: "a"}); err != nil {
		t.Fatal(err)
	}
	sent := keys()
	same(t, []bool{len(sent) == 2, sent[0] != sent[1]}, []bool{true, true})
}

func TestAnUploadWithoutAnAnswerIsNotRepeated(t *testing.T) {
	client, keys := answered(t, answer{}, answer{201, "{}"})
	_, err := client.Upload(t.Context(), map[string]any{"id": "a"})
	if err == nil || !strings.Contains(err.Error(), "not known") {
		t.Fatal(err)
	}
	same(t, len(keys()), 1)
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
