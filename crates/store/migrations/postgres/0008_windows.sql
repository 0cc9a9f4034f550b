-- What providers said of their models' windows, by a hash of whom they said it to, and of which model where.

CREATE TABLE windows (
    source       BYTEA  PRIMARY KEY,
    tokens       BIGINT NOT NULL,
    counts_reply BIGINT NOT NULL,
    learned      BIGINT NOT NULL
);

CREATE INDEX windows_learned ON windows (learned);
