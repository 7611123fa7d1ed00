package io.caudal.client;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The transport over {@code /v1}. */
public final class RestEngine implements EngineClient {
    private static final int JOBS_PER_REQUEST_MAX = 1000;
    /** What a poll may take beyond its wait. */
    private static final Duration POLL_EXTRA = Duration.ofSeconds(15);

    private record Jobs(List<Job> jobs) {}

    private record Standings(List<One> jobs) {
        private record One(Standing status) {}
    }

    private final ObjectMapper mapper = Json.mapper();
    private final Http http;

    /**
     * To a server.
     *
     * @param endpoint where, and with which token
     */
    public RestEngine(Endpoint endpoint) {
        http = new Http(endpoint, mapper);
    }

    @Override
    public List<Job> poll(Poll poll) throws InterruptedException {
        ObjectNode body = mapper.createObjectNode()
                .put("workerId", poll.workerId())
                .put("maxJobs", poll.maxJobs())
                .put("leaseSeconds", poll.lease().toSeconds())
                .put("waitSeconds", poll.waitMax().toSeconds());
        body.set("jobTypes", mapper.valueToTree(poll.jobTypes()));
        Http.Request request =
                http.post("/v1/jobs/poll", body).within(poll.waitMax().plus(POLL_EXTRA));
        return http.call(request, new TypeReference<Jobs>() {}).jobs();
    }

    @Override
    public void complete(String workerId, Job job, ObjectNode variables) throws InterruptedException {
        ObjectNode body = holder(workerId, job);
        body.set("variables", variables);
        say(job, "complete", body);
    }

    @Override
    public void fail(String workerId, Job job, Outcome.Failed failure) throws InterruptedException {
        ObjectNode body =
                holder(workerId, job).put("retryable", failure.retryable()).put("errorMessage", failure.message());
        if (failure.retryAfter() != null) {
            body.put("retryAfter", failure.retryAfter().toString());
        }
        say(job, "fail", body);
    }

    @Override
    public void throwError(String workerId, Job job, Outcome.Thrown error) throws InterruptedException {
        ObjectNode body = holder(workerId, job).put("errorCode", error.code()).put("errorMessage", error.message());
        body.set("variables", error.variables());
        say(job, "error", body);
    }

    @Override
    public List<Standing> heartbeat(String workerId, Duration lease, List<Beat> beats) throws InterruptedException {
        List<Standing> all = new ArrayList<>(beats.size());
        for (int at = 0; at < beats.size(); at += JOBS_PER_REQUEST_MAX) {
            ObjectNode body =
                    mapper.createObjectNode().put("workerId", workerId).put("leaseSeconds", lease.toSeconds());
            ArrayNode list = body.putArray("jobs");
            for (Beat beat : beats.subList(at, Math.min(at + JOBS_PER_REQUEST_MAX, beats.size()))) {
                ObjectNode one = list.addObject().put("jobId", beat.job().id());
                number(one, beat.job());
                if (beat.progress() != null) {
                    one.set("progress", mapper.valueToTree(beat.progress()));
                }
            }
            Standings answer = http.call(http.post("/v1/jobs/heartbeat", body), new TypeReference<Standings>() {});
            answer.jobs().forEach(one -> all.add(one.status()));
        }
        return all;
    }

    @Override
    public void release(String workerId, Job job, Duration delay) throws InterruptedException {
        ObjectNode body = holder(workerId, job);
        if (delay.isZero()) {
            say(job, "release", body);
        } else {
            say(job, "snooze", body.put("duration", delay.toString()));
        }
    }

    @Override
    public void close() {
        // An HTTP client of Java 17 lets its connections go when nobody holds it any more.
    }

    private void say(Job job, String what, ObjectNode body) throws InterruptedException {
        http.call(http.post("/v1/jobs/" + Http.part(job.id()) + "/" + what, body), new TypeReference<Void>() {});
    }

    /** Who has the job, and by which lease. */
    private ObjectNode holder(String workerId, Job job) {
        return number(mapper.createObjectNode().put("workerId", workerId), job);
    }

    private static ObjectNode number(ObjectNode body, Job job) {
        return job.lease() == 0 ? body : body.put("lease", Integer.toUnsignedLong(job.lease()));
    }
}
