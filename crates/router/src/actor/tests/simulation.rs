//! Simulates hours of many agents at a provider with limits: no starvation, no overspending, no
//! delay for Tab.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::stream;
use model::policy::Cap;
use model::{Cost, Fim, RateLimit, RateLimits};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

const REQUESTS_A_MINUTE: u64 = 60;
const TOKENS_A_MINUTE: u64 = 60_000;
const HOURS: u64 = 6;

/// A provider that enforces limits on requests and tokens per minute.
#[derive(Clone)]
struct Counting {
    window: Arc<Mutex<Window>>,
    refused: Arc<AtomicU64>,
    random: Arc<Mutex<StdRng>>,
}

struct Window {
    begin: Instant,
    requests: u64,
    tokens: u64,
}

impl Counting {
    fn new(seed: u64) -> Self {
        Self {
            window: Arc::new(Mutex::new(Window {
                begin: Instant::now(),
                requests: 0,
                tokens: 0,
            })),
            refused: Arc::default(),
            random: Arc::new(Mutex::new(StdRng::seed_from_u64(seed))),
        }
    }

    fn answer(&self, input: u64, most: u64) -> BoxStream<'static, StreamEvent> {
        let (written, seconds) = {
            let mut random = self.random.lock().unwrap();
            let written = random.random_range(1..=most);
            (written, random.random_range(0.2..4.0))
        };
        let mut window = self.window.lock().unwrap();
        if window.begin.elapsed() >= Duration::from_secs(60) {
            window.begin = Instant::now();
            (window.requests, window.tokens) = (0, 0);
        }
        let left = Duration::from_secs(60).saturating_sub(window.begin.elapsed());
        let tokens = window.tokens + input + written;
        if window.requests + 1 > REQUESTS_A_MINUTE || tokens > TOKENS_A_MINUTE {
            self.refused.fetch_add(1, Ordering::Relaxed);
            let failure = Failure {
                retry_after: Some(left),
                ..failure(FailureClass::RateLimited)
            };
            return stream::iter([StreamEvent::Failed(failure)]).boxed();
        }
        window.requests += 1;
        window.tokens = tokens;
        let part = |limit: u64, used: u64| RateLimit {
            limit: Some(TokenCount(limit)),
            remaining: Some(TokenCount(limit - used)),
            reset: Some(left),
        };
        let limits = StreamEvent::RateLimits(RateLimits {
            requests: part(REQUESTS_A_MINUTE, window.requests),
            input_tokens: part(TOKENS_A_MINUTE, window.tokens),
            ..RateLimits::default()
        });
        let wait = tokio::time::sleep(Duration::from_secs_f64(seconds));
        let wait = stream::once(wait).filter_map(|()| async { None });
        let rest = [start(), text("words"), used(input, written), stop()];
        stream::iter([limits])
            .chain(wait)
            .chain(stream::iter(rest))
            .boxed()
    }
}

impl ModelClient for Counting {
    fn send(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let input = super::super::RequestSize::of(&super::super::RequestPayload::Chat(Box::new(
            request.clone(),
        )));
        self.answer(input.demand.input.0 * 9 / 10, request.max_output.0)
    }

    fn complete(&self, request: Fim) -> BoxStream<'static, StreamEvent> {
        self.answer(100, request.max_output.0)
    }
}

/// Waiting times of each class in seconds, and outcomes of its requests.
#[derive(Default)]
struct Tally {
    waits: BTreeMap<RequestClass, Vec<f64>>,
    refused: BTreeMap<u64, u64>,
    answered: BTreeMap<u64, u64>,
}

impl Tally {
    fn note(&mut self, class: RequestClass, agent: u64, sent: Option<f64>, is_refused: bool) {
        let counts = if is_refused {
            &mut self.refused
        } else {
            &mut self.answered
        };
        *counts.entry(agent).or_default() += 1;
        if !is_refused {
            self.waits.entry(class).or_default().extend(sent);
        }
    }
}

async fn agent(router: RouterHandle, number: u64, class: RequestClass, tally: Arc<Mutex<Tally>>) {
    let mut random = StdRng::seed_from_u64(number);
    let end = Instant::now() + Duration::from_secs(HOURS * 3600);
    while Instant::now() < end {
        let mut request = request(&"word ".repeat(random.random_range(10..2_000)));
        request.max_output = TokenCount(random.random_range(50..3_000));
        let asked = Instant::now();
        let mut stream = router.submit(RouterRequest::chat(request, caller(class, number)));
        let mut sent = None;
        let mut is_refused = false;
        while let Some(event) = stream.next().await {
            match event {
                // It arrives with permission to send.
                RouterEvent::Decided(_) => sent = Some(asked.elapsed().as_secs_f64()),
                RouterEvent::Event(StreamEvent::Failed(failure)) => {
                    assert_eq!(failure.class, FailureClass::Budget, "{failure}");
                    is_refused = true;
                }
                _ => {}
            }
        }
        tally.lock().unwrap().note(class, number, sent, is_refused);
        if is_refused {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        tokio::time::sleep(Duration::from_secs_f64(random.random_range(0.0..3.0))).await;
    }
}

async fn typist(router: RouterHandle, tally: Arc<Mutex<Tally>>) {
    let mut random = StdRng::seed_from_u64(99);
    let end = Instant::now() + Duration::from_secs(HOURS * 3600);
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_secs_f64(random.random_range(1.0..20.0))).await;
        let fim = Fim::gap(model("test/tab"), "let x = ", ";", TokenCount(32));
        let asked = Instant::now();
        let mut stream = router.submit(RouterRequest::fim(fim, AgentId(0)));
        while let Some(event) = stream.next().await {
            if let RouterEvent::Decided(_) = event {
                let wait = asked.elapsed().as_secs_f64();
                tally
                    .lock()
                    .unwrap()
                    .waits
                    .entry(RequestClass::Tab)
                    .or_default()
                    .push(wait);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn hours_of_twenty_agents_at_a_limited_provider() {
    let provider = Counting::new(3);
    let notes = Arc::new(Notes::default());
    // One route for the agents' requests and another for completions, as with a small model for
    // Tab.
    let routes = vec![
        route("test/one", provider.clone()),
        route("test/tab", Counting::new(4)),
    ];
    let mut config = config(routes);
    config.usage_store = notes.clone();
    config.caps.agent = Cap {
        cost: Some(Cost::dollars(2)),
        tokens: None,
    };
    let router = Router::start(config);
    let tally = Arc::new(Mutex::new(Tally::default()));
    let mut tasks = vec![tokio::spawn(typist(router.clone(), tally.clone()))];
    for number in 1..=20 {
        let class = match number {
            1..=4 => RequestClass::Turn,
            5..=16 => RequestClass::Subagent,
            _ => RequestClass::Background,
        };
        tasks.push(tokio::spawn(agent(
            router.clone(),
            number,
            class,
            tally.clone(),
        )));
    }
    for task in tasks {
        task.await.unwrap();
    }
    router.idle().await;
    let mut spent: BTreeMap<u64, u64> = BTreeMap::new();
    for call in notes.ended.lock().unwrap().iter() {
        *spent.entry(call.caller.agent.0).or_default() += call.cost.expect("a price").0;
    }
    let tally = tally.lock().unwrap();
    for (agent, spent) in &spent {
        assert!(
            *spent <= Cost::dollars(2).0,
            "agent {agent} spent {}",
            Cost(*spent)
        );
    }
    for number in 1..=20 {
        assert!(
            tally.answered[&number] >= 20,
            "agent {number} starved: {:?}",
            tally.answered
        );
    }
    let worst = |class| tally.waits[&class].iter().copied().fold(0.0, f64::max);
    let asked: u64 = tally.answered.values().sum();
    let refused = provider.refused.load(Ordering::Relaxed);
    println!(
        "{HOURS} h: {asked} answers, {refused} refused by the provider; worst waits {:.3} s Tab, {:.1} s turns, \
         {:.1} s subagents, {:.1} s background",
        worst(RequestClass::Tab),
        worst(RequestClass::Turn),
        worst(RequestClass::Subagent),
        worst(RequestClass::Background),
    );
    assert!(
        worst(RequestClass::Tab) < 0.005,
        "{}",
        worst(RequestClass::Tab)
    );
    assert!(
        worst(RequestClass::Turn) < 240.0,
        "{}",
        worst(RequestClass::Turn)
    );
    assert!(
        worst(RequestClass::Background) < 1_800.0,
        "{}",
        worst(RequestClass::Background)
    );
    assert!(
        refused * 20 < asked,
        "the ledger foresees nearly all refusals: {refused} of {asked}"
    );
    let subagents = (5..=16).map(|number| tally.answered[&number]);
    let (least, most) = (subagents.clone().min(), subagents.max());
    println!("answers of a subagent: {least:?} to {most:?}");
    let spent_up = tally.refused.len();
    println!("{spent_up} of 20 agents came to the end of their budget");
    assert!(spent_up > 0, "the budget was put to the test");
}
