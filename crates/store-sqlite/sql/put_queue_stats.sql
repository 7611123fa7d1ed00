INSERT OR REPLACE INTO queue_stats
    (partition, job_type, tenant, waiting, running, enqueued, started, completed, failed, timed_out, cancelled,
    wait_p50, wait_p95, wait_p99, run_p50, run_p95, run_p99, progressed, stuck_since, updated, stats)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)
