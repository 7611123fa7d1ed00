-- A name that is there twice is one candidate.
INSERT INTO user_task_candidates (partition, task, kind, name, open, tenant, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT DO NOTHING
