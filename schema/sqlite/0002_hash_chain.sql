-- Each fact's hash covers the hash of the fact before it, so that a fact that another program changed or removed is noticed.
ALTER TABLE fact ADD COLUMN hash BLOB;

-- Where facts were pruned. Only the store itself writes here, so a missing fact without a gap was removed by somebody else.
CREATE TABLE gap (
    cursor INTEGER PRIMARY KEY,  -- of the fact behind the gap
    kept BLOB NOT NULL,          -- hash of the fact before the gap; zeroes if there is none
    pruned BLOB NOT NULL         -- hash of the last fact in the gap, which the one behind it covers
) STRICT;

-- Facts up to this cursor are older than the chain, and have no hash.
CREATE TABLE chain (starts_after INTEGER PRIMARY KEY) STRICT;
INSERT INTO chain SELECT coalesce(max(cursor), 0) FROM fact;
