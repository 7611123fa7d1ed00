package io.caudal.client.testing;

import io.caudal.client.CaudalException;
import io.caudal.client.Client;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A real server on free ports of loopback. Its clock can be moved. */
public final class Server implements AutoCloseable {
    private static final Duration READY_MAX = Duration.ofSeconds(30);

    /** Counted on, so that servers that start at once get different ports. */
    private static final AtomicInteger LAST_PLACE =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(2_000));

    private final HttpClient http = HttpClient.newHttpClient();
    private final List<String> command;
    private final Path folder;
    private final String rest;
    private final String grpc;
    private final String metrics;
    private Process process;

    private Server(String store, List<String> arguments) throws IOException {
        List<String> places = freePlaces();
        rest = "http://" + places.get(0);
        grpc = "grpc://" + places.get(1);
        metrics = "http://" + places.get(2);
        folder = Files.createTempDirectory("caudal-");
        String binary = Objects.requireNonNullElse(System.getenv("CAUDAL_BINARY"), "caudal");
        command = new ArrayList<>(List.of(binary, "serve", "--test-clock", "--store", store));
        command.addAll(List.of("--rest", places.get(0), "--grpc", places.get(1), "--metrics", places.get(2)));
        command.addAll(arguments);
    }

    /**
     * Starts one with a store in memory and waits until it is ready: {@code $CAUDAL_BINARY}, or {@code caudal} on the path.
     *
     * @return whoever starts it closes it
     */
    public static Server start() {
        return start("memory:");
    }

    /**
     * Starts one and waits until it is ready: {@code $CAUDAL_BINARY}, or {@code caudal} on the path.
     *
     * @param store one on {@code sqlite:FOLDER} survives {@link #restart}
     * @param arguments further ones of {@code caudal serve}
     * @return whoever starts it closes it
     */
    public static Server start(String store, String... arguments) {
        try {
            Server server = new Server(store, List.of(arguments));
            server.launch();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException("the server did not start", e);
        }
    }

    /**
     * Its address for clients and runners.
     *
     * @return with {@code http://}
     */
    public String rest() {
        return rest;
    }

    /**
     * Its address for runners.
     *
     * @return with {@code grpc://}
     */
    public String grpc() {
        return grpc;
    }

    /**
     * Where it tells its metrics.
     *
     * @return with {@code http://}
     */
    public String metrics() {
        return metrics;
    }

    /**
     * A client of it.
     *
     * @return with the usual options
     */
    public Client client() {
        return new Client(rest);
    }

    /** Ends it without a warning. */
    public void kill() {
        process.destroyForcibly();
        awaitEnd();
    }

    /** Starts it again on the same ports and store, after {@link #kill} or instead of it. */
    public void restart() {
        kill();
        try {
            launch();
        } catch (IOException e) {
            throw new UncheckedIOException("the server did not start", e);
        }
    }

    /**
     * Moves its clock on: what falls due meanwhile happens.
     *
     * @param by how far
     */
    public void advance(Duration by) {
        clock("POST", "/v1/clock/advance", "{\"duration\": \"" + by + "\"}");
    }

    /**
     * Lets its clock stand still.
     *
     * @param at when
     */
    public void pin(Instant at) {
        clock("PUT", "/v2/clock", "{\"timestamp\": " + at.toEpochMilli() + "}");
    }

    /** Stops it for good. */
    @Override
    public void close() {
        process.destroy();
        awaitEnd();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot remove " + folder, e);
        }
    }

    private void launch() throws IOException {
        Path log = folder.resolve("server.log");
        process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        long deadline = System.nanoTime() + READY_MAX.toNanos();
        while (!isReady()) {
            if (!process.isAlive() || deadline - System.nanoTime() < 0) {
                String said = Files.readString(log);
                close();
                throw new CaudalException("the server did not start:\n" + said, null);
            }
            sleep();
        }
    }

    private void awaitEnd() {
        // How it ended does not matter.
        process.onExit().join();
    }

    private boolean isReady() {
        try {
            return send(HttpRequest.newBuilder(URI.create(metrics + "/health/ready"))) == 200;
        } catch (IOException e) {
            return false;
        }
    }

    private void clock(String method, String path, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(rest + path))
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        try {
            int status = send(request);
            if (status != 204) {
                throw new CaudalException("the clock was not moved: " + status, null);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the clock was not moved", e);
        }
    }

    private int send(HttpRequest.Builder request) throws IOException {
        try {
            return http.send(request.build(), HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static CaudalException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new CaudalException("interrupted", cause);
    }

    /**
     * Addresses on loopback that nobody listens on. Their ports are below those that the system gives to outgoing
     * connections: one of these could be taken at any moment.
     */
    private static List<String> freePlaces() {
        return IntStream.generate(() -> 10_000 + Math.floorMod(LAST_PLACE.incrementAndGet(), 2_000))
                .filter(Server::isFree)
                .limit(3)
                .mapToObj(port -> "127.0.0.1:" + port)
                .toList();
    }

    private static boolean isFree(int port) {
        try (ServerSocket ignored = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
