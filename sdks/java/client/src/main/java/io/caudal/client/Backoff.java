package io.caudal.client;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Waits that double up to a bound, each a random part of it, so that many clients do not come back at once. */
final class Backoff {
    private static final long FIRST_MILLIS = 100;
    private static final long LONGEST_MILLIS = 10_000;

    interface Call<T> {
        T call() throws InterruptedException;
    }

    private int failures;

    /** How long to wait after one more failure; never less than the server asked for. */
    Duration next(Duration asked) {
        long bound = Math.min(LONGEST_MILLIS, FIRST_MILLIS << Math.min(failures, 10));
        failures++;
        Duration wait =
                Duration.ofMillis(bound / 2 + ThreadLocalRandom.current().nextLong(bound / 2 + 1));
        return wait.compareTo(asked) < 0 ? asked : wait;
    }

    void reset() {
        failures = 0;
    }

    /** Calls until there is an answer, or until another wait would end too late. */
    static <T> T retry(Duration patience, Call<T> call) throws InterruptedException {
        Backoff backoff = new Backoff();
        long deadline = System.nanoTime() + patience.toNanos();
        while (true) {
            try {
                return call.call();
            } catch (UnavailableException e) {
                Duration wait = backoff.next(e.retryAfter());
                if (deadline - System.nanoTime() < wait.toNanos()) {
                    throw e;
                }
                Thread.sleep(wait.toMillis());
            }
        }
    }
}
