-- What providers said of their models' windows, by a hash of whom they said it to, and of which model where.

CREATE TABLE windows (
    source       BLOB    PRIMARY KEY,
    tokens       INTEGER NOT NULL,
    counts_reply INTEGER NOT NULL,
    learned      INTEGER NOT NULL
) STRICT;

CREATE INDEX windows_learned ON windows (learned);
