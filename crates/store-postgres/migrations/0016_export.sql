-- How far those who follow the log have told of it.
-- Does not break older servers, but they remove what was not told.

CREATE TABLE export_places (
    partition bigint NOT NULL,
    name      text COLLATE "C" NOT NULL,
    position  bigint NOT NULL,
    PRIMARY KEY (partition, name)
);
