//! Sums of calls and sessions.

use std::collections::BTreeMap;

use model::{TokenCount, Usage};

use super::*;
use crate::record::{Parent, SessionMode};
use crate::store::{DaySpend, SessionState};

const DAY: u64 = 20_000;

fn call(day: u64, model: &str, class: &str, cost_nano: Option<u64>) -> CallRow {
    CallRow {
        call: String::new(),
        run: String::new(),
        decision: String::new(),
        at_ms: day * DAY_MS + 5,
        model: model.to_owned(),
        agent: String::new(),
        turn: None,
        class: class.to_owned(),
        outcome: "ok".to_owned(),
        attempt: 1,
        first_byte_ms: None,
        total_ms: 1,
        usage: Usage {
            input: TokenCount(90),
            output: TokenCount(10),
            ..Usage::default()
        },
        is_estimate: false,
        cost_nano,
    }
}

fn session(id: &str, parent: Option<&str>, days: &[(u64, u64)]) -> SessionSummary {
    let spend = |(day, cost_nano): &(u64, u64)| {
        let spend = DaySpend {
            cost_nano: *cost_nano,
            has_unknown_cost: false,
        };
        (*day, spend)
    };
    SessionSummary {
        id: id.to_owned(),
        started_ms: 0,
        last_ms: 0,
        root: "/p".to_owned(),
        title: format!("title of {id}"),
        has_title: true,
        model: String::new(),
        wanted: String::new(),
        mode: SessionMode::Build,
        turns: 1,
        cost_nano: 0,
        has_unknown_cost: false,
        state: SessionState::New,
        parent: parent.map(|parent| Parent {
            session: parent.to_owned(),
            call: String::new(),
        }),
        forked_from: None,
        is_archived: false,
        is_unread: false,
        spent_by_day: days.iter().map(spend).collect::<BTreeMap<_, _>>(),
    }
}

fn shown(lines: &[SpendLine]) -> Vec<(&str, u64)> {
    let lines = lines.iter();
    lines
        .map(|line| (line.name.as_str(), line.cost_nano))
        .collect()
}

#[test]
fn days_models_and_purposes_add_up_to_the_total() {
    let calls = [
        call(DAY - 1, "far/old", "turn", Some(1_000)),
        call(DAY, "far/big", "turn", Some(30)),
        call(DAY, "far/small", "tab", Some(2)),
        call(DAY + 1, "far/big", "subagent", Some(5)),
        call(DAY + 1, "own/new", "turn", None),
    ];
    let spending = Spending::of(&calls, &[], &[], DAY..=DAY + 1);
    assert_eq!((spending.total.cost_nano, spending.total.tokens), (37, 400));
    assert!(spending.total.has_unknown_cost);
    assert_eq!(spending.today.cost_nano, 5);
    assert_eq!(
        shown(&spending.models),
        [("far/big", 35), ("far/small", 2), ("own/new", 0)]
    );
    let unknown: Vec<bool> = spending
        .models
        .iter()
        .map(|it| it.has_unknown_cost)
        .collect();
    assert_eq!(unknown, [false, false, true]);
    assert_eq!(
        shown(&spending.purposes),
        [("Agents", 30), ("Subagents", 5), ("Tab", 2)]
    );
    let days: Vec<u64> = spending.days.iter().map(|day| day.cost_nano).collect();
    assert_eq!(days, [5, 32], "the latest first");
    assert_eq!(spending.days[1].name, date(DAY * DAY_MS));
}

#[test]
fn subagents_count_for_the_agent_that_started_them() {
    let sessions = [
        session("a", None, &[(DAY - 1, 100), (DAY, 7)]),
        session("b", Some("a"), &[(DAY, 20)]),
        session("c", Some("b"), &[(DAY + 3, 1)]),
        session("d", None, &[(DAY, 9)]),
        session("e", None, &[(DAY - 5, 1_000)]),
        // The parent was deleted.
        session("f", Some("gone"), &[(DAY, 2)]),
    ];
    let spending = Spending::of(&[], &sessions, &[], DAY..=DAY + 3);
    assert_eq!(
        shown(&spending.agents),
        [("title of a", 28), ("title of d", 9), ("title of f", 2)]
    );
}

#[test]
fn notices_say_which_budget_was_used() {
    let metric = |at_ms, value, scope: &str| MetricRow {
        at_ms,
        name: BUDGET_USED.to_owned(),
        value,
        tags: format!("{{\"scope\":\"{scope}\",\"agent\":3}}"),
    };
    let metrics = [
        metric(1, 80.0, "day"),
        metric(DAY * DAY_MS, 80.0, "turn"),
        metric(DAY * DAY_MS + 1, 100.0, "day"),
    ];
    let spending = Spending::of(&[], &[], &metrics, DAY..=DAY);
    let sentences: Vec<String> = spending.notices.iter().map(SpendNotice::sentence).collect();
    assert_eq!(
        sentences,
        [
            "All of the budget of the day for models is used: no further request is sent. Raise models.budget_day to go on.",
            "80 % of the budget of a turn for models is used. The setting is models.budget_turn."
        ]
    );
}
