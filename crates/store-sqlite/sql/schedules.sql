SELECT schedule FROM schedules WHERE partition = ?1 ORDER BY tenant, reference
