-- The last position, the bytes ever, and the requests and bytes that wait.
SELECT inbox_tail, inbox_total, inbox_tail - inbox_to, inbox_total - coalesce(
    (SELECT total - length(request) FROM inbox WHERE partition = ?1 ORDER BY position LIMIT 1), inbox_total)
FROM partitions WHERE partition = ?1
