-- A session can be deleted. Its number is never given to another one, so that who remembers it meets
-- nobody else's events.

CREATE TABLE sessions_numbered (
    no            INTEGER PRIMARY KEY AUTOINCREMENT,
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

INSERT INTO sessions_numbered SELECT no, id, dialect, profile, counter, policy, meta, created,
    active, state, state_version, indexed FROM sessions;
DROP TABLE sessions;
ALTER TABLE sessions_numbered RENAME TO sessions;

-- When an event came in; nobody knows of those that are there already.
ALTER TABLE events ADD COLUMN made INTEGER;

-- A row where something was deleted and the file still has to be rewritten.
CREATE TABLE scrub (due INTEGER NOT NULL) STRICT;
