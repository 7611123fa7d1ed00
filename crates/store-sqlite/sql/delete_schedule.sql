DELETE FROM schedules WHERE partition = ?1 AND key = ?2
