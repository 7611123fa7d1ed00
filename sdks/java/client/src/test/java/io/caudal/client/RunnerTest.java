package io.caudal.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RunnerTest {
    private final FakeEngine engine = new FakeEngine();

    private Runner start(Registry.Handler<Map<String, Object>> handler, UnaryOperator<Runner.Builder> options) {
        Registry registry = new Registry().handle("work", handler);
        Runner runner = options.apply(Runner.builder(registry, engine)).build();
        runner.start();
        return runner;
    }

    /** The first so many things that are said, of one job after the other. */
    private List<String> sayings(int count, Registry.Handler<Map<String, Object>> handler) throws InterruptedException {
        List<String> said = new ArrayList<>();
        try (Runner runner = start(handler, options -> options.maxParallel(1))) {
            for (int i = 0; i < count; i++) {
                said.add(engine.said.take());
            }
        }
        return said;
    }

    @Test
    void aResultIsSaid() throws InterruptedException {
        assertEquals(List.of("complete 1 {\"m\":2}"), sayings(1, (variables, context) -> Map.of("m", 2)));
    }

    @Test
    void aBpmnErrorIsThrown() throws InterruptedException {
        assertEquals(List.of("throw E no {\"a\":1}"), sayings(1, (variables, context) -> {
            throw new BpmnException("E", "no", Map.of("a", 1));
        }));
    }

    @Test
    void aSnoozedJobIsReleasedForLater() throws InterruptedException {
        assertEquals(List.of("release 1 PT5S"), sayings(1, (variables, context) -> {
            throw new SnoozeException(Duration.ofSeconds(5));
        }));
    }

    @Test
    void anEndIsSaidUntilItIsKnown() throws InterruptedException {
        engine.failures.add(new UnavailableException("away", Duration.ZERO, null));
        engine.failures.add(new UnavailableException("away", Duration.ZERO, null));
        String done = "complete 1 {}";
        assertEquals(List.of(done, done, done), sayings(3, (variables, context) -> null));
    }

    @Test
    void aJobThatIsAnothersIsLeftAlone() throws InterruptedException {
        engine.failures.add(new ApiException(409, "CONFLICT", "it is another's"));
        engine.jobs.add(FakeEngine.job("2"));
        assertEquals(2, sayings(2, (variables, context) -> null).size());
        assertEquals(List.of(), List.copyOf(engine.said));
    }

    @Test
    void aResultThatIsRefusedIsAFailureForPeople() throws InterruptedException {
        engine.failures.add(new ApiException(413, "TOO_LARGE", "too large"));
        List<String> said = sayings(2, (variables, context) -> null);
        assertEquals("fail the result was refused: too large (TOO_LARGE, 413), false, null", said.get(1));
    }

    @Test
    void anyEndThatIsRefusedIsAFailureForPeople() throws InterruptedException {
        engine.failures.add(new ApiException(400, "BAD_REQUEST", "too long"));
        List<String> said = sayings(2, (variables, context) -> {
            throw new SnoozeException(Duration.ofDays(3650));
        });
        assertEquals("fail the snooze was refused: too long (BAD_REQUEST, 400), false, null", said.get(1));
    }

    @Test
    void aBpmnErrorThatIsRefusedIsAFailureForPeople() throws InterruptedException {
        engine.failures.add(new ApiException(400, "BAD_REQUEST", "no code"));
        List<String> said = sayings(2, (variables, context) -> {
            throw new BpmnException("", "no");
        });
        assertEquals("fail the BPMN error was refused: no code (BAD_REQUEST, 400), false, null", said.get(1));
    }

    @Test
    void anEndThatCannotBeWrittenIsAFailureForPeople() throws InterruptedException {
        engine.failures.add(new ArithmeticException("long overflow"));
        List<String> said = sayings(2, (variables, context) -> null);
        String why = "java.lang.ArithmeticException: long overflow";
        assertEquals("fail the result was refused: " + why + ", false, null", said.get(1));
    }

    @Test
    void aFailureThatIsRefusedIsSaidOnceMoreWithLess() throws InterruptedException {
        engine.failures.add(new ApiException(400, "BAD_REQUEST", "negative"));
        engine.failures.add(new ApiException(400, "BAD_REQUEST", "still"));
        engine.jobs.add(FakeEngine.job("2"));
        // The last character that is left is half of a pair.
        String message = "\0" + "x".repeat(9_998) + "🦀".repeat(10);
        List<String> said = sayings(3, (variables, context) -> {
            if (context.job().id().equals("2")) {
                return null;
            }
            throw new RetryableException(message, Duration.ofSeconds(-1));
        });
        assertEquals("fail " + message + ", true, PT-1S", said.get(0));
        assertEquals("fail \uFFFD" + "x".repeat(9_998) + "?, true, null", said.get(1));
        assertEquals("complete 2 {}", said.get(2));
        assertEquals(List.of(), List.copyOf(engine.said));
    }

    @Test
    void aHandlerThatLostItsJobSaysNothing() throws InterruptedException {
        engine.standing = Standing.CANCELLED;
        BlockingQueue<Loss> told = new LinkedBlockingQueue<>();
        Runner runner = start(
                (variables, context) -> {
                    context.onLost(Thread.currentThread()::interrupt);
                    assertThrows(InterruptedException.class, () -> Thread.sleep(60_000));
                    told.add(context.loss());
                    return null;
                },
                options -> options.lease(Duration.ofSeconds(6)));
        assertEquals(Loss.CANCELLED, told.take());
        runner.close();
        assertEquals(List.of(), List.copyOf(engine.said));
    }

    @Test
    void aHandlerIsToldWhenItsLeaseMustBeOverThoughNobodyAnswers() throws InterruptedException {
        engine.standing = null;
        BlockingQueue<Loss> told = new LinkedBlockingQueue<>();
        Runner runner = start(
                (variables, context) -> {
                    context.awaitLost(Duration.ofSeconds(30));
                    told.add(context.loss());
                    return null;
                },
                options -> options.lease(Duration.ofMillis(30)));
        assertEquals(Loss.LEASE_LOST, told.take());
        runner.close();
        assertEquals(List.of(), List.copyOf(engine.said));
    }

    @Test
    void whatDoesNotFinishInTimeIsGivenBack() throws InterruptedException {
        engine.failures.add(new UnavailableException("busy", Duration.ZERO, null));
        CountDownLatch begun = new CountDownLatch(1);
        BlockingQueue<Loss> told = new LinkedBlockingQueue<>();
        Runner runner = start(
                (variables, context) -> {
                    begun.countDown();
                    context.awaitLost(Duration.ofMinutes(1));
                    told.add(context.loss());
                    return null;
                },
                options -> options.grace(Duration.ofMillis(1)));
        begun.await();
        runner.close();
        assertEquals(Loss.SHUTDOWN, told.take());
        assertEquals(List.of("release 1 PT0S", "release 1 PT0S"), List.copyOf(engine.said));
    }

    @Test
    void aRunnerEndsThoughNobodyTakesItsJobsBack() throws InterruptedException {
        engine.keepsSilent = true;
        engine.jobs.add(FakeEngine.job("2"));
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch never = new CountDownLatch(1);
        Runner runner = start(
                (variables, context) -> {
                    begun.countDown();
                    never.await();
                    return null;
                },
                options -> options.grace(Duration.ofMillis(1)));
        begun.await();
        runner.close();
        assertEquals(Set.of("release 1 PT0S", "release 2 PT0S"), Set.copyOf(engine.said));
    }

    @Test
    void leasesThatAreOverAreNotWaitedFor() {
        long now = Long.MAX_VALUE - 1;
        assertEquals(now + 10, Runner.due(now, now + 10, LongStream.of()));
        assertEquals(now + 10, Runner.due(now, now + 10, LongStream.of(now - 5, now, now + 20)));
        assertEquals(now + 3, Runner.due(now, now + 10, LongStream.of(now - 5, now + 3)));
    }

    @Test
    void aJobThatComesTooLateIsGivenBack() throws InterruptedException {
        engine.jobs.clear();
        engine.late = FakeEngine.job("7");
        Runner runner = start(
                (variables, context) -> {
                    throw new AssertionError("it was begun");
                },
                options -> options);
        engine.asked.await();
        runner.close();
        assertEquals(List.of("release 7 PT0S"), List.copyOf(engine.said));
    }

    @Test
    void aJobThatTheExecutorRefusesIsGivenBack() throws InterruptedException {
        Executor full = work -> {
            throw new RejectedExecutionException();
        };
        Runner runner = start((variables, context) -> null, options -> options.executor(full));
        engine.asked.await();
        runner.close();
        assertEquals(List.of("release 1 PT0S"), List.copyOf(engine.said));
    }

    @Test
    void aRunnerWithoutHandlersIsAMistake() {
        assertThrows(IllegalArgumentException.class, () -> Runner.of(new Registry(), "http://127.0.0.1:9"));
    }

    @Test
    void pollsThatDoNotWaitComeLessAndLessOften() throws InterruptedException {
        engine.jobs.clear();
        engine.waits = false;
        try (Runner runner = start((variables, context) -> null, options -> options.pollWait(Duration.ZERO))) {
            // Without a pause there would be thousands; a slow machine has fewer.
            Thread.sleep(300);
        }
        assertEquals(0, engine.polls.get() / 10);
    }
}
