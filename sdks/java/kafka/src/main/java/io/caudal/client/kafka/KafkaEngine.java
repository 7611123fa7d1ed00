package io.caudal.client.kafka;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.caudal.client.CaudalException;
import io.caudal.client.Endpoint;
import io.caudal.client.EngineClient;
import io.caudal.client.Job;
import io.caudal.client.Outcome;
import io.caudal.client.Standing;
import io.caudal.client.UnavailableException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transport for a server with {@code dispatch = "kafka_outbox"}: jobs are heard of on Kafka, and how they ended is said
 * to the server, over REST or gRPC.
 *
 * <p>A job that came to a worker which was killed is announced again when its lease is over, so nothing is lost; it may come
 * twice, and its first completion counts.
 */
public final class KafkaEngine implements EngineClient {
    private static final Logger LOG = LoggerFactory.getLogger(KafkaEngine.class);
    private static final String SCHEME = "kafka://";
    /** With what leaving the group takes at most, this is 5 seconds. */
    private static final Duration GIVE_BACK_MAX = Duration.ofSeconds(3);

    private final EngineClient server;
    private final Listener listener;
    /** Jobs that the server could not be asked about yet. Only the thread that polls uses this. */
    List<Job> heard = new ArrayList<>();

    private volatile String workerId = "";

    /**
     * Hears of jobs.
     *
     * @param brokers where to begin, such as {@code kafka-1:9092,kafka-2:9092}
     * @param server is told how jobs ended; is closed with this
     * @param options which group, which topics
     */
    public KafkaEngine(String brokers, EngineClient server, Options options) {
        this.server = server;
        this.listener = new Listener(brokers, options);
    }

    /**
     * Ways to hear of jobs.
     *
     * @param group is shared by workers that share jobs: those of another group get all of them as well
     * @param topicPrefix as the server's {@code kafka.topic_prefix}
     * @param settings further ones of Kafka's own consumer, such as {@code security.protocol}
     */
    public record Options(String group, String topicPrefix, Map<String, String> settings) {
        /**
         * The usual ones.
         *
         * @return for workers that all have one group, and a server that has the usual topics
         */
        public static Options usual() {
            return new Options("caudal-workers", "workflow.jobs.", Map.of());
        }

        /**
         * Without what is set, which may be a password.
         *
         * @return for logs and errors
         */
        @Override
        public String toString() {
            return "group " + group + ", topics " + topicPrefix + ", settings " + settings.keySet();
        }
    }

    /**
     * Finds this transport by an address such as {@code kafka://kafka-1:9092,kafka-2:9092?engine=http://server:8080}, with
     * {@code group} and {@code topic_prefix} if need be; what else is given are settings of Kafka's own consumer.
     */
    public static final class Provider implements EngineClient.Provider {
        /** For the service loader. */
        public Provider() {}

        @Override
        public EngineClient connect(Endpoint endpoint) {
            if (!endpoint.address().startsWith(SCHEME)) {
                return null;
            }
            String[] parts = endpoint.address().substring(SCHEME.length()).split("\\?", 2);
            Map<String, String> given = new HashMap<>();
            for (String one : parts.length == 1 ? new String[0] : parts[1].split("&", -1)) {
                String[] pair = one.split("=", 2);
                given.put(pair[0], pair.length == 1 ? "" : decode(pair[0], pair[1]));
            }
            String address = given.remove("engine");
            if (address == null) {
                throw new IllegalArgumentException(
                        "'" + endpoint + "' does not say where the server is: ?engine=http://…");
            }
            Options usual = Options.usual();
            String group = given.getOrDefault("group", usual.group());
            String prefix = given.getOrDefault("topic_prefix", usual.topicPrefix());
            given.keySet().removeAll(List.of("group", "topic_prefix"));
            Endpoint server = new Endpoint(address, endpoint.headers(), endpoint.http(), endpoint.telemetry());
            return new KafkaEngine(parts[0], EngineClient.connect(server), new Options(group, prefix, given));
        }

        private static String decode(String name, String value) {
            try {
                return URLDecoder.decode(value, StandardCharsets.UTF_8);
            } catch (IllegalArgumentException e) {
                // Its words repeat the value, which may be a password.
                throw new IllegalArgumentException("the value of '" + name + "' is not encoded as in a URL");
            }
        }
    }

    @Override
    public List<Job> poll(Poll poll) throws InterruptedException {
        workerId = poll.workerId();
        if (heard.isEmpty()) {
            heard = listener.take(poll.jobTypes(), poll.maxJobs(), poll.waitMax());
        }
        if (heard.isEmpty()) {
            return List.of();
        }
        // An announcement may be old: the job is over, or its lease nearly.
        List<Beat> beats = heard.stream().map(job -> new Beat(job, null)).toList();
        List<Standing> standings = server.heartbeat(poll.workerId(), poll.lease(), beats);
        List<Job> held = new ArrayList<>(heard.size());
        for (int i = 0; i < standings.size(); i++) {
            if (standings.get(i) == Standing.HELD) {
                held.add(heard.get(i));
            }
        }
        heard = new ArrayList<>();
        return held;
    }

    @Override
    public void complete(String worker, Job job, ObjectNode variables) throws InterruptedException {
        server.complete(worker, job, variables);
    }

    @Override
    public void fail(String worker, Job job, Outcome.Failed failure) throws InterruptedException {
        server.fail(worker, job, failure);
    }

    @Override
    public void throwError(String worker, Job job, Outcome.Thrown error) throws InterruptedException {
        server.throwError(worker, job, error);
    }

    @Override
    public List<Standing> heartbeat(String worker, Duration lease, List<Beat> beats) throws InterruptedException {
        return server.heartbeat(worker, lease, beats);
    }

    @Override
    public void release(String worker, Job job, Duration delay) throws InterruptedException {
        server.release(worker, job, delay);
    }

    /** Leaves the group, gives back what was heard of and not begun, and closes the transport to the server. */
    @Override
    public void close() {
        List<Job> unbegun = new ArrayList<>(heard);
        unbegun.addAll(listener.close());
        ExecutorService givers = Executors.newCachedThreadPool();
        unbegun.forEach(job -> givers.execute(() -> giveBack(job)));
        givers.shutdown();
        try {
            if (!givers.awaitTermination(GIVE_BACK_MAX.toMillis(), TimeUnit.MILLISECONDS)) {
                givers.shutdownNow();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            givers.shutdownNow();
        }
        server.close();
    }

    private void giveBack(Job job) {
        try {
            server.release(workerId, job, Duration.ZERO);
        } catch (CaudalException e) {
            LOG.warn("job {} could not be given back ({}): it is free when its lease ends", job.id(), e.getMessage());
        } catch (InterruptedException e) {
            LOG.warn("job {} was not given back in time: it is free when its lease ends", job.id());
        }
    }

    static UnavailableException unavailable(Exception cause) {
        return new UnavailableException(String.valueOf(cause.getMessage()), Duration.ZERO, cause);
    }
}
