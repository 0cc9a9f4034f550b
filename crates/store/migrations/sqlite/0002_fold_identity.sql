-- A fold is its id, and nothing else: folds of one span with other entries or pins are other folds.

CREATE TABLE folds_by_id (
    session_no  INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    id          BLOB    NOT NULL,
    span_start  INTEGER NOT NULL,
    span_end    INTEGER NOT NULL,
    hash_before BLOB    NOT NULL,
    hash_end    BLOB    NOT NULL,
    policy      BLOB    NOT NULL,
    recap       BLOB    NOT NULL,
    kept        TEXT    NOT NULL,
    made        INTEGER NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (session_no, number),
    UNIQUE (session_no, id)
) STRICT;

INSERT INTO folds_by_id SELECT session_no, number, id, span_start, span_end, hash_before, hash_end,
    policy, recap, kept, made, body FROM folds;
DROP TABLE folds;
ALTER TABLE folds_by_id RENAME TO folds;
