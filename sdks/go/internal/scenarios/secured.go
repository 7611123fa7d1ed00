package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	caudal "caudal.dev/client"
	"caudal.dev/client/caudalgrpc"
)

// secured is a server that speaks TLS, with a certificate of an authority that the world does not know.
func secured() {
	authorities := x509.NewCertPool()
	equal(authorities.AppendCertsFromPEM(must(os.ReadFile(os.Getenv("CAUDAL_TLS_CA")))), true)
	trust := &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	rest := os.Getenv("CAUDAL_TLS_REST")
	over := caudal.WithHTTPClient(&http.Client{Transport: &http.Transport{TLSClientConfig: trust}})
	var made caudal.EngineClient
	if transport == "rest" {
		made = caudal.REST(rest, over, caudal.WithToken("t"))
	} else {
		over := grpc.WithTransportCredentials(credentials.NewTLS(trust))
		made = must(caudalgrpc.New(os.Getenv("CAUDAL_TLS_GRPC"), over, caudalgrpc.WithToken("t")))
	}
	defer func() { check(made.Close()) }()

	var registry caudal.Registry
	caudal.Handle(&registry, "work", func(*caudal.JobContext, anything) (anything, error) { return anything{"by": "tls"}, nil })
	runner := &caudal.Runner{Registry: &registry, Engine: made, PollWait: 5 * time.Second, Logger: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	working, stop := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- runner.Run(working) }()
	client := caudal.NewClient(rest, over, caudal.WithToken("t"), caudal.WithHeader("X-Api-Key", "k"))
	must(client.Deploy(ctx, file("work.json")))
	instance := must(client.StartAndWait(ctx, caudal.Start{DefinitionID: "work"}))
	stop()
	check(<-done)
	isJSON(instance.Variables, `{"by": "tls"}`)

	_, err := caudal.NewClient(rest, caudal.WithPatience(0)).Definitions(ctx, "", 0, 1)
	equal(err != nil && strings.Contains(err.Error(), "certificate"), true)
}
