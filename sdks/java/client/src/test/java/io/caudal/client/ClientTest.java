package io.caudal.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClientTest {
    private static final String STARTED =
            "{\"processInstanceKey\": \"1\", \"processDefinitionId\": \"a\", \"processDefinitionVersion\": 1}";

    /** A status of 0 is a connection that breaks. */
    private record Answer(int status, String body) {}

    private final Deque<Answer> answers = new ArrayDeque<>();
    private final List<String> keys = new CopyOnWriteArrayList<>();
    private final List<String> tokens = new CopyOnWriteArrayList<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private HttpServer server;

    @BeforeEach
    void listen() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        Answer next = answers.pop();
        keys.add(String.valueOf(exchange.getRequestHeaders().getFirst("Idempotency-Key")));
        tokens.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
        String content = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + content);
        if (next.status() != 0) {
            byte[] body = next.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(next.status(), body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }

    private Client answered(Answer... given) {
        answers.addAll(Arrays.asList(given));
        return new Client(Endpoint.of(address() + "/").withToken("t"));
    }

    private String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private interface Command {
        void give(Client client) throws IOException;
    }

    @Test
    void whatChangesSomethingIsRepeatedWithItsKey(@TempDir Path folder) throws IOException {
        Step step = Step.of("1", "a");
        Path file = Files.writeString(folder.resolve("a.bpmn"), "<a/>");
        List<Command> commands = List.of(
                client -> client.upload(Map.of("id", "a")),
                client -> client.start("a", null),
                client -> client.cancel("1"),
                client -> client.retry("1"),
                client -> client.completeUserTask(step, "ann", null),
                client -> client.signal(step, null),
                client -> client.broadcastSignal("s", null),
                client -> client.publish(Message.of("m", "k")),
                client -> client.submitAll("a", List.of(Submit.of(null))),
                client -> client.cancelExecution("1"),
                client -> client.deploy(file));
        // Of whatever is answered.
        String versions = "{\"version\": 1, \"processDefinitionVersion\": 1, \"definitionVersion\": 1}";
        for (Command command : commands) {
            command.give(answered(new Answer(0, ""), new Answer(429, ""), new Answer(201, versions)));
        }
        assertFalse(keys.contains("null"));
        assertEquals(commands.size(), Set.copyOf(keys).size());
        for (int at = 0; at < keys.size(); at += 3) {
            assertEquals(Set.of(keys.get(at)), Set.copyOf(keys.subList(at, at + 3)));
        }
        assertEquals("Bearer t", tokens.get(0));
        assertEquals("POST /v2/signals/broadcast {\"signalName\":\"s\",\"variables\":{}}", requests.get(18));
    }

    @Test
    void aServerThatIsAwayIsAskedAgain() {
        for (int status : new int[] {408, 429, 500, 502, 503, 504, 507, 599}) {
            assertEquals(
                    "1",
                    answered(new Answer(status, "<html>"), new Answer(201, STARTED))
                            .start("a", null)
                            .id());
        }
        for (int status : new int[] {400, 401, 403, 404, 409, 413, 422, 501}) {
            Client client = answered(new Answer(status, "{}"));
            assertEquals(
                    status,
                    assertThrows(ApiException.class, () -> client.start("a", null))
                            .status());
        }
    }

    @Test
    void aPageOfSomebodyElseIsNotTheServersAnswer() {
        Client client = answered(new Answer(200, "<html>"), new Answer(201, STARTED));
        assertEquals("1", client.start("a", null).id());
    }

    @Test
    void aBpmnErrorSaysWhoseItIs() throws InterruptedException {
        answers.add(new Answer(204, ""));
        RestEngine engine = new RestEngine(Endpoint.of(address()));
        engine.throwError(
                "w",
                FakeEngine.job("7"),
                new Outcome.Thrown("E", "no", Json.mapper().createObjectNode()));
        String body = "{\"workerId\":\"w\",\"lease\":1,\"errorCode\":\"E\",\"errorMessage\":\"no\",\"variables\":{}}";
        assertEquals(List.of("POST /v1/jobs/7/error " + body), requests);
    }

    @Test
    void aKeyThatWasGivenStays() {
        Client client = answered(new Answer(503, "{}"), new Answer(201, STARTED));
        client.start(Start.of("a").withIdempotencyKey("mine"));
        assertEquals(List.of("mine", "mine"), keys);
    }

    @Test
    void refusalsHaveTheServersWords() {
        Client client = answered(new Answer(404, "{\"error\": \"NOT_FOUND\", \"message\": \"no such workflow\"}"));
        ApiException thrown = assertThrows(ApiException.class, () -> client.start("a", null));
        assertTrue(thrown.isNotFound());
        assertEquals("no such workflow (NOT_FOUND, 404)", thrown.getMessage());
    }

    @Test
    void problemsOfAnotherKindAndWordsOfAProxy() {
        Client client = answered(
                new Answer(400, "{\"title\": \"INVALID\", \"detail\": \"no\"}"), new Answer(413, "<html>too large"));
        assertEquals("no (INVALID, 400)", refusal(client));
        assertEquals("<html>too large (, 413)", refusal(client));
    }

    private static String refusal(Client client) {
        return assertThrows(ApiException.class, () -> client.instance("1")).getMessage();
    }

    @Test
    void aServerThatIsNotThere() {
        Client client = new Client(Endpoint.of("http://127.0.0.1:9"), Duration.ZERO, Json.mapper());
        assertThrows(UnavailableException.class, () -> client.start("a", null));
    }

    @Test
    void anAddressThatIsLeftOutIsThisMachines() {
        assertEquals("http://127.0.0.1:8080", Endpoint.of(null).address());
        assertEquals("http://127.0.0.1:8080", Endpoint.of("").address());
    }

    @Test
    void anAddressThatCannotBeUsedIsRefusedAtOnce() {
        List<String> wrong = List.of(
                "amqp://127.0.0.1",
                "127.0.0.1:8080",
                "localhost:8080",
                "server",
                "http://",
                "http://a b",
                "http://a:99999",
                "http://a:0",
                "http://a?b=c",
                "http://ann:secret@a");
        for (String address : wrong) {
            Endpoint endpoint = Endpoint.of(address);
            assertThrows(IllegalArgumentException.class, () -> EngineClient.connect(endpoint), address);
            String said = assertThrows(IllegalArgumentException.class, () -> new Client(endpoint))
                    .getMessage();
            assertTrue(said.contains("must be an address such as http://"), said);
            assertFalse(said.contains("secret"), said);
        }
    }

    @Test
    void secretsAreNotShown() {
        Endpoint endpoint =
                Endpoint.of("kafka://ann:secret@a,b?sasl.password=secret").withToken("secret");
        assertEquals("kafka://a,b", endpoint.toString());
        String said = assertThrows(IllegalArgumentException.class, () -> endpoint.withToken("secret\n"))
                .getMessage();
        assertEquals("the header Authorization must be visible ASCII characters", said);
    }

    @Test
    void waitsGrowAndAreNotShorterThanAsked() {
        Backoff backoff = new Backoff();
        for (int i = 0; i < 20; i++) {
            long bound = Math.min(10_000, 100L << i);
            long wait = backoff.next(Duration.ZERO).toMillis();
            assertTrue(bound / 2 <= wait && wait <= bound, wait + " of " + bound);
        }
        assertEquals(Duration.ofMinutes(1), backoff.next(Duration.ofMinutes(1)));
    }
}
