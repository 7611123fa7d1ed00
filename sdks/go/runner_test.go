package caudal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	caudal "caudal.dev/client"
	"caudal.dev/client/caudaltest"
)

// fakeEngine hands out its jobs once and notes what is said. Each answer may be replaced by a failure, the next one first.
type fakeEngine struct {
	mutex    sync.Mutex
	jobs     []*caudal.Job
	late     *caudal.Job
	failures []error
	standing caudal.Standing
	// silent is a server that does not answer signs of life.
	silent bool
	// slow is how many jobs are given back before one of them hears that it was.
	slow *sync.WaitGroup
	// empty is one that never waits for a job.
	empty bool
	polls atomic.Int32
	asked chan struct{}
	said  chan string
}

func newEngine(failures ...error) *fakeEngine {
	job := &caudal.Job{ID: "1", Type: "work", Variables: json.RawMessage(`{"n": 1}`)}
	return &fakeEngine{
		jobs: []*caudal.Job{job}, failures: failures, standing: caudal.Held, asked: make(chan struct{}, 100), said: make(chan string, 100),
	}
}

func (e *fakeEngine) Poll(ctx context.Context, _ caudal.Poll) ([]*caudal.Job, error) {
	jobs := e.jobs
	e.jobs = nil
	e.polls.Add(1)
	if jobs != nil || e.empty {
		return jobs, nil
	}
	e.asked <- struct{}{}
	<-ctx.Done()
	if e.late != nil {
		return []*caudal.Job{e.late}, nil
	}
	return nil, &caudal.UnavailableError{Err: ctx.Err()}
}

func (e *fakeEngine) say(format string, words ...any) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	var failure error
	if len(e.failures) > 0 {
		failure, e.failures = e.failures[0], e.failures[1:]
	}
	e.said <- fmt.Sprintf(format, words...)
	return failure
}

func (e *fakeEngine) Complete(_ context.Context, _ string, job *caudal.Job, variables json.RawMessage) error {
	return e.say("complete %s %s", job.ID, variables)
}

func (e *fakeEngine) Fail(_ context.Context, _ string, _ *caudal.Job, failure caudal.Failure) error {
	return e.say("fail %s, %v, %s", failure.Message, failure.Retryable, failure.RetryAfter)
}

func (e *fakeEngine) ThrowError(_ context.Context, _ string, _ *caudal.Job, code, message string, variables json.RawMessage) error {
	return e.say("throw %s %s %s", code, message, variables)
}

func (e *fakeEngine) Heartbeat(ctx context.Context, _ string, _ time.Duration, beats []caudal.Beat) ([]caudal.Standing, error) {
	if e.silent {
		<-ctx.Done()
		return nil, &caudal.UnavailableError{Err: ctx.Err()}
	}
	standings := make([]caudal.Standing, len(beats))
	for i := range standings {
		standings[i] = e.standing
	}
	return standings, nil
}

func (e *fakeEngine) Release(ctx context.Context, _ string, job *caudal.Job, delay time.Duration) error {
	if e.slow != nil {
		e.slow.Done()
		e.slow.Wait()
		if deadline, has := ctx.Deadline(); !has || 5*time.Second < time.Until(deadline) {
			return e.say("release %s for ever", job.ID)
		}
	}
	return e.say("release %s %s", job.ID, delay)
}

func (e *fakeEngine) Close() error { panic("the engine belongs to whoever made it") }

type variables = map[string]any

type handler = func(*caudal.JobContext, variables) (any, error)

// run lets a runner work until use is done, and gives what it has said.
func run(t *testing.T, engine *fakeEngine, runner *caudal.Runner, handle handler, use func()) []string {
	t.Helper()
	registry := new(caudal.Registry)
	caudal.Handle(registry, "work", handle)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		runner.Registry, runner.Engine, runner.Logger = registry, engine, slog.New(slog.DiscardHandler)
		done <- runner.Run(ctx)
	}()
	use()
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	said := []string{}
	for len(engine.said) > 0 {
		said = append(said, <-engine.said)
	}
	return said
}

// sayings are the first so many things that are said of one job.
func sayings(t *testing.T, count int, handle handler, failures ...error) []string {
	t.Helper()
	engine := newEngine(failures...)
	var said []string
	run(t, engine, &caudal.Runner{}, handle, func() {
		for range count {
			said = append(said, <-engine.said)
		}
	})
	return said
}

func returning(result any, err error) handler {
	return func(*caudal.JobContext, variables) (any, error) { return result, err }
}

func same[T any](t *testing.T, seen, expected T) {
	t.Helper()
	if !reflect.DeepEqual(seen, expected) {
		t.Fatalf("%v instead of %v", seen, expected)
	}
}

func TestEveryEndOfAHandler(t *testing.T) {
	for expected, handle := range map[string]handler{
		`complete 1 {"m":2}`: returning(variables{"m": 2}, nil),
		`complete 1 {}`:      returning(nil, nil),
		`fail a handler must return an object of variables, false, 0s`: returning(5, nil),
		`fail odd, true, 0s`:               returning(nil, errors.New("odd")),
		`fail busy, true, 5s`:              returning(nil, caudal.RetryAfter(5*time.Second, errors.New("busy"))),
		`fail deep: never, false, 0s`:      returning(nil, fmt.Errorf("deep: %w", caudal.NonRetryable(errors.New("never")))),
		`throw E no {"a":1}`:               returning(nil, &caudal.BPMNError{Code: "E", Message: "no", Variables: variables{"a": 1}}),
		`release 1 5s`:                     returning(nil, caudal.Snooze(5*time.Second)),
		`fail panic: assignment, true, 0s`: func(*caudal.JobContext, variables) (any, error) { panic("assignment") },
	} {
		same(t, sayings(t, 1, handle), []string{expected})
	}
}

func TestAnEndIsSaidUntilItIsKnown(t *testing.T) {
	away := &caudal.UnavailableError{Err: errors.New("away")}
	done := "complete 1 {}"
	same(t, sayings(t, 3, returning(nil, nil), away, away), []string{done, done, done})
	same(t, sayings(t, 1, returning(nil, nil), &caudal.APIError{Status: 409}), []string{done})
}

func TestAResultThatIsRefusedIsAFailureForPeople(t *testing.T) {
	said := sayings(t, 2, returning(nil, nil), &caudal.APIError{Status: 413, Code: "TOO_LARGE", Message: "too large"})
	same(t, said[1], "fail the result was refused: too large (TOO_LARGE, 413), false, 0s")
}

func TestAnEndThatIsRefusedIsAFailureForPeople(t *testing.T) {
	refused := &caudal.APIError{Status: 400, Code: "BAD_REQUEST", Message: "no"}
	for expected, end := range map[string]error{
		"the snooze was refused: no (BAD_REQUEST, 400)":     caudal.Snooze(time.Hour),
		"the BPMN error was refused: no (BAD_REQUEST, 400)": &caudal.BPMNError{},
	} {
		same(t, sayings(t, 2, returning(nil, end), refused)[1], "fail "+expected+", false, 0s")
	}
	unwritable := &caudal.BPMNError{Code: "E", Variables: variables{"a": func() {}}}
	said := sayings(t, 1, returning(nil, unwritable))
	same(t, strings.HasPrefix(said[0], "fail the BPMN error was refused: "), true)
}

func TestAFailureThatIsRefusedIsSaidOnceMoreAndPlainly(t *testing.T) {
	refused := &caudal.APIError{Status: 400}
	failing := returning(nil, caudal.RetryAfter(time.Hour, errors.New("\xff\x00"+strings.Repeat("ä", 20_000))))
	engine := newEngine(refused, refused)
	said := run(t, engine, &caudal.Runner{}, failing, func() { <-engine.asked })
	same(t, len(said), 2)
	same(t, said[1], "fail \uFFFD\uFFFD"+strings.Repeat("ä", 9_998)+", true, 0s")
	lost := &caudal.APIError{Status: 404}
	same(t, sayings(t, 1, failing, lost), said[:1])
}

func TestAHandlerThatLostItsJobSaysNothing(t *testing.T) {
	engine := newEngine()
	engine.standing = caudal.Cancelled
	told := make(chan error)
	handle := func(ctx *caudal.JobContext, _ variables) (any, error) {
		<-ctx.Done()
		told <- context.Cause(ctx)
		return nil, nil
	}
	said := run(t, engine, &caudal.Runner{Lease: 6 * time.Second}, handle, func() { same(t, <-told, caudal.ErrCancelled) })
	same(t, said, []string{})
}

func TestAHandlerIsToldWhenItsLeaseMustBeOverThoughNobodyAnswers(t *testing.T) {
	engine := newEngine()
	engine.silent = true
	told := make(chan error)
	handle := func(ctx *caudal.JobContext, _ variables) (any, error) {
		<-ctx.Done()
		told <- context.Cause(ctx)
		return nil, nil
	}
	said := run(t, engine, &caudal.Runner{Lease: 30 * time.Millisecond}, handle, func() { same(t, <-told, caudal.ErrLeaseLost) })
	same(t, said, []string{})
}

func TestPollsThatDoNotWaitComeLessAndLessOften(t *testing.T) {
	engine := newEngine()
	engine.jobs, engine.empty = nil, true
	// Without a pause there would be thousands; a slow machine has fewer.
	run(t, engine, &caudal.Runner{PollWait: -1}, returning(nil, nil), func() { time.Sleep(300 * time.Millisecond) })
	if polls := engine.polls.Load(); polls >= 10 {
		t.Fatalf("%d polls", polls)
	}
}

func TestWhatDoesNotFinishInTimeIsGivenBack(t *testing.T) {
	engine, begun := newEngine(&caudal.UnavailableError{Err: errors.New("busy")}), make(chan struct{})
	handle := func(ctx *caudal.JobContext, _ variables) (any, error) {
		close(begun)
		<-ctx.Done()
		return nil, nil
	}
	said := run(t, engine, &caudal.Runner{Grace: time.Millisecond}, handle, func() { <-begun })
	same(t, said, []string{"release 1 0s", "release 1 0s"})
}

func TestAllThatIsLeftIsGivenBackTogether(t *testing.T) {
	const count = 3
	engine, begun, told := newEngine(), make(chan struct{}, count), make(chan error, count)
	engine.jobs, engine.slow = nil, new(sync.WaitGroup)
	for id := range count {
		engine.jobs = append(engine.jobs, &caudal.Job{ID: fmt.Sprint(id), Type: "work", Variables: json.RawMessage("{}")})
	}
	engine.slow.Add(count)
	gate := make(chan struct{})
	defer close(gate)
	handle := func(ctx *caudal.JobContext, _ variables) (any, error) {
		begun <- struct{}{}
		<-ctx.Done()
		told <- context.Cause(ctx)
		// It does not care.
		<-gate
		return nil, nil
	}
	said := run(t, engine, &caudal.Runner{Grace: time.Millisecond}, handle, func() {
		for range count {
			<-begun
		}
	})
	slices.Sort(said)
	same(t, said, []string{"release 0 0s", "release 1 0s", "release 2 0s"})
	for range count {
		same(t, <-told, caudal.ErrShutdown)
	}
}

func TestAJobThatComesTooLateIsGivenBack(t *testing.T) {
	engine := newEngine()
	engine.jobs, engine.late = nil, &caudal.Job{ID: "7", Type: "work"}
	said := run(t, engine, &caudal.Runner{}, returning(nil, errors.New("it was begun")), func() { <-engine.asked })
	same(t, said, []string{"release 7 0s"})
}

func TestAHandlerRunsWithoutAServer(t *testing.T) {
	registry := new(caudal.Registry)
	type input struct{ N int }
	caudal.Handle(registry, "double", func(ctx *caudal.JobContext, in input) (map[string]int, error) {
		return map[string]int{"n": in.N * 2}, ctx.Progress(50, "half", nil)
	})
	outcome, said := caudaltest.Run(t.Context(), registry, caudal.Job{Type: "double", Variables: json.RawMessage(`{"n": 2, "other": []}`)})
	same(t, string(outcome.Completed), `{"n":4}`)
	same(t, []any{len(said), *said[0].Percent}, []any{1, 50})
	outcome, _ = caudaltest.Run(t.Context(), registry, caudal.Job{Type: "double", Variables: json.RawMessage(`{"n": "2"}`)})
	same(t, *outcome.Failed, caudal.Failure{Message: "variables: json: cannot unmarshal string into Go struct field input.N of type int"})
}
