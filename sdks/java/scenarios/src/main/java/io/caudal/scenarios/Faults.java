package io.caudal.scenarios;

import static io.caudal.scenarios.World.alone;
import static io.caudal.scenarios.World.equal;
import static io.caudal.scenarios.World.file;
import static io.caudal.scenarios.World.isJson;
import static io.caudal.scenarios.World.next;

import io.caudal.client.ApiException;
import io.caudal.client.BpmnException;
import io.caudal.client.Endpoint;
import io.caudal.client.EngineClient;
import io.caudal.client.Instance;
import io.caudal.client.Loss;
import io.caudal.client.Progress;
import io.caudal.client.Registry;
import io.caudal.client.Runner;
import io.caudal.client.Status;
import io.caudal.client.Submit;
import io.caudal.scenarios.Main.Scenario;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** Leases that end, processes that die, a server that is away or busy. */
final class Faults {
    static final List<Scenario> ALL = List.of(
            new Scenario("long handler", alone(Faults::longHandler)),
            new Scenario("lost lease", alone(Faults::lostLease)),
            new Scenario("lost lease and a BPMN error", alone(Faults::lostLeaseAndBpmnError)),
            new Scenario("cancelled job", alone(Faults::cancelledJob)),
            new Scenario("progress", alone(Faults::progress)),
            new Scenario("worker killed", alone(Faults::workerKilled)),
            new Scenario("server restarted", Faults::serverRestarted),
            new Scenario("drain", alone(Faults::drain)),
            new Scenario("grace runs out", alone(Faults::graceRunsOut)),
            // One poll may wait at a time: the others hear 503.
            new Scenario("overload", World.on("memory:", Faults::overload, "--limits-polls-parked", "1")));

    private static final Duration LEASE = Duration.ofSeconds(5);
    /** Is not extended before a scenario is over. */
    private static final Duration LONG_LEASE = Duration.ofMinutes(10);

    private static final String REFUSED = "caudal_commands_total{kind=\"submit\",outcome=\"rejected\"}";
    private static final String POLLED = "job_poll_latency_seconds_count";

    private Faults() {}

    private interface InFolder {
        void use(Path folder) throws Exception;
    }

    private static void longHandler(World world) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Registry registry = new Registry().handle("work", (variables, context) -> {
            calls.incrementAndGet();
            return Map.of("lost", context.awaitLost(Duration.ofMillis(6500)));
        });
        // Two runners: a job whose lease ended would go to the other.
        try (Runner one = World.work(world.runner(registry).lease(LEASE));
                Runner two = World.work(world.runner(registry).lease(LEASE))) {
            isJson(world.await(world.startWork(null)).variables(), "{\"lost\": false}");
        }
        equal(calls.get(), 1);
    }

    private interface TakeAway {
        void from(String instanceId) throws Exception;
    }

    /** Runs a handler, takes its job away, and waits until it knows: the instance is as it is after that. */
    private static Instance lose(World world, Loss expected, TakeAway takeAway) throws Exception {
        BlockingQueue<String> begun = new LinkedBlockingQueue<>();
        BlockingQueue<Loss> told = new LinkedBlockingQueue<>();
        Registry registry = new Registry().handle("work", (variables, context) -> {
            context.onLost(() -> told.add(context.loss()));
            begun.add("begun");
            context.awaitLost(World.WITHIN);
            return Map.of("by", "loser");
        });
        try (Runner runner = World.work(world.runner(registry).lease(LEASE).maxParallel(1))) {
            String id = world.startWork(null);
            next(begun);
            takeAway.from(id);
            equal(next(told), expected);
            runner.close();
            return world.client.instance(id);
        }
    }

    private static void lostLease(World world) throws Exception {
        Instance instance = lose(world, Loss.LEASE_LOST, id -> {
            CountDownLatch taken = new CountDownLatch(1);
            Registry winning = new Registry().handle("work", (variables, context) -> {
                taken.countDown();
                return Map.of("by", "winner");
            });
            try (Runner winner = World.work(world.runner(winning, "winner").lease(LONG_LEASE))) {
                // The loser may extend its lease just as the clock moves.
                while (!taken.await(50, TimeUnit.MILLISECONDS)) {
                    world.server.advance(Duration.ofSeconds(30));
                }
                world.await(id);
            }
        });
        isJson(instance.variables(), "{\"by\": \"winner\"}");
    }

    private static void lostLeaseAndBpmnError(World world) throws Exception {
        BlockingQueue<String> begun = new LinkedBlockingQueue<>();
        CountDownLatch taken = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        Registry losing = new Registry().handle("charge-card", (variables, context) -> {
            // Over Kafka it hears of the winner's lease as well.
            if (context.job().lease() > 1) {
                over.await();
                return null;
            }
            begun.add("begun");
            taken.await();
            throw new BpmnException("DECLINED", "too late");
        });
        CountDownLatch told = new CountDownLatch(1);
        Registry winning = new Registry().handle("charge-card", (variables, context) -> {
            begun.add("begun");
            told.await();
            return null;
        });
        BlockingQueue<Optional<Throwable>> answers = new LinkedBlockingQueue<>();
        try (EngineClient engine = EngineClient.connect(Endpoint.of(world.address()));
                Runner loser = World.work(Runner.builder(losing, throwing(engine, answers))
                        .lease(LONG_LEASE)
                        .maxParallel(1))) {
            world.client.deploy(file("charge.bpmn"));
            String id = world.client.start("charge", Map.of("customer", "ann")).id();
            next(begun);
            // By the server's clock the lease is over, by its own it is not.
            world.server.advance(LONG_LEASE.plusMinutes(1));
            try (Runner winner = World.work(world.runner(winning, "winner"))) {
                next(begun);
                taken.countDown();
                Throwable answer = next(answers).orElse(null);
                equal(answer instanceof ApiException refused && refused.isConflict(), true);
                told.countDown();
                equal(world.await(id).status(), Status.COMPLETED);
            } finally {
                over.countDown();
            }
            List<String> steps = Everyday.steps(world, id);
            equal(List.of(steps.contains("paid"), steps.contains("settled")), List.of(true, false));
        }
    }

    /** Notes what is answered to BPMN errors. */
    private static EngineClient throwing(EngineClient engine, BlockingQueue<Optional<Throwable>> answers) {
        InvocationHandler noted = (proxy, method, arguments) -> {
            Throwable thrown = null;
            try {
                return method.invoke(engine, arguments);
            } catch (InvocationTargetException e) {
                thrown = e.getCause();
                throw thrown;
            } finally {
                if (method.getName().equals("throwError")) {
                    answers.add(Optional.ofNullable(thrown));
                }
            }
        };
        return (EngineClient)
                Proxy.newProxyInstance(EngineClient.class.getClassLoader(), new Class<?>[] {EngineClient.class}, noted);
    }

    private static void cancelledJob(World world) throws Exception {
        Instance instance = lose(world, Loss.CANCELLED, world.client::cancel);
        isJson(instance.variables(), "{}");
    }

    /** A registry whose handler says who it is. */
    private static Registry by(String name) {
        return new Registry().handle("work", (variables, context) -> Map.of("by", name));
    }

    private static void progress(World world) throws Exception {
        BlockingQueue<Optional<Progress>> seen = new LinkedBlockingQueue<>();
        Registry registry = new Registry().handle("work", (variables, context) -> {
            seen.add(Optional.ofNullable(context.job().progress()));
            if (context.job().progress() != null) {
                return null;
            }
            context.progress(40, "page 4 of 10", Map.of("page", 4));
            throw new IllegalStateException("the printer is out of paper");
        });
        try (Runner runner = world.work(registry)) {
            equal(world.await(world.startWork(null)).status(), Status.COMPLETED);
            equal(next(seen), Optional.empty());
            Progress second = next(seen).orElseThrow();
            equal(List.of(second.percent(), second.message()), List.of(40, "page 4 of 10"));
            isJson(second.data(), "{\"page\": 4}");
        }
    }

    private static void workerKilled(World world) throws Exception {
        inFolder(folder -> {
            String id = world.startWork(null);
            try (WorkerProcess worker = WorkerProcess.start(world, folder.resolve("gate"))) {
                worker.await("begun", 1);
                worker.process.toHandle().destroyForcibly();
                worker.process.waitFor();
            }
            world.server.advance(Duration.ofSeconds(61));
            try (Runner other = world.work(by("other"))) {
                isJson(world.await(id).variables(), "{\"by\": \"other\"}");
            }
        });
    }

    private static void serverRestarted() throws Exception {
        inFolder(folder -> World.on("sqlite:" + folder, world -> {
                    BlockingQueue<String> begun = new LinkedBlockingQueue<>();
                    CountDownLatch gate = new CountDownLatch(1);
                    Registry registry = new Registry().handle("work", (variables, context) -> {
                        begun.add("begun");
                        gate.await();
                        return Map.of("done", true);
                    });
                    try (Runner runner = world.work(registry)) {
                        String id = world.startWork(null);
                        next(begun);
                        world.server.kill();
                        // Its end is reported to nobody at first.
                        gate.countDown();
                        world.server.restart();
                        isJson(world.await(id).variables(), "{\"done\": true}");
                        equal(world.client.history(id).size(), 2);
                        equal(world.client.startAndAwait("work", null).status(), Status.COMPLETED);
                    }
                })
                .play());
    }

    private static void drain(World world) throws Exception {
        inFolder(folder -> {
            List<String> ids = world.client.submitAll("work", Collections.nCopies(3, Submit.of(null)));
            Path gate = folder.resolve("gate");
            try (WorkerProcess worker = WorkerProcess.start(world, gate)) {
                worker.await("begun", 2);
                // By its handle: the process's own method closes its output as well.
                worker.process.toHandle().destroy();
                worker.await("stopping", 1);
                Files.createFile(gate);
                equal(worker.process.waitFor(), 0);
            }
            List<Status> states =
                    ids.stream().map(id -> world.client.execution(id).state()).toList();
            // What was announced on Kafka, and heard by nobody, counts as running.
            Status left = World.TRANSPORT.equals("kafka") ? Status.RUNNING : Status.WAITING;
            equal(Collections.frequency(states, Status.COMPLETED), 2);
            equal(Collections.frequency(states, left), 1);
        });
    }

    private static void graceRunsOut(World world) throws Exception {
        BlockingQueue<String> begun = new LinkedBlockingQueue<>();
        BlockingQueue<Loss> told = new LinkedBlockingQueue<>();
        CountDownLatch gate = new CountDownLatch(1);
        Registry stubborn = new Registry().handle("work", (variables, context) -> {
            context.onLost(() -> told.add(context.loss()));
            begun.add("begun");
            gate.await();
            return Map.of("by", "stubborn");
        });
        Duration grace = Duration.ofMillis(100);
        Runner first = World.work(world.runner(stubborn).lease(LONG_LEASE).grace(grace));
        String id = world.startWork(null);
        next(begun);
        first.close();
        equal(next(told), Loss.SHUTDOWN);
        // The handler runs still.
        try (Runner other = world.work(by("other"))) {
            isJson(world.await(id).variables(), "{\"by\": \"other\"}");
        } finally {
            gate.countDown();
        }
    }

    private static void overload(World world) throws Exception {
        String policy = "{\"scope\": \"ACTION\", \"action\": \"work\", \"queue\": {\"maxLength\": 2}}";
        HttpRequest request = HttpRequest.newBuilder(URI.create(world.server.rest() + "/v1/policies/short"))
                .header("Content-Type", "application/json")
                .PUT(HttpRequest.BodyPublishers.ofString(policy))
                .build();
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.discarding());
        CompletableFuture<List<String>> submitted =
                CompletableFuture.supplyAsync(() -> Stream.generate(() -> world.client.submit("work", null))
                        .limit(30)
                        .toList());
        World.until("the third is refused: nobody takes them", () -> world.metric(REFUSED) > 0);
        Registry others = new Registry().handle("other", (variables, context) -> Map.of());
        Duration wait = Duration.ofSeconds(30);
        List<Runner> waiting = Stream.generate(
                        () -> World.work(world.runner(others).pollWait(wait)))
                .limit(2)
                .toList();
        World.until("a poll comes to its end without a job: it is refused", () -> world.metric(POLLED) > 0);
        try (Runner working = world.work(by("any"))) {
            waiting.forEach(Runner::close);
            for (String id : submitted.get()) {
                equal(world.client.awaitExecution(id, World.WITHIN).state(), Status.COMPLETED);
            }
        }
    }

    private static void inFolder(InFolder use) throws Exception {
        Path folder = Files.createTempDirectory("scenario-");
        try {
            use.use(folder);
        } finally {
            remove(folder);
        }
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
