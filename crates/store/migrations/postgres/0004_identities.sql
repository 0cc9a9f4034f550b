-- By what the beginning of a session is recognised when a client sends it again.

CREATE TABLE identities (
    identity   BYTEA  PRIMARY KEY,
    session_no BIGINT NOT NULL,
    events     BIGINT NOT NULL
);

CREATE INDEX identities_session ON identities (session_no);
