package io.caudal.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ClientTest {
    private static final String STARTED =
            "{\"processInstanceKey\": \"1\", \"processDefinitionId\": \"a\", \"processDefinitionVersion\": 1}";

    /** A status of 0 is a connection that breaks. */
    private record Answer(int status, String body) {}

    private final Deque<Answer> answers = new ArrayDeque<>();
    private final List<String> keys = new CopyOnWriteArrayList<>();
    private final List<String> tokens = new CopyOnWriteArrayList<>();
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
        exchange.getRequestBody().readAllBytes();
        if (next.status() != 0) {
            byte[] body = next.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(next.status(), body.length);
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }

    private Client answered(Answer... given) {
        answers.addAll(Arrays.asList(given));
        return new Client(Endpoint.of("http://127.0.0.1:" + server.getAddress().getPort() + "/")
                .withToken("t"));
    }

    @Test
    void aStartIsRepeatedWithItsKey() {
        Client client = answered(new Answer(0, ""), new Answer(504, "{}"), new Answer(201, STARTED));
        assertEquals("1", client.start("a", null).id());
        assertEquals(List.of(keys.get(0), keys.get(0), keys.get(0)), keys);
        assertEquals("Bearer t", tokens.get(0));
    }

    @Test
    void aStartThatWasRefusedGetsAnotherKey() {
        Client client = answered(new Answer(429, "{}"), new Answer(201, STARTED));
        client.start("a", Map.of());
        assertEquals(2, keys.size());
        assertNotEquals(keys.get(0), keys.get(1));
    }

    @Test
    void aKeyThatWasGivenStays() {
        Client client = answered(new Answer(503, "{}"), new Answer(201, STARTED));
        client.start(Start.of("a").withIdempotencyKey("mine"));
        assertEquals(List.of("mine", "mine"), keys);
    }

    @Test
    void anUploadWithoutAnAnswerIsNotRepeated() {
        Client client = answered(new Answer(0, ""), new Answer(201, "{}"));
        CaudalException thrown = assertThrows(CaudalException.class, () -> client.upload(Map.of("id", "a")));
        assertTrue(thrown.getMessage().contains("not known"), thrown.getMessage());
        assertEquals(1, keys.size());
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
        UnavailableException thrown = assertThrows(UnavailableException.class, () -> client.start("a", null));
        assertTrue(thrown.isRefused());
    }

    @Test
    void anAddressOfNoKind() {
        assertThrows(IllegalArgumentException.class, () -> EngineClient.connect(Endpoint.of("amqp://127.0.0.1")));
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
