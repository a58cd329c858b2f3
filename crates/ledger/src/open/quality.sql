-- Rows about the quality of agents and suggestions. A key is unique within its kind: a history that is read
-- again gives the same rows, which are dropped.
CREATE TABLE quality (
    row     INTEGER PRIMARY KEY,
    at_ms   INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    version INTEGER NOT NULL,
    key     TEXT NOT NULL,
    body    TEXT NOT NULL,
    UNIQUE (kind, key)
) STRICT;
CREATE INDEX quality_by_time ON quality (at_ms);

CREATE TRIGGER quality_stay BEFORE UPDATE ON quality BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER quality_keep BEFORE DELETE ON quality BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
