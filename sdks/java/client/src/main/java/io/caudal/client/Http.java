package io.caudal.client;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Requests with JSON, and the server's refusals as exceptions. */
final class Http {
    private static final Duration CALL_MAX = Duration.ofSeconds(30);
    private static final String JSON = "application/json";

    /** What is sent, as often as need be; a content type and a key may be null. */
    record Request(
            String method,
            String path,
            HttpRequest.BodyPublisher content,
            String contentType,
            String key,
            Duration within) {
        Request withKey(String other) {
            return new Request(method, path, content, contentType, other, within);
        }

        Request within(Duration other) {
            return new Request(method, path, content, contentType, key, other);
        }
    }

    private final Endpoint endpoint;
    private final URI base;
    private final HttpClient client;
    private final ObjectMapper mapper;

    Http(Endpoint endpoint, ObjectMapper mapper) {
        this.endpoint = endpoint;
        this.base = endpoint.uri("http", "https");
        this.client = endpoint.client();
        this.mapper = mapper;
    }

    static Request get(String path) {
        return new Request("GET", path, HttpRequest.BodyPublishers.noBody(), null, null, CALL_MAX);
    }

    /** Without a body. */
    static Request post(String path) {
        return new Request("POST", path, HttpRequest.BodyPublishers.noBody(), null, null, CALL_MAX);
    }

    static Request post(String path, String contentType, byte[] content) {
        return new Request("POST", path, HttpRequest.BodyPublishers.ofByteArray(content), contentType, null, CALL_MAX);
    }

    Request post(String path, Object body) {
        return post(path, JSON, bytes(body));
    }

    /** A part of a path. */
    static String part(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    byte[] bytes(Object body) {
        try {
            return mapper.writeValueAsBytes(body);
        } catch (IOException e) {
            throw new CaudalException("it cannot be written as JSON: " + e.getMessage(), e);
        }
    }

    /** Sends a request and reads the answer; null if there is none. */
    <T> T call(Request request, TypeReference<T> type) throws InterruptedException {
        HttpResponse<byte[]> answer = send(request);
        if (answer.statusCode() < 200 || 299 < answer.statusCode()) {
            throw refusal(answer);
        }
        if (answer.body().length == 0) {
            return null;
        }
        try {
            return mapper.readValue(answer.body(), type);
        } catch (JsonParseException e) {
            // A proxy in between answers for a server that is away.
            throw new UnavailableException(request.path() + ": the answer is no JSON", Duration.ZERO, e);
        } catch (IOException e) {
            throw new CaudalException(request.path() + ": the answer is not as expected: " + e.getMessage(), e);
        }
    }

    private HttpResponse<byte[]> send(Request request) throws InterruptedException {
        HttpRequest.Builder sent = HttpRequest.newBuilder(URI.create(base + request.path()))
                .method(request.method(), request.content())
                .timeout(request.within())
                .header("Accept", JSON);
        endpoint.headers().forEach(sent::setHeader);
        if (request.contentType() != null) {
            sent.header("Content-Type", request.contentType());
        }
        if (request.key() != null) {
            sent.header("Idempotency-Key", request.key());
            endpoint.telemetry().headers().forEach(sent::setHeader);
        }
        try {
            return client.send(sent.build(), HttpResponse.BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw new UnavailableException(request.method() + " " + request.path() + ": " + e, Duration.ZERO, e);
        }
    }

    private RuntimeException refusal(HttpResponse<byte[]> answer) {
        JsonNode body;
        try {
            body = mapper.readTree(answer.body());
        } catch (IOException e) {
            // A proxy in between may answer in other words than the server's.
            body = mapper.createObjectNode().put("message", new String(answer.body(), StandardCharsets.UTF_8));
        }
        String code = body.path("error").asText(body.path("title").asText(""));
        String message = body.path("message").asText(body.path("detail").asText(""));
        ApiException refused = new ApiException(answer.statusCode(), code, message);
        return mayWorkLater(answer.statusCode())
                ? new UnavailableException(refused.getMessage(), retryAfter(answer), refused)
                : refused;
    }

    private static boolean mayWorkLater(int status) {
        return switch (status) {
            case 408, 429 -> true;
            case 501 -> false;
            default -> 500 <= status;
        };
    }

    private static Duration retryAfter(HttpResponse<?> answer) {
        try {
            return Duration.ofSeconds(
                    Long.parseLong(answer.headers().firstValue("Retry-After").orElse("0")));
        } catch (NumberFormatException e) {
            return Duration.ZERO;
        }
    }
}
