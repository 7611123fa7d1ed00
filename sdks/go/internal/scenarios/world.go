package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"time"

	caudal "caudal.dev/client"
	"caudal.dev/client/caudalgrpc"
	"caudal.dev/client/caudaltest"
)

const within = time.Minute

var (
	transport = os.Getenv("CAUDAL_TRANSPORT")
	folder    = os.Getenv("CAUDAL_SCENARIOS")
)

// world is a server with a client of it, for one scenario.
type world struct {
	*caudaltest.Server
	client *caudal.Client
	ctx    context.Context
}

// inWorld plays with a server of its own.
func inWorld(options caudaltest.Options, play func(world)) {
	server := must(caudaltest.Start(options))
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	defer func() { check(server.Close()) }()
	play(world{server, server.Client(), ctx})
}

func alone(play func(world)) func() {
	return func() { inWorld(caudaltest.Options{}, play) }
}

// work runs handlers until the function it returns is called, which waits for their end.
func (w world) work(runner *caudal.Runner) (stop func()) {
	runner.Engine = engine(w.address())
	runner.PollWait, runner.Grace, runner.Logger = 5*time.Second, 10*time.Second, slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- runner.Run(ctx) }()
	return func() {
		cancel()
		check(<-done)
	}
}

func (w world) address() string {
	if transport == "grpc" {
		return w.GRPC
	}
	return w.REST
}

func engine(address string) caudal.EngineClient {
	if transport == "grpc" {
		return must(caudalgrpc.New(address))
	}
	return caudal.REST(address)
}

// startWork starts an instance of work.json, whose one job has the type `work`.
func (w world) startWork(variables any) string {
	must(w.client.Deploy(w.ctx, file("work.json")))
	return must(w.client.Start(w.ctx, caudal.Start{DefinitionID: "work", Variables: variables})).ID
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
