package io.caudal.scenarios;

import com.fasterxml.jackson.databind.JsonNode;
import io.caudal.client.Client;
import io.caudal.client.Endpoint;
import io.caudal.client.Instance;
import io.caudal.client.Json;
import io.caudal.client.Registry;
import io.caudal.client.Runner;
import io.caudal.client.testing.Server;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** A server with a client of it, for one scenario. */
final class World implements AutoCloseable {
    static final String TRANSPORT = System.getenv("CAUDAL_TRANSPORT");
    private static final String BROKER = System.getenv("CAUDAL_KAFKA");
    private static final AtomicInteger WORLDS = new AtomicInteger();
    static final Duration WITHIN = Duration.ofSeconds(150);

    interface Play {
        void play(World world) throws Exception;
    }

    final Server server;
    final Client client;
    /** What the topics of the server begin with. */
    private final String topics;

    private World(Server server, String topics) {
        this.server = server;
        this.topics = topics;
        this.client = server.client();
    }

    /** Plays with a server of its own. */
    static Main.Play alone(Play play) {
        return on("memory:", play);
    }

    static Main.Play on(String store, Play play, String... arguments) {
        return () -> {
            String topics = "java-" + WORLDS.incrementAndGet() + ".";
            List<String> all = new ArrayList<>(List.of(arguments));
            if (TRANSPORT.equals("kafka")) {
                all.addAll(List.of("--dispatch", "kafka_outbox", "--kafka-brokers", BROKER));
                all.addAll(List.of("--kafka-topic-prefix", topics));
            }
            try (World world = new World(Server.start(store, all.toArray(new String[0])), topics)) {
                play.play(world);
            }
        };
    }

    @Override
    public void close() {
        server.close();
    }

    /** Runs handlers until it is closed. */
    Runner work(Registry registry) {
        return work(runner(registry));
    }

    static Runner work(Runner.Builder options) {
        Runner runner = options.build();
        runner.start();
        return runner;
    }

    Runner.Builder runner(Registry registry) {
        return runner(registry, "");
    }

    /** Over Kafka those of another group hear of the same jobs. */
    Runner.Builder runner(Registry registry, String group) {
        return Runner.builder(registry, Endpoint.of(address(group)))
                .pollWait(Duration.ofSeconds(5))
                .grace(Duration.ofSeconds(10));
    }

    String address() {
        return address("");
    }

    private String address(String group) {
        return switch (TRANSPORT) {
            case "grpc" -> server.grpc();
            case "kafka" ->
                "kafka://" + BROKER + "?engine=" + server.rest() + "&group=" + topics + group + "&topic_prefix="
                        + topics + "&session.timeout.ms=6000";
            default -> server.rest();
        };
    }

    /** Starts an instance of work.json, whose one job has the type `work`. */
    String startWork(Object variables) throws IOException {
        client.deploy(file("work.json"));
        return client.start("work", variables).id();
    }

    Instance await(String id) {
        return client.await(id, WITHIN);
    }

    /** Whether a scenario is for the transport. */
    static boolean suits(String name) throws IOException {
        for (JsonNode one : Json.mapper().readTree(file("scenarios.json").toFile())) {
            if (one.path("name").asText().equals(name)) {
                return one.path("transports").toString().contains('"' + TRANSPORT + '"');
            }
        }
        return false;
    }

    static Path file(String name) {
        return Path.of(System.getenv("CAUDAL_SCENARIOS"), name);
    }

    /** What the server counts under a name; 0 if it has counted nothing yet. */
    double metric(String name) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.metrics() + "/metrics"))
                .build();
        HttpClient http = HttpClient.newHttpClient();
        Stream<String> lines = http.sendAsync(request, HttpResponse.BodyHandlers.ofLines())
                .join()
                .body();
        return lines.filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length())))
                .sum();
    }

    static void until(String what, BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + WITHIN.toNanos();
        while (!condition.getAsBoolean()) {
            if (deadline - System.nanoTime() < 0) {
                throw new AssertionError("not in time: " + what);
            }
            Thread.sleep(10);
        }
    }

    /** What comes next, waited for. */
    static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
        return Objects.requireNonNull(queue.poll(WITHIN.toSeconds(), TimeUnit.SECONDS), "nothing came");
    }

    static void equal(Object seen, Object expected) {
        if (!Objects.equals(seen, expected)) {
            throw new AssertionError(start(seen) + " instead of " + start(expected));
        }
    }

    static void isJson(JsonNode seen, String expected) throws IOException {
        equal(seen, Json.mapper().readTree(expected));
    }

    static Map<String, Object> none() {
        return Map.of();
    }

    private static String start(Object value) {
        String text = String.valueOf(value);
        return text.substring(0, Math.min(text.length(), 200));
    }
}
