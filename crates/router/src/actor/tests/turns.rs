//! Tests of request order: classes, followers, hedges, cancelled requests.

use super::*;
use model::{CacheMark, Fim, SystemBlock};
use tokio::sync::oneshot;

fn fim() -> Fim {
    Fim::gap(model("test/one"), "fn main() {", "}", TokenCount(64))
}

/// Creates a script that starts when its gate opens.
fn gated(answer: &str) -> (oneshot::Sender<()>, ResponseScript) {
    let (open, gate) = oneshot::channel();
    let script = ResponseScript::default()
        .then_until(async {
            // A gate whose sender is gone is open.
            gate.await.ok();
        })
        .then_events([start(), text(answer), used(100, 5), stop()]);
    (open, script)
}

async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn classes_are_served_in_order_and_tab_first() {
    let (open, first) = gated("first");
    let scripts = std::iter::once(first).chain((0..8).map(|_| ResponseScript::text("more")));
    let client = ScriptedClient::new(scripts);
    let one_at_once = RouteConfig {
        max_concurrency: 1,
        ..route("test/one", client.clone())
    };
    let router = Router::start(config(vec![one_at_once]));
    let mut tasks = Vec::new();
    let classes = [
        RequestClass::Turn,
        RequestClass::Background,
        RequestClass::Subagent,
        RequestClass::Turn,
    ];
    for (agent, class) in (1..).zip(classes) {
        let ask = RouterRequest::chat(request(&format!("{agent}")), caller(class, agent));
        tasks.push(tokio::spawn(events(router.submit(ask))));
        settle().await;
    }
    assert_eq!(client.requests().len(), 1, "the others wait");
    let tab = events(router.submit(RouterRequest::fim(fim(), AgentId(0)))).await;
    assert_eq!(assemble(&tab).text, "more");
    assert_eq!(client.fims().len(), 1);
    open.send(()).unwrap();
    for task in tasks {
        assemble(&task.await.unwrap());
    }
    let order: Vec<String> = client.requests().iter().map(said).collect();
    assert_eq!(order, ["1", "4", "3", "2"]);
}

fn said(request: &ModelRequest) -> String {
    match &request.messages[0].parts[0].content {
        model::PartContent::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn agents_of_a_class_alternate_regardless_of_demand() {
    let slow = |_| {
        let answer =
            ResponseScript::default().then_until(tokio::time::sleep(Duration::from_millis(50)));
        answer.then_events([start(), text("ok"), used(30, 1_000), stop()])
    };
    let client = ScriptedClient::new((0..40).map(slow));
    let one_at_once = RouteConfig {
        max_concurrency: 1,
        ..route("test/one", client.clone())
    };
    let router = Router::start(config(vec![one_at_once]));
    let mut tasks = Vec::new();
    // The first agent sends all its requests before the second one sends any.
    for agent in [1, 2] {
        for number in 0..20 {
            let ask = RouterRequest::chat(
                request(&format!("{agent} {number}")),
                caller(RequestClass::Subagent, agent),
            );
            tasks.push(tokio::spawn(events(router.submit(ask))));
        }
        settle().await;
    }
    for task in tasks {
        task.await.unwrap();
    }
    let order: Vec<String> = client.requests().iter().map(said).collect();
    let second = order
        .iter()
        .position(|said| said.starts_with("2 "))
        .unwrap();
    let of_second = order[second..]
        .iter()
        .take(16)
        .filter(|said| said.starts_with("2 "));
    let share = of_second.count();
    assert!((4..=12).contains(&share), "{share} of 16: {order:?}");
}

#[tokio::test(start_paused = true)]
async fn followers_wait_briefly_for_the_leaders_cache() {
    let (open, leader) = gated("leader");
    let scripts = std::iter::once(leader).chain((0..8).map(|_| ResponseScript::text("follower")));
    let client = ScriptedClient::new(scripts);
    let router = router(&client);
    let with_prefix = |text: &str| {
        let mut request = request(text);
        request.system.push(SystemBlock {
            text: "be brief. ".repeat(1_000),
            cache: CacheMark::Short,
        });
        RouterRequest::chat(request, caller(RequestClass::Turn, 1))
    };
    let mut tasks = Vec::new();
    for text in ["a", "b", "c"] {
        tasks.push(tokio::spawn(events(router.submit(with_prefix(text)))));
        settle().await;
    }
    assert_eq!(client.requests().len(), 1, "two follow");
    open.send(()).unwrap();
    settle().await;
    assert_eq!(client.requests().len(), 3, "the cache is written");
    for task in tasks {
        assemble(&task.await.unwrap());
    }

    // A silent leader delays them by a second and a half.
    let client = ScriptedClient::new([
        ResponseScript::default().then_silence(),
        ResponseScript::text("b"),
    ]);
    let slow = Router::start(config(vec![route("test/one", client.clone())]));
    let silent = tokio::spawn(events(slow.submit(with_prefix("a"))));
    settle().await;
    let begin = Instant::now();
    assemble(&events(slow.submit(with_prefix("b"))).await);
    let took = begin.elapsed().as_millis();
    assert!((1_490..=1_510).contains(&took), "{took} ms");
    silent.abort();
}

#[tokio::test(start_paused = true)]
async fn dropping_a_request_closes_its_socket_and_releases_holds() {
    let notes = Arc::new(Notes::default());
    let client =
        ScriptedClient::new([ResponseScript::events([start(), text("hel")]).then_silence()]);
    let router = Router::start(RouterConfig {
        usage_store: notes.clone(),
        ..config(vec![route("test/one", client.clone())])
    });
    let mut stream = router.submit(ask("hi"));
    while !matches!(
        stream.next().await,
        Some(RouterEvent::Event(StreamEvent::TextDelta(_)))
    ) {}
    assert_eq!(client.open(), 1);
    drop(stream);
    assert_eq!(
        (client.open(), client.cancelled()),
        (0, 1),
        "without a step of the clock"
    );
    router.idle().await;
    assert_eq!(router.health().await[0].in_flight, 0);
    let ended = notes.ended.lock().unwrap();
    assert_eq!(ended[0].failure, Some(FailureClass::Cancelled));
    assert!(
        ended[0].is_estimate && ended[0].usage.output.0 > 0,
        "{ended:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn request_dropped_while_queued_is_never_sent() {
    let (_open, first) = gated("first");
    let client = ScriptedClient::new([first, ResponseScript::text("second")]);
    let one_at_once = RouteConfig {
        max_concurrency: 1,
        ..route("test/one", client.clone())
    };
    let router = Router::start(config(vec![one_at_once]));
    let first = tokio::spawn(events(router.submit(ask("a"))));
    settle().await;
    let second = tokio::spawn(events(router.submit(ask("b"))));
    settle().await;
    second.abort();
    first.abort();
    router.idle().await;
    assert_eq!(client.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn slow_completion_is_hedged_and_the_faster_wins() {
    let quick = || {
        ResponseScript::default()
            .then_until(tokio::time::sleep(Duration::from_millis(100)))
            .then_events([start(), text("quick"), stop()])
    };
    let slow = ResponseScript::default()
        .then_until(tokio::time::sleep(Duration::from_secs(20)))
        .then_events([start(), text("slow"), stop()]);
    let client = ScriptedClient::default();
    let router = router(&client);
    for _ in 0..25 {
        client.push_script(quick());
        assemble(&events(router.submit(RouterRequest::fim(fim(), AgentId(0)))).await);
    }
    assert_eq!(client.fims().len(), 25, "none was slow");
    client.push_script(slow);
    client.push_script(quick());
    let begin = Instant::now();
    let hedged = assemble(&events(router.submit(RouterRequest::fim(fim(), AgentId(0)))).await);
    assert_eq!(hedged.text, "quick");
    assert!(
        begin.elapsed() < Duration::from_millis(300),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(
        (client.fims().len(), client.cancelled(), client.open()),
        (27, 1, 0)
    );
    router.idle().await;
    assert_eq!(router.health().await[0].in_flight, 0);

    // A turn is never hedged.
    client.push_script(
        ResponseScript::default()
            .then_until(tokio::time::sleep(Duration::from_secs(20)))
            .then_events([start(), text("slow"), stop()]),
    );
    assemble(&events(router.submit(ask("hi"))).await);
    assert_eq!(client.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn unused_grant_is_released() {
    let client = ScriptedClient::new((0..30).map(|_| ResponseScript::text("ok")));
    let notes = Arc::new(Notes::default());
    let router = Router::start(RouterConfig {
        usage_store: notes.clone(),
        ..config(vec![route("test/one", client.clone())])
    });
    // Submitted, granted, and dropped before the stream was polled.
    let mut stream = router.submit(ask("hi"));
    assert!(futures::poll!(stream.next()).is_pending());
    settle().await;
    drop(stream);
    router.idle().await;
    assert_eq!(client.requests().len(), 0);
    let unsent = notes.ended.lock().unwrap()[0].clone();
    assert_eq!(
        (unsent.usage.total(), unsent.failure),
        (TokenCount(0), Some(FailureClass::Cancelled))
    );

    // The same for a hedge granted at the moment in which the slow request answers.
    for _ in 0..20 {
        assemble(&events(router.submit(RouterRequest::fim(fim(), AgentId(0)))).await);
    }
    for _ in 0..8 {
        let mut stream = router.submit(RouterRequest::fim(fim(), AgentId(0)));
        while !matches!(stream.next().await, Some(RouterEvent::Event(_))) {}
        drop(stream);
    }
    router.idle().await;
    assert_eq!(router.health().await[0].in_flight, 0);
}
