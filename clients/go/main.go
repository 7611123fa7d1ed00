// Package main runs named scenarios with zeebe-client-go (gRPC) and prints one line for each: `ok NAME`, or `FAIL NAME: why`.
// The client finds the server by ZEEBE_ADDRESS and ZEEBE_INSECURE_CONNECTION. It cannot search, so states are read over plain REST.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"time"

	"github.com/camunda-community-hub/zeebe-client-go/v8/pkg/entities"
	"github.com/camunda-community-hub/zeebe-client-go/v8/pkg/zbc"
)

const scenarioMax = 30 * time.Second

// run is what a scenario works with. Its methods end the scenario when something is not as expected.
type run struct {
	client zbc.Client
	ctx    context.Context
}

// failure ends a scenario.
type failure struct{ why string }

func main() {
	client, err := zbc.NewClient(&zbc.ClientConfig{GatewayAddress: "127.0.0.1:26500", UsePlaintextConnection: true})
	if err != nil {
		fmt.Println("FAIL connect:", err)
		os.Exit(1)
	}
	failures := 0
	for _, scenario := range scenarios {
		began := time.Now()
		if why := attempt(client, scenario.run); why != "" {
			failures++
			fmt.Printf("FAIL %s: %s\n", scenario.name, why)
		} else {
			fmt.Printf("ok %s (%.2f s)\n", scenario.name, time.Since(began).Seconds())
		}
	}
	if failures > 0 {
		os.Exit(1)
	}
}

// attempt gives the reason why the scenario failed, or nothing.
func attempt(client zbc.Client, scenario func(*run)) (why string) {
	ctx, cancel := context.WithTimeout(context.Background(), scenarioMax)
	defer cancel()
	defer func() {
		if caught := recover(); caught != nil {
			failed, expected := caught.(failure)
			if !expected {
				panic(caught)
			}
			why = failed.why
		}
	}()
	scenario(&run{client, ctx})
	return ""
}

func (r *run) fail(format string, words ...any) {
	panic(failure{fmt.Sprintf(format, words...)})
}

func (r *run) must(err error, what string) {
	if err != nil {
		r.fail("%s: %v", what, err)
	}
}

func (r *run) equal(actual, expected any, what string) {
	if !reflect.DeepEqual(actual, expected) {
		r.fail("%s: expected %v, got %v", what, expected, actual)
	}
}

// until waits for a condition.
func (r *run) until(condition func() bool, what string) {
	for !condition() {
		select {
		case <-r.ctx.Done():
			r.fail("did not come to pass: %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// start gives the key of a new instance.
func (r *run) start(process string, variables map[string]any) int64 {
	command, err := r.client.NewCreateInstanceCommand().BPMNProcessId(process).LatestVersion().VariablesFromMap(variables)
	r.must(err, "variables")
	started, err := command.Send(r.ctx)
	r.must(err, "start "+process)
	return started.ProcessInstanceKey
}

// job takes one job by polling.
func (r *run) job(jobType string) entities.Job {
	ctx, cancel := context.WithTimeout(r.ctx, 10*time.Second)
	defer cancel()
	jobs, err := r.client.NewActivateJobsCommand().JobType(jobType).MaxJobsToActivate(1).Timeout(time.Minute).WorkerName("poller").Send(ctx)
	r.must(err, "activate "+jobType)
	r.equal(len(jobs), 1, "jobs of type "+jobType)
	return jobs[0]
}

func (r *run) complete(job entities.Job, variables map[string]any) {
	command, err := r.client.NewCompleteJobCommand().JobKey(job.Key).VariablesFromMap(variables)
	r.must(err, "variables")
	_, err = command.Send(r.ctx)
	r.must(err, "complete")
}

// search is what the client itself cannot do: what a command's answer told is there at once.
func (r *run) search(kind string, filter map[string]any) []map[string]any {
	body, err := json.Marshal(map[string]any{"filter": filter})
	r.must(err, "filter")
	answer, err := http.Post(os.Getenv("CAMUNDA_REST_ADDRESS")+"/v2/"+kind+"/search", "application/json", bytes.NewReader(body))
	r.must(err, "search "+kind)
	defer answer.Body.Close()
	r.equal(answer.StatusCode, 200, "status of a search for "+kind)
	var found struct{ Items []map[string]any }
	r.must(json.NewDecoder(answer.Body).Decode(&found), "search "+kind)
	return found.Items
}

func (r *run) only(items []map[string]any, what string) map[string]any {
	r.equal(len(items), 1, "number of "+what)
	return items[0]
}

func (r *run) state(instance int64) any {
	return r.only(r.search("process-instances", byInstance(instance)), "instances")["state"]
}

func (r *run) completed(instance int64) {
	r.until(func() bool { return r.state(instance) == "COMPLETED" }, fmt.Sprintf("instance %d completed", instance))
}

// key reads a key of a search result.
func (r *run) key(item map[string]any, name string) int64 {
	key, err := strconv.ParseInt(fmt.Sprint(item[name]), 10, 64)
	r.must(err, name)
	return key
}

func byInstance(instance int64) map[string]any {
	return map[string]any{"processInstanceKey": strconv.FormatInt(instance, 10)}
}

func fixture(name string) string {
	return filepath.Join(os.Getenv("CAUDAL_FIXTURES"), name)
}
