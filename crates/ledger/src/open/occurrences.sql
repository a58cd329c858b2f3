-- Planned runs of automations. A row is the claim of one scheduler to one occurrence; the unique key lets one win.
CREATE TABLE occurrences (
    row        INTEGER PRIMARY KEY,
    automation TEXT NOT NULL,
    trigger    TEXT NOT NULL,
    planned_ms INTEGER NOT NULL,
    at_ms      INTEGER NOT NULL,
    body       TEXT NOT NULL,
    UNIQUE (automation, trigger, planned_ms)
) STRICT;
CREATE INDEX occurrences_by_time ON occurrences (at_ms);

-- The steps of an occurrence. Phase 1 is the decision to start it or not, phase 2 its end; each is written once, so that
-- of several schedulers one starts it.
CREATE TABLE occurrence_steps (
    occurrence INTEGER NOT NULL REFERENCES occurrences (row),
    phase      INTEGER NOT NULL,
    at_ms      INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (occurrence, phase)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER occurrences_stay BEFORE UPDATE ON occurrences BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER occurrences_keep BEFORE DELETE ON occurrences BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER occurrence_steps_stay BEFORE UPDATE ON occurrence_steps BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER occurrence_steps_keep BEFORE DELETE ON occurrence_steps BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
