-- What has happened in queues. $1 partition, then a column each.
INSERT INTO queue_stats
    (partition, job_type, tenant, waiting, running, enqueued, started, completed, failed, timed_out, cancelled,
    wait_p50, wait_p95, wait_p99, run_p50, run_p95, run_p99, progressed, stuck_since, updated, stats)
SELECT $1, given.*
FROM UNNEST($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
    $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::bigint[],
    $17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[], $21::bytea[]) AS given
ON CONFLICT (partition, job_type, tenant) DO UPDATE
SET waiting = excluded.waiting, running = excluded.running, enqueued = excluded.enqueued, started = excluded.started,
    completed = excluded.completed, failed = excluded.failed, timed_out = excluded.timed_out, cancelled =
    excluded.cancelled, wait_p50 = excluded.wait_p50, wait_p95 = excluded.wait_p95, wait_p99 = excluded.wait_p99,
    run_p50 = excluded.run_p50, run_p95 = excluded.run_p95, run_p99 = excluded.run_p99, progressed =
    excluded.progressed, stuck_since = excluded.stuck_since, updated = excluded.updated, stats = excluded.stats
