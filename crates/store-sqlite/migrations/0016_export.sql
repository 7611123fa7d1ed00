-- How far those who follow the log have told of it. (Nothing here breaks older servers, but they remove what was not told.)

CREATE TABLE export_places (
    partition INTEGER NOT NULL,
    name      TEXT NOT NULL,
    position  INTEGER NOT NULL,
    PRIMARY KEY (partition, name)
) STRICT, WITHOUT ROWID;
