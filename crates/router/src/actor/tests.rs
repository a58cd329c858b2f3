//! Tests of the running router with scripted models and a paused clock.

mod breaks;
mod choice;
mod faults;
mod limits;
mod simulation;
mod tries;
mod turns;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use model::policy::route::{Privacy, RouteDecision};
use model::policy::{
    AgentId, BudgetNotice, Caller, Caps, KeyName, RequestClass, Retry, Route, RouteLimits, Spend,
    TurnId,
};
use model::{
    Failure, FailureClass, FimFormat, Message, ModelClient, ModelId, ModelRequest, Price, Profile,
    Rates, ResponseScript, Role, ScriptedClient, StopReason, StreamEvent, Tier, TokenCount,
    TokenRate, Usage,
};
use tokio::time::Instant;

use crate::error::Error;

use super::{
    CallRecord, CallReservation, NoUsageStore, RouteConfig, Router, RouterConfig, RouterEvent,
    RouterHandle, RouterRequest, StallLimits, UsageStore, WallClock, patient_retry,
};

/// Records every call that it receives.
#[derive(Default)]
struct Notes {
    reserved: Mutex<Vec<CallReservation>>,
    ended: Mutex<Vec<CallRecord>>,
    notices: Mutex<Vec<BudgetNotice>>,
    others: Mutex<Option<Result<Spend, Error>>>,
}

impl UsageStore for Notes {
    fn record_reservation(&self, call: &CallReservation) {
        self.reserved.lock().unwrap().push(*call);
    }

    fn record_call(&self, call: &CallRecord) {
        self.ended.lock().unwrap().push(call.clone());
    }

    fn record_decision(&self, _: u64, _: u64, _: Caller, _: &RouteDecision) {}

    fn record_notice(&self, _: u64, _: Caller, notice: BudgetNotice) {
        self.notices.lock().unwrap().push(notice);
    }

    fn spent_by_others(&self, _: u64) -> Result<Spend, Error> {
        let others = self.others.lock().unwrap().clone();
        others.unwrap_or(Ok(Spend::default()))
    }
}

fn model(name: &str) -> ModelId {
    ModelId::parse(name).expect("provider/model")
}

/// One dollar per million input tokens, ten per million output tokens.
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

fn route(name: &str, client: impl ModelClient + 'static) -> RouteConfig {
    RouteConfig {
        route: Route {
            model: model(name),
            key: KeyName::default(),
        },
        client: Arc::new(client),
        price: Some(price()),
        profile: profile(),
        same_as: None,
        privacy: Privacy::Any,
        auto: true,
        limits: RouteLimits::default(),
        max_concurrency: 64,
        stall: StallLimits::default(),
    }
}

fn profile() -> Profile {
    Profile {
        tier: Tier::Standard,
        tools: Some(true),
        context: TokenCount(200_000),
        fim: Some(FimFormat::Endpoint),
        ..Profile::harmless()
    }
}

fn config(routes: Vec<RouteConfig>) -> RouterConfig {
    RouterConfig {
        routes,
        auto: Vec::new(),
        caps: Caps::default(),
        retry: Retry::default(),
        retry_alone: patient_retry(),
        usage_store: Arc::new(NoUsageStore),
        clock: WallClock::new(|| 1_790_000_000_000),
        seed: 7,
    }
}

fn router(client: &ScriptedClient) -> RouterHandle {
    Router::start(config(vec![route("test/one", client.clone())]))
}

fn caller(class: RequestClass, agent: u64) -> Caller {
    Caller {
        class,
        agent: AgentId(agent),
        turn: TurnId(1),
    }
}

fn request(text: &str) -> ModelRequest {
    let messages = vec![Message::text(Role::User, text)];
    ModelRequest::new(model("test/one"), messages, TokenCount(1_000))
}

fn ask(text: &str) -> RouterRequest {
    RouterRequest::chat(request(text), caller(RequestClass::Turn, 1))
}

async fn events(stream: BoxStream<'static, RouterEvent>) -> Vec<StreamEvent> {
    let events = stream.filter_map(|event| async {
        match event {
            RouterEvent::Event(event) => Some(event),
            _ => None,
        }
    });
    events.collect().await
}

/// The result for a consumer that follows the contract: text, completed calls, and the end.
#[derive(Debug, Default, PartialEq)]
struct AssembledAnswer {
    text: String,
    calls: Vec<(String, String)>,
    end: Option<Result<StopReason, FailureClass>>,
    restarts: usize,
}

fn assemble(events: &[StreamEvent]) -> AssembledAnswer {
    let mut answer = AssembledAnswer::default();
    let mut open: HashMap<u32, (String, String)> = HashMap::new();
    for event in events {
        assert_eq!(answer.end, None, "nothing follows the last event");
        match event {
            StreamEvent::Restart => {
                assert!(answer.calls.is_empty(), "a complete call may be running");
                open.clear();
                answer = AssembledAnswer {
                    restarts: answer.restarts + 1,
                    ..AssembledAnswer::default()
                };
            }
            StreamEvent::TextDelta(text) => answer.text.push_str(text),
            StreamEvent::ToolStart { index, name, .. } => {
                open.insert(*index, (name.clone(), String::new()));
            }
            StreamEvent::ToolArgsDelta { index, fragment } => {
                open.get_mut(index).expect("begun").1.push_str(fragment);
            }
            StreamEvent::ToolEnd { index } => {
                answer.calls.push(open.remove(index).expect("begun"));
            }
            StreamEvent::Stop { reason, .. } => answer.end = Some(Ok(*reason)),
            StreamEvent::Failed(failure) => answer.end = Some(Err(failure.class)),
            _ => {}
        }
    }
    assert!(answer.end.is_some(), "a last event: {events:?}");
    answer
}

fn failure(class: FailureClass) -> Failure {
    Failure::new(class, format!("it is {class:?}"))
}

fn limited(seconds: u64) -> Failure {
    Failure {
        retry_after: Some(Duration::from_secs(seconds)),
        ..failure(FailureClass::RateLimited)
    }
}

fn start() -> StreamEvent {
    StreamEvent::Start {
        id: "1".to_owned(),
        model: "one".to_owned(),
    }
}

fn text(text: &str) -> StreamEvent {
    StreamEvent::TextDelta(text.to_owned())
}

fn stop() -> StreamEvent {
    StreamEvent::Stop {
        reason: StopReason::EndTurn,
        raw: "end_turn".to_owned(),
    }
}

fn used(input: u64, output: u64) -> StreamEvent {
    StreamEvent::Usage(Usage {
        input: TokenCount(input),
        output: TokenCount(output),
        ..Usage::default()
    })
}

fn call(index: u32) -> [StreamEvent; 3] {
    [
        StreamEvent::ToolStart {
            index,
            id: format!("call-{index}"),
            name: "write".to_owned(),
        },
        StreamEvent::ToolArgsDelta {
            index,
            fragment: "{}".to_owned(),
        },
        StreamEvent::ToolEnd { index },
    ]
}
