package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/camunda-community-hub/zeebe-client-go/v8/pkg/entities"
	"github.com/camunda-community-hub/zeebe-client-go/v8/pkg/worker"
)

// They run in this order.
var scenarios = []struct {
	name string
	run  func(*run)
}{
	{"the server answers topology", topology},
	{"deploy, and deploy the same again", deploy},
	{"deploy and evaluate a decision", decision},
	{"refuse a broken file", refuseBroken},
	{"refuse to start what was never deployed", refuseUnknown},
	{"work by polling", poll},
	{"work by streaming", stream},
	{"work with a streaming worker", streamingWorker},
	{"await a result", result},
	{"work side by side inside a sub-process", parallel},
	{"fail and try again", retry},
	{"fail until an incident, then resolve it", incident},
	{"throw an error nobody catches, then resolve it", throwError},
	{"set variables of a running instance", setVariables},
	{"cancel", cancel},
	{"a user task is done by a worker", userTask},
	{"deploy a form with the process that shows it", form},
	{"listeners are heard before and after a task", executionListeners},
}

func topology(r *run) {
	answer, err := r.client.NewTopologyCommand().Send(r.ctx)
	r.must(err, "topology")
	r.equal(answer.PartitionsCount, int32(1), "partitions")
}

func deploy(r *run) {
	command := r.client.NewDeployResourceCommand()
	for _, name := range []string{"order.bpmn", "decide.bpmn", "ship.bpmn"} {
		command = command.AddResourceFile(fixture(name))
	}
	first, err := command.Send(r.ctx)
	r.must(err, "deploy")
	r.equal(len(first.Deployments), 3, "deployed processes")
	again, err := r.client.NewDeployResourceCommand().AddResourceFile(fixture("order.bpmn")).Send(r.ctx)
	r.must(err, "deploy again")
	r.equal(again.Deployments[0].GetProcess().Version, int32(1), "version of the same file")
	r.equal(again.Deployments[0].GetProcess().ProcessDefinitionKey, first.Deployments[0].GetProcess().ProcessDefinitionKey, "key of the same file")
}

func decision(r *run) {
	deployed, err := r.client.NewDeployResourceCommand().AddResourceFile(fixture("fees.dmn")).Send(r.ctx)
	r.must(err, "deploy")
	r.equal(deployed.Deployments[1].GetDecision().DmnDecisionId, "fee", "deployed decision")
	command, err := r.client.NewEvaluateDecisionCommand().DecisionId("fee").VariablesFromMap(map[string]any{"amount": 10})
	r.must(err, "variables")
	evaluated, err := command.Send(r.ctx)
	r.must(err, "evaluate")
	r.equal(evaluated.DecisionOutput, "5", "output")
	r.equal(len(evaluated.EvaluatedDecisions), 2, "evaluated decisions")
	r.equal(evaluated.EvaluatedDecisions[1].MatchedRules[0].RuleId, "small", "the rule that matched")
	_, err = r.client.NewEvaluateDecisionCommand().DecisionId("nobody-knows-this").Send(r.ctx)
	r.equal(status.Code(err), codes.NotFound, "code")
}

func refuseBroken(r *run) {
	_, err := r.client.NewDeployResourceCommand().AddResourceFile(fixture("broken.bpmn")).Send(r.ctx)
	r.equal(status.Code(err), codes.InvalidArgument, "code")
}

func refuseUnknown(r *run) {
	_, err := r.client.NewCreateInstanceCommand().BPMNProcessId("nobody-knows-this").LatestVersion().Send(r.ctx)
	r.equal(status.Code(err), codes.NotFound, "code")
}

func poll(r *run) {
	var lock sync.Mutex
	seen := map[int64]map[string]any{}
	var instances []int64
	for amount := 0; amount < 5; amount++ {
		instances = append(instances, r.start("order", map[string]any{"amount": amount}))
	}
	working := r.client.NewJobWorker().JobType("collect-money").Handler(func(client worker.JobClient, job entities.Job) {
		variables, _ := job.GetVariablesAsMap()
		lock.Lock()
		seen[job.ProcessInstanceKey] = variables
		lock.Unlock()
		command, _ := client.NewCompleteJobCommand().JobKey(job.Key).VariablesFromMap(map[string]any{"collected": 2 * variables["amount"].(float64)})
		_, _ = command.Send(context.Background())
	}).RequestTimeout(time.Second).Open()
	defer working.Close()
	for _, instance := range instances {
		r.completed(instance)
	}
	lock.Lock()
	defer lock.Unlock()
	r.equal(len(seen), 5, "jobs")
	filter := byInstance(instances[4])
	filter["name"] = "collected"
	r.equal(r.only(r.search("variables", filter), "variables")["value"], "8", "the worker's variable")
}

// stream starts instances until five jobs were pushed: only what becomes available after the stream has opened is pushed.
func stream(r *run) {
	ctx, stop := context.WithCancel(r.ctx)
	defer stop()
	pushed := make(chan entities.Job, 100)
	ended := make(chan error, 1)
	go func() {
		ended <- r.client.NewStreamJobsCommand().JobType("collect-money").Consumer(pushed).WorkerName("streamer").Timeout(time.Minute).Send(ctx)
	}()
	waiting := map[int64]bool{}
	for taken := 0; taken < 5; {
		waiting[r.start("order", map[string]any{"amount": taken})] = true
		select {
		case job := <-pushed:
			r.equal(waiting[job.ProcessInstanceKey], true, "the pushed job is of an instance that waited for it")
			delete(waiting, job.ProcessInstanceKey)
			r.complete(job, map[string]any{"by": "stream"})
			r.equal(r.state(job.ProcessInstanceKey), "COMPLETED", "state")
			taken++
		case err := <-ended:
			r.fail("the stream ended: %v", err)
		case <-time.After(time.Second):
			// Nobody is told when it has opened: so another one is started.
		}
	}
	stop()
	for instance := range waiting {
		_, err := r.client.NewCancelInstanceCommand().ProcessInstanceKey(instance).Send(r.ctx)
		r.must(err, "cancel")
	}
}

func streamingWorker(r *run) {
	working := r.client.NewJobWorker().JobType("collect-money").Handler(func(client worker.JobClient, job entities.Job) {
		_, _ = client.NewCompleteJobCommand().JobKey(job.Key).Send(context.Background())
	}).StreamEnabled(true).RequestTimeout(time.Second).Open()
	defer working.Close()
	var instances []int64
	for amount := 0; amount < 20; amount++ {
		instances = append(instances, r.start("order", map[string]any{"amount": amount}))
	}
	for _, instance := range instances {
		r.completed(instance)
	}
}

func result(r *run) {
	complete := func(variables map[string]any) worker.JobHandler {
		return func(client worker.JobClient, job entities.Job) {
			command, _ := client.NewCompleteJobCommand().JobKey(job.Key).VariablesFromMap(variables)
			_, _ = command.Send(context.Background())
		}
	}
	check := r.client.NewJobWorker().JobType("check").Handler(complete(map[string]any{"limit": 100})).RequestTimeout(time.Second).Open()
	defer check.Close()
	approve := r.client.NewJobWorker().JobType("approve").Handler(complete(map[string]any{"approved": true})).RequestTimeout(time.Second).Open()
	defer approve.Close()

	command, err := r.client.NewCreateInstanceCommand().BPMNProcessId("decide").LatestVersion().VariablesFromMap(map[string]any{"amount": 250})
	r.must(err, "variables")
	large, err := command.WithResult().Send(r.ctx)
	r.must(err, "large")
	r.variables(large.Variables, map[string]any{"amount": 250.0, "limit": 100.0, "approved": true})

	command, err = r.client.NewCreateInstanceCommand().BPMNProcessId("decide").LatestVersion().VariablesFromMap(map[string]any{"amount": 5})
	r.must(err, "variables")
	small, err := command.WithResult().FetchVariables("limit").Send(r.ctx)
	r.must(err, "small")
	r.variables(small.Variables, map[string]any{"limit": 100.0})
}

func (r *run) variables(actual string, expected map[string]any) {
	var variables map[string]any
	r.must(json.Unmarshal([]byte(actual), &variables), "variables")
	r.equal(variables, expected, "variables of the result")
}

func parallel(r *run) {
	instance := r.start("ship", map[string]any{"items": []string{"a", "b"}})
	pack, label := r.job("pack"), r.job("label")
	variables, err := pack.GetVariablesAsMap()
	r.must(err, "variables")
	r.equal(variables["content"], []any{"a", "b"}, "the mapped input")
	r.complete(label, nil)
	r.equal(r.state(instance), "ACTIVE", "state while one of two tasks is open")
	r.complete(pack, map[string]any{"weight": 2})
	r.equal(r.state(instance), "COMPLETED", "state")
}

func retry(r *run) {
	instance := r.start("order", nil)
	first := r.job("collect-money")
	_, err := r.client.NewFailJobCommand().JobKey(first.Key).Retries(1).ErrorMessage("try again").Send(r.ctx)
	r.must(err, "fail")
	second := r.job("collect-money")
	r.equal([]int64{second.Key, int64(second.Retries)}, []int64{first.Key, 1}, "the job that came back")
	r.complete(second, nil)
	r.equal(r.state(instance), "COMPLETED", "state")
}

func incident(r *run) {
	instance := r.start("order", nil)
	job := r.job("collect-money")
	_, err := r.client.NewFailJobCommand().JobKey(job.Key).Retries(0).ErrorMessage("no money").Send(r.ctx)
	r.must(err, "fail")
	r.resolve(instance, job, "JOB_NO_RETRIES")
}

func throwError(r *run) {
	instance := r.start("order", nil)
	job := r.job("collect-money")
	_, err := r.client.NewThrowErrorCommand().JobKey(job.Key).ErrorCode("no-such-card").ErrorMessage("refused").Send(r.ctx)
	r.must(err, "throw")
	r.resolve(instance, job, "UNHANDLED_ERROR_EVENT")
}

// resolve expects one incident, resolves it, and finishes the instance.
func (r *run) resolve(instance int64, job entities.Job, errorType string) {
	trouble := r.only(r.search("incidents", byInstance(instance)), "incidents")
	r.equal(trouble["errorType"], errorType, "kind of incident")
	r.equal(trouble["state"], "ACTIVE", "state of the incident")
	_, err := r.client.NewUpdateJobRetriesCommand().JobKey(job.Key).Retries(1).Send(r.ctx)
	r.must(err, "update retries")
	_, err = r.client.NewResolveIncidentCommand().IncidentKey(r.key(trouble, "incidentKey")).Send(r.ctx)
	r.must(err, "resolve")
	r.equal(r.only(r.search("incidents", byInstance(instance)), "incidents")["state"], "RESOLVED", "incident after resolving")
	r.complete(r.job("collect-money"), nil)
	r.equal(r.state(instance), "COMPLETED", "state")
}

func setVariables(r *run) {
	instance := r.start("order", map[string]any{"amount": 1})
	command, err := r.client.NewSetVariablesCommand().ElementInstanceKey(instance).VariablesFromMap(map[string]any{"amount": 7})
	r.must(err, "variables")
	_, err = command.Send(r.ctx)
	r.must(err, "set variables")
	job := r.job("collect-money")
	r.variables(job.Variables, map[string]any{"amount": 7.0})
	r.complete(job, nil)
}

func cancel(r *run) {
	instance := r.start("order", nil)
	_, err := r.client.NewCancelInstanceCommand().ProcessInstanceKey(instance).Send(r.ctx)
	r.must(err, "cancel")
	r.equal(r.state(instance), "TERMINATED", "state")
	_, err = r.client.NewCancelInstanceCommand().ProcessInstanceKey(instance).Send(r.ctx)
	if err == nil {
		err = errors.New("an instance was cancelled twice")
	}
	r.equal(status.Code(err), codes.NotFound, "code")
}
