-- As in SQLite: what changes with each request lies in one small row.

DROP TRIGGER activity_of_state ON sessions;
DROP FUNCTION note_state();
DROP INDEX activity_tick;
DROP INDEX activity_owner;

ALTER TABLE activity ADD COLUMN active BYTEA;
ALTER TABLE activity ADD COLUMN state_version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE activity ADD COLUMN state TEXT NOT NULL DEFAULT '';
UPDATE activity SET active = s.active, state = s.state, state_version = s.state_version
FROM sessions s WHERE s.no = session_no;
ALTER TABLE sessions DROP COLUMN active;
ALTER TABLE sessions DROP COLUMN state;
ALTER TABLE sessions DROP COLUMN state_version;

ALTER TABLE activity ADD COLUMN era BIGINT NOT NULL GENERATED ALWAYS AS (tick >> 6) STORED;
CREATE INDEX activity_era ON activity (era);
CREATE INDEX activity_owner ON activity (owner, era) WHERE owner IS NOT NULL;

CREATE FUNCTION note_state() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.tick = nextval('ticks');
    RETURN NEW;
END $$;
CREATE TRIGGER activity_of_state BEFORE UPDATE OF active, state ON activity
    FOR EACH ROW EXECUTE FUNCTION note_state();

-- The record of a fold, compressed. `base` is the number of the fold that it was compressed with; NULL for none. Older
-- rows have the record as text in `body`, which is empty where this is set.
ALTER TABLE folds ADD COLUMN base BIGINT;
ALTER TABLE folds ADD COLUMN packed BYTEA;
