-- What sessions do, one small row each: a list by the last change reads neither policies nor events. The
-- triggers keep it, so that it is right whoever writes.

-- Whose a session is; midfold writes it with the row.
ALTER TABLE sessions ADD COLUMN owner TEXT;
UPDATE sessions SET owner = CASE WHEN json_valid(meta) THEN json_extract(meta, '$.owner') END;

CREATE TABLE activity (
    session_no INTEGER PRIMARY KEY,
    owner      TEXT,
    -- Counts changes of the whole store: larger is later.
    tick       INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    tokens     INTEGER NOT NULL DEFAULT 0,
    folds      INTEGER NOT NULL DEFAULT 0,
    calls      INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO activity
SELECT no, owner, row_number() OVER (ORDER BY changed, no), changed, tokens, folds, calls FROM (
    SELECT s.no, s.owner,
        max(
            s.created,
            coalesce((SELECT made FROM events WHERE session_no = s.no ORDER BY seq DESC LIMIT 1), 0),
            coalesce((SELECT max(made) FROM folds WHERE session_no = s.no), 0),
            coalesce((SELECT max(made) FROM calls WHERE session_no = s.no), 0)
        ) AS changed,
        (SELECT coalesce(sum(tokens), 0) FROM events WHERE session_no = s.no) AS tokens,
        (SELECT count(*) FROM folds WHERE session_no = s.no) AS folds,
        (SELECT count(*) FROM calls WHERE session_no = s.no) AS calls
    FROM sessions s
);

CREATE UNIQUE INDEX activity_tick ON activity (tick);
CREATE INDEX activity_owner ON activity (owner, tick) WHERE owner IS NOT NULL;

CREATE TRIGGER activity_of_session AFTER INSERT ON sessions BEGIN
    INSERT INTO activity (session_no, owner, tick, changed)
    VALUES (NEW.no, NEW.owner, (SELECT coalesce(max(tick), 0) + 1 FROM activity), NEW.created);
END;

CREATE TRIGGER activity_of_state AFTER UPDATE OF active, state ON sessions BEGIN
    UPDATE activity SET tick = (SELECT max(tick) + 1 FROM activity) WHERE session_no = NEW.no;
END;

CREATE TRIGGER activity_of_event AFTER INSERT ON events BEGIN
    UPDATE activity SET tick = (SELECT max(tick) + 1 FROM activity),
        changed = max(changed, coalesce(NEW.made, 0)), tokens = tokens + NEW.tokens
    WHERE session_no = NEW.session_no;
END;

CREATE TRIGGER activity_of_fold AFTER INSERT ON folds BEGIN
    UPDATE activity SET tick = (SELECT max(tick) + 1 FROM activity),
        changed = max(changed, NEW.made), folds = folds + 1
    WHERE session_no = NEW.session_no;
END;

CREATE TRIGGER activity_of_call AFTER INSERT ON calls BEGIN
    UPDATE activity SET tick = (SELECT max(tick) + 1 FROM activity),
        changed = max(changed, NEW.made), calls = calls + 1
    WHERE session_no = NEW.session_no;
END;

CREATE TRIGGER activity_of_usage AFTER UPDATE OF usage ON calls BEGIN
    UPDATE activity SET tick = (SELECT max(tick) + 1 FROM activity)
    WHERE session_no = NEW.session_no;
END;
