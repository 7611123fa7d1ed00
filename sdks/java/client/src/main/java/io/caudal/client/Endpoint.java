package io.caudal.client;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Pattern;

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
    private static final String LOCAL = "http://127.0.0.1:8080";
    private static final int PORT_MAX = 65_535;
    private static final Pattern HEADER = Pattern.compile("[\\x20-\\x7e]*");

    /**
     * With everything.
     *
     * @param address slashes at its end do not count; {@code http://127.0.0.1:8080} if null or empty
     * @param headers sent with every request
     * @param http speaks HTTP; null for one of its own
     * @param telemetry is told of what clients and runners do
     */
    public Endpoint {
        address = address == null || address.isEmpty() ? LOCAL : address.replaceAll("/+$", "");
        headers = Collections.unmodifiableMap(new TreeMap<>(headers));
        headers.forEach((name, value) -> {
            // In our own words: those of HTTP clients repeat the value, which may be a token.
            if (!HEADER.matcher(Objects.requireNonNull(value, name)).matches()) {
                throw new IllegalArgumentException("the header " + name + " must be visible ASCII characters");
            }
        });
    }

    /**
     * Without a token.
     *
     * @param address where it is; {@code http://127.0.0.1:8080} if null or empty
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
        return withHeader("Authorization", "Bearer " + Objects.requireNonNull(token, "token"));
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

    /**
     * Where a server is that is one host. For transports.
     *
     * @param plain the scheme of its addresses
     * @param secured the one with TLS
     * @return the address
     * @throws IllegalArgumentException if it is of another kind
     */
    public URI uri(String plain, String secured) {
        try {
            URI uri = new URI(address);
            boolean isOurs = plain.equals(uri.getScheme()) || secured.equals(uri.getScheme());
            boolean isPlace = uri.getHost() != null && uri.getPort() != 0 && uri.getPort() <= PORT_MAX;
            boolean isMore = uri.getUserInfo() != null || uri.getQuery() != null || uri.getFragment() != null;
            if (isOurs && isPlace && !isMore) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // Its words repeat the address, which may have a password in it.
        }
        throw new IllegalArgumentException(
                "'" + this + "' must be an address such as " + plain + "://HOST:PORT or " + secured + "://HOST:PORT");
    }

    /**
     * Where it is, without what may be secret: headers, and what stands before an {@code @} or after a {@code ?}.
     *
     * @return for logs and errors
     */
    @Override
    public String toString() {
        return address.replaceFirst("(?s)\\?.*", "").replaceFirst("//[^/]*@", "//");
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
