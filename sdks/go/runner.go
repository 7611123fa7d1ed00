package caudal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	jobsPerPollMax = 100
	// giveBackMax is how long giving back jobs may take, all of them together.
	giveBackMax = 5 * time.Second
	// messageCharsMax is how much is said of a failure that was refused as it was.
	messageCharsMax = 10_000
)

// Runner works on the jobs of a registry's types. The zero value of every option will do.
type Runner struct {
	Registry *Registry
	// Engine is [REST], or New of package caudalgrpc. It is not closed.
	Engine EngineClient
	// WorkerID is made from the host's name and the process if empty.
	WorkerID string
	// MaxParallel is how many handlers run at once; 10 if 0.
	MaxParallel int
	// Lease is for how long a job is leased; 60 seconds if 0. It is extended while its handler runs.
	Lease time.Duration
	// PollWait is how long a poll waits for a job, in whole seconds; 20 seconds if 0. If negative it does not, and the runner asks less and less often.
	PollWait time.Duration
	// Grace is how long handlers may take to finish when the runner is stopped; 30 seconds if 0.
	Grace time.Duration
	// Logger is [slog.Default] if nil.
	Logger *slog.Logger
	// Around is called instead of each handler, which it must run: for what all handlers share, such as Around of package caudalotel. May be nil.
	Around func(ctx *JobContext, run func(*JobContext) Outcome) Outcome

	mutex   sync.Mutex
	running map[*task]struct{}
	// slots has room for as many as may run at once.
	slots chan struct{}
}

// task is a job whose handler runs, or whose end is being reported.
type task struct {
	*JobContext
	lose context.CancelCauseFunc
	// over tells the handler when its lease must be over by this clock, whatever the server says or does not.
	over *time.Timer
}

// Run works until the context ends; then it takes no more jobs, lets handlers finish within the grace, tells the others and gives back their jobs, which takes
// five seconds at most. It returns nil then, whatever handlers still do, and an error only if the server will never give it jobs.
func (r *Runner) Run(ctx context.Context) error {
	if len(r.Registry.JobTypes()) == 0 {
		return errors.New("caudal: the registry has no handler")
	}
	r.setDefaults()
	// What runs goes on when ctx ends.
	work, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	go r.keepLeases(work)
	late, err := r.takeJobs(ctx, work)
	r.Logger.Info("stopping")
	givenBack := make(chan struct{})
	go func() {
		defer close(givenBack)
		r.giveBack(late)
	}()
	r.finish(giveUp)
	<-givenBack
	return err
}

func (r *Runner) setDefaults() {
	host, _ := os.Hostname()
	r.WorkerID = or(r.WorkerID, fmt.Sprintf("%s-%d-%08x", host, os.Getpid(), rand.Uint32()))
	r.MaxParallel = or(r.MaxParallel, 10)
	r.Lease = or(r.Lease, time.Minute)
	r.PollWait = or(r.PollWait, 20*time.Second)
	r.Grace = or(r.Grace, 30*time.Second)
	r.Logger = or(r.Logger, slog.Default())
	r.running = make(map[*task]struct{})
	r.slots = make(chan struct{}, r.MaxParallel)
}

func or[T comparable](given, otherwise T) T {
	var zero T
	if given == zero {
		return otherwise
	}
	return given
}

// takeJobs begins jobs until ctx ends. What comes when it has ended is not begun.
func (r *Runner) takeJobs(ctx, work context.Context) (late []*Job, err error) {
	var waits backoff
	for r.waitForRoom(ctx) {
		asked := time.Now()
		poll := Poll{WorkerID: r.WorkerID, JobTypes: r.Registry.JobTypes(), Lease: r.Lease, Wait: max(0, r.PollWait)}
		poll.MaxJobs = min(r.MaxParallel-len(r.slots), jobsPerPollMax)
		jobs, err := r.Engine.Poll(ctx, poll)
		switch {
		case ctx.Err() != nil:
			return jobs, nil
		case IsUnavailable(err):
			wait := waits.next(err)
			r.Logger.Warn("no jobs", "error", err, "again", wait)
			pause(ctx, wait)
		case err != nil:
			return nil, err
		case len(jobs) > 0 || min(time.Second, r.PollWait) <= time.Since(asked) && r.PollWait > 0:
			waits = backoff{}
		default:
			// A server that is stopping answers at once, and one that is not asked to wait.
			pause(ctx, waits.next(nil))
		}
		for _, job := range jobs {
			r.begin(work, job)
		}
	}
	return nil, nil
}

// waitForRoom tells whether another handler may run; it may not once ctx has ended.
func (r *Runner) waitForRoom(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case r.slots <- struct{}{}:
		<-r.slots
		return ctx.Err() == nil
	}
}

func (r *Runner) begin(work context.Context, job *Job) {
	inner, lose := context.WithCancelCause(work)
	t := &task{lose: lose, over: time.AfterFunc(r.Lease, func() { lose(ErrLeaseLost) })}
	t.JobContext = NewJobContext(inner, job, func(progress Progress) { r.progress(work, t, progress) })
	r.slots <- struct{}{}
	r.mutex.Lock()
	r.running[t] = struct{}{}
	r.mutex.Unlock()
	go func() {
		defer func() {
			r.mutex.Lock()
			delete(r.running, t)
			r.mutex.Unlock()
			t.over.Stop()
			lose(nil)
			<-r.slots
		}()
		r.report(work, job, r.handle(t.JobContext))
	}()
}

func (r *Runner) handle(ctx *JobContext) Outcome {
	if r.Around == nil {
		return r.Registry.Run(ctx)
	}
	return r.Around(ctx, r.Registry.Run)
}

// report says how a job ended, again until it is known to have been heard, or until it does not matter any more.
func (r *Runner) report(work context.Context, job *Job, outcome Outcome) {
	log := r.Logger.With("job", job.ID, "type", job.Type)
	var waits backoff
	isPlain := false
	for work.Err() == nil {
		err := r.say(work, log, job, outcome)
		switch {
		case err == nil:
			return
		case IsUnavailable(err):
			log.Warn("its end is not known yet", "error", err)
			pause(work, waits.next(err))
		case IsNotFound(err) || IsConflict(err):
			log.Warn("it was no longer ours", "error", err)
			return
		case outcome.Failed == nil:
			// It would be refused again and again: let people see why instead.
			outcome = Outcome{Failed: &Failure{Message: refused(outcome) + " was refused: " + err.Error()}}
		case !isPlain:
			isPlain = true
			outcome = Outcome{Failed: &Failure{Message: plain(outcome.Failed.Message), Retryable: outcome.Failed.Retryable}}
		default:
			log.Error("its end was refused", "error", err)
			return
		}
	}
}

func refused(outcome Outcome) string {
	switch {
	case outcome.Thrown != nil:
		return "the BPMN error"
	case outcome.Snoozed != nil:
		return "the snooze"
	default:
		return "the result"
	}
}

// plain is what every server takes of a message.
func plain(message string) string {
	characters := []rune(strings.ReplaceAll(strings.ToValidUTF8(message, "\uFFFD"), "\x00", "\uFFFD"))
	return string(characters[:min(len(characters), messageCharsMax)])
}

func (r *Runner) say(ctx context.Context, log *slog.Logger, job *Job, outcome Outcome) error {
	switch {
	case outcome.Failed != nil:
		log.Warn("it failed", "error", outcome.Failed.Message)
		return r.Engine.Fail(ctx, r.WorkerID, job, *outcome.Failed)
	case outcome.Thrown != nil:
		variables, err := object(outcome.Thrown.Variables)
		if err != nil {
			return err
		}
		return r.Engine.ThrowError(ctx, r.WorkerID, job, outcome.Thrown.Code, outcome.Thrown.Message, variables)
	case outcome.Snoozed != nil:
		return r.Engine.Release(ctx, r.WorkerID, job, max(outcome.Snoozed.Delay, time.Millisecond))
	case outcome.Abandoned != nil:
		log.Info("nobody waits for it any more", "cause", outcome.Abandoned)
		return nil
	default:
		return r.Engine.Complete(ctx, r.WorkerID, job, outcome.Completed)
	}
}

// keepLeases extends all leases three times as often as needed, and tells handlers whose lease is gone.
func (r *Runner) keepLeases(work context.Context) {
	for pause(work, r.Lease/3) {
		if held := r.held(); len(held) > 0 {
			r.beat(work, held)
		}
	}
}

func (r *Runner) held() []*task {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	held := make([]*task, 0, len(r.running))
	for t := range r.running {
		if t.Err() == nil {
			held = append(held, t)
		}
	}
	return held
}

func (r *Runner) beat(work context.Context, held []*task) {
	asked := time.Now()
	beats := make([]Beat, len(held))
	for i, t := range held {
		beats[i] = Beat{Job: t.Job}
	}
	// There is time for another try before they end.
	within, cancel := context.WithTimeout(work, r.Lease/3)
	defer cancel()
	standings, err := r.Engine.Heartbeat(within, r.WorkerID, r.Lease, beats)
	if err != nil {
		r.Logger.Warn("leases could not be extended", "error", err)
		return
	}
	for i, t := range held {
		if standings[i] == Held {
			t.over.Reset(time.Until(asked.Add(r.Lease)))
		}
		t.note(standings[i])
	}
}

func (r *Runner) progress(work context.Context, t *task, progress Progress) {
	standings, err := r.Engine.Heartbeat(work, r.WorkerID, r.Lease, []Beat{{t.Job, &progress}})
	if err != nil {
		r.Logger.Warn("progress could not be said", "job", t.Job.ID, "error", err)
		return
	}
	t.note(standings[0])
}

// note tells the handler if its job is gone.
func (t *task) note(standing Standing) {
	switch standing {
	case Held:
	case Cancelled:
		t.lose(ErrCancelled)
	default:
		t.lose(ErrLeaseLost)
	}
}

// finish waits for what runs; what does not end in time is told so, and given back.
func (r *Runner) finish(giveUp context.CancelCauseFunc) {
	defer giveUp(ErrShutdown)
	late := time.NewTimer(r.Grace)
	defer late.Stop()
	for range r.MaxParallel {
		select {
		case r.slots <- struct{}{}:
		case <-late.C:
			var left []*Job
			for _, t := range r.held() {
				left = append(left, t.Job)
			}
			r.Logger.Warn("handlers did not finish in time", "count", len(left))
			giveUp(ErrShutdown)
			r.giveBack(left)
			return
		}
	}
}

// giveBack gives back jobs at once, within a time for all of them.
func (r *Runner) giveBack(jobs []*Job) {
	ctx, cancel := context.WithTimeout(context.Background(), giveBackMax)
	defer cancel()
	var all sync.WaitGroup
	for _, job := range jobs {
		all.Add(1)
		go func() {
			defer all.Done()
			release := func() error { return r.Engine.Release(ctx, r.WorkerID, job, 0) }
			if err := retry(ctx, giveBackMax, release); err != nil {
				r.Logger.Warn("a job could not be given back: it is free when its lease ends", "job", job.ID, "error", err)
			}
		}()
	}
	all.Wait()
}
