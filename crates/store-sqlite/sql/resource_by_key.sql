SELECT name, content, tenant FROM resources WHERE partition = ?1 AND key = ?2
