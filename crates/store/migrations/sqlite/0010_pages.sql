-- SQLite writes a whole page for each row that changes. So all that changes with each request lies in one small row:
-- the state of a session moves from the row that has its long texts to its row of activity, and the indexes are over
-- eras of 64 ticks.

DROP TRIGGER activity_of_state;
DROP TRIGGER activity_of_session;
DROP TRIGGER activity_of_event;
DROP TRIGGER activity_of_fold;
DROP TRIGGER activity_of_call;
DROP TRIGGER activity_of_usage;
DROP TRIGGER activity_of_deletion;
DROP INDEX activity_tick;
DROP INDEX activity_owner;

ALTER TABLE activity ADD COLUMN active BLOB;
ALTER TABLE activity ADD COLUMN state_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE activity ADD COLUMN state TEXT NOT NULL DEFAULT '';
UPDATE activity SET active = s.active, state = s.state, state_version = s.state_version
FROM sessions s WHERE s.no = session_no;
ALTER TABLE sessions DROP COLUMN active;
ALTER TABLE sessions DROP COLUMN state;
ALTER TABLE sessions DROP COLUMN state_version;

ALTER TABLE activity ADD COLUMN era INTEGER NOT NULL DEFAULT 0;
UPDATE activity SET era = tick >> 6;
CREATE INDEX activity_era ON activity (era);
CREATE INDEX activity_owner ON activity (owner, era) WHERE owner IS NOT NULL;

-- The highest tick is in the newest era.
CREATE VIEW last_tick AS
SELECT coalesce(max(tick), 0) AS tick FROM activity WHERE era = (SELECT max(era) FROM activity);

-- A statement of its own: an update writes the indexes of all columns that it names, also where they stay the same.
CREATE TRIGGER activity_of_tick AFTER UPDATE OF tick ON activity WHEN NEW.era <> NEW.tick >> 6 BEGIN
    UPDATE activity SET era = NEW.tick >> 6 WHERE session_no = NEW.session_no;
END;

CREATE TRIGGER activity_of_session AFTER INSERT ON sessions BEGIN
    INSERT INTO activity (session_no, owner, tick, era, changed)
    SELECT NEW.no, NEW.owner, tick + 1, (tick + 1) >> 6, NEW.created FROM last_tick;
END;

CREATE TRIGGER activity_of_state AFTER UPDATE OF active, state ON activity BEGIN
    UPDATE activity SET tick = (SELECT tick + 1 FROM last_tick) WHERE session_no = NEW.session_no;
END;

CREATE TRIGGER activity_of_event AFTER INSERT ON events BEGIN
    UPDATE activity SET tick = (SELECT tick + 1 FROM last_tick),
        changed = max(changed, coalesce(NEW.made, 0)), tokens = tokens + NEW.tokens
    WHERE session_no = NEW.session_no;
END;

CREATE TRIGGER activity_of_fold AFTER INSERT ON folds BEGIN
    UPDATE activity SET tick = (SELECT tick + 1 FROM last_tick),
        changed = max(changed, NEW.made), folds = folds + 1
    WHERE session_no = NEW.session_no;
END;

CREATE TRIGGER activity_of_call AFTER INSERT ON calls BEGIN
    UPDATE activity SET tick = (SELECT tick + 1 FROM last_tick),
        changed = max(changed, NEW.made), calls = calls + 1
    WHERE session_no = NEW.session_no;
END;

CREATE TRIGGER activity_of_usage AFTER UPDATE OF usage ON calls BEGIN
    UPDATE activity SET tick = (SELECT tick + 1 FROM last_tick) WHERE session_no = NEW.session_no;
END;

-- As before: no tick is used twice, also when the newest session is deleted.
CREATE TRIGGER activity_of_deletion AFTER DELETE ON activity
WHEN OLD.tick > (SELECT tick FROM last_tick) BEGIN
    INSERT INTO activity (session_no, tick, era, changed) VALUES (0, OLD.tick, OLD.tick >> 6, 0)
    ON CONFLICT (session_no) DO UPDATE SET tick = excluded.tick, era = excluded.era;
END;

-- The record of a fold, compressed. `base` is the number of the fold that it was compressed with; NULL for none. Older
-- rows have the record as text in `body`, which is empty where this is set.
ALTER TABLE folds ADD COLUMN base INTEGER;
ALTER TABLE folds ADD COLUMN packed BLOB;
