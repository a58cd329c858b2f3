-- In every table, at_ms is the wall clock time in milliseconds since 1970.

CREATE TABLE sessions (
    id         TEXT PRIMARY KEY,
    started_ms INTEGER NOT NULL,
    root       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    session TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    at_ms   INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE decisions (
    row          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL,
    at_ms        INTEGER NOT NULL,
    agent        TEXT NOT NULL,
    conversation TEXT,
    class        TEXT NOT NULL,
    chosen       TEXT,
    reason       TEXT NOT NULL,
    body         TEXT NOT NULL
) STRICT;

-- Maximum cost of a call, written before it is sent. It counts until the call has its row in calls, and
-- permanently if the process died before that.
CREATE TABLE reservations (
    call      TEXT PRIMARY KEY,
    run       TEXT NOT NULL,
    at_ms     INTEGER NOT NULL,
    cost_nano INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX reservations_by_time ON reservations (at_ms);

-- cost_nano is billionths of a US dollar; NULL where the price is not known, which is not the same as 0.
CREATE TABLE calls (
    call           TEXT PRIMARY KEY,
    run            TEXT NOT NULL,
    decision       TEXT NOT NULL,
    at_ms          INTEGER NOT NULL,
    model          TEXT NOT NULL,
    agent          TEXT NOT NULL,
    turn           TEXT,
    class          TEXT NOT NULL,
    outcome        TEXT NOT NULL,
    attempt        INTEGER NOT NULL,
    first_byte_ms  INTEGER,
    total_ms       INTEGER NOT NULL,
    input          INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    output         INTEGER NOT NULL,
    reasoning      INTEGER NOT NULL,
    is_estimate    INTEGER NOT NULL,
    cost_nano      INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_by_time ON calls (at_ms, run, cost_nano);

CREATE TABLE metrics (
    row   INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    name  TEXT NOT NULL,
    value REAL NOT NULL,
    tags  TEXT NOT NULL
) STRICT;
CREATE INDEX metrics_by_name ON metrics (name, at_ms);

CREATE TRIGGER sessions_stay  BEFORE UPDATE ON sessions  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER events_stay    BEFORE UPDATE ON events    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER decisions_stay BEFORE UPDATE ON decisions BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER calls_stay     BEFORE UPDATE ON calls     BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER metrics_stay   BEFORE UPDATE ON metrics   BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER sessions_keep  BEFORE DELETE ON sessions  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER events_keep    BEFORE DELETE ON events    BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER decisions_keep BEFORE DELETE ON decisions BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER calls_keep     BEFORE DELETE ON calls     BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER metrics_keep   BEFORE DELETE ON metrics   BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER reservations_stay BEFORE UPDATE ON reservations BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER reservations_keep BEFORE DELETE ON reservations BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
