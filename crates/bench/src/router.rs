//! Router benchmarks: its overhead per call, the effect of busy agents on Tab, how fast a dropped answer
//! closes its socket, whether budgets hold, and how evenly agents share a limited provider.
//!
//! The provider is a scripted server on loopback; the overhead is measured with a client that answers at once.

mod crowd;
pub(crate) mod world;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use mockllm::{MockServer, ResponseEnd};
use model::policy::{AgentId, RequestClass};
use model::{ModelClient, StreamEvent};
use router::actor::{RequestPayload, RouterEvent, RouterHandle, RouterRequest, RoutingOptions};

use crate::figure::Figure;
use crate::interleave::{Pairs, quantile};
use world::{AtOnce, fim, lanes_of, request, request_for, start_router, step, wire_lanes};

/// Maximum overhead of the router per call, in milliseconds.
const OVERHEAD: f64 = 0.2;
/// Maximum time from dropping an answer until the server notices, in milliseconds.
const CANCEL: f64 = 50.0;
/// Number of busy agents.
const AGENTS: u64 = 16;

/// Runs all parts and returns their figures.
pub(crate) fn run() -> Result<Vec<Figure>, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let mut figures = Vec::new();
    let say = |part: &str| eprintln!("router: {part} …");
    say("what it adds to a call");
    figures.extend(runtime.block_on(overhead()));
    say("Tab beside busy agents");
    figures.extend(runtime.block_on(tab_beside_agents())?);
    say("cancelling");
    figures.push(runtime.block_on(cancelling())?);
    say("budgets");
    figures.push(runtime.block_on(crowd::budgets())?);
    say("shares, for a minute and a quarter");
    figures.extend(runtime.block_on(crowd::shares())?);
    Ok(figures)
}

/// Measures how much longer a call takes through the router than without it.
async fn overhead() -> Vec<Figure> {
    const CALLS: usize = 2_000;
    let client = Arc::new(AtOnce);
    let mut figures = Vec::new();
    for (name, lanes, is_auto) in [
        ("router overhead, named model", 1, false),
        ("router overhead, named, 500 lanes", 500, false),
        ("router overhead, auto, 500 lanes", 500, true),
    ] {
        let router = start_router(lanes_of(lanes, client.clone()));
        let mut added = Vec::new();
        for round in 0..CALLS + 200 {
            let direct = Instant::now();
            let direct = match client.send(request()).collect::<Vec<_>>().await.len() {
                0 => continue,
                _ => direct.elapsed(),
            };
            let mut ask = RouterRequest::chat(request(), world::caller(RequestClass::Turn, 1));
            if is_auto {
                ask.options =
                    RoutingOptions::auto(&step(), model::policy::route::SwitchBoundary::NewTurn);
            }
            let routed = Instant::now();
            let told = router.submit(ask).collect::<Vec<_>>().await;
            let routed = routed.elapsed();
            if round >= 200 && !told.is_empty() {
                added.push(routed.saturating_sub(direct).as_secs_f64() * 1_000.0);
            }
        }
        let median = quantile(added.iter().copied(), 0.5);
        let tail = quantile(added.iter().copied(), 0.99);
        let count = added.len();
        figures.push(Figure::alone(name, median, "ms", count, Some(OVERHEAD)));
        figures.push(Figure::alone(
            format!("{name}, p99"),
            tail,
            "ms",
            count,
            None,
        ));
    }
    figures
}

/// Measures a completion with and without sixteen streaming agents.
async fn tab_beside_agents() -> Result<Vec<Figure>, String> {
    let server = serve(
        r#"{ "pace": { "first_byte_ms": 20, "tokens_per_second": 250, "tick_ms": 4 },
             "rules": [
                 { "match": { "prefix": { "contains": "" } }, "pace": { "first_byte_ms": 5 }, "reply": [{ "text": "x" }] },
                 { "reply": [{ "repeat": { "text": "word after word ", "times": 400 } }] }
             ] }"#,
    )?;
    let router = start_router(wire_lanes(&server.url()));
    let mut pairs = Pairs::default();
    let mut waits = Vec::new();
    for _ in 0..20 {
        let alone = completions(&router, 10, &mut Vec::new()).await;
        let agents: Vec<_> = (1..=AGENTS)
            .map(|agent| tokio::spawn(busy(router.clone(), agent)))
            .collect();
        tokio::time::sleep(Duration::from_millis(150)).await;
        let beside = completions(&router, 10, &mut waits).await;
        for agent in agents {
            agent.abort();
        }
        router.idle().await;
        for (beside, alone) in beside.into_iter().zip(alone) {
            pairs.push(beside, alone);
        }
    }
    let wait = quantile(waits.iter().copied(), 0.5);
    Ok(vec![
        Figure::against(
            "Tab, key to first text, 16 agents busy",
            "no agent",
            &pairs,
            "ms",
            Some(1.1),
        ),
        Figure::alone(
            "Tab, wait for leave to send, 16 agents busy",
            wait,
            "ms",
            waits.len(),
            Some(1.0),
        ),
    ])
}

async fn busy(router: RouterHandle, agent: u64) {
    loop {
        let ask = RouterRequest::chat(
            request_for("mock/big"),
            world::caller(RequestClass::Turn, agent),
        );
        let mut told = router.submit(ask);
        while told.next().await.is_some() {}
    }
}

/// Returns the milliseconds to the first text of each completion; adds those to the permission to
/// send to `waits`.
async fn completions(router: &RouterHandle, count: usize, waits: &mut Vec<f64>) -> Vec<f64> {
    let mut firsts = Vec::new();
    for _ in 0..count {
        let asked = Instant::now();
        let mut told = router.submit(RouterRequest {
            payload: RequestPayload::Fim(Box::new(fim())),
            ..RouterRequest::fim(fim(), AgentId(0))
        });
        while let Some(told) = told.next().await {
            match told {
                RouterEvent::Decided(_) => waits.push(asked.elapsed().as_secs_f64() * 1_000.0),
                RouterEvent::Event(StreamEvent::TextDelta(_)) => {
                    firsts.push(asked.elapsed().as_secs_f64() * 1_000.0);
                    break;
                }
                _ => {}
            }
        }
    }
    firsts
}

/// Measures the time from dropping a stream until the server sees its socket closed.
async fn cancelling() -> Result<Figure, String> {
    const TIMES: usize = 100;
    let server = serve(
        r#"{ "pace": { "tokens_per_second": 200, "tick_ms": 5 },
             "rules": [{ "reply": [{ "repeat": { "text": "on and on ", "times": 4000 } }] }] }"#,
    )?;
    let router = start_router(wire_lanes(&server.url()));
    let mut took = Vec::new();
    for _ in 0..TIMES {
        server.forget();
        let ask = RouterRequest::chat(
            request_for("mock/big"),
            world::caller(RequestClass::Turn, 1),
        );
        let mut told = router.submit(ask);
        loop {
            match told.next().await {
                Some(RouterEvent::Event(StreamEvent::TextDelta(_))) => break,
                Some(RouterEvent::Event(StreamEvent::Failed(failure))) => {
                    return Err(failure.message);
                }
                Some(_) => {}
                None => return Err("the server ended its answer".to_owned()),
            }
        }
        let dropped = Instant::now();
        drop(told);
        took.push(until_left(&server, dropped).await?);
    }
    let worst = quantile(took.iter().copied(), 0.99);
    let name = "cancel to closed socket, p99";
    Ok(Figure::alone(name, worst, "ms", took.len(), Some(CANCEL)))
}

async fn until_left(server: &MockServer, dropped: Instant) -> Result<f64, String> {
    while dropped.elapsed() < Duration::from_secs(5) {
        let seen = server.requests();
        if let Some((end, _)) = seen.last().and_then(|seen| seen.end) {
            return match end {
                ResponseEnd::ClientDisconnected => Ok(dropped.elapsed().as_secs_f64() * 1_000.0),
                ResponseEnd::Finished | ResponseEnd::Broken => {
                    Err("the answer ended by itself".to_owned())
                }
            };
        }
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    Err("the server never saw the socket close".to_owned())
}

fn serve(script: &str) -> Result<MockServer, String> {
    let script = mockllm::Script::parse("bench", script).map_err(|error| error.to_string())?;
    MockServer::start(script).map_err(|error| format!("cannot listen on loopback: {error}"))
}
