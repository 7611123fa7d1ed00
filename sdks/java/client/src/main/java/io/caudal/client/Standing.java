package io.caudal.client;

/** What became of a lease. */
public enum Standing {
    /** It is ours still. */
    HELD,
    /** It ended; the job may be another worker's. */
    LOST,
    /** The job was cancelled. */
    CANCELLED,
    /** The job is done. */
    COMPLETED,
    /** There is no such job. */
    UNKNOWN
}
