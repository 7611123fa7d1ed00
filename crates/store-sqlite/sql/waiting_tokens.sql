SELECT instance, scope, gateway, flow, count FROM tokens WHERE partition = ?1 AND instance = ?2 ORDER BY scope, gateway, flow
