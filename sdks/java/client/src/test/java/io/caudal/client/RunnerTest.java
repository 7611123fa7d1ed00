package io.caudal.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.UnaryOperator;
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

    /** The first so many things that are said of one job. */
    private List<String> sayings(int count, Registry.Handler<Map<String, Object>> handler) throws InterruptedException {
        List<String> said = new ArrayList<>();
        try (Runner runner = start(handler, options -> options)) {
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
        engine.failures.add(new UnavailableException("away", Duration.ZERO, false, null));
        engine.failures.add(new UnavailableException("away", Duration.ZERO, true, null));
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
        assertEquals(List.of("release 1 PT0S"), List.copyOf(engine.said));
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
