-- What few jobs have: more than one lease, or something to say before they are done.
UPDATE jobs SET leases = ?3, progress = ?4 WHERE partition = ?1 AND key = ?2
