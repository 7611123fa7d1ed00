package io.caudal.client.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.caudal.client.ApiException;
import io.caudal.client.Endpoint;
import io.caudal.client.EngineClient;
import io.caudal.client.Json;
import io.caudal.client.UnavailableException;
import io.grpc.Status;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class GrpcEngineTest {
    @Test
    void jsonComesBackAsItWent() throws IOException {
        String text =
                "{\"a\":null,\"b\":true,\"c\":[1,-2,0.5,9007199254740991],\"d\":{\"e\":\"ä🦀\"},\"f\":1.0E300,\"g\":[],\"h\":{}}";
        ObjectNode given = (ObjectNode) Json.mapper().readTree(text);
        assertEquals(given, Structs.read(Structs.write(given)));
    }

    @Test
    void theAddressFindsTheTransport() {
        EngineClient engine =
                EngineClient.connect(Endpoint.of("grpc://127.0.0.1:9").withToken("t"));
        assertInstanceOf(GrpcEngine.class, engine);
        EngineClient.Poll poll = new EngineClient.Poll("w", List.of("work"), 1, Duration.ofSeconds(1), Duration.ZERO);
        assertThrows(UnavailableException.class, () -> engine.poll(poll));
        engine.close();
    }

    @Test
    void aPollEndsWhenItsThreadIsInterrupted() {
        EngineClient engine = EngineClient.connect(Endpoint.of("grpc://127.0.0.1:9"));
        EngineClient.Poll poll = new EngineClient.Poll("w", List.of("work"), 1, Duration.ofSeconds(1), Duration.ZERO);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> engine.poll(poll));
        engine.close();
    }

    @Test
    void aConnectionThatBreaksIsNoRefusal() {
        Status broken = Status.UNKNOWN.withDescription("channel closed").withCause(new ClosedChannelException());
        assertInstanceOf(UnavailableException.class, GrpcEngine.failure(broken.asRuntimeException()));
        Status refused = Status.UNKNOWN.withDescription("the server's own words");
        assertInstanceOf(ApiException.class, GrpcEngine.failure(refused.asRuntimeException()));
    }
}
