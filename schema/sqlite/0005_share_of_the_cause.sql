-- The session in whose share of the log a fact counts, if it is not the session that the fact is about: the root of the
-- family that caused it.
ALTER TABLE fact ADD COLUMN share TEXT;

-- Schedules with more facts than the cap, each with the newest of its facts that was pruned for it. Its creation stays, so
-- the oldest fact does not say what is missing.
CREATE TABLE lost_schedule (
    schedule TEXT PRIMARY KEY NOT NULL,
    through INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
