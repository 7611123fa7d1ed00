-- Not breaking: adds a table.
--
-- Which store this is, how often it was opened, and whether it was closed in order since: then this file is all there is.
CREATE TABLE identity (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL,
    opened INTEGER NOT NULL,
    is_closed INTEGER NOT NULL CHECK (is_closed = 0 OR is_closed = 1)
) STRICT;

INSERT INTO identity (one, id, opened, is_closed)
SELECT 1,
    substr(random, 1, 8) || '-' || substr(random, 9, 4) || '-4' || substr(random, 14, 3) || '-8' || substr(random, 18, 3) || '-' || substr(random, 21, 12),
    0, 1
FROM (SELECT lower(hex(randomblob(16))) AS random);
