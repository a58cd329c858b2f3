//! The router at work: scripted models, a paused clock.

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
    AgentId, Caller, Caps, Class, KeyName, Lane, LaneLimits, Notice, Retry, Spend, TurnId,
};
use model::{
    Client, Event, Failure, FailureClass, FimFormat, Message, ModelId, Price, Profile, Rate, Rates,
    Request, Role, Script, ScriptedClient, StopReason, Tier, TokenCount, Usage,
};
use tokio::time::Instant;

use super::{
    Ask, Book, CallRecord, LaneConfig, NoBook, Reserved, Router, RouterConfig, RouterHandle,
    StallLimits, Told, Wall, patient,
};

/// Keeps all it is told.
#[derive(Default)]
struct Notes {
    reserved: Mutex<Vec<Reserved>>,
    ended: Mutex<Vec<CallRecord>>,
    notices: Mutex<Vec<Notice>>,
    others: Mutex<Option<Result<Spend, String>>>,
}

impl Book for Notes {
    fn reserved(&self, call: &Reserved) {
        self.reserved.lock().unwrap().push(*call);
    }

    fn ended(&self, call: &CallRecord) {
        self.ended.lock().unwrap().push(call.clone());
    }

    fn decided(&self, _: u64, _: u64, _: Caller, _: &RouteDecision) {}

    fn noticed(&self, _: u64, _: Caller, notice: Notice) {
        self.notices.lock().unwrap().push(notice);
    }

    fn spent_by_others(&self, _: u64) -> Result<Spend, String> {
        let others = self.others.lock().unwrap().clone();
        others.unwrap_or(Ok(Spend::default()))
    }
}

fn model(name: &str) -> ModelId {
    ModelId::parse(name).expect("provider/model")
}

/// A dollar for a million tokens read, ten for a million written.
fn price() -> Price {
    Price {
        base: Rates {
            input: Some(Rate(1_000_000)),
            output: Some(Rate(10_000_000)),
            ..Rates::default()
        },
        tiers: Vec::new(),
    }
}

fn lane(name: &str, client: impl Client + 'static) -> LaneConfig {
    LaneConfig {
        lane: Lane {
            model: model(name),
            key: KeyName::default(),
        },
        client: Arc::new(client),
        price: Some(price()),
        profile: profile(),
        same_as: None,
        privacy: Privacy::Any,
        auto: true,
        limits: LaneLimits::default(),
        most_at_once: 64,
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

fn config(lanes: Vec<LaneConfig>) -> RouterConfig {
    RouterConfig {
        lanes,
        auto: Vec::new(),
        caps: Caps::default(),
        retry: Retry::default(),
        retry_alone: patient(),
        book: Arc::new(NoBook),
        wall: Wall::new(|| 1_790_000_000_000),
        seed: 7,
    }
}

fn router(client: &ScriptedClient) -> RouterHandle {
    Router::start(config(vec![lane("test/one", client.clone())]))
}

fn caller(class: Class, agent: u64) -> Caller {
    Caller {
        class,
        agent: AgentId(agent),
        turn: TurnId(1),
    }
}

fn request(text: &str) -> Request {
    let messages = vec![Message::text(Role::User, text)];
    Request::new(model("test/one"), messages, TokenCount(1_000))
}

fn ask(text: &str) -> Ask {
    Ask::chat(request(text), caller(Class::Turn, 1))
}

async fn events(told: BoxStream<'static, Told>) -> Vec<Event> {
    let events = told.filter_map(|told| async {
        match told {
            Told::Event(event) => Some(event),
            _ => None,
        }
    });
    events.collect().await
}

/// What a consumer that obeys the contract holds in the end: text, completed calls, and how it ended.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    text: String,
    calls: Vec<(String, String)>,
    end: Option<Result<StopReason, FailureClass>>,
    restarts: usize,
}

fn heard(events: &[Event]) -> Heard {
    let mut heard = Heard::default();
    let mut open: HashMap<u32, (String, String)> = HashMap::new();
    for event in events {
        assert_eq!(heard.end, None, "nothing follows the last event");
        match event {
            Event::Restart => {
                assert!(heard.calls.is_empty(), "a complete call may be running");
                open.clear();
                heard = Heard {
                    restarts: heard.restarts + 1,
                    ..Heard::default()
                };
            }
            Event::TextDelta(text) => heard.text.push_str(text),
            Event::ToolStart { index, name, .. } => {
                open.insert(*index, (name.clone(), String::new()));
            }
            Event::ToolArgsDelta { index, fragment } => {
                open.get_mut(index).expect("begun").1.push_str(fragment);
            }
            Event::ToolEnd { index } => {
                heard.calls.push(open.remove(index).expect("begun"));
            }
            Event::Stop { reason, .. } => heard.end = Some(Ok(*reason)),
            Event::Failed(failure) => heard.end = Some(Err(failure.class)),
            _ => {}
        }
    }
    assert!(heard.end.is_some(), "a last event: {events:?}");
    heard
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

fn start() -> Event {
    Event::Start {
        id: "1".to_owned(),
        model: "one".to_owned(),
    }
}

fn text(text: &str) -> Event {
    Event::TextDelta(text.to_owned())
}

fn stop() -> Event {
    Event::Stop {
        reason: StopReason::EndTurn,
        raw: "end_turn".to_owned(),
    }
}

fn used(input: u64, output: u64) -> Event {
    Event::Usage(Usage {
        input: TokenCount(input),
        output: TokenCount(output),
        ..Usage::default()
    })
}

fn call(index: u32) -> [Event; 3] {
    [
        Event::ToolStart {
            index,
            id: format!("call-{index}"),
            name: "write".to_owned(),
        },
        Event::ToolArgsDelta {
            index,
            fragment: "{}".to_owned(),
        },
        Event::ToolEnd { index },
    ]
}
