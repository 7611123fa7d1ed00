-- The last request of an inbox. $1 partition.
SELECT tail FROM inboxes WHERE partition = $1
