-- Sessions that were over their share of the log, each with the newest of its facts that was pruned for it: older facts of
-- the session may be there, and not all of them are.
CREATE TABLE lost (
    session TEXT PRIMARY KEY NOT NULL,
    through INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
