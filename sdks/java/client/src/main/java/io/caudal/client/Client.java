package io.caudal.client;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Deploys, starts, tells and asks: everything but working on jobs. Threads may share it.
 *
 * <p>Requests are repeated while the server is away or busy. What changes something has an idempotency key, the same whenever
 * it is repeated, so it happens once. Every method throws an {@link ApiException} when the server refuses, and an {@link UnavailableException} when it was away for too long.
 */
public final class Client {
    private static final int EXECUTIONS_PER_REQUEST_MAX = 1000;
    private static final TypeReference<JsonNode> TREE = new TypeReference<>() {};
    private static final TypeReference<Instance> INSTANCE = new TypeReference<>() {};
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration AWAIT_MAX = Duration.ofSeconds(30);

    private final ObjectMapper mapper;
    private final Http http;
    private final Duration patience;

    /**
     * Of a server over REST.
     *
     * @param endpoint where, and with which token
     * @param patience for how long requests are repeated while the server is away or busy
     * @param mapper writes variables
     */
    public Client(Endpoint endpoint, Duration patience, ObjectMapper mapper) {
        this.mapper = mapper;
        this.patience = patience;
        http = new Http(endpoint, mapper);
    }

    /**
     * Of a server over REST.
     *
     * @param endpoint where, and with which token
     */
    public Client(Endpoint endpoint) {
        this(endpoint, PATIENCE, Json.mapper());
    }

    /**
     * Of a server over REST.
     *
     * @param address such as {@code http://127.0.0.1:8080}, which it is if null or empty
     */
    public Client(String address) {
        this(Endpoint.of(address));
    }

    /**
     * Uploads a JSON workflow. Every upload is a new version.
     *
     * @param document its text, or anything that is written as one
     * @return its version
     */
    public Deployed upload(Object document) {
        return upload(document instanceof String text ? text.getBytes(StandardCharsets.UTF_8) : http.bytes(document));
    }

    /**
     * Deploys files: JSON workflows, BPMN, DMN and forms.
     *
     * @param files with the usual endings
     * @return the versions of their definitions
     * @throws IOException if a file cannot be read
     */
    public List<Deployed> deploy(Path... files) throws IOException {
        List<Deployed> all = new ArrayList<>();
        String boundary = UUID.randomUUID().toString();
        ByteArrayOutputStream others = new ByteArrayOutputStream();
        for (Path file : files) {
            byte[] content = Files.readAllBytes(file);
            if (file.toString().endsWith(".json")) {
                all.add(upload(content));
                continue;
            }
            String head = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"resources\"; filename=\""
                    + file.getFileName() + "\"\r\n\r\n";
            others.writeBytes(head.getBytes(StandardCharsets.UTF_8));
            others.writeBytes(content);
            others.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
        }
        if (others.size() == 0) {
            return all;
        }
        others.writeBytes(("--" + boundary + "--\r\n").getBytes(StandardCharsets.UTF_8));
        String type = "multipart/form-data; boundary=" + boundary;
        // A file that is deployed a second time is the same version, with or without a key.
        JsonNode answer = command(Http.post("/v2/deployments", type, others.toByteArray()), null, TREE);
        for (JsonNode one : answer.path("deployments")) {
            JsonNode process = one.path("processDefinition");
            if (process.isObject()) {
                String id = process.path("processDefinitionId").asText();
                all.add(new Deployed(
                        id, process.path("processDefinitionVersion").asInt(), null));
            }
        }
        return all;
    }

    /**
     * Finds the latest versions of JSON workflows.
     *
     * @param keyword in their names; empty for all
     * @param page counted from 0
     * @param pageSize at most 200
     * @return some of them
     */
    public Page<Deployed> definitions(String keyword, int page, int pageSize) {
        String path = "/v1/definitions?page=" + page + "&pageSize=" + pageSize + query("keyword", keyword);
        return repeat(Http.get(path), new TypeReference<Page<Deployed>>() {});
    }

    /**
     * The latest version of a JSON workflow as it was uploaded.
     *
     * @param id of the definition
     * @return its document
     */
    public JsonNode definition(String id) {
        return repeat(Http.get("/v1/definitions/" + Http.part(id)), TREE);
    }

    /**
     * A version of a JSON workflow as it was uploaded.
     *
     * @param id of the definition
     * @param version counted from 1
     * @return its document
     */
    public JsonNode definition(String id, int version) {
        return repeat(Http.get("/v1/definitions/" + Http.part(id) + "/versions/" + version), TREE);
    }

    /**
     * Starts an instance of the latest version.
     *
     * @param definitionId a workflow or process
     * @param variables anything that is written as a JSON object; null for none
     * @return what was started
     */
    public Started start(String definitionId, Object variables) {
        return start(Start.of(definitionId).withVariables(variables));
    }

    /**
     * Starts an instance.
     *
     * @param start what, and how
     * @return what was started
     */
    public Started start(Start start) {
        ObjectNode body = mapper.createObjectNode().put("processDefinitionId", start.definitionId());
        body.set("variables", Json.object(mapper, start.variables()));
        if (start.version() != null) {
            body.put("processDefinitionVersion", start.version());
        }
        if (start.businessKey() != null) {
            body.put("businessId", start.businessKey());
        }
        Http.Request request = http.post("/v2/process-instances", body);
        return command(request, start.idempotencyKey(), new TypeReference<Started>() {});
    }

    /**
     * Waits until an instance is over: completed, failed or cancelled.
     *
     * @param instanceId which
     * @param atMost how long
     * @return as it is then
     * @throws CaudalException if it is not over in time
     */
    public Instance await(String instanceId, Duration atMost) {
        return until(() -> instance(instanceId), instance -> instance.status().isOver(), atMost);
    }

    /**
     * Starts an instance and waits until it is over, for half a minute.
     *
     * @param definitionId a workflow or process
     * @param variables anything that is written as a JSON object; null for none
     * @return as it is then
     * @throws CaudalException if it is not over in time
     */
    public Instance startAndAwait(String definitionId, Object variables) {
        return startAndAwait(Start.of(definitionId).withVariables(variables), AWAIT_MAX);
    }

    /**
     * Starts an instance and waits until it is over.
     *
     * @param start what, and how
     * @param atMost how long to wait
     * @return as it is then
     * @throws CaudalException if it is not over in time
     */
    public Instance startAndAwait(Start start, Duration atMost) {
        return await(start(start).id(), atMost);
    }

    /**
     * An instance.
     *
     * @param id which
     * @return as it is now
     */
    public Instance instance(String id) {
        return repeat(Http.get("/v1/instances/" + Http.part(id)), INSTANCE);
    }

    /**
     * Finds instances.
     *
     * @param filter which
     * @return some of them, the newest first
     */
    public Page<Instance> instances(InstanceFilter filter) {
        String path = "/v1/instances?page=" + filter.page() + "&pageSize=" + filter.pageSize()
                + query("definitionId", filter.definitionId())
                + query("businessKey", filter.businessKey())
                + query(
                        "status",
                        filter.status() == null ? null : filter.status().name());
        return repeat(Http.get(path), new TypeReference<Page<Instance>>() {});
    }

    /**
     * Every attempt at every step.
     *
     * @param instanceId of which instance
     * @return in the order in which they began
     */
    public List<StepExecution> history(String instanceId) {
        Http.Request request = Http.get("/v1/instances/" + Http.part(instanceId) + "/history");
        return repeat(request, new TypeReference<Page<StepExecution>>() {}).items();
    }

    /**
     * Cancels an instance.
     *
     * @param instanceId which
     * @return as it is then
     */
    public Instance cancel(String instanceId) {
        return instanceAfter(instanceId, "cancel");
    }

    /**
     * Lets a failed instance try its failed steps again.
     *
     * @param instanceId which
     * @return as it is then
     */
    public Instance retry(String instanceId) {
        return instanceAfter(instanceId, "retry");
    }

    /**
     * Says that a person has done a task.
     *
     * @param step which
     * @param completedBy who
     * @param result anything that is written as a JSON object; null for none
     */
    public void completeUserTask(Step step, String completedBy, Object result) {
        ObjectNode body = mapper.createObjectNode().put("completedBy", completedBy);
        body.set("result", Json.object(mapper, result));
        command(http.post(step.path("user-tasks", "/complete"), body), null, TREE);
    }

    /**
     * Lets a WAIT step go on.
     *
     * @param step which
     * @param variables anything that is written as a JSON object; null for none
     */
    public void signal(Step step, Object variables) {
        command(http.post(step.path("signals", ""), Json.object(mapper, variables)), null, TREE);
    }

    /**
     * Broadcasts a BPMN signal to all that wait for it.
     *
     * @param name what processes call it
     * @param variables anything that is written as a JSON object; null for none
     */
    public void broadcastSignal(String name, Object variables) {
        ObjectNode body = mapper.createObjectNode().put("signalName", name);
        body.set("variables", Json.object(mapper, variables));
        command(http.post("/v2/signals/broadcast", body), null, TREE);
    }

    /**
     * Publishes a message.
     *
     * @param message what, and to whom
     */
    public void publish(Message message) {
        ObjectNode body = mapper.createObjectNode()
                .put("name", message.name())
                .put("correlationKey", message.correlationKey())
                .put("timeToLive", message.timeToLive().toMillis());
        body.set("variables", Json.object(mapper, message.variables()));
        if (message.id() != null) {
            body.put("messageId", message.id());
        }
        command(http.post("/v2/messages/publication", body), message.idempotencyKey(), TREE);
    }

    /**
     * Submits an execution.
     *
     * @param action what is to be done: the type of its job
     * @param input anything that is written as a JSON object; null for none
     * @return its id
     */
    public String submit(String action, Object input) {
        return submitAll(action, List.of(Submit.of(input)), null).get(0);
    }

    /**
     * Submits executions. Each thousand is taken as a whole or not at all.
     *
     * @param action what is to be done: the type of their jobs
     * @param executions how
     * @return their ids in the same order
     */
    public List<String> submitAll(String action, List<Submit> executions) {
        return submitAll(action, executions, null);
    }

    /**
     * Submits executions once, also across restarts of your program. Each thousand is taken as a whole or not at all.
     *
     * @param action what is to be done: the type of their jobs
     * @param executions how
     * @param idempotencyKey one that was used before makes this the same submission again; null for one of its own
     * @return their ids in the same order
     */
    public List<String> submitAll(String action, List<Submit> executions, String idempotencyKey) {
        List<String> ids = new ArrayList<>(executions.size());
        for (int at = 0; at < executions.size(); at += EXECUTIONS_PER_REQUEST_MAX) {
            ObjectNode body = mapper.createObjectNode();
            ArrayNode list = body.putArray("executions");
            int end = Math.min(at + EXECUTIONS_PER_REQUEST_MAX, executions.size());
            executions.subList(at, end).forEach(one -> list.add(Json.object(mapper, one)));
            String key = idempotencyKey == null ? null : idempotencyKey + "-" + at;
            String path = "/v1/actions/" + Http.part(action) + "/executions/bulk";
            JsonNode answer = command(http.post(path, body), key, TREE);
            answer.path("executions").forEach(one -> ids.add(one.path("id").asText()));
        }
        return ids;
    }

    /**
     * An execution.
     *
     * @param id which
     * @return as it is now
     */
    public Execution execution(String id) {
        return repeat(Http.get("/v1/executions/" + Http.part(id)), new TypeReference<Execution>() {});
    }

    /**
     * Waits until an execution is over.
     *
     * @param id which
     * @param atMost how long
     * @return as it is then
     * @throws CaudalException if it is not over in time
     */
    public Execution awaitExecution(String id, Duration atMost) {
        return until(() -> execution(id), execution -> execution.state().isOver(), atMost);
    }

    /**
     * Cancels an execution that waits, runs or has failed.
     *
     * @param id which
     */
    public void cancelExecution(String id) {
        Http.Request request = http.post("/v1/executions/" + Http.part(id) + "/cancel", mapper.createObjectNode());
        command(request, null, TREE);
    }

    private Deployed upload(byte[] document) {
        Http.Request request = Http.post("/v1/definitions", "application/json", document);
        return command(request, null, new TypeReference<Deployed>() {});
    }

    private Instance instanceAfter(String id, String what) {
        Http.Request request = Http.post("/v1/instances/" + Http.part(id) + "/" + what);
        return command(request, null, INSTANCE);
    }

    private static String query(String name, String value) {
        return value == null || value.isEmpty() ? "" : "&" + name + "=" + Http.part(value);
    }

    private <T> T repeat(Http.Request request, TypeReference<T> type) {
        try {
            return Backoff.retry(patience, () -> http.call(request, type));
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    /** Without a key it gets one of its own, the same however often it is sent. */
    private <T> T command(Http.Request request, String idempotencyKey, TypeReference<T> type) {
        String key = idempotencyKey == null ? UUID.randomUUID().toString() : idempotencyKey;
        return repeat(request.withKey(key), type);
    }

    private static <T> T until(Supplier<T> look, Predicate<T> isOver, Duration atMost) {
        long deadline = System.nanoTime() + atMost.toNanos();
        for (long wait = 10; ; wait = Math.min(wait * 3 / 2, 500)) {
            T seen = look.get();
            if (isOver.test(seen)) {
                return seen;
            }
            if (deadline - System.nanoTime() < 0) {
                throw new CaudalException("it is not over after " + atMost + ": " + seen, null);
            }
            try {
                Thread.sleep(wait);
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
        }
    }

    private static CaudalException interrupted(InterruptedException cause) {
        Thread.currentThread().interrupt();
        return new CaudalException("interrupted", cause);
    }
}
