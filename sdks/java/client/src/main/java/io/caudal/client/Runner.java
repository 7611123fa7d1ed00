package io.caudal.client;

import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Works on the jobs of a registry's types until it is stopped.
 *
 * <p>In a program of its own call {@link #runUntilSignal}; beside other work {@link #start}, and {@link #close} in the end. A runner runs once.
 */
public final class Runner implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Runner.class);
    private static final int JOBS_PER_POLL_MAX = 100;
    private static final int MESSAGE_CHARS_MAX = 10_000;
    /** What everything after the grace may take. */
    private static final Duration LEAVING_MAX = Duration.ofSeconds(5);

    private static final int GIVEN_BACK_AT_ONCE_MAX = 16;
    private static final AtomicLong THREADS = new AtomicLong();

    private final Registry registry;
    private final EngineClient engine;
    private final boolean ownsEngine;
    private final String workerId;
    private final int maxParallel;
    private final Duration lease;
    private final Duration pollWait;
    private final Duration grace;
    private final Executor executor;
    private final Telemetry telemetry;

    private final Object lock = new Object();
    /** Guarded by the lock, as are the next two. */
    private final Set<Task> running = new HashSet<>();

    private boolean stopping;
    /** Is interrupted to stop; null while nobody polls. */
    private Thread poller;

    /** Give back jobs. */
    private final ExecutorService givers =
            Executors.newFixedThreadPool(GIVEN_BACK_AT_ONCE_MAX, work -> daemon(work, "caudal-giver-"));

    private final CountDownLatch givenUp = new CountDownLatch(1);
    private Thread thread;

    /** A job whose handler runs, or whose end is being reported. */
    private final class Task {
        final JobContext context;
        volatile long heldUntil;

        Task(Job job, long heldUntil) {
            this.context = registry.context(job, progress -> progress(this, progress));
            this.heldUntil = heldUntil;
        }

        Job job() {
            return context.job();
        }

        /** Its lease must be over. */
        void end() {
            context.lose(Loss.LEASE_LOST);
        }
    }

    private Runner(Builder options) {
        if (options.registry.jobTypes().isEmpty()) {
            throw new IllegalArgumentException("the registry has no handler");
        }
        registry = options.registry;
        ownsEngine = options.engine == null;
        engine = ownsEngine ? EngineClient.connect(options.endpoint) : options.engine;
        workerId = Objects.requireNonNullElseGet(
                options.workerId,
                () -> ManagementFactory.getRuntimeMXBean().getName() + "-" + Long.toHexString(System.nanoTime()));
        maxParallel = options.maxParallel;
        lease = options.lease;
        pollWait = options.pollWait;
        grace = options.grace;
        telemetry = options.telemetry;
        executor = Objects.requireNonNullElseGet(
                options.executor, () -> Executors.newCachedThreadPool(work -> daemon(work, "caudal-job-")));
    }

    /**
     * A runner with the usual options.
     *
     * @param registry has the handlers
     * @param address such as {@code http://127.0.0.1:8080}, which it is if null or empty
     * @return one that does not run yet
     */
    public static Runner of(Registry registry, String address) {
        return builder(registry, Endpoint.of(address)).build();
    }

    /**
     * A runner with options.
     *
     * @param registry has the handlers
     * @param endpoint where the server is
     * @return what takes the options
     */
    public static Builder builder(Registry registry, Endpoint endpoint) {
        return new Builder(registry, endpoint, null);
    }

    /**
     * A runner with options and a transport of your own.
     *
     * @param registry has the handlers
     * @param engine is not closed
     * @return what takes the options
     */
    public static Builder builder(Registry registry, EngineClient engine) {
        return new Builder(registry, null, engine);
    }

    /** Runs in a thread of its own. */
    public void start() {
        thread = new Thread(this::runAndLog, "caudal-runner");
        thread.start();
    }

    /** Takes no more jobs, finishes what runs within the grace, gives back the rest. Returns when that is done. */
    @Override
    public void close() {
        askToStop();
        try {
            if (thread != null) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs in this thread until SIGTERM or SIGINT, then finishes as {@link #close} does. For programs that do nothing else. */
    public void runUntilSignal() {
        Signals.until(this::askToStop, this::run);
    }

    /**
     * Runs in this thread until another one calls {@link #close}, or until it is interrupted.
     *
     * @throws ApiException if the server will never give it jobs
     */
    public void run() {
        boolean wasInterrupted = false;
        Thread leases = daemon(this::keepLeases, "caudal-leases-");
        leases.start();
        try {
            takeJobs();
        } catch (InterruptedException e) {
            synchronized (lock) {
                wasInterrupted = !stopping;
            }
        } finally {
            synchronized (lock) {
                stopping = true;
                poller = null;
            }
            // The interruption that ended the poll must not end anything else.
            Thread.interrupted();
            finish();
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void runAndLog() {
        try {
            run();
        } catch (CaudalException e) {
            LOG.error("the runner ended", e);
        }
    }

    private void askToStop() {
        LOG.info("stopping");
        synchronized (lock) {
            stopping = true;
            if (poller != null) {
                poller.interrupt();
            }
        }
    }

    private void takeJobs() throws InterruptedException {
        synchronized (lock) {
            poller = Thread.currentThread();
        }
        Backoff backoff = new Backoff();
        for (int free = waitForRoom(); free > 0; free = waitForRoom()) {
            long asked = System.nanoTime();
            int max = Math.min(free, JOBS_PER_POLL_MAX);
            List<Job> jobs;
            try {
                jobs = engine.poll(new EngineClient.Poll(workerId, registry.jobTypes(), max, lease, pollWait));
            } catch (UnavailableException e) {
                Duration wait = backoff.next(e.retryAfter());
                LOG.warn("no jobs ({}); asking again in {}", e.getMessage(), wait);
                Thread.sleep(wait.toMillis());
                continue;
            }
            jobs.forEach(this::begin);
            long waited = System.nanoTime() - asked;
            boolean asLongAsAsked = !pollWait.isZero() && pollWait.toNanos() <= waited;
            if (!jobs.isEmpty() || asLongAsAsked || 1_000_000_000 <= waited) {
                backoff.reset();
            } else {
                // A server that is stopping answers at once, and one that is not asked to wait.
                Thread.sleep(backoff.next(Duration.ZERO).toMillis());
            }
        }
    }

    /** How many handlers may begin: none when the runner is to stop. */
    private int waitForRoom() throws InterruptedException {
        synchronized (lock) {
            while (!stopping && running.size() == maxParallel) {
                lock.wait();
            }
            return stopping ? 0 : maxParallel - running.size();
        }
    }

    private void begin(Job job) {
        Task task = new Task(job, System.nanoTime() + lease.toNanos());
        synchronized (lock) {
            if (stopping) {
                giveBack(job);
                return;
            }
            running.add(task);
        }
        try {
            executor.execute(() -> perform(task));
        } catch (RejectedExecutionException e) {
            LOG.warn("job {}: the executor has no room for it", job.id());
            giveBack(job);
            end(task);
        }
    }

    private void perform(Task task) {
        try {
            report(task.job(), telemetry.observe(task.job(), () -> registry.run(task.context)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.error(
                    "job {} ({}): its end could not be reported",
                    task.job().id(),
                    task.job().type(),
                    e);
        } finally {
            end(task);
        }
    }

    private void end(Task task) {
        synchronized (lock) {
            running.remove(task);
            lock.notifyAll();
        }
    }

    /** Says how a job ended, again until it is known to have been heard, or until it does not matter any more. */
    private void report(Job job, Outcome ended) throws InterruptedException {
        Outcome outcome = ended;
        boolean isBare = false;
        Backoff backoff = new Backoff();
        while (givenUp.getCount() > 0) {
            try {
                say(job, outcome);
                return;
            } catch (UnavailableException e) {
                LOG.warn("job {}: its end is not known yet: {}", job.id(), e.getMessage());
                givenUp.await(backoff.next(e.retryAfter()).toMillis(), TimeUnit.MILLISECONDS);
            } catch (RuntimeException e) {
                if (e instanceof ApiException refused && (refused.isNotFound() || refused.isConflict())) {
                    LOG.warn("job {} was no longer ours: {}", job.id(), e.getMessage());
                    return;
                }
                if (isBare) {
                    throw e;
                }
                // It is refused again and again, or cannot even be written: let people see why instead.
                if (outcome instanceof Outcome.Failed failed) {
                    outcome = new Outcome.Failed(start(failed.message()), failed.retryable(), null);
                    isBare = true;
                } else {
                    String why = e instanceof CaudalException ? e.getMessage() : e.toString();
                    outcome = new Outcome.Failed("the " + noun(outcome) + " was refused: " + why, false, null);
                }
            }
        }
    }

    private static String noun(Outcome outcome) {
        if (outcome instanceof Outcome.Thrown) {
            return "BPMN error";
        }
        return outcome instanceof Outcome.Snoozed ? "snooze" : "result";
    }

    /** What can be said of a message in any case. */
    private static String start(String message) {
        String start = message.substring(0, Math.min(message.length(), MESSAGE_CHARS_MAX))
                .replace('\0', '\uFFFD');
        // Half of a surrogate pair cannot be written.
        return new String(start.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }

    private void say(Job job, Outcome outcome) throws InterruptedException {
        if (outcome instanceof Outcome.Completed completed) {
            engine.complete(workerId, job, completed.variables());
        } else if (outcome instanceof Outcome.Failed failed) {
            LOG.warn("job {} ({}) failed: {}", job.id(), job.type(), failed.message());
            engine.fail(workerId, job, failed);
        } else if (outcome instanceof Outcome.Thrown thrown) {
            engine.throwError(workerId, job, thrown);
        } else if (outcome instanceof Outcome.Snoozed snoozed) {
            engine.release(workerId, job, snoozed.delay().isZero() ? Duration.ofMillis(1) : snoozed.delay());
        } else if (outcome instanceof Outcome.Abandoned abandoned) {
            LOG.info("job {}: {}", job.id(), abandoned.loss());
        }
    }

    /**
     * Extends all leases three times as often as needed; tells handlers whose lease is gone. It does not wait for answers: a lease
     * ends by this clock, whatever the server says or does not.
     */
    private void keepLeases() {
        long every = lease.toNanos() / 3;
        long nextBeat = System.nanoTime() + every;
        long due = nextBeat;
        try {
            while (!givenUp.await(due - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                long now = System.nanoTime();
                held().stream().filter(task -> task.heldUntil - now <= 0).forEach(Task::end);
                List<Task> held = held();
                if (nextBeat - now <= 0) {
                    nextBeat = now + every;
                    if (!held.isEmpty()) {
                        daemon(() -> beat(held), "caudal-beat-").start();
                    }
                }
                due = due(now, nextBeat, held.stream().mapToLong(task -> task.heldUntil));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** When to look again. A lease that is over, of a job whose end is not known yet, is nothing to wait for. */
    static long due(long now, long nextBeat, LongStream heldUntil) {
        LongStream left = heldUntil.map(until -> until - now).filter(until -> 0 < until);
        return now + Math.min(nextBeat - now, left.min().orElse(Long.MAX_VALUE));
    }

    private List<Task> held() {
        synchronized (lock) {
            return running.stream().filter(task -> !task.context.isLost()).toList();
        }
    }

    private void beat(List<Task> held) {
        long asked = System.nanoTime();
        List<Standing> standings;
        try {
            List<EngineClient.Beat> beats = new ArrayList<>(held.size());
            held.forEach(task -> beats.add(new EngineClient.Beat(task.job(), null)));
            standings = heartbeat(beats);
        } catch (RuntimeException e) {
            LOG.warn("leases could not be extended: {}", e.getMessage());
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        for (int i = 0; i < held.size(); i++) {
            if (standings.get(i) == Standing.HELD) {
                held.get(i).heldUntil = asked + lease.toNanos();
            }
            note(held.get(i), standings.get(i));
        }
    }

    private void progress(Task task, Progress progress) {
        try {
            List<Standing> standings = heartbeat(List.of(new EngineClient.Beat(task.job(), progress)));
            note(task, standings.get(0));
        } catch (RuntimeException e) {
            LOG.warn("job {}: progress could not be said: {}", task.job().id(), e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private List<Standing> heartbeat(List<EngineClient.Beat> beats) throws InterruptedException {
        List<Standing> standings = engine.heartbeat(workerId, lease, beats);
        if (standings.size() != beats.size()) {
            String why = "the server was asked about " + beats.size() + " jobs and told about " + standings.size();
            throw new CaudalException(why, null);
        }
        return standings;
    }

    /** Tells the handler if its job is gone. */
    private static void note(Task task, Standing standing) {
        switch (standing) {
            case HELD -> {}
            case CANCELLED -> task.context.lose(Loss.CANCELLED);
            case LOST, COMPLETED, UNKNOWN -> task.context.lose(Loss.LEASE_LOST);
        }
    }

    /** Waits for what runs, then leaves: in the background if that takes longer than it may. */
    private void finish() {
        List<Task> left = awaitEnd();
        givenUp.countDown();
        if (!left.isEmpty()) {
            LOG.warn("{} handlers did not finish within {}", left.size(), grace);
        }
        Thread leaving = daemon(() -> leave(left), "caudal-leaving-");
        leaving.start();
        try {
            leaving.join(LEAVING_MAX.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tells the handlers that still run, and gives back their jobs. */
    private void leave(List<Task> left) {
        left.forEach(task -> task.context.lose(Loss.SHUTDOWN));
        left.forEach(task -> giveBack(task.job()));
        givers.shutdown();
        try {
            if (!givers.awaitTermination(LEAVING_MAX.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.warn("not all jobs were given back within {}: they are free when their leases end", LEAVING_MAX);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        givers.shutdownNow();
        if (ownsEngine) {
            engine.close();
        }
    }

    /** Those that still run after the grace. */
    private List<Task> awaitEnd() {
        long deadline = System.nanoTime() + grace.toNanos();
        synchronized (lock) {
            try {
                for (long left = grace.toMillis(); !running.isEmpty() && left > 0; left = millisUntil(deadline)) {
                    lock.wait(left);
                }
            } catch (InterruptedException e) {
                // Whoever interrupts it will not wait any longer.
                Thread.currentThread().interrupt();
            }
            return List.copyOf(running);
        }
    }

    private static long millisUntil(long deadline) {
        return TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    }

    private void giveBack(Job job) {
        givers.execute(() -> {
            try {
                Backoff.retry(LEAVING_MAX, () -> {
                    engine.release(workerId, job, Duration.ZERO);
                    return null;
                });
            } catch (CaudalException e) {
                LOG.warn(
                        "job {} could not be given back ({}): it is free when its lease ends",
                        job.id(),
                        e.getMessage());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private static Thread daemon(Runnable work, String name) {
        Thread made = new Thread(work, name + THREADS.incrementAndGet());
        made.setDaemon(true);
        return made;
    }

    /** Options of a runner. */
    public static final class Builder {
        private final Registry registry;
        private final Endpoint endpoint;
        private final EngineClient engine;
        private String workerId;
        private int maxParallel = 10;
        private Duration lease = Duration.ofSeconds(60);
        private Duration pollWait = Duration.ofSeconds(20);
        private Duration grace = Duration.ofSeconds(30);
        private Executor executor;
        private Telemetry telemetry;

        private Builder(Registry registry, Endpoint endpoint, EngineClient engine) {
            this.registry = registry;
            this.endpoint = endpoint;
            this.engine = engine;
            this.telemetry = endpoint == null ? Telemetry.NONE : endpoint.telemetry();
        }

        /**
         * Who this worker is.
         *
         * @param given made from the process and the host without it
         * @return this
         */
        public Builder workerId(String given) {
            workerId = given;
            return this;
        }

        /**
         * How many handlers run at once.
         *
         * @param given 10 without it
         * @return this
         */
        public Builder maxParallel(int given) {
            if (given < 1) {
                throw new IllegalArgumentException("maxParallel must be 1 or more");
            }
            maxParallel = given;
            return this;
        }

        /**
         * For how long a job is leased; it is extended while its handler runs.
         *
         * @param given whole seconds; a minute without it
         * @return this
         */
        public Builder lease(Duration given) {
            lease = given;
            return this;
        }

        /**
         * How long a poll waits for a job. With zero it does not, and the runner asks less and less often.
         *
         * @param given whole seconds; 20 without it
         * @return this
         */
        public Builder pollWait(Duration given) {
            pollWait = given;
            return this;
        }

        /**
         * How long handlers may take to finish when the runner is stopped.
         *
         * @param given 30 seconds without it
         * @return this
         */
        public Builder grace(Duration given) {
            grace = given;
            return this;
        }

        /**
         * What runs handlers: one with virtual threads, say. It must have room for as many as run at once.
         *
         * @param given daemon threads of its own without it; is not shut down
         * @return this
         */
        public Builder executor(Executor given) {
            executor = given;
            return this;
        }

        /**
         * Traces and metrics of jobs.
         *
         * @param given that of the endpoint without it
         * @return this
         */
        public Builder telemetry(Telemetry given) {
            telemetry = given;
            return this;
        }

        /**
         * The runner.
         *
         * @return one that does not run yet
         */
        public Runner build() {
            return new Runner(this);
        }
    }
}
