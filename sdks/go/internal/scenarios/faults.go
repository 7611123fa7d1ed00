package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	caudal "caudal.dev/client"
	"caudal.dev/client/caudaltest"
)

var faults = []scenario{
	{name: "long handler", play: alone(longHandler)},
	{name: "lost lease", play: alone(lostLease)},
	{name: "lost lease and a BPMN error", play: alone(lostLeaseAndError)},
	{name: "cancelled job", play: alone(cancelledJob)},
	{name: "progress", play: alone(progress)},
	{name: "worker killed", play: alone(workerKilled)},
	{name: "server restarted", play: serverRestarted},
	{name: "drain", play: alone(drain)},
	{name: "grace runs out", play: alone(graceRunsOut)},
	{name: "too large a result", play: alone(tooLargeAResult)},
	{name: "refused end", play: alone(refusedEnd)},
	{name: "overload", play: func() {
		// One poll may wait at a time: the others hear 503.
		inWorld(caudaltest.Options{Arguments: []string{"--limits-polls-parked", "1"}}, overload)
	}},
}

func longHandler(w world) {
	var registry caudal.Registry
	var calls atomic.Int32
	caudal.Handle(&registry, "work", func(ctx *caudal.JobContext, _ anything) (anything, error) {
		calls.Add(1)
		select {
		case <-time.After(6500 * time.Millisecond):
			return anything{"lost": false}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	// Two runners: a job whose lease ended would go to the other.
	for range 2 {
		defer w.work(&caudal.Runner{Registry: &registry, Lease: 5 * time.Second})()
	}
	isJSON(must(w.client.Wait(w.ctx, w.startWork(nil))).Variables, `{"lost": false}`)
	equal(calls.Load(), 1)
}

// lose runs a handler, takes its job away, and waits until it knows: why, and the instance.
func lose(w world, takeAway func(instance string)) (*caudal.Instance, error) {
	var registry caudal.Registry
	begun, told := make(chan struct{}, 2), make(chan error, 2)
	caudal.Handle(&registry, "work", func(ctx *caudal.JobContext, _ anything) (anything, error) {
		begun <- struct{}{}
		<-ctx.Done()
		told <- context.Cause(ctx)
		return anything{"by": "loser"}, nil
	})
	stop := w.work(&caudal.Runner{Registry: &registry, Lease: 5 * time.Second, MaxParallel: 1})
	id := w.startWork(nil)
	<-begun
	takeAway(id)
	cause := <-told
	stop()
	return must(w.client.Instance(w.ctx, id)), cause
}

func lostLease(w world) {
	instance, cause := lose(w, func(id string) {
		var registry caudal.Registry
		var taken atomic.Bool
		caudal.Handle(&registry, "work", func(*caudal.JobContext, anything) (anything, error) {
			taken.Store(true)
			return anything{"by": "winner"}, nil
		})
		defer w.workIn("winner", &caudal.Runner{Registry: &registry, Lease: time.Hour})()
		until("the winner has the job", func() bool {
			// The loser may extend its lease just as the clock moves.
			if !taken.Load() {
				check(w.Advance(30 * time.Second))
			}
			return taken.Load()
		})
		must(w.client.Wait(w.ctx, id))
	})
	equal(cause, caudal.ErrLeaseLost)
	isJSON(instance.Variables, `{"by": "winner"}`)
}

func lostLeaseAndError(w world) {
	// charging has a handler that says when it has begun, and ends when it may.
	charging := func(end error) (registry *caudal.Registry, begun, gate chan struct{}) {
		registry, begun, gate = new(caudal.Registry), make(chan struct{}, 2), make(chan struct{})
		caudal.Handle(registry, "charge-card", func(*caudal.JobContext, anything) (none, error) {
			begun <- struct{}{}
			<-gate
			return none{}, end
		})
		return registry, begun, gate
	}
	must(w.client.Deploy(w.ctx, file("charge.bpmn")))
	id := must(w.client.Start(w.ctx, caudal.Start{DefinitionID: "charge", Variables: anything{"customer": "ann"}})).ID
	// Its next sign of life is far off, so the loser is not told.
	loser, begun, gate := charging(&caudal.BPMNError{Code: "DECLINED"})
	leave, ended := w.begin("", &caudal.Runner{Registry: loser, Lease: 10 * time.Minute, MaxParallel: 1})
	<-begun
	check(w.Advance(11 * time.Minute))
	winner, taken, done := charging(nil)
	defer w.workIn("winner", &caudal.Runner{Registry: winner})()
	<-taken
	leave()
	close(gate)
	ended()
	equal(w.passed(id)["refused"], false)
	close(done)
	equal(must(w.client.Wait(w.ctx, id)).Status, caudal.StatusCompleted)
	equal(w.passed(id)["paid"], true)
}

func cancelledJob(w world) {
	instance, cause := lose(w, func(id string) { must(w.client.Cancel(w.ctx, id)) })
	equal(cause, caudal.ErrCancelled)
	isJSON(instance.Variables, `{}`)
}

// by is a registry whose handler says who it is.
func by(name string) *caudal.Registry {
	registry := new(caudal.Registry)
	caudal.Handle(registry, "work", func(*caudal.JobContext, anything) (anything, error) { return anything{"by": name}, nil })
	return registry
}

func progress(w world) {
	var registry caudal.Registry
	seen := make(chan *caudal.Progress, 2)
	caudal.Handle(&registry, "work", func(ctx *caudal.JobContext, _ anything) (none, error) {
		seen <- ctx.Job.Progress
		if ctx.Job.Progress != nil {
			return none{}, nil
		}
		check(ctx.Progress(40, "page 4 of 10", anything{"page": 4}))
		return none{}, errors.New("the printer is out of paper")
	})
	defer w.work(&caudal.Runner{Registry: &registry})()
	equal(must(w.client.Wait(w.ctx, w.startWork(nil))).Status, caudal.StatusCompleted)
	equal(<-seen == nil, true)
	second := <-seen
	equal([]any{*second.Percent, second.Message}, []any{40, "page 4 of 10"})
	isJSON(second.Data, `{"page": 4}`)
}

// workerProcess is a worker as a process of its own: handlers say `begun`, and return when the file is there.
func workerProcess(address, gate string) {
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(*caudal.JobContext, anything) (anything, error) {
		fmt.Println("begun")
		until("the gate opens", func() bool {
			_, err := os.Stat(gate)
			return err == nil
		})
		return anything{"by": "process"}, nil
	})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stdout, nil))
	check((&caudal.Runner{Registry: &registry, Engine: engine(address, ""), MaxParallel: 2, Logger: logger}).Run(ctx))
}

// bench has handlers that do nothing, so many at once.
func bench(address string, parallel int) {
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(*caudal.JobContext, none) (none, error) { return none{}, nil })
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	check((&caudal.Runner{Registry: &registry, Engine: engine(address, ""), MaxParallel: parallel}).Run(ctx))
}

// output is what a process has said so far.
type output struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (o *output) Write(said []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.text.Write(said)
}

func (o *output) wait(word string, times int) {
	until(fmt.Sprintf("it says %s %d times", word, times), func() bool {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		return strings.Count(o.text.String(), word) == times
	})
}

func startWorker(w world, gate string) (*exec.Cmd, *output) {
	said := new(output)
	worker := exec.Command(must(os.Executable()), "worker", w.address(), gate)
	worker.Stdout, worker.Stderr = said, os.Stderr
	check(worker.Start())
	return worker, said
}

func inFolder(use func(folder string)) {
	folder := must(os.MkdirTemp("", "scenario-"))
	defer func() { check(os.RemoveAll(folder)) }()
	use(folder)
}

func workerKilled(w world) {
	inFolder(func(folder string) {
		id := w.startWork(nil)
		worker, said := startWorker(w, filepath.Join(folder, "gate"))
		said.wait("begun", 1)
		check(worker.Process.Kill())
		_ = worker.Wait()
		check(w.Advance(61 * time.Second))
		defer w.work(&caudal.Runner{Registry: by("other")})()
		isJSON(must(w.client.Wait(w.ctx, id)).Variables, `{"by": "other"}`)
	})
}

func serverRestarted() {
	inFolder(func(folder string) {
		inWorld(caudaltest.Options{Store: "sqlite:" + folder}, func(w world) {
			var registry caudal.Registry
			begun, gate := make(chan struct{}, 2), make(chan struct{})
			caudal.Handle(&registry, "work", func(*caudal.JobContext, anything) (anything, error) {
				begun <- struct{}{}
				<-gate
				return anything{"done": true}, nil
			})
			defer w.work(&caudal.Runner{Registry: &registry})()
			id := w.startWork(nil)
			<-begun
			check(w.Kill())
			// Its end is reported to nobody at first.
			close(gate)
			check(w.Start())
			isJSON(must(w.client.Wait(w.ctx, id)).Variables, `{"done": true}`)
			equal(len(must(w.client.History(w.ctx, id))), 2)
			again := must(w.client.StartAndWait(w.ctx, caudal.Start{DefinitionID: "work"}))
			equal(again.Status, caudal.StatusCompleted)
		})
	})
}

func drain(w world) {
	inFolder(func(folder string) {
		ids := must(w.client.Submit(w.ctx, "work", "", make([]caudal.Submit, 3)...))
		gate := filepath.Join(folder, "gate")
		worker, said := startWorker(w, gate)
		said.wait("begun", 2)
		check(worker.Process.Signal(syscall.SIGTERM))
		said.wait("stopping", 1)
		check(os.WriteFile(gate, nil, 0o600))
		check(worker.Wait())
		var states []string
		for _, id := range ids {
			states = append(states, string(must(w.client.Execution(w.ctx, id)).State))
		}
		slices.Sort(states)
		left := "WAITING"
		if transport == "kafka" {
			// What was announced, and heard by nobody, counts as running.
			left = "RUNNING"
		}
		equal(states, []string{"COMPLETED", "COMPLETED", left})
	})
}

func graceRunsOut(w world) {
	var registry caudal.Registry
	begun, told, gate := make(chan struct{}), make(chan error), make(chan struct{})
	defer close(gate)
	caudal.Handle(&registry, "work", func(ctx *caudal.JobContext, _ anything) (none, error) {
		close(begun)
		<-ctx.Done()
		told <- context.Cause(ctx)
		// It does not care.
		<-gate
		return none{}, nil
	})
	// Whoever waits for the end of the lease waits too long.
	stop := w.work(&caudal.Runner{Registry: &registry, Lease: 10 * time.Minute, Grace: 100 * time.Millisecond})
	id := w.startWork(nil)
	<-begun
	stop()
	equal(<-told, caudal.ErrShutdown)
	defer w.work(&caudal.Runner{Registry: by("other")})()
	isJSON(must(w.client.Wait(w.ctx, id)).Variables, `{"by": "other"}`)
}

func tooLargeAResult(w world) {
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(_ *caudal.JobContext, in anything) (anything, error) {
		if in["small"] == true {
			return anything{"text": "x"}, nil
		}
		return anything{"text": strings.Repeat("x", 20_000_000)}, nil
	})
	defer w.work(&caudal.Runner{Registry: &registry, MaxParallel: 1})()
	failed(must(w.client.Wait(w.ctx, w.startWork(nil))), "the result was refused", "413")
	next := must(w.client.StartAndWait(w.ctx, caudal.Start{DefinitionID: "work", Variables: anything{"small": true}}))
	equal(next.Status, caudal.StatusCompleted)
}

func refusedEnd(w world) {
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(_ *caudal.JobContext, in anything) (none, error) {
		if in["later"] == true {
			return none{}, caudal.Snooze(10 * 365 * 24 * time.Hour)
		}
		return none{}, &caudal.BPMNError{Message: "it has no code"}
	})
	defer w.work(&caudal.Runner{Registry: &registry})()
	failed(must(w.client.Wait(w.ctx, w.startWork(anything{"later": true}))), "the snooze was refused", "year")
	failed(must(w.client.Wait(w.ctx, w.startWork(nil))), "the BPMN error was refused", "empty")
}

// failed tells whether an instance failed for good, by a reason with these words.
func failed(instance *caudal.Instance, words ...string) {
	equal(instance.Status, caudal.StatusFailed)
	for _, word := range append(words, "NotRetryable") {
		if !strings.Contains(instance.FailureReason, word) {
			panic(fmt.Sprintf("%q is not in the reason: %.300s", word, instance.FailureReason))
		}
	}
}

func overload(w world) {
	policy := strings.NewReader(`{"scope": "ACTION", "action": "work", "queue": {"maxLength": 2}}`)
	request := must(http.NewRequestWithContext(w.ctx, http.MethodPut, w.REST+"/v1/policies/short", policy))
	request.Header.Set("Content-Type", "application/json")
	check(must(http.DefaultClient.Do(request)).Body.Close())
	submitted := make(chan []string, 1)
	go func() {
		var ids []string
		for range 30 {
			ids = append(ids, must(w.client.Submit(w.ctx, "work", "", caudal.Submit{}))...)
		}
		submitted <- ids
	}()
	until("the third is refused: nobody takes them", func() bool {
		return w.metric(`caudal_commands_total{kind="submit",outcome="rejected"}`) > 0
	})
	var others caudal.Registry
	caudal.Handle(&others, "other", func(*caudal.JobContext, anything) (anything, error) { return nil, nil })
	var stops []func()
	for range 2 {
		stops = append(stops, w.work(&caudal.Runner{Registry: &others, PollWait: 30 * time.Second}))
	}
	until("a poll comes to its end without a job: it is refused", func() bool {
		return w.metric("job_poll_latency_seconds_count") > 0
	})
	defer w.work(&caudal.Runner{Registry: by("any")})()
	for _, stop := range stops {
		stop()
	}
	for _, id := range <-submitted {
		equal(must(w.client.WaitExecution(w.ctx, id)).State, caudal.StatusCompleted)
	}
}
