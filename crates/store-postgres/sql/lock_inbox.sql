-- Wait until nobody else appends to an inbox. $1 partition.
-- What is appended is sent behind this without waiting. So if there is no inbox yet it must fail, and with it the transaction: that is
-- what the division is for (its error is 22012).
SELECT (1 / count(*))::bigint FROM (SELECT FROM inboxes WHERE partition = $1 FOR UPDATE) AS locked
