package caudal

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

const jobsPerRequestMax = 1000

type restEngine struct{ http *transport }

// REST is the transport over `/v1`, by an address such as http://127.0.0.1:8080, which it is if empty. One that cannot be used is refused by the first call.
func REST(address string, options ...Option) EngineClient {
	return &restEngine{newTransport(address, options)}
}

func (e *restEngine) Poll(ctx context.Context, poll Poll) ([]*Job, error) {
	body := map[string]any{
		"workerId": poll.WorkerID, "jobTypes": poll.JobTypes, "maxJobs": poll.MaxJobs,
		"leaseSeconds": seconds(poll.Lease), "waitSeconds": seconds(poll.Wait),
	}
	var answer struct{ Jobs []*Job }
	err := e.http.call(ctx, request{method: http.MethodPost, path: "/v1/jobs/poll", body: body, within: poll.Wait + 15*time.Second}, &answer)
	return answer.Jobs, err
}

func (e *restEngine) Complete(ctx context.Context, workerID string, job *Job, variables json.RawMessage) error {
	return e.say(ctx, job, "complete", holder(workerID, job, map[string]any{"variables": variables}))
}

func (e *restEngine) Fail(ctx context.Context, workerID string, job *Job, failure Failure) error {
	body := holder(workerID, job, map[string]any{"retryable": failure.Retryable, "errorMessage": failure.Message})
	if failure.RetryAfter > 0 {
		body["retryAfter"] = duration(failure.RetryAfter)
	}
	return e.say(ctx, job, "fail", body)
}

func (e *restEngine) ThrowError(ctx context.Context, workerID string, job *Job, code, message string, variables json.RawMessage) error {
	body := map[string]any{"errorCode": code, "errorMessage": message, "variables": variables}
	return e.say(ctx, job, "error", holder(workerID, job, body))
}

func (e *restEngine) Heartbeat(ctx context.Context, workerID string, lease time.Duration, beats []Beat) ([]Standing, error) {
	standings := make([]Standing, 0, len(beats))
	for some := range slices.Chunk(beats, jobsPerRequestMax) {
		jobs := make([]map[string]any, 0, len(some))
		for _, beat := range some {
			job := holder("", beat.Job, map[string]any{"jobId": beat.Job.ID})
			if beat.Progress != nil {
				job["progress"] = beat.Progress
			}
			jobs = append(jobs, job)
		}
		body := map[string]any{"workerId": workerID, "leaseSeconds": seconds(lease), "jobs": jobs}
		var answer struct{ Jobs []struct{ Status Standing } }
		if err := e.http.call(ctx, request{method: http.MethodPost, path: "/v1/jobs/heartbeat", body: body}, &answer); err != nil {
			return nil, err
		}
		if len(answer.Jobs) != len(some) {
			return nil, fmt.Errorf("caudal: the server was asked about %d jobs and told about %d", len(some), len(answer.Jobs))
		}
		for _, one := range answer.Jobs {
			standings = append(standings, one.Status)
		}
	}
	return standings, nil
}

func (e *restEngine) Release(ctx context.Context, workerID string, job *Job, delay time.Duration) error {
	if delay == 0 {
		return e.say(ctx, job, "release", holder(workerID, job, map[string]any{}))
	}
	return e.say(ctx, job, "snooze", holder(workerID, job, map[string]any{"duration": duration(delay)}))
}

func (e *restEngine) Close() error {
	e.http.client.CloseIdleConnections()
	return nil
}

func (e *restEngine) say(ctx context.Context, job *Job, what string, body map[string]any) error {
	return e.http.call(ctx, request{method: http.MethodPost, path: "/v1/jobs/" + url.PathEscape(job.ID) + "/" + what, body: body}, nil)
}

// holder says who has the job, and by which lease.
func holder(workerID string, job *Job, body map[string]any) map[string]any {
	if workerID != "" {
		body["workerId"] = workerID
	}
	if job.Lease != 0 {
		body["lease"] = job.Lease
	}
	return body
}

func seconds(d time.Duration) int64 { return int64(d.Round(time.Second) / time.Second) }

func duration(d time.Duration) string { return fmt.Sprintf("PT%.3fS", d.Seconds()) }
