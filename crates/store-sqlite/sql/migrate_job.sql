UPDATE jobs SET definition = ?3, element = ?4, headers = coalesce(?5, headers) WHERE partition = ?1 AND key = ?2
