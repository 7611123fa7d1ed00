package io.caudal.client;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Hands out its jobs once and notes what is said. Each answer may be replaced by a failure, the next one first. */
final class FakeEngine implements EngineClient {
    final Deque<Job> jobs = new ArrayDeque<>(List.of(job("1")));
    final Queue<RuntimeException> failures = new ConcurrentLinkedQueue<>();
    final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    final CountDownLatch asked = new CountDownLatch(1);
    /** Comes just when the runner stops. */
    Job late;

    /** Whether a poll waits when there is no job. */
    volatile boolean waits = true;

    final AtomicInteger polls = new AtomicInteger();

    /** Whether giving back a job is not answered. */
    volatile boolean keepsSilent;

    /** What became of a lease; without it signs of life are not answered. */
    volatile Standing standing = Standing.HELD;

    static Job job(String id) {
        ObjectNode variables = Json.mapper().createObjectNode().put("n", 1);
        return new Job(id, "work", "", "", "", 3, variables, Instant.MAX, 1, null, Map.of());
    }

    @Override
    public List<Job> poll(Poll poll) throws InterruptedException {
        if (!jobs.isEmpty()) {
            return List.of(jobs.pop());
        }
        polls.incrementAndGet();
        if (!waits) {
            return List.of();
        }
        asked.countDown();
        try {
            Thread.sleep(60_000);
        } catch (InterruptedException e) {
            if (late == null) {
                throw e;
            }
            // The answer was there before the interruption.
            Thread.currentThread().interrupt();
        }
        return List.of(late);
    }

    @Override
    public void complete(String workerId, Job job, ObjectNode variables) {
        say("complete " + job.id() + " " + variables);
    }

    @Override
    public void fail(String workerId, Job job, Outcome.Failed failure) {
        say("fail " + failure.message() + ", " + failure.retryable() + ", " + failure.retryAfter());
    }

    @Override
    public void throwError(String workerId, Job job, Outcome.Thrown error) {
        say("throw " + error.code() + " " + error.message() + " " + error.variables());
    }

    @Override
    public List<Standing> heartbeat(String workerId, Duration lease, List<Beat> beats) throws InterruptedException {
        if (standing == null) {
            Thread.sleep(60_000);
        }
        return beats.stream().map(beat -> standing).toList();
    }

    @Override
    public void release(String workerId, Job job, Duration delay) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        say("release " + job.id() + " " + delay);
        if (keepsSilent) {
            Thread.sleep(60_000);
        }
    }

    @Override
    public void close() {
        throw new AssertionError("the engine belongs to whoever made it");
    }

    private void say(String words) {
        said.add(words);
        RuntimeException failure = failures.poll();
        if (failure != null) {
            throw failure;
        }
    }
}
