-- A fold is its id, and nothing else: folds of one span with other entries or pins are other folds.
-- The server named the constraint itself, so it is found by what it is on.

DO $$
DECLARE old text;
BEGIN
    SELECT conname INTO old FROM pg_constraint
    WHERE conrelid = 'folds'::regclass AND contype = 'u' AND cardinality(conkey) = 7;
    EXECUTE format('ALTER TABLE folds DROP CONSTRAINT %I', old);
END $$;
