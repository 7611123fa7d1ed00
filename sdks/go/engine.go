// Package caudal has workers and clients for Caudal: JSON workflows, BPMN processes, direct executions and queues.
//
// Begin with [Registry], [Handle], [Runner] and [Client]. Package caudalgrpc is the gRPC transport, package
// caudalotel has traces and metrics, package caudaltest is for tests.
package caudal

import (
	"context"
	"encoding/json"
	"time"
)

// Progress is how far a handler has come. Data is for whoever goes on from there.
type Progress struct {
	Percent *int            `json:"percent,omitempty"`
	Message string          `json:"message,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Job is work that is leased to this worker.
type Job struct {
	ID               string          `json:"id"`
	Type             string          `json:"jobType"`
	InstanceID       string          `json:"instanceId"`
	StepID           string          `json:"stepId"`
	StepExecutionID  string          `json:"stepExecutionId"`
	RetriesRemaining int             `json:"retriesRemaining"`
	Variables        json.RawMessage `json:"variables"`
	LockExpiresAt    time.Time       `json:"lockExpiresAt"`
	// Lease is the number of the lease. What is said for an older one is refused.
	Lease uint32 `json:"lease"`
	// Progress is what an earlier attempt said last, if it said something.
	Progress *Progress `json:"progress"`
	// TraceContext is the traceparent and tracestate of whoever started it; see package caudalotel.
	TraceContext map[string]string `json:"traceContext"`
}

// Standing is what became of a lease.
type Standing string

// All standings.
const (
	Held      Standing = "HELD"
	Lost      Standing = "LOST"
	Cancelled Standing = "CANCELLED"
	Completed Standing = "COMPLETED"
	Unknown   Standing = "UNKNOWN"
)

// Beat is a sign of life for one job.
type Beat struct {
	Job      *Job
	Progress *Progress
}

// Poll asks for jobs.
type Poll struct {
	WorkerID string
	JobTypes []string
	MaxJobs  int
	Lease    time.Duration
	// Wait is how long to wait for the first job.
	Wait time.Duration
}

// Failure is a job that could not be done.
type Failure struct {
	Message   string
	Retryable bool
	// RetryAfter is how long to wait before the next try; as the model says if it is 0.
	RetryAfter time.Duration
}

// EngineClient is what a runner asks of a server; transports stand behind it.
//
// Every method returns an [UnavailableError] when the same call may work later, and an [APIError] when it never will. All but Poll may be repeated.
type EngineClient interface {
	Poll(ctx context.Context, poll Poll) ([]*Job, error)
	Complete(ctx context.Context, workerID string, job *Job, variables json.RawMessage) error
	Fail(ctx context.Context, workerID string, job *Job, failure Failure) error
	// ThrowError throws an error in the job's BPMN process.
	ThrowError(ctx context.Context, workerID string, job *Job, code, message string, variables json.RawMessage) error
	// Heartbeat extends leases from now; it says for each job what became of it, in the same order.
	Heartbeat(ctx context.Context, workerID string, lease time.Duration, beats []Beat) ([]Standing, error)
	// Release gives a job back, or puts it off if there is a delay. No retry is used up.
	Release(ctx context.Context, workerID string, job *Job, delay time.Duration) error
	Close() error
}
