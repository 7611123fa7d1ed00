package io.caudal.scenarios;

import static io.caudal.scenarios.World.equal;
import static io.caudal.scenarios.World.file;
import static io.caudal.scenarios.World.isJson;

import io.caudal.client.Client;
import io.caudal.client.Endpoint;
import io.caudal.client.EngineClient;
import io.caudal.client.Instance;
import io.caudal.client.Registry;
import io.caudal.client.RestEngine;
import io.caudal.client.Runner;
import io.caudal.client.Status;
import io.caudal.client.UnavailableException;
import io.caudal.client.grpc.GrpcEngine;
import io.caudal.scenarios.Main.Scenario;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;

/** A server that speaks TLS, with a certificate of an authority that the world does not know. */
final class Secured {
    static final List<Scenario> ALL = List.of(new Scenario("tls", Secured::tls));

    private static final String REST = System.getenv("CAUDAL_TLS_REST");

    private Secured() {}

    private static void tls() throws Exception {
        Path authority = Path.of(System.getenv("CAUDAL_TLS_CA"));
        HttpClient http =
                HttpClient.newBuilder().sslContext(trusting(authority)).build();
        Endpoint endpoint =
                Endpoint.of(REST).withHttpClient(http).withToken("t").withHeader("X-Api-Key", "k");
        if (World.TRANSPORT.equals("rest")) {
            work(endpoint, new RestEngine(endpoint));
        } else {
            String target = System.getenv("CAUDAL_TLS_GRPC").replace("grpcs://", "");
            ManagedChannel channel = Grpc.newChannelBuilder(
                            target,
                            TlsChannelCredentials.newBuilder()
                                    .trustManager(authority.toFile())
                                    .build())
                    .build();
            work(endpoint, new GrpcEngine(channel, endpoint.headers()));
            channel.shutdownNow();
        }
        Duration second = Duration.ofSeconds(1);
        try {
            new RestEngine(Endpoint.of(REST))
                    .poll(new EngineClient.Poll("w", List.of("other"), 1, second, Duration.ZERO));
        } catch (UnavailableException e) {
            equal(e.getCause() instanceof SSLHandshakeException, true);
            return;
        }
        throw new AssertionError("a stranger was trusted");
    }

    private static void work(Endpoint endpoint, EngineClient engine) throws Exception {
        Registry registry = new Registry().handle("work", (variables, context) -> Map.of("by", "tls"));
        Client client = new Client(endpoint);
        Runner.Builder options = Runner.builder(registry, engine).pollWait(Duration.ofSeconds(5));
        try (Runner runner = World.work(options)) {
            client.deploy(file("work.json"));
            Instance instance = client.await(client.start("work", World.none()).id(), World.WITHIN);
            equal(instance.status(), Status.COMPLETED);
            isJson(instance.variables(), "{\"by\": \"tls\"}");
        }
        engine.close();
    }

    private static SSLContext trusting(Path authority) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream file = Files.newInputStream(authority)) {
            store.setCertificateEntry(
                    "authority", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
