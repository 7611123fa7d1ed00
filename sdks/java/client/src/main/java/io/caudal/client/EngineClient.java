package io.caudal.client;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.List;
import java.util.ServiceLoader;

/**
 * What a runner asks of a server; transports stand behind it.
 *
 * <p>Every method throws an {@link UnavailableException} when the same call may work later, and an {@link ApiException}
 * when it never will. All but {@link #poll} may be repeated. A thread that is interrupted while it waits for an answer
 * gets an {@link InterruptedException}, and the call is given up.
 */
public interface EngineClient extends AutoCloseable {
    /**
     * A question for jobs.
     *
     * @param workerId who asks
     * @param jobTypes of these types
     * @param maxJobs no more than so many
     * @param lease for how long they are leased
     * @param waitMax how long to wait for the first
     */
    record Poll(String workerId, List<String> jobTypes, int maxJobs, Duration lease, Duration waitMax) {}

    /**
     * A sign of life for one job.
     *
     * @param job whose
     * @param progress how far it came, or null
     */
    record Beat(Job job, Progress progress) {}

    /**
     * Leases jobs.
     *
     * @param poll which and how many
     * @return none if there was no job in time
     * @throws InterruptedException if the thread is interrupted
     */
    List<Job> poll(Poll poll) throws InterruptedException;

    /**
     * Says that a job is done.
     *
     * @param workerId who has it
     * @param job which
     * @param variables are merged into those of the instance
     * @throws InterruptedException if the thread is interrupted
     */
    void complete(String workerId, Job job, ObjectNode variables) throws InterruptedException;

    /**
     * Says that a job could not be done.
     *
     * @param workerId who has it
     * @param job which
     * @param failure why, and whether to try again
     * @throws InterruptedException if the thread is interrupted
     */
    void fail(String workerId, Job job, Outcome.Failed failure) throws InterruptedException;

    /**
     * Throws an error in the job's BPMN process.
     *
     * @param workerId who has it
     * @param job which
     * @param error what the process may catch
     * @throws InterruptedException if the thread is interrupted
     */
    void throwError(String workerId, Job job, Outcome.Thrown error) throws InterruptedException;

    /**
     * Extends leases from now.
     *
     * @param workerId who has the jobs
     * @param lease for how long
     * @param beats the jobs
     * @return what became of each, in the same order
     * @throws InterruptedException if the thread is interrupted
     */
    List<Standing> heartbeat(String workerId, Duration lease, List<Beat> beats) throws InterruptedException;

    /**
     * Gives a job back. No retry is used up.
     *
     * @param workerId who has it
     * @param job which
     * @param delay when it comes again; at once if zero
     * @throws InterruptedException if the thread is interrupted
     */
    void release(String workerId, Job job, Duration delay) throws InterruptedException;

    /** Closes connections. */
    @Override
    void close();

    /** Makes a transport for addresses of a kind; found by {@link ServiceLoader}. */
    interface Provider {
        /**
         * Connects if the address is of its kind.
         *
         * @param endpoint where, and with which token
         * @return null if the address is of another kind
         */
        EngineClient connect(Endpoint endpoint);
    }

    /**
     * A transport by the address.
     *
     * @param endpoint {@code http(s)://} is REST, {@code grpc(s)://} is gRPC, which is in {@code caudal-client-grpc}
     * @return a transport that whoever made it closes
     */
    static EngineClient connect(Endpoint endpoint) {
        if (endpoint.address().startsWith("http://") || endpoint.address().startsWith("https://")) {
            return new RestEngine(endpoint);
        }
        for (Provider provider : ServiceLoader.load(Provider.class, EngineClient.class.getClassLoader())) {
            EngineClient connected = provider.connect(endpoint);
            if (connected != null) {
                return connected;
            }
        }
        throw new IllegalArgumentException(
                "'" + endpoint
                        + "' must begin with http:// or https://, or with grpc:// or grpcs:// and caudal-client-grpc on the class path");
    }
}
