-- One that has expired but is not purged yet makes room.
INSERT OR REPLACE INTO idempotent (partition, tenant, key, fingerprint, position, answer, expires)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
