-- Not breaking: adds a table.
--
-- Which store this is: the same for every server on it.
CREATE TABLE identity (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id text NOT NULL
);

INSERT INTO identity (id) VALUES (gen_random_uuid()::text);
