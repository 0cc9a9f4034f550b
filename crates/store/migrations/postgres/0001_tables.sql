-- Order is seq, never time. Times are milliseconds since 1970, for people and for leases.

CREATE TABLE sessions (
    no            BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id            TEXT COLLATE "C" NOT NULL UNIQUE,
    dialect       TEXT    NOT NULL,
    profile       TEXT    NOT NULL,
    counter       TEXT    NOT NULL,
    policy        TEXT    NOT NULL,
    meta          TEXT    NOT NULL,
    created       BIGINT  NOT NULL,
    active        BYTEA,
    state         TEXT    NOT NULL DEFAULT '',
    state_version BIGINT  NOT NULL DEFAULT 0,
    -- Events before this one are in the full-text index.
    indexed       BIGINT  NOT NULL DEFAULT 0
);

-- The head of a session is its last event,
-- and stands nowhere else: the key decides between two appends. A gap is refused by the append.
CREATE TABLE events (
    session_no BIGINT  NOT NULL,
    seq        BIGINT  NOT NULL,
    turn       BIGINT  NOT NULL,
    tokens     BIGINT  NOT NULL,
    hash       BYTEA   NOT NULL,
    usage      TEXT,
    bytes      BYTEA   NOT NULL,
    PRIMARY KEY (session_no, seq)
);


CREATE TABLE append_keys (
    session_no  BIGINT  NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BYTEA   NOT NULL,
    first       BIGINT  NOT NULL,
    count       BIGINT  NOT NULL,
    PRIMARY KEY (session_no, key)
);

CREATE TABLE folds (
    session_no  BIGINT  NOT NULL,
    number      BIGINT  NOT NULL,
    id          BYTEA   NOT NULL,
    span_start  BIGINT  NOT NULL,
    span_end    BIGINT  NOT NULL,
    hash_before BYTEA   NOT NULL,
    hash_end    BYTEA   NOT NULL,
    policy      BYTEA   NOT NULL,
    recap       BYTEA   NOT NULL,
    kept        TEXT    NOT NULL,
    made        BIGINT  NOT NULL,
    body        TEXT    NOT NULL,
    PRIMARY KEY (session_no, number),
    UNIQUE (session_no, id),
    UNIQUE (session_no, span_start, span_end, hash_before, hash_end, policy, recap)
);

CREATE TABLE jobs (
    id          BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session_no  BIGINT  NOT NULL,
    key         TEXT    NOT NULL,
    span_start  BIGINT  NOT NULL,
    span_end    BIGINT  NOT NULL,
    hash_end    BYTEA   NOT NULL,
    body        TEXT    NOT NULL,
    run_at      BIGINT  NOT NULL,
    state       TEXT    NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'leased', 'done', 'dead')),
    attempt     BIGINT  NOT NULL DEFAULT 0,
    failures    BIGINT  NOT NULL DEFAULT 0,
    worker      TEXT,
    lease_until BIGINT ,
    outcome     TEXT,
    fold        BYTEA,
    UNIQUE (session_no, key)
);

-- One live job a session; and done jobs cost a claim nothing.
CREATE UNIQUE INDEX jobs_one_live ON jobs (session_no) WHERE state IN ('ready', 'leased');
CREATE INDEX jobs_live ON jobs (id) WHERE state IN ('ready', 'leased');

CREATE TABLE calls (
    session_no BIGINT  NOT NULL,
    number     BIGINT  NOT NULL,
    head       BIGINT  NOT NULL,
    fold       BYTEA,
    hash       BYTEA   NOT NULL,
    made       BIGINT  NOT NULL,
    usage      TEXT,
    body       TEXT    NOT NULL,
    PRIMARY KEY (session_no, number)
);

-- Words come in cut and folded by midfold: no parser and no dictionary of the server is asked.
-- A tsvector holds at most 1 MB, so a long event has several parts.
CREATE TABLE words (
    session_no BIGINT   NOT NULL,
    seq        BIGINT   NOT NULL,
    part       BIGINT   NOT NULL,
    words      TSVECTOR NOT NULL,
    PRIMARY KEY (session_no, seq, part)
);
CREATE INDEX words_of ON words USING gin (words);

-- Only rows that changed size would leave their page: state is saved often.
ALTER TABLE sessions SET (fillfactor = 70);
ALTER TABLE jobs SET (fillfactor = 70);
