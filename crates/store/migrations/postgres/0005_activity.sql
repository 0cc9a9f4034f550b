-- What sessions do, one small row each: a list by the last change reads neither policies nor events. The
-- triggers keep it, so that it is right whoever writes.

-- Whose a session is; midfold writes it with the row.
ALTER TABLE sessions ADD COLUMN owner TEXT;
UPDATE sessions SET owner = meta::json ->> 'owner' WHERE meta LIKE '%"owner"%';

-- Counts changes of the whole store: larger is later, but for writes that overlap.
CREATE SEQUENCE ticks;

CREATE TABLE activity (
    session_no BIGINT PRIMARY KEY,
    owner      TEXT,
    tick       BIGINT NOT NULL,
    changed    BIGINT NOT NULL,
    tokens     BIGINT NOT NULL DEFAULT 0,
    folds      BIGINT NOT NULL DEFAULT 0,
    calls      BIGINT NOT NULL DEFAULT 0
);

INSERT INTO activity
SELECT no, owner, nextval('ticks'), changed, tokens, folds, calls FROM (
    SELECT s.no, s.owner,
        greatest(
            s.created,
            (SELECT made FROM events WHERE session_no = s.no ORDER BY seq DESC LIMIT 1),
            (SELECT max(made) FROM folds WHERE session_no = s.no),
            (SELECT max(made) FROM calls WHERE session_no = s.no)
        ) AS changed,
        (SELECT coalesce(sum(tokens), 0) FROM events WHERE session_no = s.no) AS tokens,
        (SELECT count(*) FROM folds WHERE session_no = s.no) AS folds,
        (SELECT count(*) FROM calls WHERE session_no = s.no) AS calls
    FROM sessions s ORDER BY changed, s.no
) AS before;

CREATE UNIQUE INDEX activity_tick ON activity (tick);
CREATE INDEX activity_owner ON activity (owner, tick) WHERE owner IS NOT NULL;

CREATE FUNCTION note_session() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO activity (session_no, owner, tick, changed)
    VALUES (NEW.no, NEW.owner, nextval('ticks'), NEW.created);
    RETURN NULL;
END $$;
CREATE TRIGGER activity_of_session AFTER INSERT ON sessions
    FOR EACH ROW EXECUTE FUNCTION note_session();

CREATE FUNCTION note_state() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE activity SET tick = nextval('ticks') WHERE session_no = NEW.no;
    RETURN NULL;
END $$;
CREATE TRIGGER activity_of_state AFTER UPDATE OF active, state ON sessions
    FOR EACH ROW EXECUTE FUNCTION note_state();

CREATE FUNCTION note_events() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE activity a SET tick = nextval('ticks'), changed = greatest(a.changed, n.made),
        tokens = a.tokens + n.tokens
    FROM (SELECT session_no, max(made) AS made, sum(tokens) AS tokens FROM fresh GROUP BY session_no) n
    WHERE a.session_no = n.session_no;
    RETURN NULL;
END $$;
CREATE TRIGGER activity_of_event AFTER INSERT ON events REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION note_events();

CREATE FUNCTION note_fold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE activity SET tick = nextval('ticks'), changed = greatest(changed, NEW.made), folds = folds + 1
    WHERE session_no = NEW.session_no;
    RETURN NULL;
END $$;
CREATE TRIGGER activity_of_fold AFTER INSERT ON folds FOR EACH ROW EXECUTE FUNCTION note_fold();

CREATE FUNCTION note_call() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE activity SET tick = nextval('ticks'), changed = greatest(changed, NEW.made), calls = calls + 1
    WHERE session_no = NEW.session_no;
    RETURN NULL;
END $$;
CREATE TRIGGER activity_of_call AFTER INSERT ON calls FOR EACH ROW EXECUTE FUNCTION note_call();

CREATE FUNCTION note_usage() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    UPDATE activity SET tick = nextval('ticks') WHERE session_no = NEW.session_no;
    RETURN NULL;
END $$;
CREATE TRIGGER activity_of_usage AFTER UPDATE OF usage ON calls FOR EACH ROW EXECUTE FUNCTION note_usage();
