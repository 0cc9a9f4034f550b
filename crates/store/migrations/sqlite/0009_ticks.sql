-- No tick is used twice, also when the newest session is deleted: who remembers the highest tick that they saw would
-- miss the next change. A row that belongs to no session keeps the highest one; lists join sessions and do not show it.
CREATE TRIGGER activity_of_deletion AFTER DELETE ON activity
WHEN OLD.tick > coalesce((SELECT max(tick) FROM activity), 0) BEGIN
    INSERT INTO activity (session_no, tick, changed) VALUES (0, OLD.tick, 0)
    ON CONFLICT (session_no) DO UPDATE SET tick = excluded.tick;
END;
