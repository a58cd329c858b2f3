//! Tests two thousand random failures of a task: it must end as without faults, or stop with the
//! right failure class.
//!
//! The model below works through a plan of tool calls and ends with a word; like a real one it acts
//! on the results that it sees. The turn around it starts each call as soon as it is complete,
//! which is the strictest reading of the contract: a repeated call would run twice.

use std::collections::BTreeMap;

use futures::stream;
use model::{Fim, MessagePart, PartContent};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

const SCHEDULES: u64 = 2_000;
/// Number of calls in each answer.
const PLAN: [u32; 4] = [2, 1, 0, 3];
const LAST_WORDS: &str = "done, all of it";

/// The fault injected into one request.
#[derive(Clone, Debug)]
enum Fault {
    Refused(Failure),
    /// After this many events: with this failure of the provider, or without any last event.
    Cut(usize, Option<FailureClass>),
    Stalled(usize),
    Slow(Duration),
}

/// Time and fault of each request.
type Log = Arc<Mutex<Vec<(Instant, Option<Fault>)>>>;

/// A model at a provider with random faults.
struct Faulty {
    random: Mutex<StdRng>,
    left: Mutex<u32>,
    log: Log,
}

impl Faulty {
    fn fault(&self) -> Option<Fault> {
        let mut random = self.random.lock().unwrap();
        let mut left = self.left.lock().unwrap();
        if *left == 0 || random.random_bool(0.4) {
            return None;
        }
        *left -= 1;
        let at = random.random_range(0..12);
        Some(match random.random_range(0..12) {
            0..=2 => Fault::Refused(limited(random.random_range(1..40))),
            3 => Fault::Refused(failure(FailureClass::RateLimited)),
            4 => Fault::Refused(failure(FailureClass::Overloaded)),
            5 => Fault::Refused(failure(FailureClass::ServerError)),
            6 => Fault::Refused(failure(FailureClass::Offline)),
            7 => match random.random_range(0..8) {
                0 => Fault::Refused(failure(FailureClass::Quota)),
                1 => Fault::Refused(failure(FailureClass::Authentication)),
                2 => Fault::Refused(failure(FailureClass::ContextOverflow)),
                _ => Fault::Slow(Duration::from_secs(random.random_range(1..50))),
            },
            8 => Fault::Cut(at, None),
            9 => Fault::Cut(at, Some(FailureClass::Torn)),
            10 => Fault::Cut(at, Some(FailureClass::Malformed)),
            _ => Fault::Stalled(at),
        })
    }
}

impl ModelClient for Faulty {
    fn send(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let fault = self.fault();
        self.log
            .lock()
            .unwrap()
            .push((Instant::now(), fault.clone()));
        let answer = answer(&request);
        match fault {
            None => stream::iter(answer).boxed(),
            Some(Fault::Refused(failure)) => stream::iter([StreamEvent::Failed(failure)]).boxed(),
            Some(Fault::Cut(at, class)) => {
                // Never after the end: that would not be a fault.
                let at = at.min(answer.len() - 1);
                let failed = class.map(|class| StreamEvent::Failed(failure(class)));
                stream::iter(answer.into_iter().take(at).chain(failed)).boxed()
            }
            Some(Fault::Stalled(at)) => {
                let at = at.min(answer.len() - 1);
                let begun = stream::iter(answer.into_iter().take(at));
                begun.chain(stream::pending()).boxed()
            }
            Some(Fault::Slow(wait)) => {
                let slow = stream::once(tokio::time::sleep(wait)).filter_map(|()| async { None });
                slow.chain(stream::iter(answer)).boxed()
            }
        }
    }

    fn complete(&self, _: Fim) -> BoxStream<'static, StreamEvent> {
        stream::iter([StreamEvent::Failed(failure(FailureClass::NoSuchModel))]).boxed()
    }
}

/// Returns the model's answer: the unanswered calls of the current step, or its last words.
fn answer(request: &ModelRequest) -> Vec<StreamEvent> {
    let answered = request.messages.iter().flat_map(|message| &message.parts);
    let answered = answered.filter(|part| matches!(part.content, PartContent::ToolResult { .. }));
    let mut answered = answered.count() as u32;
    let mut first = 0;
    let mut events = vec![start(), text("let me "), text("see")];
    for (step, calls) in PLAN.into_iter().enumerate() {
        if calls > 0 && answered < calls {
            for (index, number) in (first + answered..first + calls).enumerate() {
                let index = index as u32;
                events.extend([
                    StreamEvent::ToolStart {
                        index,
                        id: format!("call-{number}"),
                        name: format!("step-{step}"),
                    },
                    StreamEvent::ToolArgsDelta {
                        index,
                        fragment: "{\"number\":".to_owned(),
                    },
                    StreamEvent::ToolArgsDelta {
                        index,
                        fragment: format!("{number}}}"),
                    },
                    StreamEvent::ToolEnd { index },
                ]);
            }
            events.push(used(500, 50));
            events.push(StreamEvent::Stop {
                reason: StopReason::ToolUse,
                raw: "tool_use".to_owned(),
            });
            return events;
        }
        answered -= calls;
        first += calls;
    }
    vec![
        start(),
        text("done, "),
        text("all of it"),
        used(500, 5),
        stop(),
    ]
}

/// The effects of a task, and its end.
#[derive(Debug, PartialEq)]
struct Outcome {
    done: Vec<String>,
    end: Result<String, FailureClass>,
}

/// Runs a turn as an agent would, reduced to the contract.
async fn run(router: &RouterHandle) -> Outcome {
    let mut request = request("do it");
    request.conversation = Some("task".to_owned());
    let mut done = Vec::new();
    for _ in 0..40 {
        let ask = RouterRequest::chat(request.clone(), caller(RequestClass::Turn, 1));
        let mut stream = router.submit(ask);
        let mut said = String::new();
        let mut open: BTreeMap<u32, (String, String)> = BTreeMap::new();
        let mut complete = Vec::new();
        let end = loop {
            let event = match stream.next().await.expect("a last event comes first") {
                RouterEvent::Event(event) => event,
                RouterEvent::Decided(_) | RouterEvent::Waiting { .. } => continue,
            };
            match event {
                StreamEvent::Restart => {
                    assert!(complete.is_empty(), "a complete call is running");
                    said.clear();
                    open.clear();
                }
                StreamEvent::TextDelta(text) => said.push_str(&text),
                StreamEvent::ToolStart { index, id, .. } => {
                    open.insert(index, (id, String::new()));
                }
                StreamEvent::ToolArgsDelta { index, fragment } => {
                    open.get_mut(&index).expect("begun").1.push_str(&fragment);
                }
                StreamEvent::ToolEnd { index } => {
                    let (id, arguments) = open.remove(&index).expect("begun");
                    done.push(format!("{id} {arguments}"));
                    complete.push((id, arguments));
                }
                StreamEvent::Stop { .. } => break Ok(()),
                StreamEvent::Failed(failure) => break Err(failure.class),
                _ => {}
            }
        };
        match (end, complete.is_empty()) {
            (Ok(()), true) => {
                return Outcome {
                    done,
                    end: Ok(said),
                };
            }
            (Err(class), true) => {
                return Outcome {
                    done,
                    end: Err(class),
                };
            }
            // Completed calls remain valid, whether or not the answer was complete.
            (_, false) => go_on(&mut request, said, complete),
        }
    }
    panic!("the task does not end");
}

fn go_on(request: &mut ModelRequest, said: String, complete: Vec<(String, String)>) {
    let mut parts = vec![MessagePart::text(said)];
    let mut results = Vec::new();
    for (id, arguments) in complete {
        parts.push(MessagePart::new(PartContent::ToolCall {
            id: id.clone(),
            name: "step".to_owned(),
            arguments,
        }));
        results.push(MessagePart::new(PartContent::ToolResult {
            call: id,
            content: vec![PartContent::Text("ok".to_owned())],
            is_error: false,
        }));
    }
    request.messages.push(Message::new(Role::Assistant, parts));
    request.messages.push(Message::new(Role::User, results));
}

fn faulty(seed: u64, faults: u32) -> (Faulty, Log) {
    let log = Log::default();
    let client = Faulty {
        random: Mutex::new(StdRng::seed_from_u64(seed)),
        left: Mutex::new(faults),
        log: log.clone(),
    };
    (client, log)
}

#[tokio::test(start_paused = true)]
async fn random_faults_recover_or_stop_with_a_class() {
    let (client, _) = faulty(0, 0);
    let router = Router::start(config(vec![route("test/one", client)]));
    let whole = run(&router).await;
    assert_eq!(
        (whole.done.len(), whole.end.as_deref()),
        (6, Ok(LAST_WORDS))
    );
    let mut stops: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 1..=SCHEDULES {
        let faults = (seed % 12) as u32;
        let (client, log) = faulty(seed, faults);
        let notes = Arc::new(Notes::default());
        let router = Router::start(RouterConfig {
            usage_store: notes.clone(),
            seed,
            ..config(vec![route("test/one", client)])
        });
        let outcome = run(&router).await;
        router.idle().await;
        assert_eq!(router.health().await[0].in_flight, 0, "seed {seed}");
        let log = log.lock().unwrap();
        match &outcome.end {
            Ok(_) => assert_eq!(outcome, whole, "seed {seed}: {log:?}"),
            Err(class) => {
                let done = whole.done.get(..outcome.done.len());
                assert_eq!(done, Some(outcome.done.as_slice()), "seed {seed}: {log:?}");
                assert_eq!(last_fault(&log), Some(*class), "seed {seed}: {log:?}");
                *stops.entry(format!("{class:?}")).or_default() += 1;
            }
        }
        assert_waits(seed, &log);
        let ended = notes.ended.lock().unwrap().len();
        assert_eq!(
            ended,
            log.len(),
            "seed {seed}: every request is in the book"
        );
        assert_eq!(notes.reserved.lock().unwrap().len(), ended, "seed {seed}");
    }
    let stopped: usize = stops.values().sum();
    println!("{stopped} of {SCHEDULES} stopped: {stops:?}");
    assert!(
        stopped < SCHEDULES as usize / 4,
        "most faults pass: {stops:?}"
    );
}

/// Returns the failure class that a stop must have: that of the last fault without recovery.
fn last_fault(log: &[(Instant, Option<Fault>)]) -> Option<FailureClass> {
    match log.last()?.1.as_ref()? {
        Fault::Refused(failure) => Some(failure.class),
        Fault::Cut(_, class) => Some(class.unwrap_or(FailureClass::Torn)),
        Fault::Stalled(_) => Some(FailureClass::Stalled),
        Fault::Slow(_) => None,
    }
}

/// Asserts that requested waits are kept within a tenth, and that an exhausted or locked route is
/// not asked again.
fn assert_waits(seed: u64, log: &[(Instant, Option<Fault>)]) {
    for (ix, (at, fault)) in log.iter().enumerate() {
        let Some(Fault::Refused(failure)) = fault else {
            continue;
        };
        let next = log.get(ix + 1);
        if matches!(
            failure.class,
            FailureClass::Quota | FailureClass::Authentication | FailureClass::ContextOverflow
        ) {
            assert!(
                next.is_none(),
                "seed {seed}: {:?} was sent again",
                failure.class
            );
        }
        if let (Some(wish), Some((next, _))) = (failure.retry_after, next) {
            let (took, wish) = ((*next - *at).as_secs_f64(), wish.as_secs_f64());
            assert!(
                (wish..=wish * 1.1).contains(&took),
                "seed {seed}: {took} s for {wish} s"
            );
        }
    }
}
