package caudal

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

const (
	backoffFirst   = 100 * time.Millisecond
	backoffLongest = 10 * time.Second
)

// backoff gives waits that double up to a bound, each a random part of it, so that many clients do not come back at once.
type backoff struct{ failures int }

// next is how long to wait after one more failure; never less than the server asked for.
func (b *backoff) next(err error) time.Duration {
	bound := min(backoffLongest, backoffFirst<<min(b.failures, 10))
	b.failures++
	wait := bound/2 + rand.N(bound/2+1)
	var unavailable *UnavailableError
	if errors.As(err, &unavailable) {
		return max(wait, unavailable.RetryAfter)
	}
	return wait
}

// pause waits, or less if the context ends; it tells whether it does not.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// retry calls until there is an answer, or until another wait would end too late.
func retry(ctx context.Context, patience time.Duration, call func() error) error {
	var waits backoff
	deadline := time.Now().Add(patience)
	for {
		err := call()
		if !IsUnavailable(err) {
			return err
		}
		wait := waits.next(err)
		if deadline.Before(time.Now().Add(wait)) || !pause(ctx, wait) {
			return err
		}
	}
}
