DELETE FROM subscriptions WHERE partition = ?1 AND instance = ?2
