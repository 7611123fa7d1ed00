-- $1 upload, $2 number, $3 now, $4 an array of its bytes alone.
INSERT INTO document_parts (upload, number, at, bytes) VALUES ($1, $2, $3, ($4::bytea[])[1])
