package io.caudal.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.caudal.client.testing.FakeJob;
import java.io.IOException;
import java.math.BigInteger;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RegistryTest {
    record Given(int n, String text, List<BigInteger> wide) {}

    record Twice(int n) {}

    static class Handlers {
        @JobHandler("typed")
        Twice twice(Given given, JobContext context) {
            context.progress(50, "half", Map.of("at", 1));
            return new Twice(given.n() * 2);
        }

        @JobHandler("context")
        void only(JobContext context) throws IOException {
            throw new IOException(context.job().id());
        }

        @JobHandler("generic")
        Object sum(Map<String, BigInteger> numbers) {
            return Map.of("sum", numbers.values().stream().reduce(BigInteger.ZERO, BigInteger::add));
        }

        @JobHandler("assertion")
        void never(JobContext context) {
            throw new AssertionError("odd");
        }
    }

    private final Registry registry = new Registry().register(new Handlers());

    private static Outcome end(Registry.Handler<Map<String, Object>> handler) {
        return FakeJob.of("work", Map.of()).run(new Registry().handle("work", handler));
    }

    private static String json(Outcome outcome) {
        return assertInstanceOf(Outcome.Completed.class, outcome).variables().toString();
    }

    private static String refused(Object variables, Registry registry) {
        Outcome.Failed failed = assertInstanceOf(
                Outcome.Failed.class, FakeJob.of("typed", variables).run(registry));
        assertEquals(false, failed.retryable());
        return failed.message();
    }

    @Test
    void annotatedMethodsTakeWhatTheyAskFor() {
        FakeJob job = FakeJob.of("typed", Map.of("n", 2, "other", List.of()));
        assertEquals("{\"n\":4}", json(job.run(registry)));
        assertEquals("{\"at\":1}", job.progress().get(0).data().toString());
        assertEquals(
                new Outcome.Failed("1", true, null),
                FakeJob.of("context", Map.of()).run(registry));
        BigInteger wide = BigInteger.TEN.pow(30);
        assertEquals(
                "{\"sum\":" + wide.add(BigInteger.ONE) + "}",
                json(FakeJob.of("generic", Map.of("a", wide, "b", 1)).run(registry)));
        assertEquals(
                new Outcome.Failed("odd", true, null),
                FakeJob.of("assertion", Map.of()).run(registry));
        assertEquals(List.of("assertion", "context", "generic", "typed"), registry.jobTypes());
    }

    @Test
    void variablesThatDoNotFitAreNamed() {
        for (Object wrong : Arrays.asList("2", 2.5, true, List.of())) {
            assertTrue(refused(Map.of("n", wrong), registry).contains("\"n\""), String.valueOf(wrong));
        }
        assertTrue(refused(Map.of("text", "no n"), registry).contains("\"n\""));
        assertTrue(refused(Map.of("n", 1, "text", 5), registry).contains("\"text\""));
        assertTrue(refused(Map.of("n", 1, "wide", "none"), registry).contains("\"wide\""));
    }

    @Test
    void everyEndOfAHandler() {
        assertEquals("{}", json(end((variables, context) -> null)));
        assertEquals("{\"n\":3}", json(end((variables, context) -> new Twice(3))));
        assertEquals(
                new Outcome.Failed("variables must be an object, not NUMBER", false, null),
                end((variables, context) -> 5));
        assertEquals(new Outcome.Failed("never", false, null), end((variables, context) -> {
            throw new NonRetryableException("never");
        }));
        assertEquals(new Outcome.Failed("busy", true, Duration.ofSeconds(5)), end((variables, context) -> {
            throw new RetryableException("busy", Duration.ofSeconds(5));
        }));
        assertEquals(new Outcome.Failed("java.lang.IllegalStateException", true, null), end((variables, context) -> {
            throw new IllegalStateException();
        }));
        assertEquals(
                new Outcome.Failed("io.caudal.client.RetryableException", true, Duration.ZERO),
                end((variables, context) -> {
                    throw new RetryableException(null, Duration.ZERO);
                }));
        assertEquals(new Outcome.Snoozed(Duration.ofHours(1)), end((variables, context) -> {
            throw new SnoozeException(Duration.ofHours(1));
        }));
        assertEquals(
                new Outcome.Thrown("E", "no", Json.mapper().createObjectNode().put("a", 1)),
                end((variables, context) -> {
                    throw new BpmnException("E", "no", Map.of("a", 1));
                }));
    }

    @Test
    void anEndAfterALossDoesNotCount() {
        Registry lost = new Registry().handle("work", (variables, context) -> {
            assertTrue(context.isLost());
            throw new NonRetryableException("never");
        });
        Outcome outcome = FakeJob.of("work", Map.of()).run(lost, context -> context.lose(Loss.LEASE_LOST));
        assertEquals(new Outcome.Abandoned(Loss.LEASE_LOST), outcome);
    }

    @Test
    void aListenerThatFailsHarmsNobody() {
        Registry registry = new Registry().handle("work", (variables, context) -> {
            context.onLost(() -> {
                throw new IllegalStateException("odd");
            });
            context.lose(Loss.CANCELLED);
            return null;
        });
        assertEquals(
                new Outcome.Abandoned(Loss.CANCELLED),
                FakeJob.of("work", Map.of()).run(registry));
    }

    @Test
    void anAttemptFindsWhatTheOneBeforeSaid() {
        Registry registry = new Registry()
                .handle(
                        "work",
                        (variables, context) ->
                                Map.of("from", context.job().progress().percent()));
        assertEquals(
                "{\"from\":40}",
                json(FakeJob.of("work", Map.of())
                        .after(new Progress(40, null, null))
                        .run(registry)));
    }

    static class Wrong {
        @JobHandler("wrong")
        void take(String one, String two) {}
    }

    @Test
    void mistakesAreFoundWhenTheyAreRegistered() {
        assertThrows(IllegalArgumentException.class, () -> registry.handle("typed", (variables, context) -> null));
        assertThrows(IllegalArgumentException.class, () -> new Registry().register(new Wrong()));
        assertThrows(IllegalArgumentException.class, () -> new Registry().register("no handlers"));
    }
}
