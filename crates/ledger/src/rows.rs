//! Rows of the ledger: appending and reading them.

use rusqlite::{Row, Transaction, TransactionBehavior, params};

use model::{TokenCount, Usage};

use crate::{Error, Ledger};

/// One row to append to the ledger. Times are milliseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub enum LedgerEntry {
    /// Start of an agent's session.
    Session(SessionRow),
    /// An event of a session.
    Event(EventRow),
    /// A call that is about to be sent.
    Reservation(ReservationRow),
    /// A call that has ended, successfully or not.
    Call(CallRow),
    /// A routing decision and its reason.
    Decision(DecisionRow),
    /// One measured value of a metric.
    Metric(MetricRow),
    /// A note about a session, outside its events.
    Mark(MarkRow),
    /// A row about quality. Dropped if its kind has a row with the same key.
    Quality(QualityRow),
}

/// A row about quality.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QualityRow {
    /// Time that the row is about, in milliseconds since 1970.
    pub at_ms: u64,
    /// The kind of the row.
    pub kind: String,
    /// Version of the body.
    pub version: u32,
    /// The key, unique within the kind.
    pub key: String,
    /// The body as JSON.
    pub body: String,
}

/// A session of an agent: its start and root folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct SessionRow {
    pub id: String,
    pub started_ms: u64,
    /// The session's root folder.
    pub root: String,
}

/// An event of a session. Events are numbered from 0 within their session; a duplicate number is an
/// error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct EventRow {
    pub session: String,
    pub seq: u64,
    pub at_ms: u64,
    pub kind: String,
    /// The event as JSON.
    pub body: String,
}

/// A session with its latest event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHead {
    /// The session.
    pub session: SessionRow,
    /// Number and time of its latest event; `None` if it has none.
    pub last: Option<(u64, u64)>,
}

/// A note about a session that is no part of its conversation, such as its name. Marks have no
/// numbers within their session, so that any process can append them while the session runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct MarkRow {
    pub session: String,
    pub at_ms: u64,
    pub kind: String,
    /// The mark as JSON.
    pub body: String,
}

/// Upper bound of a call's cost. Counts against the day's budget until the call's own row replaces
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct ReservationRow {
    pub call: String,
    pub run: String,
    pub at_ms: u64,
    /// Billionths of a US dollar.
    pub cost_nano: u64,
}

/// One request on the wire and its outcome; a request that was sent twice has two rows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct CallRow {
    pub call: String,
    /// The run of the program that made the call.
    pub run: String,
    /// Id of the routing decision that led to the call.
    pub decision: String,
    pub at_ms: u64,
    /// Model id in the form `provider/model`.
    pub model: String,
    pub agent: String,
    pub turn: Option<String>,
    pub class: String,
    /// `ok`, or the class of the failure.
    pub outcome: String,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    pub first_byte_ms: Option<u64>,
    pub total_ms: u64,
    pub usage: Usage,
    /// Whether `usage` is our estimate because the provider did not report it.
    pub is_estimate: bool,
    /// Billionths of a US dollar; `None` if the price is unknown.
    pub cost_nano: Option<u64>,
}

/// A routing decision and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct DecisionRow {
    pub id: String,
    pub at_ms: u64,
    pub agent: String,
    pub conversation: Option<String>,
    pub class: String,
    /// Model id in the form `provider/model`; `None` if no model was eligible.
    pub chosen: Option<String>,
    /// The reason as one sentence.
    pub reason: String,
    /// The full decision as JSON.
    pub body: String,
}

/// One measured value of a metric.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct MetricRow {
    pub at_ms: u64,
    pub name: String,
    pub value: f64,
    /// Tags as a JSON object.
    pub tags: String,
}

/// Total spending in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpendTotal {
    /// Billionths of a US dollar, over calls with a known price and calls in flight.
    pub cost_nano: u64,
    /// Tokens read and written by finished calls.
    pub tokens: u64,
    /// Number of finished calls with an unknown price.
    pub calls_without_price: u64,
}

impl Ledger {
    /// Appends rows in one transaction; all or none are on the disk when it returns. Blocks, up to
    /// five seconds if another process holds the file.
    pub fn append(&mut self, entries: &[LedgerEntry]) -> Result<(), Error> {
        let done = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|transaction| {
                for entry in entries {
                    insert(&transaction, entry)?;
                }
                transaction.commit()
            });
        done.map_err(|error| self.convert_error("write to", &error))
    }

    /// Returns the spending since `since_ms` (milliseconds since 1970) of all runs of the program
    /// except `run`, including the upper bounds of calls in flight.
    pub fn spent_by_others(&self, since_ms: u64, run: &str) -> Result<SpendTotal, Error> {
        let spent = self.connection.prepare_cached(SPENT).and_then(|mut query| {
            query.query_row(params![int(since_ms), run], |row| {
                Ok(SpendTotal {
                    cost_nano: number(row, 0)?,
                    calls_without_price: number(row, 1)?,
                    tokens: number(row, 2)?,
                })
            })
        });
        spent.map_err(|error| self.convert_error("read", &error))
    }

    /// Returns the latest routing decisions, at most `limit`, newest first.
    pub fn decisions(&self, limit: u32) -> Result<Vec<DecisionRow>, Error> {
        let sql = "SELECT id, at_ms, agent, conversation, class, chosen, reason, body
                   FROM decisions ORDER BY row DESC LIMIT ?1";
        self.read(sql, params![limit], |row| {
            Ok(DecisionRow {
                id: row.get(0)?,
                at_ms: number(row, 1)?,
                agent: row.get(2)?,
                conversation: row.get(3)?,
                class: row.get(4)?,
                chosen: row.get(5)?,
                reason: row.get(6)?,
                body: row.get(7)?,
            })
        })
    }

    /// Returns the calls whose rows have a time of at least `since_ms` (milliseconds since 1970),
    /// oldest first.
    pub fn calls(&self, since_ms: u64) -> Result<Vec<CallRow>, Error> {
        let sql = "SELECT call, run, decision, at_ms, model, agent, turn, class, outcome, attempt, first_byte_ms,
                          total_ms, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning,
                          is_estimate, cost_nano, accepted_prediction, rejected_prediction
                   FROM calls WHERE at_ms >= ?1 ORDER BY at_ms, call";
        self.read(sql, params![int(since_ms)], call)
    }

    /// Returns the events of a session in order; empty for an unknown one.
    pub fn events(&self, session: &str) -> Result<Vec<EventRow>, Error> {
        let sql =
            "SELECT session, seq, at_ms, kind, body FROM events WHERE session = ?1 ORDER BY seq";
        self.read(sql, params![session], event)
    }

    /// Returns the events of a session with one of these kinds, in order, from the number `from`
    /// on.
    pub fn events_of(
        &self,
        session: &str,
        kinds: &[&str],
        from: u64,
    ) -> Result<Vec<EventRow>, Error> {
        let sql = "SELECT session, seq, at_ms, kind, body FROM events
                   WHERE session = ?1 AND seq >= ?3 AND kind IN (SELECT value FROM json_each(?2))
                   ORDER BY seq";
        // Kinds are our own identifiers and need no escaping.
        let kinds = format!("[\"{}\"]", kinds.join("\",\""));
        self.read(sql, params![session, kinds, int(from)], event)
    }

    /// Returns the last event of a session; `None` if it has none.
    pub fn last_event(&self, session: &str) -> Result<Option<EventRow>, Error> {
        let sql = "SELECT session, seq, at_ms, kind, body FROM events WHERE session = ?1
                   ORDER BY seq DESC LIMIT 1";
        Ok(self.read(sql, params![session], event)?.pop())
    }

    /// Returns all sessions, in no order.
    pub fn session_rows(&self) -> Result<Vec<SessionRow>, Error> {
        let sql = "SELECT id, started_ms, root FROM sessions";
        self.read(sql, params![], |row| {
            Ok(SessionRow {
                id: row.get(0)?,
                started_ms: number(row, 1)?,
                root: row.get(2)?,
            })
        })
    }

    /// Returns the sessions with their latest events, latest start first. Reads one event of each
    /// session.
    pub fn session_heads(&self) -> Result<Vec<SessionHead>, Error> {
        let sql = "SELECT s.id, s.started_ms, s.root, e.seq, e.at_ms FROM sessions AS s
                   LEFT JOIN events AS e ON e.session = s.id
                       AND e.seq = (SELECT max(seq) FROM events WHERE session = s.id)
                   ORDER BY s.started_ms DESC, s.id";
        self.read(sql, params![], |row| {
            let seq = row.get::<_, Option<i64>>(3)?.map(i64::unsigned_abs);
            let at_ms = row.get::<_, Option<i64>>(4)?.map(i64::unsigned_abs);
            Ok(SessionHead {
                session: SessionRow {
                    id: row.get(0)?,
                    started_ms: number(row, 1)?,
                    root: row.get(2)?,
                },
                last: seq.zip(at_ms),
            })
        })
    }

    /// Returns the marks after the row `after`, in the order in which they were appended, each with
    /// the number of its row. Rows count from 1.
    pub fn marks(&self, after: u64) -> Result<Vec<(u64, MarkRow)>, Error> {
        let sql = "SELECT row, session, at_ms, kind, body FROM marks WHERE row > ?1 ORDER BY row";
        self.read(sql, params![int(after)], |row| {
            let mark = MarkRow {
                session: row.get(1)?,
                at_ms: number(row, 2)?,
                kind: row.get(3)?,
                body: row.get(4)?,
            };
            Ok((number(row, 0)?, mark))
        })
    }

    /// Returns the values of one metric since `since_ms` (milliseconds since 1970), oldest first;
    /// empty for an unknown name.
    pub fn metrics(&self, name: &str, since_ms: u64) -> Result<Vec<MetricRow>, Error> {
        let sql = "SELECT at_ms, name, value, tags FROM metrics WHERE name = ?1 AND at_ms >= ?2
                   ORDER BY at_ms, row";
        self.read(sql, params![name, int(since_ms)], |row| {
            Ok(MetricRow {
                at_ms: number(row, 0)?,
                name: row.get(1)?,
                value: row.get(2)?,
                tags: row.get(3)?,
            })
        })
    }

    /// Runs a query and returns its rows, converted by `row`. Fails if a row cannot be read or
    /// converted.
    pub(crate) fn read<T>(
        &self,
        sql: &str,
        arguments: &[&dyn rusqlite::ToSql],
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let rows = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut query| query.query_map(arguments, row)?.collect());
        rows.map_err(|error| self.convert_error("read", &error))
    }
}

/// Sums finished calls by their own rows and calls in flight by their reservations.
const SPENT: &str = "
    SELECT coalesce(sum(cost), 0), coalesce(sum(is_unknown), 0), coalesce(sum(tokens), 0) FROM (
        SELECT cost_nano AS cost, cost_nano IS NULL AS is_unknown,
               input + cache_read + cache_write_5m + cache_write_1h + output AS tokens FROM calls
            WHERE at_ms >= ?1 AND run <> ?2
        UNION ALL
        SELECT cost_nano, 0, 0 FROM reservations AS reserved
            WHERE at_ms >= ?1 AND run <> ?2
            AND NOT EXISTS (SELECT 1 FROM calls WHERE calls.call = reserved.call)
    )";

/// Inserts an entry into its table. Fails if the table rejects it, such as for a duplicate key.
fn insert(transaction: &Transaction<'_>, entry: &LedgerEntry) -> rusqlite::Result<()> {
    let insert = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        transaction.prepare_cached(sql)?.execute(values).map(drop)
    };
    match entry {
        LedgerEntry::Session(it) => insert(
            "INSERT INTO sessions (id, started_ms, root) VALUES (?1, ?2, ?3)",
            params![it.id, int(it.started_ms), it.root],
        ),
        LedgerEntry::Event(it) => insert(
            "INSERT INTO events (session, seq, at_ms, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![it.session, int(it.seq), int(it.at_ms), it.kind, it.body],
        ),
        LedgerEntry::Reservation(it) => insert(
            "INSERT INTO reservations (call, run, at_ms, cost_nano) VALUES (?1, ?2, ?3, ?4)",
            params![it.call, it.run, int(it.at_ms), int(it.cost_nano)],
        ),
        LedgerEntry::Call(it) => insert_call(transaction, it),
        LedgerEntry::Decision(it) => insert(
            "INSERT INTO decisions (id, at_ms, agent, conversation, class, chosen, reason, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                it.id,
                int(it.at_ms),
                it.agent,
                it.conversation,
                it.class,
                it.chosen,
                it.reason,
                it.body
            ],
        ),
        LedgerEntry::Metric(it) => insert(
            "INSERT INTO metrics (at_ms, name, value, tags) VALUES (?1, ?2, ?3, ?4)",
            params![int(it.at_ms), it.name, it.value, it.tags],
        ),
        LedgerEntry::Mark(it) => insert(
            "INSERT INTO marks (session, at_ms, kind, body) VALUES (?1, ?2, ?3, ?4)",
            params![it.session, int(it.at_ms), it.kind, it.body],
        ),
        LedgerEntry::Quality(it) => insert(
            "INSERT INTO quality (at_ms, kind, version, key, body) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (kind, key) DO NOTHING",
            params![int(it.at_ms), it.kind, it.version, it.key, it.body],
        ),
    }
}

/// Inserts a call into its table. Fails if the table rejects it.
fn insert_call(transaction: &Transaction<'_>, call: &CallRow) -> rusqlite::Result<()> {
    let sql = "INSERT INTO calls (call, run, decision, at_ms, model, agent, turn, class, outcome, attempt,
                   first_byte_ms, total_ms, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning,
                   is_estimate, cost_nano, accepted_prediction, rejected_prediction)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
                   ?21, ?22)";
    transaction.prepare_cached(sql)?.execute(params![
        call.call,
        call.run,
        call.decision,
        int(call.at_ms),
        call.model,
        call.agent,
        call.turn,
        call.class,
        call.outcome,
        call.attempt,
        call.first_byte_ms.map(int),
        int(call.total_ms),
        int(call.usage.input.0),
        int(call.usage.cache_read.0),
        int(call.usage.cache_write_5m.0),
        int(call.usage.cache_write_1h.0),
        int(call.usage.output.0),
        int(call.usage.reasoning.0),
        call.is_estimate,
        call.cost_nano.map(int),
        int(call.usage.accepted_prediction.0),
        int(call.usage.rejected_prediction.0),
    ])?;
    Ok(())
}

/// Reads an event from the columns of a query, in the order of the fields.
fn event(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    Ok(EventRow {
        session: row.get(0)?,
        seq: number(row, 1)?,
        at_ms: number(row, 2)?,
        kind: row.get(3)?,
        body: row.get(4)?,
    })
}

/// Reads a call from the columns of a query, in the order of the insertion.
fn call(row: &Row<'_>) -> rusqlite::Result<CallRow> {
    let tokens = |at| number(row, at).map(TokenCount);
    let maybe = |at| {
        row.get::<_, Option<i64>>(at)
            .map(|value| value.map(i64::unsigned_abs))
    };
    Ok(CallRow {
        call: row.get(0)?,
        run: row.get(1)?,
        decision: row.get(2)?,
        at_ms: number(row, 3)?,
        model: row.get(4)?,
        agent: row.get(5)?,
        turn: row.get(6)?,
        class: row.get(7)?,
        outcome: row.get(8)?,
        attempt: row.get(9)?,
        first_byte_ms: maybe(10)?,
        total_ms: number(row, 11)?,
        usage: Usage {
            input: tokens(12)?,
            cache_read: tokens(13)?,
            cache_write_5m: tokens(14)?,
            cache_write_1h: tokens(15)?,
            output: tokens(16)?,
            reasoning: tokens(17)?,
            accepted_prediction: tokens(20)?,
            rejected_prediction: tokens(21)?,
        },
        is_estimate: row.get(18)?,
        cost_nano: maybe(19)?,
    })
}

/// Converts to SQLite's signed integer. Larger values do not occur and would saturate.
pub(crate) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads column `at` as a number, without its sign; the ledger stores none that is negative.
pub(crate) fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(i64::unsigned_abs)
}

#[cfg(test)]
mod tests;
