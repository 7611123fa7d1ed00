-- ?5 and ?6 are when the first and the last of what is new began: how far back any may have begun is kept (ADR 97).
UPDATE partitions SET position = ?2, next_key = ?3, inbox_to = ?4, started_latest = max(started_latest, ?6),
    started_back = max(started_back, max(started_latest, ?6) - ?5)
WHERE partition = ?1
