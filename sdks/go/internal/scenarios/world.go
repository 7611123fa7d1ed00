package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	caudal "caudal.dev/client"
	"caudal.dev/client/caudalgrpc"
	"caudal.dev/client/caudalkafka"
	"caudal.dev/client/caudaltest"
)

const within = 150 * time.Second

var (
	transport = os.Getenv("CAUDAL_TRANSPORT")
	folder    = os.Getenv("CAUDAL_SCENARIOS")
	broker    = os.Getenv("CAUDAL_KAFKA")
	worlds    atomic.Int32
)

// suits tells whether a scenario is for the transport.
func suits(name string) bool {
	var all []struct {
		Name       string
		Transports []string
	}
	check(json.Unmarshal(must(os.ReadFile(file("scenarios.json"))), &all))
	for _, one := range all {
		if one.Name == name {
			return slices.Contains(one.Transports, transport)
		}
	}
	return false
}

// world is a server with a client of it, for one scenario.
type world struct {
	*caudaltest.Server
	client *caudal.Client
	ctx    context.Context
	// topics is what the topics of this server begin with.
	topics string
}

// inWorld plays with a server of its own.
func inWorld(options caudaltest.Options, play func(world)) {
	topics := fmt.Sprintf("go-%d.", worlds.Add(1))
	if transport == "kafka" {
		options.Arguments = append(options.Arguments, "--dispatch", "kafka_outbox", "--kafka-brokers", broker, "--kafka-topic-prefix", topics)
	}
	server := must(caudaltest.Start(options))
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	defer func() { check(server.Close()) }()
	play(world{server, server.Client(), ctx, topics})
}

func alone(play func(world)) func() {
	return func() { inWorld(caudaltest.Options{}, play) }
}

// work runs handlers until the function it returns is called, which waits for their end.
func (w world) work(runner *caudal.Runner) (stop func()) { return w.workIn("", runner) }

// workIn does so in another group, which over Kafka hears of the same jobs.
func (w world) workIn(group string, runner *caudal.Runner) (stop func()) {
	leave, ended := w.begin(group, runner)
	return func() {
		leave()
		ended()
	}
}

// begin runs handlers until they are told to leave; their end is awaited by itself.
func (w world) begin(group string, runner *caudal.Runner) (leave, ended func()) {
	made := engine(w.address(), group)
	runner.Engine = made
	runner.PollWait = cmp.Or(runner.PollWait, 5*time.Second)
	runner.Grace, runner.Logger = cmp.Or(runner.Grace, 10*time.Second), slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- runner.Run(ctx) }()
	return cancel, func() {
		check(<-done)
		check(made.Close())
	}
}

// address is where workers find the server; over Kafka with what its topics begin with.
func (w world) address() string {
	switch transport {
	case "grpc":
		return w.GRPC
	case "kafka":
		return w.REST + " " + w.topics
	default:
		return w.REST
	}
}

func engine(address, group string) caudal.EngineClient {
	switch transport {
	case "grpc":
		return must(caudalgrpc.New(address))
	case "kafka":
		rest, topics, _ := strings.Cut(address, " ")
		options := caudalkafka.Options{Group: topics + group, TopicPrefix: topics, Client: []kgo.Opt{kgo.SessionTimeout(6 * time.Second)}}
		return must(caudalkafka.New(broker, caudal.REST(rest), options))
	default:
		return caudal.REST(address)
	}
}

// startWork starts an instance of work.json, whose one job has the type `work`.
func (w world) startWork(variables any) string {
	must(w.client.Deploy(w.ctx, file("work.json")))
	return must(w.client.Start(w.ctx, caudal.Start{DefinitionID: "work", Variables: variables})).ID
}

// passed has the steps that an instance has come to.
func (w world) passed(id string) map[string]bool {
	steps := map[string]bool{}
	for _, one := range must(w.client.History(w.ctx, id)) {
		steps[one.StepID] = true
	}
	return steps
}

// metric is what the server counts under a name; 0 if it has counted nothing yet.
func (w world) metric(name string) float64 {
	answer := must(http.Get(w.Metrics + "/metrics"))
	text := string(must(io.ReadAll(answer.Body)))
	check(answer.Body.Close())
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return must(strconv.ParseFloat(strings.TrimSpace(value), 64))
		}
	}
	return 0
}

func file(name string) string { return filepath.Join(folder, name) }

func until(what string, condition func() bool) {
	for deadline := time.Now().Add(within); !condition(); time.Sleep(10 * time.Millisecond) {
		if deadline.Before(time.Now()) {
			panic("not in time: " + what)
		}
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func equal[T any](seen, expected T) {
	if !reflect.DeepEqual(seen, expected) {
		panic(fmt.Sprintf("%.200v instead of %.200v", seen, expected))
	}
}

// read reads JSON with all digits of its numbers.
func read(text json.RawMessage) map[string]any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	value := map[string]any{}
	check(decoder.Decode(&value))
	return value
}

func isJSON(seen json.RawMessage, expected string) {
	equal(read(seen), read(json.RawMessage(expected)))
}
