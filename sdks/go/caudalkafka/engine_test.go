package caudalkafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"google.golang.org/protobuf/proto"

	caudal "caudal.dev/client"
	"caudal.dev/client/internal/wire"
)

// server knows that job 2 is over; it is away as often as said.
type server struct {
	caudal.EngineClient
	away     int
	mutex    sync.Mutex
	released []string
}

func (s *server) Heartbeat(_ context.Context, _ string, _ time.Duration, beats []caudal.Beat) ([]caudal.Standing, error) {
	if s.away > 0 {
		s.away--
		return nil, &caudal.UnavailableError{Err: errors.New("away")}
	}
	standings := make([]caudal.Standing, len(beats))
	for i, beat := range beats {
		standings[i] = caudal.Held
		if beat.Job.ID == "2" {
			standings[i] = caudal.Completed
		}
	}
	return standings, nil
}

func (s *server) Release(_ context.Context, _ string, job *caudal.Job, _ time.Duration) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.released = append(s.released, job.ID)
	return nil
}

func (s *server) Close() error { return nil }

// listening has heard of jobs already.
func listening(t *testing.T, s *server, ids ...string) caudal.EngineClient {
	t.Helper()
	made, err := New("127.0.0.1:9", s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		made.(*engine).heard = append(made.(*engine).heard, &caudal.Job{ID: id})
	}
	return made
}

func TestJobsThatAreOverArePassedOver(t *testing.T) {
	made := listening(t, &server{away: 1}, "1", "2", "3")
	if _, err := made.Poll(t.Context(), caudal.Poll{}); !caudal.IsUnavailable(err) {
		t.Fatal(err)
	}
	// What was heard while the server was away is kept.
	jobs, err := made.Poll(t.Context(), caudal.Poll{})
	if err != nil || len(jobs) != 2 || jobs[0].ID != "1" || jobs[1].ID != "3" {
		t.Fatal(jobs, err)
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatWasHeardAndNotBegunIsGivenBack(t *testing.T) {
	s := new(server)
	if err := listening(t, s, "1", "2").Close(); err != nil || len(s.released) != 2 {
		t.Fatal(s.released, err)
	}
}

func TestAPasswordIsNotShown(t *testing.T) {
	options := Options{Client: []kgo.Opt{kgo.SASL(plain.Auth{User: "u", Pass: "secret"}.AsMechanism())}}
	made, err := New("127.0.0.1:9", new(server), options)
	if err != nil {
		t.Fatal(err)
	}
	if shown := fmt.Sprintf("%v %+v %#v %v %+v %#v", options, options, options, made, made, made); strings.Contains(shown, "secret") {
		t.Fatal(shown)
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestBrokersThatCannotBeAreRefused(t *testing.T) {
	for _, brokers := range []string{"", "kafka-1:9092,", "kafka-1:port"} {
		if _, err := New(brokers, new(server), Options{}); err == nil {
			t.Error(brokers)
		}
	}
}

func TestAnAnnouncementIsAJobWithEveryDigit(t *testing.T) {
	const variables = `{"n": 9007199254740993}`
	value, err := proto.Marshal(&wire.JobDispatchEvent{
		JobId: "1", JobType: "work", StepId: "do", RetriesRemaining: 2, Lease: 3, JobPayload: []byte(variables),
		Progress: []byte(`{"percent": 40}`), TraceContext: []byte(`{"traceparent": "00-1"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	job, err := jobOf(value)
	if err != nil || job.ID != "1" || job.Type != "work" || job.RetriesRemaining != 2 || string(job.Variables) != variables {
		t.Fatal(job, err)
	}
	if job.StepID != "do" || job.Lease != 3 || *job.Progress.Percent != 40 || job.TraceContext["traceparent"] != "00-1" {
		t.Fatal(job)
	}
	for _, noise := range []string{"no announcement", ""} {
		if _, err := jobOf([]byte(noise)); err == nil {
			t.Fatal(noise)
		}
	}
}
