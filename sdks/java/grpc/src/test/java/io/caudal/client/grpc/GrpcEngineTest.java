package io.caudal.client.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.caudal.client.ApiException;
import io.caudal.client.Endpoint;
import io.caudal.client.EngineClient;
import io.caudal.client.Job;
import io.caudal.client.Json;
import io.caudal.client.Outcome;
import io.caudal.client.Standing;
import io.caudal.client.UnavailableException;
import io.caudal.client.wire.HeartbeatsRequest;
import io.caudal.client.wire.HeartbeatsResponse;
import io.caudal.client.wire.ThrowErrorRequest;
import io.caudal.client.wire.ThrowErrorResponse;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.ServerCalls.UnaryMethod;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GrpcEngineTest {
    /** What the last call brought. */
    private volatile String token;

    @Test
    void jsonComesBackAsItWent() throws IOException {
        String text =
                "{\"a\":null,\"b\":true,\"c\":[1,-2,0.5,9007199254740991],\"d\":{\"e\":\"ä🦀\"},\"f\":1.0E300,\"g\":[],\"h\":{}}";
        ObjectNode given = (ObjectNode) Json.mapper().readTree(text);
        assertEquals(given, Structs.read(Structs.write(given)));
    }

    @Test
    void noIntegerArrivesAsAnother() throws IOException {
        List<String> others = List.of(
                "{\"a\":9007199254740993}",
                "{\"a\":[{\"b\":-9223372036854775807}]}",
                "{\"a\":1" + "0".repeat(400) + "}");
        for (String text : others) {
            ObjectNode given = (ObjectNode) Json.mapper().readTree(text);
            assertThrows(ApiException.class, () -> Structs.write(given), text);
        }
        for (String text : List.of("{\"a\":9007199254740992}", "{\"a\":1152921504606846976}")) {
            ObjectNode came =
                    Structs.read(Structs.write((ObjectNode) Json.mapper().readTree(text)));
            assertTrue(came.get("a").isFloatingPointNumber(), text);
        }
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
    void whatMayWorkLaterIsNoRefusal() {
        for (Status away : List.of(
                Status.UNAVAILABLE,
                Status.RESOURCE_EXHAUSTED,
                Status.DEADLINE_EXCEEDED,
                Status.CANCELLED,
                Status.INTERNAL,
                Status.UNKNOWN,
                Status.DATA_LOSS)) {
            assertInstanceOf(UnavailableException.class, GrpcEngine.failure(away.asRuntimeException()));
        }
        assertEquals(400, refusal(Status.INVALID_ARGUMENT));
        assertEquals(401, refusal(Status.UNAUTHENTICATED));
        assertEquals(403, refusal(Status.PERMISSION_DENIED));
        assertEquals(404, refusal(Status.NOT_FOUND));
        assertEquals(409, refusal(Status.FAILED_PRECONDITION));
        assertEquals(413, refusal(Status.OUT_OF_RANGE));
        assertEquals(501, refusal(Status.UNIMPLEMENTED));
    }

    private static int refusal(Status status) {
        return assertInstanceOf(ApiException.class, GrpcEngine.failure(status.asRuntimeException()))
                .status();
    }

    @Test
    void anAddressThatCannotBeUsedIsRefusedAtOnce() {
        for (String address :
                List.of("grpc://:1", "grpc://a b", "grpc://a:99999", "grpcs://ann:secret@a", "grpc://a?b")) {
            Endpoint endpoint = Endpoint.of(address);
            String said = assertThrows(IllegalArgumentException.class, () -> EngineClient.connect(endpoint))
                    .getMessage();
            assertTrue(said.contains("must be an address such as grpc://"), said);
            assertFalse(said.contains("secret"), said);
        }
    }

    @Test
    void signsOfLifeGoTogetherAndAreJudgedOneByOne() throws Exception {
        List<Integer> sizes = new CopyOnWriteArrayList<>();
        UnaryMethod<HeartbeatsRequest, HeartbeatsResponse> held = (request, answer) -> {
            sizes.add(request.getJobsCount());
            HeartbeatsResponse.Builder all = HeartbeatsResponse.newBuilder();
            request.getJobsList().forEach(one -> all.addJobsBuilder()
                    .setStatus(one.getJobId().equals("1") ? "UNKNOWN" : "HELD"));
            answer.onNext(all.build());
            answer.onCompleted();
        };
        List<EngineClient.Beat> beats = IntStream.range(0, 1001)
                .mapToObj(id -> new EngineClient.Beat(job("" + id), null))
                .toList();
        asking(GrpcEngine.HEARTBEATS, held, engine -> {
            List<Standing> standings = engine.heartbeat("w", Duration.ofSeconds(5), beats);
            assertEquals(List.of(Standing.HELD, Standing.UNKNOWN, Standing.HELD), standings.subList(0, 3));
            assertEquals(1001, standings.size());
        });
        assertEquals(List.of(1000, 1), sizes);
    }

    @Test
    void aBpmnErrorSaysWhoseItIs() throws Exception {
        List<ThrowErrorRequest> thrown = new CopyOnWriteArrayList<>();
        UnaryMethod<ThrowErrorRequest, ThrowErrorResponse> noted = (request, answer) -> {
            thrown.add(request);
            answer.onNext(ThrowErrorResponse.getDefaultInstance());
            answer.onCompleted();
        };
        ObjectNode variables = Json.mapper().createObjectNode().put("a", 1);
        asking(
                GrpcEngine.THROW_ERROR,
                noted,
                engine -> engine.throwError("w", job("7"), new Outcome.Thrown("E", "no", variables)));
        ThrowErrorRequest expected = ThrowErrorRequest.newBuilder()
                .setJobId("7")
                .setWorkerId("w")
                .setLease(3)
                .setErrorCode("E")
                .setErrorMessage("no")
                .setVariables(Structs.write(variables))
                .build();
        assertEquals(List.of(expected), thrown);
        assertEquals("Bearer t", token);
    }

    private interface Asking {
        void ask(EngineClient engine) throws Exception;
    }

    /** Asks a server that knows one method. */
    private <Q, A> void asking(MethodDescriptor<Q, A> method, UnaryMethod<Q, A> answer, Asking asking)
            throws Exception {
        Metadata.Key<String> authorization = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
        ServerServiceDefinition service = ServerServiceDefinition.builder(method.getServiceName())
                .addMethod(method, ServerCalls.asyncUnaryCall(answer))
                .build();
        ServerInterceptor noting = new ServerInterceptor() {
            @Override
            public <S, T> ServerCall.Listener<S> interceptCall(
                    ServerCall<S, T> call, Metadata headers, ServerCallHandler<S, T> next) {
                token = headers.get(authorization);
                return next.startCall(call, headers);
            }
        };
        Server server =
                ServerBuilder.forPort(0).addService(service).intercept(noting).build();
        server.start();
        Endpoint endpoint = Endpoint.of("grpc://127.0.0.1:" + server.getPort()).withToken("t");
        try (EngineClient engine = EngineClient.connect(endpoint)) {
            asking.ask(engine);
        } finally {
            server.shutdownNow();
        }
    }

    private static Job job(String id) {
        ObjectNode none = Json.mapper().createObjectNode();
        return new Job(id, "work", "", "", "", 3, none, Instant.MAX, 3, null, Map.of());
    }
}
