-- Wake the other servers, once, when the transaction is committed.
SELECT pg_notify('caudal', '')
