package io.caudal.scenarios;

import static io.caudal.scenarios.World.until;

import io.caudal.client.Endpoint;
import io.caudal.client.Registry;
import io.caudal.client.Runner;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** A worker as a process of its own: handlers say `begun`, and return when a file is there. */
final class WorkerProcess implements AutoCloseable {
    private final List<String> said = new CopyOnWriteArrayList<>();
    final Process process;

    private WorkerProcess(Process process) {
        this.process = process;
        Thread reader = new Thread(this::listen, "worker-output");
        reader.setDaemon(true);
        reader.start();
    }

    /** What the process does. */
    static void run(String address, String gate) {
        Registry registry = new Registry().handle("work", (variables, context) -> {
            System.out.println("begun");
            until("the gate opens", () -> Files.exists(Path.of(gate)));
            return Map.of("by", "process");
        });
        Runner.builder(registry, Endpoint.of(address)).maxParallel(2).build().runUntilSignal();
    }

    /** Handlers do nothing, so many at once. */
    static void bench(String address, int parallel) {
        Registry registry = new Registry().handle("work", (variables, context) -> null);
        Runner.builder(registry, Endpoint.of(address))
                .maxParallel(parallel)
                .build()
                .runUntilSignal();
    }

    static WorkerProcess start(World world, Path gate) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return new WorkerProcess(new ProcessBuilder(
                        java,
                        "-Dorg.slf4j.simpleLogger.logFile=System.out",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "worker",
                        world.address(),
                        gate.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    void await(String word, int times) throws InterruptedException {
        until(
                "it says " + word + " " + times + " times",
                () -> said.stream().filter(line -> line.contains(word)).count() == times);
    }

    @Override
    public void close() {
        process.toHandle().destroyForcibly();
    }

    private void listen() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                said.add(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
