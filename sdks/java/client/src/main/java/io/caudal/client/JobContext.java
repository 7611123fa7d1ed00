package io.caudal.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a handler knows of its job, and what it can say while it runs. Any thread may use it. */
public final class JobContext {
    private static final Logger LOG = LoggerFactory.getLogger(JobContext.class);

    private final Job job;
    private final ObjectMapper mapper;
    private final Consumer<Progress> report;
    private final CountDownLatch lost = new CountDownLatch(1);
    private final List<Runnable> listeners = new ArrayList<>();
    private volatile Loss loss;
    private boolean over;

    JobContext(Job job, ObjectMapper mapper, Consumer<Progress> report) {
        this.job = job;
        this.mapper = mapper;
        this.report = report;
    }

    /**
     * The job.
     *
     * @return as the server gave it
     */
    public Job job() {
        return job;
    }

    /**
     * The variables as a type of yours.
     *
     * @param <T> that type
     * @param type that type
     * @return never null
     * @throws NonRetryableException if they do not fit
     */
    public <T> T decode(Class<T> type) {
        return read(() -> mapper.treeToValue(job.variables(), type));
    }

    /**
     * The variables as a type of yours that has parameters.
     *
     * @param <T> that type
     * @param type that type
     * @return never null
     * @throws NonRetryableException if they do not fit
     */
    public <T> T decode(TypeReference<T> type) {
        return read(() -> mapper.treeToValue(job.variables(), type));
    }

    Object decode(JavaType type) {
        return read(() -> mapper.treeToValue(job.variables(), type));
    }

    private interface Reading<T> {
        T read() throws JsonProcessingException;
    }

    private static <T> T read(Reading<T> reading) {
        try {
            return reading.read();
        } catch (JsonProcessingException e) {
            throw new NonRetryableException("variables: " + e.getMessage(), e);
        }
    }

    /**
     * Says how far it has come.
     *
     * @param percent of the whole
     * @param message for people
     */
    public void progress(int percent, String message) {
        report.accept(new Progress(percent, message, null));
    }

    /**
     * Says how far it has come, and leaves something for the next attempt, should there be one: it is in {@link Job#progress}.
     *
     * @param percent of the whole
     * @param message for people
     * @param data anything that is written as a JSON object
     */
    public void progress(int percent, String message, Object data) {
        report.accept(new Progress(percent, message, Json.object(mapper, data)));
    }

    /**
     * Whether to stop: what the handler returns will be thrown away.
     *
     * @return true once the job is lost
     */
    public boolean isLost() {
        return loss != null;
    }

    /**
     * Why nobody waits for the result any more.
     *
     * @return null while somebody does
     */
    public Loss loss() {
        return loss;
    }

    /**
     * Waits for a reason to stop: a sleep that ends early.
     *
     * @param atMost how long
     * @return whether there is one
     * @throws InterruptedException if the thread is interrupted
     */
    public boolean awaitLost(Duration atMost) throws InterruptedException {
        return lost.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Calls something when there is a reason to stop, at once if there is one already, and never after the handler has returned. To
     * have the handler's thread interrupted: {@code context.onLost(Thread.currentThread()::interrupt)}.
     *
     * @param listener must be quick
     */
    public synchronized void onLost(Runnable listener) {
        if (loss != null) {
            call(listener);
        } else {
            listeners.add(listener);
        }
    }

    /**
     * Tells the handler to stop, unless it has returned. For runners and tests.
     *
     * @param why what {@link #loss} gives
     */
    public synchronized void lose(Loss why) {
        if (loss == null && !over) {
            loss = why;
            lost.countDown();
            listeners.forEach(this::call);
        }
    }

    private void call(Runnable listener) {
        try {
            listener.run();
        } catch (RuntimeException e) {
            // It is one handler's: the leases of others go on.
            LOG.warn("job {}: a listener failed", job.id(), e);
        }
    }

    /** The handler has returned. */
    synchronized void end() {
        over = true;
        // A listener may have interrupted the thread, which others use after this.
        Thread.interrupted();
    }
}
