//! Many agents at one provider: whether budgets hold, how evenly the agents share it, and the longest wait.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use model::policy::route::RouteDecision;
use model::policy::{AgentId, BudgetNotice, Caller, Cap, Caps, RequestClass, Spend};
use model::{Cost, FailureClass, Price, Rates, StreamEvent, TokenCount, TokenRate};
use router::actor::{
    CallRecord, CallReservation, RouterEvent, RouterHandle, RouterRequest, UsageStore,
};

use super::world::{caller, request_for, start_router, start_with, wire_lanes};
use super::{AGENTS, serve};
use crate::figure::Figure;

/// Budget of each agent, in nano-dollars.
const BUDGET: Cost = Cost(300_000_000);
/// Number of concurrent requests of an agent with a budget.
const AT_ONCE: u64 = 4;
/// Duration of sharing the limited provider: slightly longer than until the work behind the agents is overdue.
const SHARED: Duration = Duration::from_secs(75);
/// Maximum wait of any class, in seconds.
const OVERDUE: f64 = 65.0;

/// The amount that each agent has spent.
#[derive(Default)]
struct Spending(Mutex<BTreeMap<AgentId, u64>>);

impl UsageStore for Spending {
    fn record_reservation(&self, _: &CallReservation) {}

    fn record_call(&self, call: &CallRecord) {
        let cost = call.cost.unwrap_or_default().0;
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *spent.entry(call.caller.agent).or_default() += cost;
    }

    fn record_decision(&self, _: u64, _: u64, _: Caller, _: &RouteDecision) {}

    fn record_notice(&self, _: u64, _: Caller, _: BudgetNotice) {}

    fn spent_by_others(&self, _: u64) -> Result<Spend, router::Error> {
        Ok(Spend::default())
    }
}

/// Measures the highest spending of sixteen agents that send four requests at a time until their budget refuses
/// more.
pub(super) async fn budgets() -> Result<Figure, String> {
    let server = serve(
        r#"{ "rules": [{ "reply": [{ "repeat": { "text": "word after word ", "times": 40 } }] }] }"#,
    )?;
    let book = Arc::new(Spending::default());
    let mut lanes = wire_lanes(&server.url());
    for lane in &mut lanes {
        lane.price = Some(price());
    }
    let caps = Caps {
        agent: Cap {
            cost: Some(BUDGET),
            tokens: None,
        },
        ..Caps::default()
    };
    let router = start_with(lanes, caps, book.clone());
    let askers: Vec<_> = (0..AGENTS * AT_ONCE)
        .map(|asker| tokio::spawn(spend_all(router.clone(), asker / AT_ONCE + 1)))
        .collect();
    for asker in askers {
        asker.await.map_err(|error| error.to_string())??;
    }
    router.idle().await;
    let spent = book.0.lock().unwrap_or_else(PoisonError::into_inner);
    let share = |spent: u64| spent as f64 / BUDGET.0 as f64;
    let least = share(spent.values().min().copied().unwrap_or(0));
    let most = share(spent.values().max().copied().unwrap_or(0));
    let name = format!("most spent of a budget by {AGENTS} agents (least {least:.2})");
    Ok(Figure::alone(
        name,
        most,
        "×",
        server.requests().len(),
        Some(1.0),
    ))
}

async fn spend_all(router: RouterHandle, agent: u64) -> Result<(), String> {
    loop {
        let ask = RouterRequest::chat(
            request_for("mock/big"),
            caller(RequestClass::Subagent, agent),
        );
        match asked(&router, ask).await.end {
            Ok(()) => {}
            Err((FailureClass::Budget, _)) => return Ok(()),
            Err((_, message)) => return Err(message),
        }
    }
}

/// A price of one dollar per million input tokens and ten per million output tokens.
fn price() -> Price {
    Price {
        base: Rates {
            input: Some(TokenRate(1_000_000)),
            output: Some(TokenRate(10_000_000)),
            ..Rates::default()
        },
        tiers: Vec::new(),
    }
}

/// Runs sixteen agents and background work at a provider with a low limit. Measures how much longer the slowest
/// agent waits than the fastest, and the longest wait of background work, which has the lowest priority.
pub(super) async fn shares() -> Result<Vec<Figure>, String> {
    let server = serve(
        r#"{ "models": { "big": { "limits": { "requests": 40, "per_seconds": 1 } } },
             "rules": [{ "reply": [{ "text": "yes" }] }] }"#,
    )?;
    let router = start_router(wire_lanes(&server.url()));
    let agents: Vec<_> = (1..=AGENTS)
        .map(|agent| tokio::spawn(share(router.clone(), RequestClass::Subagent, agent)))
        .collect();
    let background = tokio::spawn(share(router.clone(), RequestClass::Background, AGENTS + 1));
    let mut averages = Vec::new();
    for agent in agents {
        let waits = agent.await.map_err(|error| error.to_string())??;
        averages.push(waits.iter().sum::<f64>() / waits.len().max(1) as f64);
    }
    let behind = background.await.map_err(|error| error.to_string())??;
    let least = averages.iter().copied().fold(f64::INFINITY, f64::min);
    let most = averages.iter().copied().fold(0.0, f64::max);
    let longest = behind.iter().copied().fold(0.0, f64::max);
    let seen = server.requests();
    let refused = seen.iter().filter(|seen| seen.status == 429).count();
    let count = seen.len();
    let name = format!(
        "wait of {AGENTS} agents under limits, most to least ({refused} of {count} got 429)"
    );
    Ok(vec![
        Figure::alone(name, most / least, "×", count, Some(1.5)),
        Figure::alone(
            format!("longest wait of background work behind {AGENTS} agents"),
            longest,
            "s",
            behind.len(),
            Some(OVERDUE),
        ),
    ])
}

/// Sends one request after the other; returns for each the seconds until it could be sent.
async fn share(router: RouterHandle, class: RequestClass, agent: u64) -> Result<Vec<f64>, String> {
    let begin = Instant::now();
    let mut waits = Vec::new();
    while begin.elapsed() < SHARED {
        let mut request = request_for("mock/big");
        request.max_output = TokenCount(100);
        let answer = asked(&router, RouterRequest::chat(request, caller(class, agent))).await;
        answer.end.map_err(|(_, message)| message)?;
        waits.extend(answer.waited);
    }
    Ok(waits)
}

struct Asked {
    /// Seconds until the request could be sent.
    waited: Option<f64>,
    end: Result<(), (FailureClass, String)>,
}

async fn asked(router: &RouterHandle, ask: RouterRequest) -> Asked {
    let begin = Instant::now();
    let mut waited = None;
    let mut end = Ok(());
    let mut told = router.submit(ask);
    while let Some(told) = told.next().await {
        match told {
            RouterEvent::Decided(_) => waited = Some(begin.elapsed().as_secs_f64()),
            RouterEvent::Event(StreamEvent::Failed(failure)) => {
                end = Err((failure.class, failure.message))
            }
            RouterEvent::Event(_) | RouterEvent::Waiting { .. } => {}
        }
    }
    Asked { waited, end }
}
