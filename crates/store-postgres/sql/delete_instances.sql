-- Finished instances with those they called, as far as these have finished too, and all their rows. $1 partition, $2 keys.
-- Each table is asked by the instance alone, which its index has first (see migration 3); keys name their partition.
WITH RECURSIVE doomed AS (
    SELECT i.key, i.tags
    FROM UNNEST($2::bigint[]) AS given (key)
    CROSS JOIN LATERAL (SELECT * FROM instances WHERE partition = $1 AND key = given.key OFFSET 0) AS i
    WHERE i.ended IS NOT NULL
    UNION
    SELECT called.key, called.tags
    FROM doomed JOIN instances AS called ON called.parent_instance = doomed.key
    WHERE called.ended IS NOT NULL
), gone_tags AS (
    DELETE FROM instance_tags AS t
    USING (SELECT key, UNNEST(string_to_array(tags, E'\n')) AS tag FROM doomed) AS given
    WHERE t.partition = $1 AND t.tag = given.tag AND t.instance = given.key
), gone_candidates AS (
    DELETE FROM user_task_candidates AS t
    USING (SELECT u.key FROM doomed JOIN user_tasks AS u ON u.instance = doomed.key) AS given
    WHERE t.partition = $1 AND t.task = given.key
), gone_elements AS (
    DELETE FROM elements AS t USING doomed WHERE t.instance = doomed.key
), gone_variables AS (
    DELETE FROM variables AS t USING doomed WHERE t.instance = doomed.key
), gone_jobs AS (
    DELETE FROM jobs AS t USING doomed WHERE t.instance = doomed.key
), gone_incidents AS (
    DELETE FROM incidents AS t USING doomed WHERE t.instance = doomed.key
), gone_timers AS (
    DELETE FROM timers AS t USING doomed WHERE t.instance = doomed.key
), gone_subscriptions AS (
    DELETE FROM subscriptions AS t USING doomed WHERE t.instance = doomed.key
), gone_message_correlations AS (
    DELETE FROM message_correlations AS t USING doomed WHERE t.instance = doomed.key
), gone_user_tasks AS (
    DELETE FROM user_tasks AS t USING doomed WHERE t.instance = doomed.key
), gone_evaluated_decisions AS (
    DELETE FROM evaluated_decisions AS t USING doomed WHERE t.instance = doomed.key
)
DELETE FROM instances AS t USING doomed WHERE t.partition = $1 AND t.key = doomed.key
