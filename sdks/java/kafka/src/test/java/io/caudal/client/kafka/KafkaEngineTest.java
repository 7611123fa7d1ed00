package io.caudal.client.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import io.caudal.client.CaudalException;
import io.caudal.client.Endpoint;
import io.caudal.client.EngineClient;
import io.caudal.client.Job;
import io.caudal.client.kafka.wire.JobDispatchEvent;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class KafkaEngineTest {
    @Test
    void anAddressSaysItAll() {
        Endpoint endpoint =
                Endpoint.of("kafka://127.0.0.1:9,127.0.0.1:10?engine=http://server&group=g&topic_prefix=jobs.");
        try (EngineClient made = EngineClient.connect(endpoint)) {
            assertInstanceOf(KafkaEngine.class, made);
        }
    }

    @Test
    void passwordsAreNotShown() {
        for (String query : List.of("", "&engine=server", "&engine=http://server&ssl.key.password=%secret")) {
            Endpoint wrong = Endpoint.of("kafka://127.0.0.1:9?sasl.password=secret" + query);
            String said = assertThrows(IllegalArgumentException.class, () -> EngineClient.connect(wrong))
                    .getMessage();
            assertFalse(said.contains("secret"), said);
        }
        String shown = new KafkaEngine.Options("g", "jobs.", Map.of("sasl.password", "secret")).toString();
        assertEquals("group g, topics jobs., settings [sasl.password]", shown);
    }

    @Test
    @Timeout(60)
    void whatWasHeardAndNotBegunIsGivenBackTogether() {
        Queue<String> released = new ConcurrentLinkedQueue<>();
        CyclicBarrier both = new CyclicBarrier(2);
        InvocationHandler server = (proxy, method, arguments) -> {
            if (method.getName().equals("release")) {
                both.await();
                released.add(((Job) arguments[1]).id());
            }
            return null;
        };
        Class<?>[] kinds = {EngineClient.class};
        EngineClient noting = (EngineClient) Proxy.newProxyInstance(getClass().getClassLoader(), kinds, server);
        KafkaEngine engine = new KafkaEngine("127.0.0.1:9", noting, KafkaEngine.Options.usual());
        engine.heard = List.of(job("1"), job("2"));
        engine.close();
        assertEquals(Set.of("1", "2"), Set.copyOf(released));
    }

    private static Job job(String id) {
        return Listener.job(JobDispatchEvent.newBuilder()
                .setJobId(id)
                .setJobPayload(ByteString.copyFromUtf8("{}"))
                .build()
                .toByteArray());
    }

    @Test
    void anAnnouncementIsAJob() {
        JobDispatchEvent event = JobDispatchEvent.newBuilder()
                .setJobId("1")
                .setJobType("work")
                .setInstanceId("7")
                .setStepId("do")
                .setRetriesRemaining(2)
                .setLease(3)
                .setProgress(ByteString.copyFromUtf8("{\"percent\": 40}"))
                .setTraceContext(ByteString.copyFromUtf8("{\"traceparent\": \"00-1\"}"))
                .setJobPayload(ByteString.copyFromUtf8("{\"n\": 9007199254740993}"))
                .build();
        Job job = Listener.job(event.toByteArray());
        assertEquals(
                "1 work 7 2", String.join(" ", job.id(), job.type(), job.instanceId(), "" + job.retriesRemaining()));
        assertEquals("{\"n\":9007199254740993}", job.variables().toString());
        assertEquals(
                "do 3 40",
                String.join(
                        " ", job.stepId(), "" + job.lease(), "" + job.progress().percent()));
        assertEquals(Map.of("traceparent", "00-1"), job.traceContext());
        assertThrows(CaudalException.class, () -> Listener.job(new byte[] {1, 2, 3}));
    }
}
