package io.caudal.client.testing;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.caudal.client.Job;
import io.caudal.client.JobContext;
import io.caudal.client.Json;
import io.caudal.client.Outcome;
import io.caudal.client.Progress;
import io.caudal.client.Registry;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A job without a server: runs its handler as a runner would. */
public final class FakeJob {
    private final Job job;
    private final List<Progress> said = new ArrayList<>();

    private FakeJob(Job job) {
        this.job = job;
    }

    /**
     * A job of a type.
     *
     * @param type which handler does it
     * @param variables anything that is written as a JSON object
     * @return what {@link #after} adds to
     */
    public static FakeJob of(String type, Object variables) {
        ObjectNode tree = Json.mapper().valueToTree(variables);
        return new FakeJob(new Job("1", type, "2", "step", "3", 3, tree, Instant.MAX, 1, null, Map.of()));
    }

    /**
     * After an attempt that said so much.
     *
     * @param progress what it said last
     * @return another one
     */
    public FakeJob after(Progress progress) {
        return new FakeJob(job.withProgress(progress));
    }

    /**
     * Runs the handler of its type.
     *
     * @param registry has the handler
     * @return what became of the job
     */
    public Outcome run(Registry registry) {
        return run(registry, context -> {});
    }

    /**
     * Runs the handler of its type, and does something to it meanwhile.
     *
     * @param registry has the handler
     * @param meanwhile is given the handler's context before it begins: to lose its lease, say
     * @return what became of the job
     */
    public Outcome run(Registry registry, Consumer<JobContext> meanwhile) {
        JobContext context = registry.context(job, said::add);
        meanwhile.accept(context);
        return registry.run(context);
    }

    /**
     * What its handler said of its progress.
     *
     * @return in that order
     */
    public List<Progress> progress() {
        return List.copyOf(said);
    }
}
