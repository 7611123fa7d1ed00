package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	caudal "caudal.dev/client"
)

type none = struct{}

type anything = map[string]any

var everyday = []scenario{
	{name: "happy path", play: alone(happyPath)},
	{name: "typed variables", play: alone(typedVariables)},
	{name: "retries", play: alone(retries)},
	{name: "non-retryable", play: alone(nonRetryable)},
	{name: "parallelism", play: alone(parallelism)},
	{name: "snooze", play: alone(snooze)},
	{name: "large variables", play: alone(largeVariables)},
	{name: "unicode", play: alone(func(w world) { echo(w, "unicode.json") })},
	{name: "numbers beyond 2^53", play: alone(func(w world) { echo(w, "numbers.json") })},
	{name: "bpmn", play: alone(bpmn)},
	{name: "people and signals", play: alone(peopleAndSignals)},
	{name: "start once", play: alone(startOnce)},
	{name: "executions", play: alone(executions)},
	{name: "trace", play: alone(traceContext)},
	{name: "tls", play: secured},
}

func happyPath(w world) {
	type input struct{ A, B int }
	type output struct {
		Sum int `json:"sum"`
	}
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(ctx *caudal.JobContext, in input) (output, error) {
		if ctx.Job.StepID != "do" {
			return output{}, fmt.Errorf("the step is %q", ctx.Job.StepID)
		}
		return output{in.A + in.B}, nil
	})
	defer w.work(&caudal.Runner{Registry: &registry})()
	instance := must(w.client.Wait(w.ctx, w.startWork(anything{"a": 1, "b": 2})))
	equal(instance.Status, caudal.StatusCompleted)
	isJSON(instance.Variables, `{"a": 1, "b": 2, "sum": 3}`)
}

type line struct {
	Article string `json:"article"`
	Count   int    `json:"count"`
}

type order struct {
	Customer string    `json:"customer"`
	Placed   time.Time `json:"placed"`
	Lines    []line    `json:"lines"`
	Note     *string   `json:"note,omitempty"`
}

type bill struct {
	Pieces int    `json:"pieces"`
	Lines  []line `json:"lines"`
}

func typedVariables(w world) {
	placed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(_ *caudal.JobContext, in order) (bill, error) {
		if !in.Placed.Equal(placed) || in.Note != nil {
			return bill{}, fmt.Errorf("something else came: %v", in)
		}
		out := bill{Lines: in.Lines}
		for _, line := range in.Lines {
			out.Pieces += line.Count
		}
		return out, nil
	})
	defer w.work(&caudal.Runner{Registry: &registry})()
	good := must(w.client.Wait(w.ctx, w.startWork(order{Customer: "ann", Placed: placed, Lines: []line{{"pen", 2}, {"ink", 3}}})))
	var seen bill
	check(json.Unmarshal(good.Variables, &seen))
	equal(seen, bill{5, []line{{"pen", 2}, {"ink", 3}}})
	bad := must(w.client.StartAndWait(w.ctx, caudal.Start{DefinitionID: "work", Variables: anything{"lines": "none"}}))
	equal(bad.Status, caudal.StatusFailed)
	equal(strings.HasPrefix(bad.FailureReason, "NotRetryable") && strings.Contains(bad.FailureReason, "lines"), true)
}

func retries(w world) {
	var registry caudal.Registry
	var left []int
	caudal.Handle(&registry, "work", func(ctx *caudal.JobContext, _ anything) (none, error) {
		left = append(left, ctx.Job.RetriesRemaining)
		if len(left) < 3 {
			return none{}, errors.New("the bureau is closed")
		}
		return none{}, nil
	})
	stop := w.work(&caudal.Runner{Registry: &registry})
	instance := must(w.client.Wait(w.ctx, w.startWork(nil)))
	stop()
	equal(left, []int{3, 2, 1})
	attempts := ""
	for _, one := range must(w.client.History(w.ctx, instance.ID)) {
		if one.StepID == "do" {
			attempts += fmt.Sprint(one.AttemptNumber, " ", one.Status, " ")
		}
	}
	equal(attempts, "1 FAILED 2 FAILED 3 COMPLETED ")
}

func nonRetryable(w world) {
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(*caudal.JobContext, anything) (none, error) {
		return none{}, caudal.NonRetryable(errors.New("no such account"))
	})
	defer w.work(&caudal.Runner{Registry: &registry})()
	instance := must(w.client.Wait(w.ctx, w.startWork(nil)))
	equal(instance.Status, caudal.StatusFailed)
	equal(instance.FailureReason, "NotRetryable: step 'do': no such account")
}

func parallelism(w world) {
	var registry caudal.Registry
	var now, most atomic.Int32
	three := make(chan struct{})
	full := sync.OnceFunc(func() { close(three) })
	caudal.Handle(&registry, "work", func(ctx *caudal.JobContext, _ anything) (none, error) {
		running := now.Add(1)
		defer now.Add(-1)
		most.Store(max(most.Load(), running))
		if running == 3 {
			full()
		}
		select {
		case <-three:
			return none{}, nil
		case <-ctx.Done():
			return none{}, ctx.Err()
		}
	})
	defer w.work(&caudal.Runner{Registry: &registry, MaxParallel: 3})()
	for _, id := range must(w.client.Submit(w.ctx, "work", "", make([]caudal.Submit, 12)...)) {
		equal(must(w.client.WaitExecution(w.ctx, id)).State, caudal.StatusCompleted)
	}
	equal(most.Load(), 3)
}

func snooze(w world) {
	var registry caudal.Registry
	calls := make(chan int, 10)
	first := true
	caudal.Handle(&registry, "work", func(ctx *caudal.JobContext, _ anything) (none, error) {
		calls <- ctx.Job.RetriesRemaining
		if first {
			first = false
			return none{}, caudal.Snooze(time.Hour)
		}
		return none{}, nil
	})
	defer w.work(&caudal.Runner{Registry: &registry})()
	id := must(w.client.Submit(w.ctx, "work", "", caudal.Submit{}))[0]
	state := func() caudal.Status { return must(w.client.Execution(w.ctx, id)).State }
	equal(<-calls, 2)
	until("it is put off", func() bool { return state() == caudal.StatusWaiting })
	check(w.Advance(59 * time.Minute))
	equal(state(), caudal.StatusWaiting)
	check(w.Advance(2 * time.Minute))
	equal(must(w.client.WaitExecution(w.ctx, id)).State, caudal.StatusCompleted)
	equal(<-calls, 2)
	equal(len(calls), 0)
}

func largeVariables(w world) {
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(_ *caudal.JobContext, in anything) (anything, error) {
		return anything{"text": nil, "copy": in["text"]}, nil
	})
	defer w.work(&caudal.Runner{Registry: &registry})()
	text := strings.Repeat("x", 3_000_000)
	instance := must(w.client.Wait(w.ctx, w.startWork(anything{"text": text})))
	equal(read(instance.Variables)["copy"] == text, true)
}

func echo(w world, name string) {
	given := read(must(os.ReadFile(file(name))))
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(_ *caudal.JobContext, in anything) (anything, error) {
		return anything{"copy": in}, nil
	})
	defer w.work(&caudal.Runner{Registry: &registry})()
	instance := must(w.client.Wait(w.ctx, w.startWork(given)))
	expected := maps.Clone(given)
	expected["copy"] = given
	equal(read(instance.Variables), expected)
}

func bpmn(w world) {
	var registry caudal.Registry
	caudal.Handle(&registry, "charge-card", func(*caudal.JobContext, anything) (none, error) {
		return none{}, &caudal.BPMNError{Code: "DECLINED", Message: "the card was declined", Variables: anything{"reason": "limit"}}
	})
	defer w.work(&caudal.Runner{Registry: &registry})()
	equal(must(w.client.Deploy(w.ctx, file("charge.bpmn"))), []caudal.Deployed{{ID: "charge", Version: 1}})
	check(w.client.Publish(w.ctx, caudal.Message{Name: "customer-called", CorrelationKey: "ann", Variables: anything{"settled": true}}))
	instance := must(w.client.StartAndWait(w.ctx, caudal.Start{DefinitionID: "charge", Variables: anything{"customer": "ann"}}))
	equal(instance.Status, caudal.StatusCompleted)
	equal(read(instance.Variables)["settled"], any(true))
	steps := w.passed(instance.ID)
	equal([]bool{steps["settled"], steps["paid"]}, []bool{true, false})
}

func peopleAndSignals(w world) {
	deployed := must(w.client.Deploy(w.ctx, file("talk.json"), file("talk.json")))
	equal(deployed, []caudal.Deployed{{ID: "talk", Version: 1}, {ID: "talk", Version: 2}})
	id := must(w.client.Start(w.ctx, caudal.Start{DefinitionID: "talk", BusinessKey: "b-1"})).ID
	equal(must(w.client.Instance(w.ctx, id)).CurrentStepIDs, []string{"review"})
	paid := caudal.Step{InstanceID: id, StepID: "paid"}
	equal(caudal.IsConflict(w.client.Signal(w.ctx, paid, anything{"sum": 1})), true)
	paid.Buffer = true
	check(w.client.Signal(w.ctx, paid, anything{"sum": 2}))
	check(w.client.CompleteUserTask(w.ctx, caudal.Step{InstanceID: id, StepID: "review"}, "anna", anything{"approved": true}))
	isJSON(must(w.client.Wait(w.ctx, id)).Variables, `{"approved": true, "sum": 2}`)
	other := must(w.client.Start(w.ctx, caudal.Start{DefinitionID: "talk"})).ID
	equal(must(w.client.Cancel(w.ctx, other)).Status, caudal.StatusCancelled)
	found := must(w.client.Instances(w.ctx, caudal.InstanceFilter{BusinessKey: "b-1"}))
	equal([]any{found.Total, found.Items[0].ID}, []any{1, id})
	filter := caudal.InstanceFilter{DefinitionID: "talk", Status: caudal.StatusCancelled}
	equal(must(w.client.Instances(w.ctx, filter)).Total, 1)
	equal(must(w.client.Definitions(w.ctx, "talk", 0, 20)).Items, []caudal.Deployed{{ID: "talk", Version: 2}})
	document := read(must(os.ReadFile(file("talk.json"))))
	equal(read(must(w.client.Definition(w.ctx, "talk", 0)))["steps"], document["steps"])
	steps := ""
	for _, one := range must(w.client.History(w.ctx, id)) {
		steps += one.StepID + " "
	}
	equal(steps, "review paid end ")
	must(w.client.Deploy(w.ctx, file("approval.bpmn")))
	process := must(w.client.Start(w.ctx, caudal.Start{DefinitionID: "approval"})).ID
	check(w.client.CompleteUserTask(w.ctx, caudal.Step{InstanceID: process, StepID: "approve"}, "anna", anything{"approved": true}))
	isJSON(must(w.client.Wait(w.ctx, process)).Variables, `{"approved": true}`)
}

func startOnce(w world) {
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(*caudal.JobContext, anything) (anything, error) { return anything{"result": 7}, nil })
	defer w.work(&caudal.Runner{Registry: &registry})()
	must(w.client.Deploy(w.ctx, file("work.json")))
	start := caudal.Start{DefinitionID: "work", Variables: anything{"n": 1}, IdempotencyKey: "order-1"}
	first := must(w.client.Start(w.ctx, start))
	equal(must(w.client.Start(w.ctx, start)), first)
	done := must(w.client.StartAndWait(w.ctx, caudal.Start{DefinitionID: "work", IdempotencyKey: "order-2"}))
	isJSON(done.Variables, `{"result": 7}`)
	equal(must(w.client.Instances(w.ctx, caudal.InstanceFilter{DefinitionID: "work"})).Total, 2)
}

func executions(w world) {
	type input struct {
		N int `json:"n"`
	}
	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(_ *caudal.JobContext, in input) (anything, error) {
		return anything{"square": in.N * in.N}, nil
	})
	defer w.work(&caudal.Runner{Registry: &registry})()
	given := make([]caudal.Submit, 100)
	for n := range given {
		given[n].Input = input{n}
	}
	ids := must(w.client.Submit(w.ctx, "work", "k", given...))
	equal(must(w.client.Submit(w.ctx, "work", "k", given...)), ids)
	for n, id := range ids {
		isJSON(must(w.client.WaitExecution(w.ctx, id)).Result, fmt.Sprintf(`{"square": %d}`, n*n))
	}
}
