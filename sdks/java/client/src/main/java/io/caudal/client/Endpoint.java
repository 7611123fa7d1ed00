package io.caudal.client;

import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * Where a server is, and how to speak to it.
 *
 * @param address such as {@code http://127.0.0.1:8080} or {@code grpc://127.0.0.1:9090}
 * @param headers sent with every request
 * @param http speaks HTTP; null for one of its own
 * @param telemetry is told of what clients and runners do
 */
public record Endpoint(String address, Map<String, String> headers, HttpClient http, Telemetry telemetry) {
    private static final Duration CONNECT_MAX = Duration.ofSeconds(10);

    /**
     * With everything.
     *
     * @param address slashes at its end do not count
     * @param headers sent with every request
     * @param http speaks HTTP; null for one of its own
     * @param telemetry is told of what clients and runners do
     */
    public Endpoint {
        address = address.replaceAll("/+$", "");
        headers = Collections.unmodifiableMap(new TreeMap<>(headers));
    }

    /**
     * Without a token.
     *
     * @param address where it is
     * @return what other methods add to
     */
    public static Endpoint of(String address) {
        return new Endpoint(address, Map.of(), null, Telemetry.NONE);
    }

    /**
     * With a bearer token.
     *
     * @param token sent with every request
     * @return another endpoint
     */
    public Endpoint withToken(String token) {
        return withHeader("Authorization", "Bearer " + token);
    }

    /**
     * With a header, such as an API key.
     *
     * @param name of the header
     * @param value sent with every request
     * @return another endpoint
     */
    public Endpoint withHeader(String name, String value) {
        Map<String, String> all = new TreeMap<>(headers);
        all.put(name, value);
        return new Endpoint(address, all, http, telemetry);
    }

    /**
     * With an HTTP client of your own: for authorities and certificates, and for proxies. gRPC does not use it.
     *
     * @param client is not closed
     * @return another endpoint
     */
    public Endpoint withHttpClient(HttpClient client) {
        return new Endpoint(address, headers, client, telemetry);
    }

    /**
     * With traces and metrics.
     *
     * @param given is told of what clients and runners do
     * @return another endpoint
     */
    public Endpoint withTelemetry(Telemetry given) {
        return new Endpoint(address, headers, http, given);
    }

    HttpClient client() {
        // A request over HTTP/1.1 has a connection to itself: one that is slow holds up no other.
        return http != null
                ? http
                : HttpClient.newBuilder()
                        .version(HttpClient.Version.HTTP_1_1)
                        .connectTimeout(CONNECT_MAX)
                        .build();
    }
}
