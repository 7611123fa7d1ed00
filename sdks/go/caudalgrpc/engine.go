// Package caudalgrpc is the gRPC transport of a runner.
//
// Numbers are doubles on this wire. Integers beyond 2^53 come with an exponent, which fits no integer's type; results with one that no double holds are refused.
package caudalgrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	caudal "caudal.dev/client"
	"caudal.dev/client/internal/wire"
)

const (
	messageBytesMax     = 64 << 20
	callMax             = 30 * time.Second
	heartbeatsAtOnceMax = 1000
	engineService       = "/workflow.v1.WorkflowEngine/"
	// From here on not every integer is a double.
	integerMax = 1 << 53
)

type engine struct{ connection *grpc.ClientConn }

// New connects to an address such as grpc://127.0.0.1:9090, or grpcs:// for TLS. Further options are [WithToken], [WithHeader] and gRPC's own, such as credentials.
func New(address string, options ...grpc.DialOption) (caudal.EngineClient, error) {
	reconnect := backoff.DefaultConfig
	reconnect.BaseDelay, reconnect.MaxDelay = 100*time.Millisecond, 5*time.Second
	all := []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax)),
		// A connection that is dead without a word is noticed.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second, PermitWithoutStream: true}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: reconnect, MinConnectTimeout: 10 * time.Second}),
	}
	parsed, err := parse(address)
	if err != nil {
		return nil, err
	}
	if parsed.Scheme == "grpc" {
		all = append(all, grpc.WithTransportCredentials(insecure.NewCredentials()))
	} else {
		all = append(all, grpc.WithTransportCredentials(credentials.NewTLS(nil)))
	}
	connection, err := grpc.NewClient(parsed.Host, append(all, options...)...)
	if err != nil {
		return nil, err
	}
	return &engine{connection}, nil
}

func parse(address string) (*url.URL, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "grpc" && parsed.Scheme != "grpcs" || parsed.Hostname() == "" || parsed.User != nil ||
		strings.Trim(parsed.Path, "/")+parsed.RawQuery+parsed.Fragment != "" {
		// What may be a password is not repeated.
		given := address[strings.LastIndex(address, "@")+1:]
		return nil, fmt.Errorf("caudalgrpc: the address %q is not one such as grpc://127.0.0.1:9090 or grpcs://example.org:443", given)
	}
	if port, err := strconv.ParseUint(parsed.Port(), 10, 16); strings.HasSuffix(parsed.Host, ":") || parsed.Port() != "" && (err != nil || port == 0) {
		return nil, fmt.Errorf("caudalgrpc: there is no port %q", parsed.Port())
	}
	return parsed, nil
}

// WithToken sends a bearer token.
func WithToken(token string) grpc.DialOption { return WithHeader("Authorization", "Bearer "+token) }

// WithHeader sends a header with every call, such as an API key.
func WithHeader(name, value string) grpc.DialOption {
	return grpc.WithPerRPCCredentials(header{strings.ToLower(name), &value})
}

// header has its value behind a pointer, so that nothing that prints it shows it.
type header struct {
	name  string
	value *string
}

func (h header) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	if strings.ContainsFunc(*h.value, func(c rune) bool { return c < ' ' || '~' < c }) {
		return nil, status.Errorf(codes.Unauthenticated, "the header %s has a character that no header may have", h.name)
	}
	return map[string]string{h.name: *h.value}, nil
}

// RequireTransportSecurity lets it be sent to a server without TLS, as over REST.
func (header) RequireTransportSecurity() bool { return false }

func (e *engine) Poll(ctx context.Context, poll caudal.Poll) ([]*caudal.Job, error) {
	request := &wire.PollJobsRequest{
		WorkerId: poll.WorkerID, JobTypes: poll.JobTypes, MaxJobs: whole(poll.MaxJobs),
		LeaseSeconds: seconds(poll.Lease), WaitSeconds: seconds(poll.Wait),
	}
	answer := new(wire.PollJobsResponse)
	if err := e.call(ctx, engineService+"PollJobs", request, answer, poll.Wait+15*time.Second); err != nil {
		return nil, err
	}
	jobs := make([]*caudal.Job, 0, len(answer.GetJobs()))
	for _, job := range answer.GetJobs() {
		read, err := jobOf(job)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, read)
	}
	return jobs, nil
}

func (e *engine) Complete(ctx context.Context, workerID string, job *caudal.Job, variables json.RawMessage) error {
	set, err := structOf(variables)
	if err != nil {
		return err
	}
	request := &wire.CompleteJobRequest{JobId: job.ID, WorkerId: workerID, VariablesToSet: set, Lease: job.Lease}
	return e.call(ctx, engineService+"CompleteJob", request, new(wire.CompleteJobResponse), callMax)
}

func (e *engine) Fail(ctx context.Context, workerID string, job *caudal.Job, failure caudal.Failure) error {
	request := &wire.FailJobRequest{
		JobId: job.ID, WorkerId: workerID, Retryable: failure.Retryable, ErrorMessage: failure.Message, Lease: job.Lease,
	}
	if failure.RetryAfter > 0 {
		request.RetryAfterMillis = proto.Int64(failure.RetryAfter.Milliseconds())
	}
	return e.call(ctx, engineService+"FailJob", request, new(wire.FailJobResponse), callMax)
}

func (e *engine) ThrowError(ctx context.Context, workerID string, job *caudal.Job, code, message string, variables json.RawMessage) error {
	given, err := structOf(variables)
	if err != nil {
		return err
	}
	request := &wire.ThrowErrorRequest{
		JobId: job.ID, WorkerId: workerID, Lease: job.Lease, ErrorCode: code, ErrorMessage: message, Variables: given,
	}
	return e.call(ctx, engineService+"ThrowError", request, new(wire.ThrowErrorResponse), callMax)
}

func (e *engine) Heartbeat(ctx context.Context, workerID string, lease time.Duration, beats []caudal.Beat) ([]caudal.Standing, error) {
	standings := make([]caudal.Standing, 0, len(beats))
	for some := range slices.Chunk(beats, heartbeatsAtOnceMax) {
		request, answer := new(wire.HeartbeatsRequest), new(wire.HeartbeatsResponse)
		for _, beat := range some {
			one, err := heartbeatOf(workerID, lease, beat)
			if err != nil {
				return nil, err
			}
			request.Jobs = append(request.Jobs, one)
		}
		if err := e.call(ctx, engineService+"Heartbeats", request, answer, callMax); err != nil {
			return nil, err
		}
		if len(answer.GetJobs()) != len(some) {
			return nil, fmt.Errorf("caudalgrpc: the server was asked about %d jobs and told about %d", len(some), len(answer.GetJobs()))
		}
		for _, one := range answer.GetJobs() {
			standings = append(standings, caudal.Standing(one.GetStatus()))
		}
	}
	return standings, nil
}

func heartbeatOf(workerID string, lease time.Duration, beat caudal.Beat) (*wire.HeartbeatRequest, error) {
	request := &wire.HeartbeatRequest{JobId: beat.Job.ID, WorkerId: workerID, Lease: beat.Job.Lease, LeaseSeconds: seconds(lease)}
	said := beat.Progress
	if said == nil {
		return request, nil
	}
	request.Message = proto.String(said.Message)
	if said.Percent != nil {
		request.Percent = proto.Int32(whole(*said.Percent))
	}
	var err error
	request.Data, err = structOf(said.Data)
	return request, err
}

func (e *engine) Release(ctx context.Context, workerID string, job *caudal.Job, delay time.Duration) error {
	request := &wire.ReleaseJobRequest{JobId: job.ID, WorkerId: workerID, Lease: job.Lease, DelayMillis: delay.Milliseconds()}
	return e.call(ctx, engineService+"ReleaseJob", request, new(wire.ReleaseJobResponse), callMax)
}

func (e *engine) Close() error { return e.connection.Close() }

func (e *engine) call(ctx context.Context, method string, request, answer proto.Message, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return failure(e.connection.Invoke(ctx, method, request, answer))
}

func failure(err error) error {
	if err == nil {
		return nil
	}
	of := status.Convert(err)
	refused := &caudal.APIError{Status: http.StatusBadRequest, Code: of.Code().String(), Message: of.Message()}
	switch of.Code() {
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded, codes.Canceled, codes.Internal, codes.Unknown, codes.DataLoss:
		if !isUnsendable(of) {
			return &caudal.UnavailableError{Err: err}
		}
	case codes.OutOfRange:
		refused.Status = http.StatusRequestEntityTooLarge
	case codes.Unauthenticated:
		refused.Status = http.StatusUnauthorized
	case codes.PermissionDenied:
		refused.Status = http.StatusForbidden
	case codes.NotFound:
		refused.Status = http.StatusNotFound
	case codes.Unimplemented:
		refused.Status = http.StatusNotImplemented
	case codes.FailedPrecondition, codes.Aborted, codes.AlreadyExists:
		refused.Status = http.StatusConflict
	default:
	}
	return refused
}

// isUnsendable tells whether the message did not leave, and never will: gRPC itself has no code of its own for that.
func isUnsendable(of *status.Status) bool {
	for _, reason := range []string{"trying to send message larger than max", "grpc: message too large", "grpc: error while marshaling"} {
		if strings.HasPrefix(of.Message(), reason) {
			return true
		}
	}
	return false
}

func jobOf(job *wire.Job) (*caudal.Job, error) {
	variables, err := textOf(job.GetVariables())
	if err != nil {
		return nil, err
	}
	read := &caudal.Job{
		ID: job.GetId(), Type: job.GetJobType(), InstanceID: job.GetInstanceId(), StepID: job.GetStepId(),
		StepExecutionID: job.GetStepExecutionId(), RetriesRemaining: int(job.GetRetriesRemaining()), Variables: variables,
		LockExpiresAt: job.GetLockExpiresAt().AsTime(), Lease: job.GetLease(),
		TraceContext: job.GetTraceContext(),
	}
	if job.GetProgress() != nil {
		said, err := textOf(job.GetProgress())
		if err != nil {
			return nil, err
		}
		read.Progress = new(caudal.Progress)
		if err := json.Unmarshal(said, read.Progress); err != nil {
			return nil, err
		}
	}
	return read, nil
}

func textOf(given *structpb.Struct) (json.RawMessage, error) {
	if given == nil {
		return json.RawMessage("{}"), nil
	}
	return json.Marshal(marked(given.AsMap()))
}

// marked writes integers that may have been others with an exponent.
func marked(value any) any {
	switch value := value.(type) {
	case float64:
		if integerMax <= math.Abs(value) {
			return json.Number(strconv.FormatFloat(value, 'e', -1, 64))
		}
	case map[string]any:
		for name, item := range value {
			value[name] = marked(item)
		}
	case []any:
		for i, item := range value {
			value[i] = marked(item)
		}
	}
	return value
}

func structOf(text json.RawMessage) (*structpb.Struct, error) {
	read := new(structpb.Struct)
	if len(text) == 0 {
		return read, nil
	}
	if err := fits(text); err != nil {
		return nil, err
	}
	return read, protojson.Unmarshal(text, read)
}

// fits refuses integers that would arrive as others.
func fits(text json.RawMessage) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			// What is no JSON is for whoever reads it next.
			return nil
		}
		number, isNumber := token.(json.Number)
		if !isNumber {
			continue
		}
		integer, isInteger := new(big.Int).SetString(number.String(), 10)
		if !isInteger {
			continue
		}
		if _, accuracy := new(big.Float).SetInt(integer).Float64(); accuracy != big.Exact {
			message := number.String() + " is no double, as numbers are over gRPC: use REST, or write it as text"
			return &caudal.APIError{Status: http.StatusBadRequest, Code: codes.InvalidArgument.String(), Message: message}
		}
	}
}

func seconds(d time.Duration) int32 { return whole(int(d.Round(time.Second) / time.Second)) }

func whole(n int) int32 { return int32(max(math.MinInt32, min(n, math.MaxInt32))) }
