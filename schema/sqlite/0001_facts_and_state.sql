-- The log: one row a fact, by cursor. No second index: what is asked of the log beyond its order is answered by an index in
-- memory, because every index here is one more page to flush for each fact.
CREATE TABLE fact (
    cursor INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,       -- seconds since 1970
    nanos INTEGER NOT NULL,    -- and nanoseconds past the second
    kind TEXT NOT NULL,
    schedule TEXT,
    session TEXT,
    run TEXT,
    payload BLOB NOT NULL,
    digest INTEGER NOT NULL    -- of all the rest: a flipped bit must not be read as a fact
) STRICT;

-- What is now: one row a thing.
CREATE TABLE state (
    key TEXT PRIMARY KEY NOT NULL,
    revision INTEGER NOT NULL,
    at INTEGER NOT NULL,       -- seconds since 1970, of the newest fact that it was written with
    payload BLOB,              -- none: a tombstone
    digest INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Tombstones by age, for those that prune them; rows that live have no entry and so no cost.
CREATE INDEX tombstone ON state (at) WHERE payload IS NULL;

-- What of the history was let go, by the cap that asked for it.
CREATE TABLE pruned (
    cause TEXT PRIMARY KEY NOT NULL,
    records INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
