//! Random sessions with providers that refuse parts, give vague errors, have small windows and
//! break off: a plain next prompt is always answered, before and after the session is resumed.
//!
//! Requests are encoded for every wire, checked as JSON, and refused with the providers' own
//! messages, which `router` parses. `BURIN_SESSIONS=200` runs more of them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use model::{Failure, FailureClass, ModelRequest, PartContent, ResponseScript, StreamEvent};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use router::wire::{ChatDialect, RequestTarget, WireOptions, WireProtocol, encode, refused};
use serde_json::{Value, json};

use super::super::resume;
use super::fakes::{Talk, assert_whole, prompt, world_by};
use crate::images::tests::png;
use crate::record::TurnEnd;
use crate::session::{SessionCommand, UserPrompt};

const WIRES: [WireProtocol; 4] = [
    WireProtocol::Anthropic,
    WireProtocol::Responses,
    WireProtocol::Chat,
    WireProtocol::Gemini,
];

/// The restrictions of a simulated provider.
struct Provider {
    wire: WireProtocol,
    /// It refuses images whose last byte is divisible by this.
    bad_picture: u8,
    takes_pictures: bool,
    bad_tool: Option<&'static str>,
    bad_member: bool,
    /// Maximum bytes of a body.
    window: usize,
    /// Whether its errors name the window size and the faulty part.
    is_exact: bool,
    random: Mutex<StdRng>,
    /// Whether random failures are turned off.
    is_calm: Arc<AtomicBool>,
    calls: AtomicU64,
}

impl Provider {
    fn new(seed: u64, is_calm: Arc<AtomicBool>) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        Self {
            wire: WIRES[random.random_range(0..4)],
            bad_picture: random.random_range(2..4),
            takes_pictures: random.random_bool(0.7),
            bad_tool: [None, Some("exec"), Some("look")][random.random_range(0..3)],
            bad_member: random.random_bool(0.5),
            window: [9_000, 20_000, 400_000][random.random_range(0..3)],
            is_exact: random.random_bool(0.5),
            random: Mutex::new(random),
            is_calm,
            calls: AtomicU64::new(0),
        }
    }

    fn answer(&self, request: &ModelRequest) -> ResponseScript {
        let options = WireOptions {
            images: true,
            ..WireOptions::default()
        };
        let encoded = encode(self.wire, &ChatDialect::default(), &options, request);
        let sent = encoded.expect("it is encoded").body;
        let body: Value = serde_json::from_slice(&sent).expect("JSON");
        if let Some((status, error)) = self.refusal(&body, sent.len(), request) {
            let site = RequestTarget {
                provider: "Maker".to_owned(),
                host: "maker.example".to_owned(),
                model: "m".to_owned(),
            };
            let now = SystemTime::UNIX_EPOCH;
            let error = error.to_string();
            let failure = refused(&site, status, &[], error.as_bytes(), &sent, now);
            return ResponseScript::fails(failure);
        }
        let mut random = self.random.lock().expect("one at a time");
        let next = || format!("c{}", self.calls.fetch_add(1, Ordering::Relaxed));
        if self.is_calm.load(Ordering::Relaxed) {
            return ResponseScript::text("all is well");
        }
        match random.random_range(0..10) {
            0 => ResponseScript::fails(Failure::new(FailureClass::Torn, "It broke off.")),
            1 => ResponseScript::events([
                StreamEvent::TextDelta("half an answ".to_owned()),
                StreamEvent::Failed(Failure::new(FailureClass::Torn, "It broke off.")),
            ]),
            2 => ResponseScript::text(" "),
            3 => ResponseScript::calls(&[(&next(), "look", "{\"say\": \"\\ud800")]),
            4 => ResponseScript::calls(&[("same", "look", "{}"), ("same", "look", "{}")]),
            5..8 => {
                let fill = json!({ "fill": random.random_range(0..120_000) }).to_string();
                ResponseScript::calls(&[(&next(), "look", &fill), (&next(), "exec", "{}")])
            }
            _ => ResponseScript::text("done with that"),
        }
    }

    /// Returns the provider's error message for a request, if it refuses it.
    fn refusal(&self, body: &Value, length: usize, request: &ModelRequest) -> Option<(u16, Value)> {
        let error = |message: String, param: &str| json!({ "error": { "type": "invalid_request_error", "message": message, "param": param } });
        if let Some(name) = self.bad_tool
            && request.tools.iter().any(|tool| tool.name == name)
        {
            let message =
                format!("Invalid schema for function '{name}': the schema is not supported");
            return Some((400, error(message, "")));
        }
        if self.bad_member && body.get("tool_choice").is_some() {
            let message = "Unsupported parameter: 'tool_choice'".to_owned();
            return Some((400, error(message, "tool_choice")));
        }
        let images = images(request);
        if !self.takes_pictures && !images.is_empty() {
            return Some((
                400,
                error("this model does not support images".to_owned(), ""),
            ));
        }
        if images.iter().any(|last| last % self.bad_picture == 0) {
            let words = if self.is_exact {
                "Could not process image"
            } else {
                "Bad request"
            };
            return Some((400, error(words.to_owned(), "")));
        }
        (length > self.window).then(|| {
            let words = if self.is_exact {
                format!("maximum context length is {} tokens", self.window / 4)
            } else {
                "prompt is too long".to_owned()
            };
            (400, error(words, ""))
        })
    }
}

/// Returns the last byte of every image sent.
fn images(request: &ModelRequest) -> Vec<u8> {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let images = parts.filter_map(|part| match &part.content {
        PartContent::Image { bytes, .. } => bytes.last().copied(),
        _ => None,
    });
    images.collect()
}

fn random_prompt(random: &mut StdRng) -> UserPrompt {
    let pictures = random.random_range(0..3);
    let image = |tail: u8| PartContent::Image {
        media_type: "image/png".to_owned(),
        bytes: [png(), vec![tail]].concat().into(),
    };
    let text = match random.random_range(0..6) {
        0 => String::new(),
        1 => "a long paste ".repeat(random.random_range(1..4_000)),
        _ => "work on it".to_owned(),
    };
    UserPrompt {
        images: (0..pictures).map(|_| image(random.random())).collect(),
        ..prompt(&text)
    }
}

async fn session(seed: u64) {
    let is_calm = Arc::new(AtomicBool::new(false));
    let provider = Provider::new(seed, is_calm.clone());
    let world = world_by(move |request| provider.answer(request));
    let mut random = StdRng::seed_from_u64(seed ^ 0x5eed);
    let mut talk = world.open();
    for _ in 0..random.random_range(1..6) {
        talk.tell(SessionCommand::Prompt(random_prompt(&mut random)))
            .await;
        talk.end().await;
        if random.random_bool(0.2) {
            let id = talk.id.clone();
            talk.close().await;
            talk = Talk::new(resume(world.begin(), &id).await.expect("it opens"));
        }
    }
    is_calm.store(true, Ordering::Relaxed);
    assert_eq!(talk.ask("go on").await, TurnEnd::Done, "seed {seed}");
    let id = talk.id.clone();
    talk.close().await;
    let mut talk = Talk::new(resume(world.begin(), &id).await.expect("it opens"));
    assert_eq!(
        talk.ask("go on").await,
        TurnEnd::Done,
        "seed {seed}, opened again"
    );
    assert_whole(&world.kept(&id).await);
}

#[tokio::test(start_paused = true)]
async fn random_provider_failures_never_block_the_next_prompt() {
    let count: u64 = std::env::var("BURIN_SESSIONS").map_or(20, |count| count.parse().unwrap());
    for seed in 0..count {
        session(seed).await;
    }
}
