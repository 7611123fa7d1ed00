DELETE FROM {table} AS t USING ({aged}) AS aged WHERE t.ctid = aged.place RETURNING 1
