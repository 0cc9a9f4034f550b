-- Order is seq, never time. Times are milliseconds since 1970, for people and for leases.

CREATE TABLE sessions (
    no            INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    dialect       TEXT    NOT NULL,
    profile       TEXT    NOT NULL,
    counter       TEXT    NOT NULL,
    policy        TEXT    NOT NULL,
    meta          TEXT    NOT NULL,
    created       INTEGER NOT NULL,
    active        BLOB,
    state         TEXT    NOT NULL DEFAULT '',
    state_version INTEGER NOT NULL DEFAULT 0,
    -- Events before this one are in the full-text index.
    indexed       INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Clustered: the events of a session lie side by side. The head of a session is its last event,
-- and stands nowhere else: the key refuses a seq that is taken, the append a gap. `bytes` comes
-- last: a head is read without touching them.
CREATE TABLE events (
    session_no INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    turn       INTEGER NOT NULL,
    tokens     INTEGER NOT NULL,
    hash       BLOB    NOT NULL,
    usage      TEXT,
    bytes      BLOB    NOT NULL,
    PRIMARY KEY (session_no, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE append_keys (
    session_no  INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    first       INTEGER NOT NULL,
    count       INTEGER NOT NULL,
    PRIMARY KEY (session_no, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE folds (
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
    UNIQUE (session_no, id),
    UNIQUE (session_no, span_start, span_end, hash_before, hash_end, policy, recap)
) STRICT;

CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    session_no  INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    span_start  INTEGER NOT NULL,
    span_end    INTEGER NOT NULL,
    hash_end    BLOB    NOT NULL,
    body        TEXT    NOT NULL,
    run_at      INTEGER NOT NULL,
    state       TEXT    NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'leased', 'done', 'dead')),
    attempt     INTEGER NOT NULL DEFAULT 0,
    failures    INTEGER NOT NULL DEFAULT 0,
    worker      TEXT,
    lease_until INTEGER,
    outcome     TEXT,
    fold        BLOB,
    UNIQUE (session_no, key)
) STRICT;

-- One live job a session; and done jobs cost a claim nothing.
CREATE UNIQUE INDEX jobs_one_live ON jobs (session_no) WHERE state IN ('ready', 'leased');
CREATE INDEX jobs_live ON jobs (id) WHERE state IN ('ready', 'leased');

CREATE TABLE calls (
    session_no INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    head       INTEGER NOT NULL,
    fold       BLOB,
    hash       BLOB    NOT NULL,
    made       INTEGER NOT NULL,
    usage      TEXT,
    body       TEXT    NOT NULL,
    PRIMARY KEY (session_no, number)
) STRICT, WITHOUT ROWID;

-- The rowid is session_no << 32 | seq. Texts come in as words, cut and folded by midfold.
CREATE VIRTUAL TABLE words USING fts5(
    text, content = '', detail = 'none', columnsize = 0, tokenize = 'ascii'
);
