//! Two thousand ways for a task to go wrong: it ends as it would have without faults, or it stops with a class.
//!
//! The model below works through a plan of tool calls and says a word at the end; what it does next follows from
//! the results that it sees, as with a real one. The turn around it starts each call the moment it is complete,
//! which is the harshest reading of the contract: whatever is told twice is done twice.

use std::collections::BTreeMap;

use futures::stream;
use model::{Content, Fim, Part};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

const SCHEDULES: u64 = 2_000;
/// Calls of each answer.
const PLAN: [u32; 4] = [2, 1, 0, 3];
const LAST_WORDS: &str = "done, all of it";

/// What goes wrong with one request.
#[derive(Clone, Debug)]
enum Fault {
    Refused(Failure),
    /// After so many events: with these last words of the provider, or without any.
    Cut(usize, Option<FailureClass>),
    Stalled(usize),
    Slow(Duration),
}

/// When each request came, and what went wrong with it.
type Log = Arc<Mutex<Vec<(Instant, Option<Fault>)>>>;

/// A model at a provider that fails by chance.
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

impl Client for Faulty {
    fn send(&self, request: Request) -> BoxStream<'static, Event> {
        let fault = self.fault();
        self.log
            .lock()
            .unwrap()
            .push((Instant::now(), fault.clone()));
        let answer = answer(&request);
        match fault {
            None => stream::iter(answer).boxed(),
            Some(Fault::Refused(failure)) => stream::iter([Event::Failed(failure)]).boxed(),
            Some(Fault::Cut(at, class)) => {
                // Never behind the end: that would be no fault.
                let at = at.min(answer.len() - 1);
                let failed = class.map(|class| Event::Failed(failure(class)));
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

    fn complete(&self, _: Fim) -> BoxStream<'static, Event> {
        stream::iter([Event::Failed(failure(FailureClass::NoSuchModel))]).boxed()
    }
}

/// What the model says: the calls of the first step that are not answered yet, or its last words.
fn answer(request: &Request) -> Vec<Event> {
    let answered = request.messages.iter().flat_map(|message| &message.parts);
    let answered = answered.filter(|part| matches!(part.content, Content::ToolResult { .. }));
    let mut answered = answered.count() as u32;
    let mut first = 0;
    let mut events = vec![start(), text("let me "), text("see")];
    for (step, calls) in PLAN.into_iter().enumerate() {
        if calls > 0 && answered < calls {
            for (index, number) in (first + answered..first + calls).enumerate() {
                let index = index as u32;
                events.extend([
                    Event::ToolStart {
                        index,
                        id: format!("call-{number}"),
                        name: format!("step-{step}"),
                    },
                    Event::ToolArgsDelta {
                        index,
                        fragment: "{\"number\":".to_owned(),
                    },
                    Event::ToolArgsDelta {
                        index,
                        fragment: format!("{number}}}"),
                    },
                    Event::ToolEnd { index },
                ]);
            }
            events.push(used(500, 50));
            events.push(Event::Stop {
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

/// What a task did to the world, and how it ended.
#[derive(Debug, PartialEq)]
struct Outcome {
    done: Vec<String>,
    end: Result<String, FailureClass>,
}

/// A turn as an agent runs it, reduced to what the contract asks of it.
async fn run(router: &RouterHandle) -> Outcome {
    let mut request = request("do it");
    request.conversation = Some("task".to_owned());
    let mut done = Vec::new();
    for _ in 0..40 {
        let ask = Ask::chat(request.clone(), caller(Class::Turn, 1));
        let mut told = router.submit(ask);
        let mut said = String::new();
        let mut open: BTreeMap<u32, (String, String)> = BTreeMap::new();
        let mut complete = Vec::new();
        let end = loop {
            let event = match told.next().await.expect("a last event comes first") {
                Told::Event(event) => event,
                Told::Decided(_) | Told::Waiting { .. } => continue,
            };
            match event {
                Event::Restart => {
                    assert!(complete.is_empty(), "a complete call is running");
                    said.clear();
                    open.clear();
                }
                Event::TextDelta(text) => said.push_str(&text),
                Event::ToolStart { index, id, .. } => {
                    open.insert(index, (id, String::new()));
                }
                Event::ToolArgsDelta { index, fragment } => {
                    open.get_mut(&index).expect("begun").1.push_str(&fragment);
                }
                Event::ToolEnd { index } => {
                    let (id, arguments) = open.remove(&index).expect("begun");
                    done.push(format!("{id} {arguments}"));
                    complete.push((id, arguments));
                }
                Event::Stop { .. } => break Ok(()),
                Event::Failed(failure) => break Err(failure.class),
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
            // What was completed stands, whether or not the answer came to its end.
            (_, false) => go_on(&mut request, said, complete),
        }
    }
    panic!("the task does not end");
}

fn go_on(request: &mut Request, said: String, complete: Vec<(String, String)>) {
    let mut parts = vec![Part::text(said)];
    let mut results = Vec::new();
    for (id, arguments) in complete {
        parts.push(Part::new(Content::ToolCall {
            id: id.clone(),
            name: "step".to_owned(),
            arguments,
        }));
        results.push(Part::new(Content::ToolResult {
            call: id,
            content: vec![Content::Text("ok".to_owned())],
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
async fn two_thousand_schedules_end_as_without_faults_or_with_a_class() {
    let (client, _) = faulty(0, 0);
    let router = Router::start(config(vec![lane("test/one", client)]));
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
            book: notes.clone(),
            seed,
            ..config(vec![lane("test/one", client)])
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

/// The class that a stop must have: that of the last fault that was not borne.
fn last_fault(log: &[(Instant, Option<Fault>)]) -> Option<FailureClass> {
    match log.last()?.1.as_ref()? {
        Fault::Refused(failure) => Some(failure.class),
        Fault::Cut(_, class) => Some(class.unwrap_or(FailureClass::Torn)),
        Fault::Stalled(_) => Some(FailureClass::Stalled),
        Fault::Slow(_) => None,
    }
}

/// A wish to wait is kept within a tenth, and what is used up or locked is not asked again.
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
