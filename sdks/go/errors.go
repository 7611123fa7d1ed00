package caudal

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// APIError is a request that the server refused.
type APIError struct {
	// Status is that of HTTP, also over gRPC.
	Status  int
	Code    string
	Message string
}

func (e *APIError) Error() string {
	return fmt.Sprintf("%s (%s, %d)", e.Message, e.Code, e.Status)
}

// UnavailableError says that the server is away or busy: the same request may work later.
type UnavailableError struct {
	// RetryAfter is how long the server asks to wait.
	RetryAfter time.Duration
	Err        error
}

func (e *UnavailableError) Error() string { return e.Err.Error() }
func (e *UnavailableError) Unwrap() error { return e.Err }

// IsNotFound tells whether there is no such thing.
func IsNotFound(err error) bool { return hasStatus(err, http.StatusNotFound) }

// IsConflict tells whether it is there, but in a state in which this cannot be done.
func IsConflict(err error) bool { return hasStatus(err, http.StatusConflict) }

// IsUnavailable tells whether the same request may work later.
func IsUnavailable(err error) bool {
	var unavailable *UnavailableError
	return errors.As(err, &unavailable)
}

func hasStatus(err error, status int) bool {
	var refused *APIError
	return errors.As(err, &refused) && refused.Status == status
}

// NonRetryableError is returned by handlers when trying again cannot help; see [NonRetryable].
type NonRetryableError struct{ Err error }

func (e *NonRetryableError) Error() string { return e.Err.Error() }
func (e *NonRetryableError) Unwrap() error { return e.Err }

// NonRetryable makes an error final: the job fails whatever retries are left.
func NonRetryable(err error) error { return &NonRetryableError{err} }

// RetryableError is returned by handlers to be called again after a while of their choice; see [RetryAfter].
type RetryableError struct {
	After time.Duration
	Err   error
}

func (e *RetryableError) Error() string { return e.Err.Error() }
func (e *RetryableError) Unwrap() error { return e.Err }

// RetryAfter says when to try again. Any other error is retried as well.
func RetryAfter(after time.Duration, err error) error { return &RetryableError{after, err} }

// BPMNError is returned by handlers: an error that the BPMN process may catch.
type BPMNError struct {
	Code      string
	Message   string
	Variables any
}

func (e *BPMNError) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// SnoozeError is returned by handlers that cannot do it now; see [Snooze].
type SnoozeError struct{ Delay time.Duration }

func (e *SnoozeError) Error() string { return fmt.Sprintf("put off for %s", e.Delay) }

// Snooze puts a job off: it comes again after the delay, and no retry is used up.
func Snooze(delay time.Duration) error { return &SnoozeError{delay} }

// Why the context of a handler is cancelled: what [context.Cause] gives.
var (
	ErrLeaseLost = errors.New("caudal: the lease was lost")
	ErrCancelled = errors.New("caudal: the job was cancelled")
	ErrShutdown  = errors.New("caudal: the runner is stopping")
)
