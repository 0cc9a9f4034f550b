-- By what the beginning of a session is recognised when a client sends it again.

CREATE TABLE identities (
    identity   BLOB    PRIMARY KEY,
    session_no INTEGER NOT NULL,
    events     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_session ON identities (session_no);
