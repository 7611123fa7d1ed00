package caudal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
)

// JobContext is what a handler knows of its job. It is a [context.Context] that is cancelled when the lease was lost, the job was cancelled or the runner
// stops; [context.Cause] says which. What the handler returns then is thrown away.
type JobContext struct {
	context.Context
	Job *Job

	report func(Progress)
}

// NewJobContext is for runners and tests.
func NewJobContext(ctx context.Context, job *Job, report func(Progress)) *JobContext {
	return &JobContext{ctx, job, report}
}

// With is the same job with another context, which must come from this one. For what is put around handlers.
func (c *JobContext) With(ctx context.Context) *JobContext { return &JobContext{ctx, c.Job, c.report} }

// Progress says how far it has come. Data, which may be nil, is in Job.Progress of the next attempt, should there be one.
func (c *JobContext) Progress(percent int, message string, data any) error {
	text, err := object(data)
	if err != nil {
		return err
	}
	c.report(Progress{&percent, message, text})
	return nil
}

// Handler does the jobs of one type: it takes their variables and gives those they are completed with, both as JSON objects.
type Handler func(ctx *JobContext, variables json.RawMessage) (json.RawMessage, error)

// Registry has handlers by job type. The zero value is empty and ready.
type Registry struct{ handlers map[string]Handler }

// Register registers a handler that takes and gives JSON; [Handle] one with types.
func (r *Registry) Register(jobType string, handler Handler) {
	if _, known := r.handlers[jobType]; known {
		panic(fmt.Sprintf("caudal: there is a handler for %q already", jobType))
	}
	if r.handlers == nil {
		r.handlers = make(map[string]Handler)
	}
	r.handlers[jobType] = handler
}

// JobTypes are the types there are handlers for.
func (r *Registry) JobTypes() []string {
	types := make([]string, 0, len(r.handlers))
	for jobType := range r.handlers {
		types = append(types, jobType)
	}
	sort.Strings(types)
	return types
}

// Handle registers the handler of a job type. Variables that do not fit In are a failure that is not retried; those that In does not name are left
// alone. What it returns is merged into the variables of the instance. To have none, let Out be struct{}.
func Handle[In, Out any](registry *Registry, jobType string, handler func(ctx *JobContext, variables In) (Out, error)) {
	registry.Register(jobType, func(ctx *JobContext, variables json.RawMessage) (json.RawMessage, error) {
		var in In
		decoder := json.NewDecoder(bytes.NewReader(variables))
		// Numbers in an any keep all their digits.
		decoder.UseNumber()
		if err := decoder.Decode(&in); err != nil {
			return nil, NonRetryable(fmt.Errorf("variables: %w", err))
		}
		out, err := handler(ctx, in)
		if err != nil {
			return nil, err
		}
		return object(out)
	})
}

// object is a value as a JSON object; nothing is an empty one.
func object(value any) (json.RawMessage, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, NonRetryable(fmt.Errorf("the result cannot be written as JSON: %w", err))
	}
	switch {
	case bytes.Equal(text, []byte("null")):
		return json.RawMessage("{}"), nil
	case text[0] != '{':
		return nil, NonRetryable(errors.New("a handler must return an object of variables"))
	default:
		return text, nil
	}
}

// Outcome is what a handler's end means for its job. Exactly one of its fields is set.
type Outcome struct {
	Completed json.RawMessage
	Failed    *Failure
	Thrown    *BPMNError
	Snoozed   *SnoozeError
	// Abandoned is why nobody waits for it any more.
	Abandoned error
}

// Run calls the handler of the job's type. Runners and tests use it.
func (r *Registry) Run(ctx *JobContext) (outcome Outcome) {
	defer func() {
		if problem := recover(); problem != nil {
			outcome = Outcome{Failed: &Failure{Message: fmt.Sprintf("panic: %v", problem), Retryable: true}}
		}
		if ctx.Err() != nil {
			outcome = Outcome{Abandoned: context.Cause(ctx)}
		}
	}()
	handler, known := r.handlers[ctx.Job.Type]
	if !known {
		return Outcome{Failed: &Failure{Message: fmt.Sprintf("there is no handler for %q", ctx.Job.Type), Retryable: true}}
	}
	variables, err := handler(ctx, ctx.Job.Variables)
	return outcomeOf(variables, err)
}

func outcomeOf(variables json.RawMessage, err error) Outcome {
	var (
		thrown  *BPMNError
		snoozed *SnoozeError
		final   *NonRetryableError
		later   *RetryableError
	)
	switch {
	case err == nil:
		return Outcome{Completed: variables}
	case errors.As(err, &thrown):
		return Outcome{Thrown: thrown}
	case errors.As(err, &snoozed):
		return Outcome{Snoozed: snoozed}
	case errors.As(err, &final):
		return Outcome{Failed: &Failure{Message: err.Error()}}
	case errors.As(err, &later):
		return Outcome{Failed: &Failure{Message: err.Error(), Retryable: true, RetryAfter: later.After}}
	default:
		return Outcome{Failed: &Failure{Message: err.Error(), Retryable: true}}
	}
}
