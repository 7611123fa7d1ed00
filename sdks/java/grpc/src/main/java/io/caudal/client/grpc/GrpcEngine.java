package io.caudal.client.grpc;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import io.caudal.client.ApiException;
import io.caudal.client.Endpoint;
import io.caudal.client.EngineClient;
import io.caudal.client.Job;
import io.caudal.client.Outcome;
import io.caudal.client.Progress;
import io.caudal.client.Standing;
import io.caudal.client.UnavailableException;
import io.caudal.client.wire.CompleteJobRequest;
import io.caudal.client.wire.CompleteJobResponse;
import io.caudal.client.wire.FailJobRequest;
import io.caudal.client.wire.FailJobResponse;
import io.caudal.client.wire.HeartbeatRequest;
import io.caudal.client.wire.HeartbeatsRequest;
import io.caudal.client.wire.HeartbeatsResponse;
import io.caudal.client.wire.PollJobsRequest;
import io.caudal.client.wire.PollJobsResponse;
import io.caudal.client.wire.ReleaseJobRequest;
import io.caudal.client.wire.ReleaseJobResponse;
import io.caudal.client.wire.ThrowErrorRequest;
import io.caudal.client.wire.ThrowErrorResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The transport over gRPC. Numbers are doubles on this wire: integers beyond 2^53 lose digits. */
public final class GrpcEngine implements EngineClient {
    private static final int JOBS_PER_REQUEST_MAX = 1000;
    private static final int MESSAGE_BYTES_MAX = 64 << 20;
    private static final Duration CALL_MAX = Duration.ofSeconds(30);
    /** What a poll may take beyond its wait. */
    private static final Duration POLL_EXTRA = Duration.ofSeconds(15);
    /** How often a connection without traffic is tried, so that one that is dead is noticed. */
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(30);
    /** After which it is dead if it has not answered. */
    private static final Duration SILENCE_MAX = Duration.ofSeconds(10);
    /** How long a channel waits at most before it connects again. */
    private static final Duration RECONNECT_MAX = Duration.ofSeconds(5);

    private static final String ENGINE = "workflow.v1.WorkflowEngine";
    private static final MethodDescriptor<PollJobsRequest, PollJobsResponse> POLL =
            method("PollJobs", PollJobsRequest.getDefaultInstance(), PollJobsResponse.getDefaultInstance());
    private static final MethodDescriptor<CompleteJobRequest, CompleteJobResponse> COMPLETE =
            method("CompleteJob", CompleteJobRequest.getDefaultInstance(), CompleteJobResponse.getDefaultInstance());
    private static final MethodDescriptor<FailJobRequest, FailJobResponse> FAIL =
            method("FailJob", FailJobRequest.getDefaultInstance(), FailJobResponse.getDefaultInstance());
    static final MethodDescriptor<HeartbeatsRequest, HeartbeatsResponse> HEARTBEATS =
            method("Heartbeats", HeartbeatsRequest.getDefaultInstance(), HeartbeatsResponse.getDefaultInstance());
    private static final MethodDescriptor<ReleaseJobRequest, ReleaseJobResponse> RELEASE =
            method("ReleaseJob", ReleaseJobRequest.getDefaultInstance(), ReleaseJobResponse.getDefaultInstance());
    static final MethodDescriptor<ThrowErrorRequest, ThrowErrorResponse> THROW_ERROR =
            method("ThrowError", ThrowErrorRequest.getDefaultInstance(), ThrowErrorResponse.getDefaultInstance());

    private final Channel channel;
    private final Runnable close;

    /**
     * Over a channel of your own: with authorities and certificates, interceptors and the like.
     *
     * @param channel is not closed
     */
    public GrpcEngine(Channel channel) {
        this(channel, Map.of());
    }

    /**
     * Over a channel of your own, with a token, say.
     *
     * @param channel is not closed
     * @param headers sent with every call, such as {@code Authorization}
     */
    public GrpcEngine(Channel channel, Map<String, String> headers) {
        this(channel, headers, () -> {});
    }

    private GrpcEngine(Channel channel, Map<String, String> headers, Runnable close) {
        Metadata metadata = new Metadata();
        headers.forEach((name, value) -> metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value));
        this.channel = ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(metadata));
        this.close = close;
    }

    /** Finds this transport by addresses that begin with {@code grpc://}, or {@code grpcs://} for TLS. */
    public static final class Provider implements EngineClient.Provider {
        /** For the service loader. */
        public Provider() {}

        @Override
        public EngineClient connect(Endpoint endpoint) {
            boolean plain = endpoint.address().startsWith("grpc://");
            if (!plain && !endpoint.address().startsWith("grpcs://")) {
                return null;
            }
            URI uri = endpoint.uri("grpc", "grpcs");
            ManagedChannelBuilder<?> builder = ManagedChannelBuilder.forTarget(uri.getAuthority())
                    .keepAliveTime(KEEP_ALIVE.toSeconds(), TimeUnit.SECONDS)
                    .keepAliveTimeout(SILENCE_MAX.toSeconds(), TimeUnit.SECONDS)
                    .keepAliveWithoutCalls(true);
            ManagedChannel made = (plain ? builder.usePlaintext() : builder.useTransportSecurity()).build();
            Thread reconnecting = new Thread(() -> reconnect(made), "caudal-reconnect");
            reconnecting.setDaemon(true);
            reconnecting.start();
            return new GrpcEngine(made, endpoint.headers(), made::shutdownNow);
        }

        /** By itself a channel waits longer and longer, up to two minutes, and has no option for it. */
        private static void reconnect(ManagedChannel channel) {
            try {
                while (!channel.awaitTermination(RECONNECT_MAX.toSeconds(), TimeUnit.SECONDS)) {
                    if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
                        channel.resetConnectBackoff();
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public List<Job> poll(Poll poll) throws InterruptedException {
        PollJobsRequest request = PollJobsRequest.newBuilder()
                .setWorkerId(poll.workerId())
                .addAllJobTypes(poll.jobTypes())
                .setMaxJobs(poll.maxJobs())
                .setLeaseSeconds((int) poll.lease().toSeconds())
                .setWaitSeconds((int) poll.waitMax().toSeconds())
                .build();
        PollJobsResponse answer = call(POLL, request, poll.waitMax().plus(POLL_EXTRA));
        return answer.getJobsList().stream().map(GrpcEngine::job).toList();
    }

    @Override
    public void complete(String workerId, Job job, ObjectNode variables) throws InterruptedException {
        CompleteJobRequest request = CompleteJobRequest.newBuilder()
                .setJobId(job.id())
                .setWorkerId(workerId)
                .setVariablesToSet(Structs.write(variables))
                .setLease(job.lease())
                .build();
        call(COMPLETE, request, CALL_MAX);
    }

    @Override
    public void fail(String workerId, Job job, Outcome.Failed failure) throws InterruptedException {
        FailJobRequest.Builder request = FailJobRequest.newBuilder()
                .setJobId(job.id())
                .setWorkerId(workerId)
                .setRetryable(failure.retryable())
                .setErrorMessage(failure.message())
                .setLease(job.lease());
        if (failure.retryAfter() != null) {
            request.setRetryAfterMillis(failure.retryAfter().toMillis());
        }
        call(FAIL, request.build(), CALL_MAX);
    }

    @Override
    public void throwError(String workerId, Job job, Outcome.Thrown error) throws InterruptedException {
        ThrowErrorRequest request = ThrowErrorRequest.newBuilder()
                .setJobId(job.id())
                .setWorkerId(workerId)
                .setLease(job.lease())
                .setErrorCode(error.code())
                .setErrorMessage(error.message())
                .setVariables(Structs.write(error.variables()))
                .build();
        call(THROW_ERROR, request, CALL_MAX);
    }

    @Override
    public List<Standing> heartbeat(String workerId, Duration lease, List<Beat> beats) throws InterruptedException {
        List<Standing> standings = new ArrayList<>(beats.size());
        for (int at = 0; at < beats.size(); at += JOBS_PER_REQUEST_MAX) {
            HeartbeatsRequest.Builder request = HeartbeatsRequest.newBuilder();
            beats.subList(at, Math.min(at + JOBS_PER_REQUEST_MAX, beats.size()))
                    .forEach(beat -> request.addJobs(request(workerId, lease, beat)));
            HeartbeatsResponse answer = call(HEARTBEATS, request.build(), CALL_MAX);
            answer.getJobsList().forEach(one -> standings.add(Standing.valueOf(one.getStatus())));
        }
        return standings;
    }

    @Override
    public void release(String workerId, Job job, Duration delay) throws InterruptedException {
        ReleaseJobRequest request = ReleaseJobRequest.newBuilder()
                .setJobId(job.id())
                .setWorkerId(workerId)
                .setLease(job.lease())
                .setDelayMillis(delay.toMillis())
                .build();
        call(RELEASE, request, CALL_MAX);
    }

    @Override
    public void close() {
        close.run();
    }

    private <Q, A> A call(MethodDescriptor<Q, A> method, Q request, Duration within) throws InterruptedException {
        CallOptions options = CallOptions.DEFAULT
                .withDeadlineAfter(within.toMillis(), TimeUnit.MILLISECONDS)
                .withMaxInboundMessageSize(MESSAGE_BYTES_MAX);
        try {
            return ClientCalls.blockingUnaryCall(channel, method, options, request);
        } catch (StatusRuntimeException e) {
            // gRPC has no other way to say that the thread was interrupted.
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            throw failure(e);
        }
    }

    static RuntimeException failure(StatusRuntimeException thrown) {
        Status status = thrown.getStatus();
        String message = status.getDescription() == null ? "" : status.getDescription();
        String code = status.getCode().name();
        return switch (status.getCode()) {
            case UNAVAILABLE, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, CANCELLED, INTERNAL, UNKNOWN, DATA_LOSS ->
                new UnavailableException(code + ": " + message, Duration.ZERO, thrown);
            case UNAUTHENTICATED -> new ApiException(401, code, message);
            case PERMISSION_DENIED -> new ApiException(403, code, message);
            case NOT_FOUND -> new ApiException(404, code, message);
            case FAILED_PRECONDITION, ABORTED, ALREADY_EXISTS -> new ApiException(409, code, message);
            case OUT_OF_RANGE -> new ApiException(413, code, message);
            case UNIMPLEMENTED -> new ApiException(501, code, message);
            default -> new ApiException(400, code, message);
        };
    }

    private static HeartbeatRequest request(String workerId, Duration lease, Beat beat) {
        HeartbeatRequest.Builder request = HeartbeatRequest.newBuilder()
                .setJobId(beat.job().id())
                .setWorkerId(workerId)
                .setLease(beat.job().lease())
                .setLeaseSeconds((int) lease.toSeconds());
        Progress said = beat.progress();
        if (said != null && said.percent() != null) {
            request.setPercent(said.percent());
        }
        if (said != null && said.message() != null) {
            request.setMessage(said.message());
        }
        if (said != null && said.data() != null) {
            request.setData(Structs.write(said.data()));
        }
        return request.build();
    }

    private static Job job(io.caudal.client.wire.Job job) {
        Timestamp expires = job.getLockExpiresAt();
        return new Job(
                job.getId(),
                job.getJobType(),
                job.getInstanceId(),
                job.getStepId(),
                job.getStepExecutionId(),
                job.getRetriesRemaining(),
                Structs.read(job.getVariables()),
                Instant.ofEpochSecond(expires.getSeconds(), expires.getNanos()),
                job.getLease(),
                job.hasProgress() ? progress(Structs.read(job.getProgress())) : null,
                job.getTraceContextMap());
    }

    private static Progress progress(ObjectNode said) {
        return new Progress(
                said.hasNonNull("percent") ? said.get("percent").asInt() : null,
                said.hasNonNull("message") ? said.get("message").asText() : null,
                said.get("data") instanceof ObjectNode data ? data : null);
    }

    private static <Q extends Message, A extends Message> MethodDescriptor<Q, A> method(
            String name, Q request, A answer) {
        return MethodDescriptor.newBuilder(ProtoUtils.marshaller(request), ProtoUtils.marshaller(answer))
                .setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName(MethodDescriptor.generateFullMethodName(ENGINE, name))
                .build();
    }
}
