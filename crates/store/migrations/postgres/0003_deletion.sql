-- When an event came in: how long a session has been idle. Nobody knows of those that are there already.

ALTER TABLE events ADD COLUMN made BIGINT;
