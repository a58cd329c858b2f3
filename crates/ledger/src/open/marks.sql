-- Notes of the user and the program about a session that are no part of its conversation: its name, whether it is
-- archived or read, its deletion. Any process may append them, whether the session runs or not.
CREATE TABLE marks (
    row     INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    at_ms   INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    body    TEXT NOT NULL
) STRICT;

CREATE TRIGGER marks_stay BEFORE UPDATE ON marks BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER marks_keep BEFORE DELETE ON marks BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
