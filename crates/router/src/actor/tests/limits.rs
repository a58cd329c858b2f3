//! Tests of providers' limits, the user's budgets, and unhealthy routes.

use super::*;
use futures::stream;
use model::policy::Cap;
use model::{Cost, Fim, RateLimit, RateLimits};

#[tokio::test(start_paused = true)]
async fn requested_wait_is_kept_within_a_tenth() {
    for seconds in [1, 3, 20, 90] {
        let client = ScriptedClient::new([
            ResponseScript::fails(limited(seconds)),
            ResponseScript::text("there"),
        ]);
        let begin = Instant::now();
        let answer = assemble(&events(router(&client).submit(ask("hi"))).await);
        assert_eq!(answer.text, "there");
        let (took, wish) = (begin.elapsed().as_secs_f64(), seconds as f64);
        assert!((wish..=wish * 1.1).contains(&took), "{took} s for {wish} s");
    }
}

#[tokio::test(start_paused = true)]
async fn limited_route_blocks_all_its_requests() {
    let scripts = std::iter::once(ResponseScript::fails(limited(30)));
    let client = ScriptedClient::new(scripts.chain((0..10).map(|_| ResponseScript::text("there"))));
    let router = router(&client);
    let first = tokio::spawn(events(router.submit(ask("a"))));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let begin = Instant::now();
    let mut tasks: Vec<_> = (0..9)
        .map(|agent| {
            let ask = RouterRequest::chat(request("b"), caller(RequestClass::Subagent, agent));
            tokio::spawn(events(router.submit(ask)))
        })
        .collect();
    tasks.push(first);
    tokio::time::sleep(Duration::from_secs(28)).await;
    assert_eq!(client.requests().len(), 1, "it asked for 30 s");
    for task in tasks {
        assert_eq!(assemble(&task.await.unwrap()).text, "there");
    }
    assert!(
        begin.elapsed() < Duration::from_secs(32),
        "{:?}",
        begin.elapsed()
    );
}

/// Answers every request at once, within its maximum output.
struct Prompt;

impl ModelClient for Prompt {
    fn send(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let used = used(20, request.max_output.0);
        stream::iter([start(), text("ok"), used, stop()]).boxed()
    }

    fn complete(&self, _: Fim) -> BoxStream<'static, StreamEvent> {
        stream::empty().boxed()
    }
}

fn of_size(agent: u64, most: u64) -> RouterRequest {
    let mut request = request("hi");
    request.max_output = TokenCount(most);
    RouterRequest::chat(request, caller(RequestClass::Turn, agent))
}

/// Small requests take capacity as soon as the limit admits them; a large one needs nearly all of
/// it.
#[tokio::test(start_paused = true)]
async fn small_requests_do_not_starve_a_large_one() {
    let mut narrow = route("test/one", Prompt);
    narrow.limits.input_tokens = Some(TokenCount(6_000));
    let router = Router::start(config(vec![narrow]));
    let small: Vec<_> = (2..6)
        .map(|agent| {
            let router = router.clone();
            tokio::spawn(async move {
                loop {
                    assemble(&events(router.submit(of_size(agent, 200))).await);
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_secs(30)).await;
    let begin = Instant::now();
    let large = tokio::spawn(events(router.submit(of_size(1, 5_000))));
    let answer = tokio::time::timeout(Duration::from_secs(20 * 60), large).await;
    let answer = answer.expect("it starves").unwrap();
    assert_eq!(assemble(&answer).text, "ok");
    // It is overtaken for a minute, and the limit refills within another.
    let took = begin.elapsed().as_secs();
    assert!((60..=120).contains(&took), "{took} s");
    for task in small {
        task.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn headers_delay_requests_that_would_be_refused() {
    let limits = StreamEvent::RateLimits(RateLimits {
        requests: RateLimit {
            limit: Some(TokenCount(10)),
            remaining: Some(TokenCount(0)),
            reset: Some(Duration::from_secs(40)),
        },
        ..RateLimits::default()
    });
    let client = ScriptedClient::new([
        ResponseScript::events([limits, start(), text("one"), stop()]),
        ResponseScript::text("two"),
    ]);
    let router = router(&client);
    let first = events(router.submit(ask("a"))).await;
    assert_eq!(
        first[0],
        start(),
        "the limits are the router's own business"
    );
    let begin = Instant::now();
    assemble(&events(router.submit(ask("b"))).await);
    let took = begin.elapsed().as_secs_f64();
    assert!(
        (3.9..=6.1).contains(&took),
        "a tenth of the bucket: {took} s"
    );
}

#[tokio::test(start_paused = true)]
async fn budget_refuses_before_sending_and_states_the_remedy() {
    let client = ScriptedClient::new([ResponseScript::text("hello")]);
    let notes = Arc::new(Notes::default());
    let mut config = config(vec![route("test/one", client.clone())]);
    // A thousand output tokens cost at most a cent.
    config.caps.turn.cost = Some(Cost(5_000_000));
    config.usage_store = notes.clone();
    let router = Router::start(config);
    let all = events(router.submit(ask("hi"))).await;
    let [StreamEvent::Failed(failure)] = all.as_slice() else {
        panic!("{all:?}");
    };
    assert_eq!(failure.class, FailureClass::Budget);
    assert!(failure.message.contains("raise the budget"), "{failure}");
    assert_eq!(client.requests().len(), 0);
    router
        .set_caps(Caps {
            turn: Cap {
                cost: Some(Cost::dollars(1)),
                tokens: None,
            },
            ..Caps::default()
        })
        .await;
    assert_eq!(
        assemble(&events(router.submit(ask("hi"))).await).text,
        "hello"
    );
    router.idle().await;
    let ended = notes.ended.lock().unwrap();
    assert_eq!(ended[0].cost, price().cost(&ended[0].usage));
    assert_eq!(notes.reserved.lock().unwrap()[0].call, ended[0].call);
}

#[tokio::test(start_paused = true)]
async fn parallel_requests_wait_for_budget_holds() {
    let client = ScriptedClient::new((0..6).map(|_| ResponseScript::text("hello")));
    let mut config = config(vec![route("test/one", client.clone())]);
    // Capacity for one request at its maximum; each turns out to cost a hundredth.
    config.caps.agent.cost = Some(Cost(12_000_000));
    let router = Router::start(config);
    let tasks: Vec<_> = (0..6)
        .map(|_| tokio::spawn(events(router.submit(ask("hi")))))
        .collect();
    for task in tasks {
        assert_eq!(assemble(&task.await.unwrap()).text, "hello");
    }
}

#[tokio::test(start_paused = true)]
async fn spending_of_other_runs_counts_and_must_be_readable() {
    let client = ScriptedClient::new([ResponseScript::text("hello")]);
    let notes = Arc::new(Notes::default());
    let spent = |dollars| Spend {
        cost: Some(Cost::dollars(dollars)),
        tokens: TokenCount(1),
    };
    *notes.others.lock().unwrap() = Some(Ok(spent(5)));
    let mut config = config(vec![route("test/one", client.clone())]);
    config.caps.day.cost = Some(Cost::dollars(5));
    config.usage_store = notes.clone();
    let router = Router::start(config);
    let all = events(router.submit(ask("hi"))).await;
    assert_eq!(assemble(&all).end, Some(Err(FailureClass::Budget)));
    *notes.others.lock().unwrap() = Some(Err(Error::UsageStore("the disk is gone".to_owned())));
    tokio::time::sleep(Duration::from_secs(11)).await;
    // The first request after the pause has the store read again; the result applies to the next.
    events(router.submit(ask("hi"))).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let all = events(router.submit(ask("hi"))).await;
    let Some(StreamEvent::Failed(failure)) = all.last() else {
        panic!("{all:?}");
    };
    assert!(failure.message.contains("the disk is gone"), "{failure}");
    assert_eq!(client.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn another_route_to_the_same_model_takes_over() {
    let broke = ScriptedClient::new([ResponseScript::fails(failure(FailureClass::Quota))]);
    let well = ScriptedClient::new([
        ResponseScript::text("from the other"),
        ResponseScript::text("again"),
    ]);
    let mut second = route("test/one", well.clone());
    second.route.key = KeyName("SECOND_KEY".to_owned());
    let router = Router::start(config(vec![route("test/one", broke.clone()), second]));
    let routed: Vec<RouterEvent> = router.submit(ask("hi")).collect().await;
    let chosen: Vec<_> = routed
        .iter()
        .filter_map(|event| match event {
            RouterEvent::Decided(decision) => decision.chosen.clone(),
            _ => None,
        })
        .map(|route| route.key.0)
        .collect();
    assert_eq!(chosen, ["", "SECOND_KEY"]);
    // The next request does not try the route with the exhausted quota.
    let answer = assemble(&events(router.submit(ask("hi"))).await);
    assert_eq!(answer.text, "again");
    assert_eq!(broke.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn repeatedly_failing_route_is_paused() {
    let client = ScriptedClient::new(
        (0..5).map(|_| ResponseScript::fails(failure(FailureClass::ServerError))),
    );
    let router = Router::start(RouterConfig {
        retry_alone: Retry::default(),
        ..config(vec![route("test/one", client.clone())])
    });
    let all = events(router.submit(ask("a"))).await;
    assert_eq!(assemble(&all).end, Some(Err(FailureClass::ServerError)));
    assert_eq!(router.health().await[0].failure_ratio, 1.0);
    client.push_script(ResponseScript::text("well again"));
    let begin = Instant::now();
    assert_eq!(
        assemble(&events(router.submit(ask("b"))).await).text,
        "well again"
    );
    let took = begin.elapsed().as_secs();
    assert!((14..=15).contains(&took), "{took} s");
}
