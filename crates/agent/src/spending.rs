//! The cost of models: by day, by model, by agent, by purpose, and notices of budgets.
//!
//! Knows: rows of the ledger, the list of sessions. Must not know: prices, settings.
//! Invariant: the lines of days, of models and of purposes each add up to the total: all of them sum
//! the same calls. Lines of agents sum recorded answers, which lack Tab, titles and summaries.
//! Days begin at midnight UTC, as those of the daily budget do.
//! Start at `Spending::read`.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use ledger::{CallRow, MetricRow};
use serde::{Deserialize, Serialize};

use crate::context::date;
use crate::error::Error;
use crate::store::{SessionStore, SessionSummary};

/// Name of the measurement of a budget: used percent, with the scope.
pub const BUDGET_USED: &str = "budget_used_percent";

const DAY_MS: u64 = 86_400_000;

/// The cost of models in a period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// Everything.
    pub total: SpendLine,
    /// Everything of today.
    pub today: SpendLine,
    /// By day, latest first; days without calls are missing.
    pub days: Vec<SpendLine>,
    /// By model, dearest first.
    pub models: Vec<SpendLine>,
    /// By agent with its subagents, dearest first.
    pub agents: Vec<SpendLine>,
    /// By purpose, dearest first.
    pub purposes: Vec<SpendLine>,
    /// Budgets that were nearly or fully used, latest first.
    pub notices: Vec<SpendNotice>,
}

/// A sum of costs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendLine {
    /// A date, a model, the title of a session or a purpose; empty for the total.
    pub name: String,
    /// Billionths of a US dollar, without calls of unknown price.
    pub cost_nano: u64,
    /// Whether the price of a call is unknown.
    pub has_unknown_cost: bool,
    /// Tokens of all requests and answers; zero for an agent, whose sessions list only costs.
    pub tokens: u64,
    /// Tokens of predicted outputs that answers contained, and that they lacked. Both are billed as
    /// output.
    pub predicted: (u64, u64),
}

/// A budget that was nearly or fully used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendNotice {
    /// Time of the notice, in milliseconds since 1970.
    pub at_ms: u64,
    /// The budget: `turn`, `agent` or `day`.
    pub scope: String,
    /// The used share in percent: 80 or 100.
    pub percent: u64,
}

#[derive(Deserialize)]
struct NoticeTags {
    scope: String,
}

impl Spending {
    /// Reads the cost of models of the last `days` days, today included. `now_ms` is in milliseconds
    /// since 1970. Blocks on the disk.
    pub fn read(store: &SessionStore, now_ms: u64, days: u64) -> Result<Self, Error> {
        let today = now_ms / DAY_MS;
        let first_day = today.saturating_sub(days.saturating_sub(1));
        let sessions = store.sessions(usize::MAX)?;
        let calls = store.calls(first_day * DAY_MS)?;
        let notices = store.metrics(BUDGET_USED, first_day * DAY_MS)?;
        Ok(Self::of(&calls, &sessions, &notices, first_day..=today))
    }

    /// Sums up the calls, the sessions and the measurements named `BUDGET_USED` from the first of these
    /// days on; the last one is today. Days are counted since 1970.
    fn of(
        calls: &[CallRow],
        sessions: &[SessionSummary],
        notices: &[MetricRow],
        period: RangeInclusive<u64>,
    ) -> Self {
        let first_day = *period.start();
        let calls = calls.iter().filter(|call| call.at_ms / DAY_MS >= first_day);
        let mut total = SpendLine::default();
        let (mut days, mut models, mut purposes) =
            (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for call in calls {
            let keys = [
                (&mut days, date(call.at_ms)),
                (&mut models, call.model.clone()),
                (&mut purposes, purpose(&call.class).to_owned()),
            ];
            for (lines, name) in keys {
                lines
                    .entry(name)
                    .or_insert_with(SpendLine::default)
                    .add(call);
            }
            total.add(call);
        }
        let mut days = named(days);
        days.reverse();
        let today = date(period.end() * DAY_MS);
        let today = days.iter().find(|day| day.name == today).cloned();
        Self {
            total,
            today: today.unwrap_or_default(),
            days,
            models: dearest_first(named(models)),
            agents: dearest_first(agents(sessions, first_day)),
            purposes: dearest_first(named(purposes)),
            notices: read_notices(notices, first_day),
        }
    }
}

impl SpendLine {
    fn add(&mut self, call: &CallRow) {
        self.tokens = self.tokens.saturating_add(call.usage.total().0);
        let (accepted, rejected) = self.predicted;
        self.predicted = (
            accepted.saturating_add(call.usage.accepted_prediction.0),
            rejected.saturating_add(call.usage.rejected_prediction.0),
        );
        match call.cost_nano {
            Some(cost) => self.cost_nano = self.cost_nano.saturating_add(cost),
            // A call that used nothing costs nothing, whatever its price.
            None => self.has_unknown_cost |= call.usage.total().0 > 0,
        }
    }
}

impl SpendLine {
    /// Describes the predicted outputs; `None` without any.
    pub fn predicted_text(&self) -> Option<String> {
        let (accepted, rejected) = self.predicted;
        (accepted + rejected > 0).then(|| {
            format!("{accepted} predicted tokens accepted, {rejected} rejected and billed as well")
        })
    }
}

impl SpendNotice {
    /// Returns the notice as a sentence that says what to do.
    pub fn sentence(&self) -> String {
        let Self { scope, percent, .. } = self;
        let setting = format!("models.budget_{scope}");
        let of = match scope.as_str() {
            "day" => "the budget of the day",
            "turn" => "the budget of a turn",
            _ => "the budget of an agent",
        };
        if *percent >= 100 {
            format!(
                "All of {of} for models is used: no further request is sent. Raise {setting} to go on."
            )
        } else {
            format!("{percent} % of {of} for models is used. The setting is {setting}.")
        }
    }
}

/// Returns the name of the purpose of a class of requests.
fn purpose(class: &str) -> &str {
    match class {
        "tab" => "Tab",
        "turn" => "Agents",
        "subagent" => "Subagents",
        "background" => "Titles, inline edits and other requests",
        other => other,
    }
}

fn named(lines: BTreeMap<String, SpendLine>) -> Vec<SpendLine> {
    let lines = lines.into_iter();
    lines
        .map(|(name, line)| SpendLine { name, ..line })
        .collect()
}

fn dearest_first(mut lines: Vec<SpendLine>) -> Vec<SpendLine> {
    lines.sort_by(|one, two| {
        let key = |line: &SpendLine| (line.cost_nano, line.tokens);
        key(two)
            .cmp(&key(one))
            .then_with(|| one.name.cmp(&two.name))
    });
    lines
}

/// Sums up the days of each session from `first_day` on. A subagent counts for the session that is
/// at the top of its parents.
fn agents(sessions: &[SessionSummary], first_day: u64) -> Vec<SpendLine> {
    let by_id: HashMap<&str, &SessionSummary> = sessions
        .iter()
        .map(|session| (session.id.as_str(), session))
        .collect();
    let mut lines: BTreeMap<&str, SpendLine> = BTreeMap::new();
    for session in sessions {
        let spent = session.spent_by_day.range(first_day..);
        let (mut cost_nano, mut has_unknown_cost, mut has_any) = (0_u64, false, false);
        for (_, day) in spent {
            has_any = true;
            cost_nano = cost_nano.saturating_add(day.cost_nano);
            has_unknown_cost |= day.has_unknown_cost;
        }
        if !has_any {
            continue;
        }
        let top = top_of(session, &by_id);
        let line = lines.entry(&top.id).or_insert_with(|| SpendLine {
            name: top.title.clone(),
            ..SpendLine::default()
        });
        line.cost_nano = line.cost_nano.saturating_add(cost_nano);
        line.has_unknown_cost |= has_unknown_cost;
    }
    lines.into_values().collect()
}

/// Returns the session above all parents of a session, as far as they are known.
fn top_of<'a>(
    session: &'a SessionSummary,
    by_id: &HashMap<&str, &'a SessionSummary>,
) -> &'a SessionSummary {
    let mut top = session;
    // The bound ends a circle, which only a damaged ledger can contain.
    for _ in 0..by_id.len() {
        let parent = top.parent.as_ref();
        match parent.and_then(|parent| by_id.get(parent.session.as_str())) {
            Some(above) => top = above,
            None => break,
        }
    }
    top
}

fn read_notices(metrics: &[MetricRow], first_day: u64) -> Vec<SpendNotice> {
    let notices = metrics.iter().rev().filter_map(|metric| {
        let tags: NoticeTags = serde_json::from_str(&metric.tags).ok()?;
        (metric.at_ms / DAY_MS >= first_day).then_some(SpendNotice {
            at_ms: metric.at_ms,
            scope: tags.scope,
            percent: metric.value as u64,
        })
    });
    notices.collect()
}

#[cfg(test)]
mod tests;
