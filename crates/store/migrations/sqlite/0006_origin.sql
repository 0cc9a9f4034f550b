-- What the reader of a transcript knew of an event's origin that its bytes do not tell. Of older events nothing
-- is known but the bytes.

ALTER TABLE events ADD COLUMN origin TEXT;
