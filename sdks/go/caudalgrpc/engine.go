// Package caudalgrpc is the gRPC transport of a runner.
//
// Numbers are doubles on this wire: integers beyond 2^53 lose digits.
package caudalgrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	caudal "caudal.dev/client"
	"caudal.dev/client/internal/wire"
)

const (
	messageBytesMax = 64 << 20
	callMax         = 30 * time.Second
	engineService   = "/workflow.v1.WorkflowEngine/"
	gatewayService  = "/gateway_protocol.Gateway/"
)

type engine struct{ connection *grpc.ClientConn }

// New connects to an address such as grpc://127.0.0.1:9090, or grpcs:// for TLS. Further options are gRPC's own: credentials, interceptors for tokens.
func New(address string, options ...grpc.DialOption) (caudal.EngineClient, error) {
	scheme, target, _ := strings.Cut(address, "://")
	all := []grpc.DialOption{grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax))}
	switch scheme {
	case "grpc":
		all = append(all, grpc.WithTransportCredentials(insecure.NewCredentials()))
	case "grpcs":
		all = append(all, grpc.WithTransportCredentials(credentials.NewTLS(nil)))
	default:
		return nil, fmt.Errorf("caudalgrpc: %q must begin with grpc:// or grpcs://", address)
	}
	connection, err := grpc.NewClient(target, append(all, options...)...)
	if err != nil {
		return nil, err
	}
	return &engine{connection}, nil
}

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

func (e *engine) ThrowError(ctx context.Context, _ string, job *caudal.Job, code, message string, variables json.RawMessage) error {
	key, err := strconv.ParseInt(job.ID, 10, 64)
	if err != nil {
		return fmt.Errorf("caudalgrpc: %q is no key of a job", job.ID)
	}
	request := &wire.ThrowErrorRequest{JobKey: key, ErrorCode: code, ErrorMessage: message, Variables: string(variables)}
	return e.call(ctx, gatewayService+"ThrowError", request, new(wire.ThrowErrorResponse), callMax)
}

func (e *engine) Heartbeat(ctx context.Context, workerID string, lease time.Duration, beats []caudal.Beat) ([]caudal.Standing, error) {
	standings := make([]caudal.Standing, len(beats))
	for i, beat := range beats {
		request := &wire.HeartbeatRequest{JobId: beat.Job.ID, WorkerId: workerID, Lease: beat.Job.Lease, LeaseSeconds: seconds(lease)}
		if said := beat.Progress; said != nil {
			data, err := structOf(said.Data)
			if err != nil {
				return nil, err
			}
			request.Data = data
			request.Message = proto.String(said.Message)
			if said.Percent != nil {
				request.Percent = proto.Int32(whole(*said.Percent))
			}
		}
		answer := new(wire.HeartbeatResponse)
		err := e.call(ctx, engineService+"Heartbeat", request, answer, callMax)
		switch {
		case caudal.IsNotFound(err):
			standings[i] = caudal.Unknown
		case err != nil:
			return nil, err
		default:
			standings[i] = caudal.Standing(answer.GetStatus())
		}
	}
	return standings, nil
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
	case codes.Unavailable, codes.ResourceExhausted, codes.DeadlineExceeded, codes.Canceled:
		return &caudal.UnavailableError{Err: err}
	case codes.NotFound:
		refused.Status = http.StatusNotFound
	case codes.FailedPrecondition, codes.Aborted, codes.AlreadyExists:
		refused.Status = http.StatusConflict
	default:
	}
	return refused
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
	return protojson.Marshal(given)
}

func structOf(text json.RawMessage) (*structpb.Struct, error) {
	read := new(structpb.Struct)
	if len(text) == 0 {
		return read, nil
	}
	return read, protojson.Unmarshal(text, read)
}

func seconds(d time.Duration) int32 { return whole(int(d.Round(time.Second) / time.Second)) }

func whole(n int) int32 { return int32(max(math.MinInt32, min(n, math.MaxInt32))) }
