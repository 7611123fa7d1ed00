package io.caudal.client.kafka;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.caudal.client.CaudalException;
import io.caudal.client.Job;
import io.caudal.client.Json;
import io.caudal.client.Progress;
import io.caudal.client.kafka.wire.JobDispatchEvent;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that listens: a consumer must ask all the time, or its group takes it for dead, also while the runner has no room for
 * jobs. Then it asks for none.
 */
final class Listener {
    private static final Logger LOG = LoggerFactory.getLogger(Listener.class);
    private static final Duration ASK = Duration.ofSeconds(1);
    /** What leaving the group may take, so that there is time to give back jobs as well. */
    private static final CloseOptions LEAVING = CloseOptions.timeout(Duration.ofSeconds(2));

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final String prefix;
    private final BlockingQueue<Job> jobs = new LinkedBlockingQueue<>();
    private volatile RuntimeException failure;
    private volatile boolean closed;
    private Thread thread;

    Listener(String brokers, KafkaEngine.Options options) {
        Map<String, Object> settings = new HashMap<>();
        settings.put("allow.auto.create.topics", false);
        settings.put("auto.offset.reset", "earliest");
        settings.put("bootstrap.servers", brokers);
        settings.put("group.id", options.group());
        // Those that were heard of wait for room here, where no other worker can get them.
        settings.put("max.poll.records", 20);
        settings.put("metadata.max.age.ms", 30_000);
        settings.put("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
        settings.putAll(options.settings());
        consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        prefix = options.topicPrefix();
    }

    /** Jobs that were heard of; none if there are none in time. */
    List<Job> take(List<String> types, int max, Duration atMost) throws InterruptedException {
        if (thread == null) {
            consumer.subscribe(types.stream().map(type -> prefix + type).toList());
            thread = new Thread(this::listen, "caudal-kafka");
            thread.setDaemon(true);
            thread.start();
        }
        List<Job> taken = new ArrayList<>();
        Job first = jobs.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
        if (first != null) {
            taken.add(first);
            jobs.drainTo(taken, max - 1);
            if (jobs.isEmpty()) {
                consumer.wakeup();
            }
        } else if (failure != null) {
            throw KafkaEngine.unavailable(failure);
        }
        return taken;
    }

    /** Leaves the group; the jobs that nobody took. */
    List<Job> close() {
        closed = true;
        consumer.wakeup();
        try {
            if (thread == null) {
                consumer.close(LEAVING);
            } else {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return List.copyOf(jobs);
    }

    private void listen() {
        try {
            while (!closed) {
                ask();
            }
        } finally {
            consumer.close(LEAVING);
        }
    }

    private void ask() {
        try {
            if (jobs.isEmpty()) {
                consumer.resume(consumer.paused());
            } else {
                consumer.pause(consumer.assignment());
            }
            for (ConsumerRecord<byte[], byte[]> heard : consumer.poll(ASK)) {
                hear(heard);
            }
            failure = null;
        } catch (WakeupException e) {
            // There is room again, or it is to end.
        } catch (KafkaException e) {
            failure = e;
            pause();
        }
    }

    private void hear(ConsumerRecord<byte[], byte[]> heard) {
        try {
            // A message may have no value at all.
            jobs.add(job(heard.value() == null ? new byte[0] : heard.value()));
        } catch (CaudalException e) {
            // It would be the same again and again.
            LOG.warn("{} at {}: {}", heard.topic(), heard.offset(), e.getMessage());
        }
    }

    private static void pause() {
        try {
            Thread.sleep(ASK.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static Job job(byte[] message) {
        try {
            JobDispatchEvent event = JobDispatchEvent.parseFrom(message);
            ObjectNode variables = Json.mapper().readValue(event.getJobPayload().toByteArray(), ObjectNode.class);
            return new Job(
                    event.getJobId(),
                    event.getJobType(),
                    event.getInstanceId(),
                    event.getStepId(),
                    event.getStepExecutionId(),
                    event.getRetriesRemaining(),
                    variables,
                    Instant.MAX,
                    event.getLease(),
                    ifAny(event.getProgress(), new TypeReference<Progress>() {}),
                    ifAny(event.getTraceContext(), new TypeReference<Map<String, String>>() {}));
        } catch (InvalidProtocolBufferException e) {
            throw new CaudalException("what was published is no announcement of a job: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new CaudalException("the variables of a job are no JSON: " + e.getMessage(), e);
        }
    }

    private static <T> T ifAny(ByteString json, TypeReference<T> type) throws IOException {
        return json.isEmpty() ? null : Json.mapper().readValue(json.toByteArray(), type);
    }
}
