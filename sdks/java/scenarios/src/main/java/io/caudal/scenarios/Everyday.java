package io.caudal.scenarios;

import static io.caudal.scenarios.World.alone;
import static io.caudal.scenarios.World.equal;
import static io.caudal.scenarios.World.file;
import static io.caudal.scenarios.World.isJson;
import static io.caudal.scenarios.World.next;
import static io.caudal.scenarios.World.until;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.caudal.client.ApiException;
import io.caudal.client.BpmnException;
import io.caudal.client.Deployed;
import io.caudal.client.Instance;
import io.caudal.client.InstanceFilter;
import io.caudal.client.JobContext;
import io.caudal.client.JobHandler;
import io.caudal.client.Json;
import io.caudal.client.Message;
import io.caudal.client.NonRetryableException;
import io.caudal.client.Page;
import io.caudal.client.Registry;
import io.caudal.client.Runner;
import io.caudal.client.SnoozeException;
import io.caudal.client.Start;
import io.caudal.client.Started;
import io.caudal.client.Status;
import io.caudal.client.Step;
import io.caudal.client.StepExecution;
import io.caudal.client.Submit;
import io.caudal.scenarios.Main.Scenario;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** What goes well, or fails as it should. */
final class Everyday {
    static final List<Scenario> ALL = List.of(
            new Scenario("happy path", alone(Everyday::happyPath)),
            new Scenario("typed variables", alone(Everyday::typedVariables)),
            new Scenario("retries", alone(Everyday::retries)),
            new Scenario("non-retryable", alone(Everyday::nonRetryable)),
            new Scenario("parallelism", alone(Everyday::parallelism)),
            new Scenario("snooze", alone(Everyday::snooze)),
            new Scenario("large variables", alone(Everyday::largeVariables)),
            new Scenario("too large a result", alone(Everyday::tooLargeResult)),
            new Scenario("refused end", alone(Everyday::refusedEnd)),
            new Scenario("unicode", alone(world -> echo(world, "unicode.json"))),
            new Scenario("numbers beyond 2^53", alone(world -> echo(world, "numbers.json"))),
            new Scenario("bpmn", alone(Everyday::bpmn)),
            new Scenario("people and signals", alone(Everyday::peopleAndSignals)),
            new Scenario("start once", alone(Everyday::startOnce)),
            new Scenario("executions", alone(Everyday::executions)));

    private Everyday() {}

    record Summands(int a, int b) {}

    record Sum(int sum) {}

    static final class Adder {
        @JobHandler("work")
        Sum add(Summands given, JobContext context) {
            equal(context.job().stepId(), "do");
            return new Sum(given.a() + given.b());
        }
    }

    private static void happyPath(World world) throws Exception {
        try (Runner runner = world.work(new Registry().register(new Adder()))) {
            Instance instance = world.await(world.startWork(new Summands(1, 2)));
            equal(instance.status(), Status.COMPLETED);
            isJson(instance.variables(), "{\"a\": 1, \"b\": 2, \"sum\": 3}");
        }
    }

    record Line(String article, int count) {}

    record Order(String customer, Instant placed, List<Line> lines, String note) {}

    record Bill(int pieces, List<Line> lines) {}

    private static void typedVariables(World world) throws Exception {
        Order order = new Order(
                "ann", Instant.parse("2026-01-02T03:04:05Z"), List.of(new Line("pen", 2), new Line("ink", 3)), null);
        Registry registry = new Registry().handle("work", Order.class, (given, context) -> {
            equal(given, order);
            return new Bill(given.lines().stream().mapToInt(Line::count).sum(), given.lines());
        });
        try (Runner runner = world.work(registry)) {
            Instance good = world.await(world.startWork(order));
            equal(good.decode(Bill.class), new Bill(5, order.lines()));
            Instance bad = world.client.startAndAwait("work", Map.of("lines", "none"));
            equal(bad.status(), Status.FAILED);
            equal(
                    bad.failureReason().startsWith("NotRetryable")
                            && bad.failureReason().contains("lines"),
                    true);
        }
    }

    private static void retries(World world) throws Exception {
        List<Integer> left = Collections.synchronizedList(new ArrayList<>());
        Registry registry = new Registry().handle("work", (variables, context) -> {
            left.add(context.job().retriesRemaining());
            if (left.size() < 3) {
                throw new IllegalStateException("the bureau is closed");
            }
            return null;
        });
        try (Runner runner = world.work(registry)) {
            Instance instance = world.await(world.startWork(null));
            equal(left, List.of(3, 2, 1));
            List<String> attempts = world.client.history(instance.id()).stream()
                    .filter(one -> one.stepId().equals("do"))
                    .map(one -> one.attemptNumber() + " " + one.status())
                    .toList();
            equal(attempts, List.of("1 FAILED", "2 FAILED", "3 COMPLETED"));
        }
    }

    private static void nonRetryable(World world) throws Exception {
        Registry registry = new Registry().handle("work", (variables, context) -> {
            throw new NonRetryableException("no such account");
        });
        try (Runner runner = world.work(registry)) {
            Instance instance = world.await(world.startWork(null));
            equal(instance.status(), Status.FAILED);
            equal(instance.failureReason(), "NotRetryable: step 'do': no such account");
        }
    }

    private static void parallelism(World world) {
        AtomicInteger now = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch three = new CountDownLatch(3);
        Registry registry = new Registry().handle("work", (variables, context) -> {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            three.countDown();
            three.await();
            now.decrementAndGet();
            return null;
        });
        try (Runner runner = World.work(world.runner(registry).maxParallel(3))) {
            List<String> ids = world.client.submitAll("work", Collections.nCopies(12, Submit.of(null)));
            for (String id : ids) {
                equal(world.client.awaitExecution(id, World.WITHIN).state(), Status.COMPLETED);
            }
        }
        equal(most.get(), 3);
    }

    private static void snooze(World world) throws Exception {
        BlockingQueue<Integer> calls = new LinkedBlockingQueue<>();
        AtomicInteger count = new AtomicInteger();
        Registry registry = new Registry().handle("work", (variables, context) -> {
            calls.add(context.job().retriesRemaining());
            if (count.incrementAndGet() == 1) {
                throw new SnoozeException(Duration.ofHours(1));
            }
            return null;
        });
        try (Runner runner = world.work(registry)) {
            String id = world.client.submit("work", null);
            equal(next(calls), 2);
            until("it is put off", () -> world.client.execution(id).state() == Status.WAITING);
            world.server.advance(Duration.ofMinutes(59));
            equal(world.client.execution(id).state(), Status.WAITING);
            world.server.advance(Duration.ofMinutes(2));
            equal(world.client.awaitExecution(id, World.WITHIN).state(), Status.COMPLETED);
            equal(next(calls), 2);
            equal(calls.size(), 0);
        }
    }

    record Text(String text) {}

    private static void largeVariables(World world) throws Exception {
        Registry registry = new Registry().handle("work", Text.class, (given, context) -> {
            ObjectNode result = Json.mapper().createObjectNode();
            return result.putNull("text").put("copy", given.text());
        });
        try (Runner runner = world.work(registry)) {
            String text = "x".repeat(3_000_000);
            Instance instance = world.await(world.startWork(new Text(text)));
            equal(instance.variables().get("copy").asText(), text);
        }
    }

    private static void tooLargeResult(World world) throws Exception {
        Registry registry =
                new Registry().handle("work", Given.class, (given, context) -> new Text("x".repeat(given.n())));
        try (Runner runner = world.work(registry)) {
            isRefused(world.await(world.startWork(new Given(20_000_000))), "the result was refused");
            equal(world.client.startAndAwait("work", new Given(1)).status(), Status.COMPLETED);
        }
    }

    private static void refusedEnd(World world) throws Exception {
        Registry registry = new Registry().handle("work", Given.class, (given, context) -> {
            if (given.n() == 1) {
                throw new SnoozeException(Duration.ofDays(3650));
            }
            throw new BpmnException("", "an error without a code");
        });
        try (Runner runner = world.work(registry)) {
            isRefused(world.await(world.startWork(new Given(1))), "the snooze was refused");
            isRefused(world.await(world.startWork(new Given(2))), "the BPMN error was refused");
        }
    }

    /** It has failed for good, and says why. */
    private static void isRefused(Instance instance, String why) {
        equal(instance.status(), Status.FAILED);
        String start = "NotRetryable: step 'do': " + why;
        equal(instance.failureReason().substring(0, start.length()), start);
    }

    private static void echo(World world, String name) throws Exception {
        Registry registry = new Registry().handle("work", (variables, context) -> Map.of("copy", variables));
        try (Runner runner = world.work(registry)) {
            ObjectNode given = (ObjectNode) Json.mapper().readTree(file(name).toFile());
            Instance instance = world.await(world.startWork(given));
            ObjectNode expected = given.deepCopy();
            expected.set("copy", given);
            equal(instance.variables(), expected);
        }
    }

    private static void bpmn(World world) throws Exception {
        Registry registry = new Registry().handle("charge-card", (variables, context) -> {
            throw new BpmnException("DECLINED", "the card was declined", Map.of("reason", "limit"));
        });
        try (Runner runner = world.work(registry)) {
            equal(world.client.deploy(file("charge.bpmn")), List.of(new Deployed("charge", 1, null)));
            Message message = Message.of("customer-called", "ann").withVariables(Map.of("settled", true));
            world.client.publish(message);
            Instance instance = world.client.startAndAwait("charge", Map.of("customer", "ann"));
            equal(instance.status(), Status.COMPLETED);
            equal(instance.variables().get("settled").asBoolean(), true);
            List<String> steps = steps(world, instance.id());
            equal(List.of(steps.contains("settled"), steps.contains("paid")), List.of(true, false));
        }
    }

    private static void peopleAndSignals(World world) throws Exception {
        List<Deployed> deployed = world.client.deploy(file("talk.json"), file("talk.json"));
        equal(deployed, List.of(new Deployed("talk", 1, "Talk"), new Deployed("talk", 2, "Talk")));
        String id = world.client.start(Start.of("talk").withBusinessKey("b-1")).id();
        equal(world.client.instance(id).currentStepIds(), List.of("review"));
        Step paid = Step.of(id, "paid");
        equal(isConflict(() -> world.client.signal(paid, Map.of("sum", 1))), true);
        world.client.signal(paid.kept(), Map.of("sum", 2));
        world.client.completeUserTask(Step.of(id, "review"), "anna", Map.of("approved", true));
        isJson(world.await(id).variables(), "{\"approved\": true, \"sum\": 2}");
        String other = world.client.start("talk", null).id();
        equal(world.client.cancel(other).status(), Status.CANCELLED);
        InstanceFilter all = InstanceFilter.all();
        Page<Instance> found = world.client.instances(all.withBusinessKey("b-1"));
        equal(List.of(found.total(), found.items().get(0).id()), List.of(1L, id));
        Page<Instance> cancelled =
                world.client.instances(all.withDefinitionId("talk").withStatus(Status.CANCELLED));
        equal(cancelled.total(), 1L);
        equal(world.client.definitions("talk", 0, 20).items(), List.of(new Deployed("talk", 2, "Talk")));
        JsonNode document = Json.mapper().readTree(file("talk.json").toFile());
        equal(world.client.definition("talk").get("steps"), document.get("steps"));
        equal(steps(world, id), List.of("review", "paid", "end"));
        world.client.deploy(file("approval.bpmn"));
        String process = world.client.start("approval", null).id();
        world.client.completeUserTask(Step.of(process, "approve"), "anna", Map.of("approved", true));
        isJson(world.await(process).variables(), "{\"approved\": true}");
    }

    private static void startOnce(World world) throws Exception {
        Registry registry = new Registry().handle("work", (variables, context) -> Map.of("result", 7));
        try (Runner runner = world.work(registry)) {
            world.client.deploy(file("work.json"));
            Start start = Start.of("work").withVariables(Map.of("n", 1)).withIdempotencyKey("order-1");
            Started first = world.client.start(start);
            equal(world.client.start(start), first);
            Instance done = world.client.startAndAwait(Start.of("work").withIdempotencyKey("order-2"), World.WITHIN);
            isJson(done.variables(), "{\"result\": 7}");
            InstanceFilter all = InstanceFilter.all().withDefinitionId("work");
            equal(world.client.instances(all).total(), 2L);
        }
    }

    record Given(int n) {}

    private static void executions(World world) throws Exception {
        Registry registry =
                new Registry().handle("work", Given.class, (given, context) -> Map.of("square", given.n() * given.n()));
        try (Runner runner = world.work(registry)) {
            List<Submit> given = IntStream.range(0, 100)
                    .mapToObj(n -> Submit.of(new Given(n)))
                    .toList();
            List<String> ids = world.client.submitAll("work", given, "k");
            equal(world.client.submitAll("work", given, "k"), ids);
            for (int n = 0; n < 100; n++) {
                isJson(world.client.awaitExecution(ids.get(n), World.WITHIN).result(), "{\"square\": " + n * n + "}");
            }
        }
    }

    static List<String> steps(World world, String id) {
        return world.client.history(id).stream().map(StepExecution::stepId).toList();
    }

    private static boolean isConflict(Runnable call) {
        try {
            call.run();
            return false;
        } catch (ApiException e) {
            return e.isConflict();
        }
    }
}
