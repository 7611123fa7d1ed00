// Package caudalkafka is the Kafka transport of a runner, for a server with `dispatch = "kafka_outbox"`.
//
// Jobs are heard of on Kafka; how they ended is said to the server, over REST or gRPC. A job that came to a worker which was killed is announced again when
// its lease is over, so nothing is lost; it may come twice, and its first completion counts.
package caudalkafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"google.golang.org/protobuf/proto"

	caudal "caudal.dev/client"
	"caudal.dev/client/internal/wire"
)

// closeMax is how long leaving may take in all.
const closeMax = 5 * time.Second

// Options are ways to hear of jobs. The zero value of every option will do.
type Options struct {
	// Group is shared by workers that share jobs: those of another group get all of them as well. It is caudal-workers if empty.
	Group string
	// TopicPrefix is as the server's kafka.topic_prefix; workflow.jobs. if empty.
	TopicPrefix string
	// Logger is [slog.Default] if nil.
	Logger *slog.Logger
	// Client has further options of the Kafka client, such as those for TLS and SASL.
	Client []kgo.Opt
}

type engine struct {
	// What is not about hearing of jobs goes to the server itself.
	caudal.EngineClient
	client *kgo.Client
	logger *slog.Logger
	prefix string
	topics []string
	// heard has jobs that the server could not be asked about yet.
	heard []*caudal.Job
	// workerID is who polled last.
	workerID string
}

// New hears of jobs at brokers such as kafka-1:9092,kafka-2:9092, and says how they ended to the server behind the other transport, which is closed with this one.
func New(brokers string, server caudal.EngineClient, options Options) (caudal.EngineClient, error) {
	if options.Group == "" {
		options.Group = "caudal-workers"
	}
	if options.TopicPrefix == "" {
		options.TopicPrefix = "workflow.jobs."
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	places := strings.Split(brokers, ",")
	if slices.Contains(places, "") {
		return nil, fmt.Errorf("caudalkafka: the brokers %q are not some such as kafka-1:9092,kafka-2:9092", brokers)
	}
	all := []kgo.Opt{
		kgo.SeedBrokers(places...),
		kgo.ConsumerGroup(options.Group),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.MetadataMaxAge(30 * time.Second),
	}
	client, err := kgo.NewClient(append(all, options.Client...)...)
	if err != nil {
		return nil, err
	}
	return &engine{EngineClient: server, client: client, logger: options.Logger, prefix: options.TopicPrefix}, nil
}

func (e *engine) Poll(ctx context.Context, poll caudal.Poll) ([]*caudal.Job, error) {
	e.workerID = poll.WorkerID
	if err := e.hear(ctx, poll); err != nil || len(e.heard) == 0 {
		return nil, err
	}
	beats := make([]caudal.Beat, len(e.heard))
	for i, job := range e.heard {
		beats[i] = caudal.Beat{Job: job}
	}
	// An announcement may be old: the job is over, or its lease nearly.
	standings, err := e.Heartbeat(ctx, poll.WorkerID, poll.Lease, beats)
	if err != nil {
		return nil, err
	}
	held := make([]*caudal.Job, 0, len(beats))
	for i, job := range e.heard {
		if standings[i] == caudal.Held {
			held = append(held, job)
		}
	}
	e.heard = nil
	return held, nil
}

// Close leaves the group, gives back what was heard of and not begun, and closes the transport to the server.
func (e *engine) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeMax)
	defer cancel()
	var all sync.WaitGroup
	for _, job := range e.heard {
		all.Add(1)
		go func() {
			defer all.Done()
			// It is free when its lease ends, else.
			_ = e.Release(ctx, e.workerID, job, 0)
		}()
	}
	// Brokers that are away miss it when its session ends.
	_ = e.client.LeaveGroupContext(ctx)
	e.client.Close()
	all.Wait()
	return e.EngineClient.Close()
}

func (e *engine) hear(ctx context.Context, poll caudal.Poll) error {
	if len(e.heard) > 0 {
		return nil
	}
	e.subscribe(poll.JobTypes)
	within, cancel := context.WithTimeout(ctx, poll.Wait)
	defer cancel()
	fetches := e.client.PollRecords(within, poll.MaxJobs)
	for _, record := range fetches.Records() {
		job, err := jobOf(record.Value)
		if err != nil {
			// It would be the same again and again.
			e.logger.Warn("no announcement of a job", "topic", record.Topic, "offset", record.Offset, "error", err)
			continue
		}
		e.heard = append(e.heard, job)
	}
	for _, failed := range fetches.Errors() {
		isMissing := errors.Is(failed.Err, kerr.UnknownTopicOrPartition) // It is made by people, perhaps later.
		if len(e.heard) == 0 && !isMissing && !errors.Is(failed.Err, context.DeadlineExceeded) {
			return &caudal.UnavailableError{Err: failed.Err}
		}
	}
	return nil
}

func (e *engine) subscribe(jobTypes []string) {
	topics := make([]string, len(jobTypes))
	for i, jobType := range jobTypes {
		topics[i] = e.prefix + jobType
	}
	if !slices.Equal(topics, e.topics) {
		e.topics = topics
		e.client.AddConsumeTopics(topics...)
	}
}

func jobOf(value []byte) (*caudal.Job, error) {
	event := new(wire.JobDispatchEvent)
	if err := proto.Unmarshal(value, event); err != nil {
		return nil, err
	}
	if !json.Valid(event.GetJobPayload()) {
		return nil, fmt.Errorf("the variables of job %s are no JSON", event.GetJobId())
	}
	job := &caudal.Job{
		ID: event.GetJobId(), Type: event.GetJobType(), InstanceID: event.GetInstanceId(), StepID: event.GetStepId(),
		StepExecutionID: event.GetStepExecutionId(), RetriesRemaining: int(event.GetRetriesRemaining()),
		Variables: json.RawMessage(event.GetJobPayload()), Lease: event.GetLease(),
	}
	return job, errors.Join(unmarshal(event.GetProgress(), &job.Progress), unmarshal(event.GetTraceContext(), &job.TraceContext))
}

// unmarshal reads JSON, if there is any.
func unmarshal(content []byte, into any) error {
	if len(content) == 0 {
		return nil
	}
	return json.Unmarshal(content, into)
}
