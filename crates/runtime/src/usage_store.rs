//! The router's usage store: costs and decisions, stored in the ledger.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::spending::BUDGET_USED;
use base::AbsPath;
use host::{Clock as _, Dirs, RealClock};
use ledger::{CallRow, DecisionRow, Ledger, LedgerEntry, LedgerWriter, MetricRow, ReservationRow};
use model::policy::route::RouteDecision;
use model::policy::{BudgetNotice, Caller, RequestClass, Spend};
use model::{Cost, FailureClass, TokenCount};
use router::actor::{CallRecord, CallReservation, UsageStore};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::Error;

/// The maximum number of considered routes that are stored with a decision; a provider may have
/// hundreds of models.
const CONSIDERED: usize = 16;

/// The number of calls kept in memory. Tab makes a call for nearly every key, and the calls of one
/// question fit well within.
const REMEMBERED: usize = 64;

/// Writes everything to the ledger, and remembers this run's last calls.
pub struct LedgerUsageStore {
    ledger: Mutex<Ledger>,
    writer: LedgerWriter,
    run: String,
    calls: Mutex<VecDeque<CallRecord>>,
    decision: Mutex<Option<RouteDecision>>,
    /// The receivers of budget notices. Unbounded: each budget has two notices.
    listeners: Mutex<Vec<UnboundedSender<BudgetNotice>>>,
}

/// The ledger, opened for the router and for other writers.
pub struct OpenedLedger {
    /// The router's usage store.
    pub usage_store: Arc<LedgerUsageStore>,
    /// A handle for other writers, such as the session store.
    pub ledger: Ledger,
    /// A sentence about a damaged ledger that was moved aside.
    pub notice: Option<String>,
}

/// Returns the path of the ledger's file.
pub fn ledger_path(dirs: &Dirs) -> AbsPath {
    dirs.state.join("ledger.db")
}

/// Opens the ledger, creating it if it is missing, and starts its writer. Moves a damaged ledger
/// aside and returns a notice about it. Blocks on the disk.
pub fn open(dirs: &Dirs) -> Result<OpenedLedger, Error> {
    dirs.create()?;
    let now_ms = RealClock::default().wall_ms();
    let opened = Ledger::open(&ledger_path(dirs), now_ms)?;
    let notice = opened.quarantined.as_ref().map(ToString::to_string);
    let writer = LedgerWriter::start(opened.ledger.reopen()?)?;
    let ledger = opened.ledger.reopen()?;
    let run = format!("{now_ms}-{}", std::process::id());
    let usage_store = Arc::new(LedgerUsageStore::new(opened.ledger, writer, run));
    Ok(OpenedLedger {
        usage_store,
        ledger,
        notice,
    })
}

impl LedgerUsageStore {
    /// Creates the store. `run` identifies this run of the program among all.
    pub(crate) fn new(ledger: Ledger, writer: LedgerWriter, run: String) -> Self {
        Self {
            ledger: Mutex::new(ledger),
            writer,
            run,
            calls: Mutex::default(),
            decision: Mutex::default(),
            listeners: Mutex::default(),
        }
    }

    /// Returns the latest calls of this run, oldest first. The number of calls is limited.
    pub fn calls(&self) -> Vec<CallRecord> {
        lock(&self.calls).iter().cloned().collect()
    }

    /// Returns the last decision of this run, or `None` before the first decision.
    pub fn last_decision(&self) -> Option<RouteDecision> {
        lock(&self.decision).clone()
    }

    /// Returns the notices of budgets from now on.
    pub fn budget_notices(&self) -> UnboundedReceiver<BudgetNotice> {
        let (sender, receiver) = unbounded_channel();
        lock(&self.listeners).push(sender);
        receiver
    }

    /// Waits until everything is on the disk. Blocks. Fails if something could not be stored.
    pub fn flush(&self) -> Result<(), Error> {
        self.writer.flush().map_err(Error::UsageNotStored)
    }

    /// Records a measurement without waiting for the disk. `tags` is a JSON object as text.
    pub fn record_metric(&self, name: &str, value: f64, tags: String) {
        self.append(LedgerEntry::Metric(MetricRow {
            at_ms: RealClock::default().wall_ms(),
            name: name.to_owned(),
            value,
            tags,
        }));
    }

    fn name(&self, call: u64) -> String {
        format!("{}-{call}", self.run)
    }

    fn append(&self, entry: LedgerEntry) {
        // An error means that the thread has ended; `flush` reports it to the user.
        self.writer.append(entry).ok();
    }
}

impl UsageStore for LedgerUsageStore {
    fn record_reservation(&self, call: &CallReservation) {
        self.append(LedgerEntry::Reservation(ReservationRow {
            call: self.name(call.call),
            run: self.run.clone(),
            at_ms: call.at_ms,
            cost_nano: call.cost.unwrap_or_default().0,
        }));
    }

    fn record_call(&self, call: &CallRecord) {
        let mut calls = lock(&self.calls);
        if calls.len() == REMEMBERED {
            calls.pop_front();
        }
        calls.push_back(call.clone());
        drop(calls);
        self.append(LedgerEntry::Call(CallRow {
            call: self.name(call.call),
            run: self.run.clone(),
            decision: format!("{}-question-{}", self.run, call.question),
            at_ms: call.at_ms,
            model: call.model.to_string(),
            agent: call.caller.agent.0.to_string(),
            turn: Some(call.caller.turn.0.to_string()),
            class: class(call.caller.class).to_owned(),
            outcome: call.failure.map_or("ok", FailureClass::name).to_owned(),
            attempt: call.attempt,
            first_byte_ms: call.first_event_ms,
            total_ms: call.total_ms,
            usage: call.usage,
            is_estimate: call.is_estimate,
            cost_nano: call.cost.map(|cost| cost.0),
        }));
    }

    fn record_decision(&self, at_ms: u64, question: u64, caller: Caller, decision: &RouteDecision) {
        let mut short = decision.clone();
        short.considered.truncate(CONSIDERED);
        let body = serde_json::to_string(&short).unwrap_or_else(|error| {
            base::never!("a decision is plain data: {error}");
            String::new()
        });
        *lock(&self.decision) = Some(short);
        self.append(LedgerEntry::Decision(DecisionRow {
            id: format!("{}-question-{question}", self.run),
            at_ms,
            agent: caller.agent.0.to_string(),
            conversation: None,
            class: class(caller.class).to_owned(),
            chosen: decision.chosen.as_ref().map(|lane| lane.model.to_string()),
            reason: decision.reason_clause(),
            body,
        }));
    }

    fn record_notice(&self, at_ms: u64, caller: Caller, notice: BudgetNotice) {
        lock(&self.listeners).retain(|listener| listener.send(notice).is_ok());
        self.append(LedgerEntry::Metric(MetricRow {
            at_ms,
            name: BUDGET_USED.to_owned(),
            value: f64::from(notice.percent),
            tags: json!({ "scope": notice.scope, "agent": caller.agent.0 }).to_string(),
        }));
    }

    fn spent_by_others(&self, since_ms: u64) -> Result<Spend, router::Error> {
        let spent = lock(&self.ledger).spent_by_others(since_ms, &self.run);
        let spent = spent.map_err(|error| router::Error::UsageStore(error.to_string()))?;
        Ok(Spend {
            cost: Some(Cost(spent.cost_nano)),
            tokens: TokenCount(spent.tokens),
        })
    }
}

fn class(class: RequestClass) -> &'static str {
    match class {
        RequestClass::Tab => "tab",
        RequestClass::Turn => "turn",
        RequestClass::Subagent => "subagent",
        RequestClass::Background => "background",
    }
}

// A panic cannot leave the value half-written: each update replaces it or pushes in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
