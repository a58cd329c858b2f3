//! Whose turn it is: classes, followers, hedges, cancelled questions.

use super::*;
use model::{CacheMark, Fim, Sampling, SystemBlock};
use tokio::sync::oneshot;

fn fim() -> Fim {
    Fim::gap(model("test/one"), "fn main() {", "}", TokenCount(64))
}

/// A script that begins when its gate opens.
fn gated(answer: &str) -> (oneshot::Sender<()>, Script) {
    let (open, gate) = oneshot::channel();
    let script = Script::default()
        .then_until(async {
            // A gate whose keeper is gone stands open.
            gate.await.ok();
        })
        .then_events([start(), text(answer), used(100, 5), stop()]);
    (open, script)
}

async fn settle() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn classes_go_in_order_and_tab_waits_for_nobody() {
    let (open, first) = gated("first");
    let scripts = std::iter::once(first).chain((0..8).map(|_| Script::text("more")));
    let client = ScriptedClient::new(scripts);
    let one_at_once = LaneConfig {
        most_at_once: 1,
        ..lane("test/one", client.clone())
    };
    let router = Router::start(config(vec![one_at_once]));
    let mut tasks = Vec::new();
    let classes = [Class::Turn, Class::Background, Class::Subagent, Class::Turn];
    for (agent, class) in (1..).zip(classes) {
        let ask = Ask::chat(request(&format!("{agent}")), caller(class, agent));
        tasks.push(tokio::spawn(events(router.submit(ask))));
        settle().await;
    }
    assert_eq!(client.requests().len(), 1, "the others wait");
    let tab = events(router.submit(Ask::fim(fim(), AgentId(0)))).await;
    assert_eq!(heard(&tab).text, "more");
    assert_eq!(client.fims().len(), 1);
    open.send(()).unwrap();
    for task in tasks {
        heard(&task.await.unwrap());
    }
    let order: Vec<String> = client.requests().iter().map(said).collect();
    assert_eq!(order, ["1", "4", "3", "2"]);
}

fn said(request: &Request) -> String {
    match &request.messages[0].parts[0].content {
        model::Content::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn agents_of_a_class_take_turns_however_much_each_asks() {
    let slow = |_| {
        let answer = Script::default().then_until(tokio::time::sleep(Duration::from_millis(50)));
        answer.then_events([start(), text("ok"), used(30, 1_000), stop()])
    };
    let client = ScriptedClient::new((0..40).map(slow));
    let one_at_once = LaneConfig {
        most_at_once: 1,
        ..lane("test/one", client.clone())
    };
    let router = Router::start(config(vec![one_at_once]));
    let mut tasks = Vec::new();
    // The first agent comes with all its questions before the second has one.
    for agent in [1, 2] {
        for number in 0..20 {
            let ask = Ask::chat(
                request(&format!("{agent} {number}")),
                caller(Class::Subagent, agent),
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
async fn followers_wait_for_the_cache_of_their_leader_but_not_for_long() {
    let (open, leader) = gated("leader");
    let scripts = std::iter::once(leader).chain((0..8).map(|_| Script::text("follower")));
    let client = ScriptedClient::new(scripts);
    let router = router(&client);
    let with_prefix = |text: &str| {
        let mut request = request(text);
        request.system.push(SystemBlock {
            text: "be brief. ".repeat(1_000),
            cache: CacheMark::Short,
        });
        Ask::chat(request, caller(Class::Turn, 1))
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
        heard(&task.await.unwrap());
    }

    // A leader that is silent holds them up for a second and a half.
    let client = ScriptedClient::new([Script::default().then_silence(), Script::text("b")]);
    let slow = Router::start(config(vec![lane("test/one", client.clone())]));
    let silent = tokio::spawn(events(slow.submit(with_prefix("a"))));
    settle().await;
    let begin = Instant::now();
    heard(&events(slow.submit(with_prefix("b"))).await);
    let took = begin.elapsed().as_millis();
    assert!((1_490..=1_510).contains(&took), "{took} ms");
    silent.abort();
}

#[tokio::test(start_paused = true)]
async fn a_dropped_question_closes_its_socket_at_once_and_gives_back_what_was_held() {
    let notes = Arc::new(Notes::default());
    let client = ScriptedClient::new([Script::events([start(), text("hel")]).then_silence()]);
    let router = Router::start(RouterConfig {
        book: notes.clone(),
        ..config(vec![lane("test/one", client.clone())])
    });
    let mut told = router.submit(ask("hi"));
    while !matches!(told.next().await, Some(Told::Event(Event::TextDelta(_)))) {}
    assert_eq!(client.open(), 1);
    drop(told);
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
async fn a_question_dropped_while_it_waits_is_never_sent() {
    let (_open, first) = gated("first");
    let client = ScriptedClient::new([first, Script::text("second")]);
    let one_at_once = LaneConfig {
        most_at_once: 1,
        ..lane("test/one", client.clone())
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
async fn a_slow_completion_gets_a_twin_and_the_faster_of_the_two_wins() {
    let quick = || {
        Script::default()
            .then_until(tokio::time::sleep(Duration::from_millis(100)))
            .then_events([start(), text("quick"), stop()])
    };
    let slow = Script::default()
        .then_until(tokio::time::sleep(Duration::from_secs(20)))
        .then_events([start(), text("slow"), stop()]);
    let client = ScriptedClient::default();
    let router = router(&client);
    for _ in 0..25 {
        client.then(quick());
        heard(&events(router.submit(Ask::fim(fim(), AgentId(0)))).await);
    }
    assert_eq!(client.fims().len(), 25, "none was slow");
    client.then(slow);
    client.then(quick());
    let begin = Instant::now();
    let heard_twin = heard(&events(router.submit(Ask::fim(fim(), AgentId(0)))).await);
    assert_eq!(heard_twin.text, "quick");
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

    // A turn is never asked twice.
    client.then(
        Script::default()
            .then_until(tokio::time::sleep(Duration::from_secs(20)))
            .then_events([start(), text("slow"), stop()]),
    );
    heard(&events(router.submit(ask("hi"))).await);
    assert_eq!(client.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn leave_that_nobody_takes_is_given_back() {
    let client = ScriptedClient::new((0..30).map(|_| Script::text("ok")));
    let notes = Arc::new(Notes::default());
    let router = Router::start(RouterConfig {
        book: notes.clone(),
        ..config(vec![lane("test/one", client.clone())])
    });
    // Asked, granted, and dropped before the stream looked.
    let mut told = router.submit(ask("hi"));
    assert!(futures::poll!(told.next()).is_pending());
    settle().await;
    drop(told);
    router.idle().await;
    assert_eq!(client.requests().len(), 0);
    let unsent = notes.ended.lock().unwrap()[0].clone();
    assert_eq!(
        (unsent.usage.total(), unsent.failure),
        (TokenCount(0), Some(FailureClass::Cancelled))
    );

    // The same for a twin that is granted in the moment in which the slow one answers.
    for _ in 0..20 {
        heard(&events(router.submit(Ask::fim(fim(), AgentId(0)))).await);
    }
    for _ in 0..8 {
        let mut told = router.submit(Ask::fim(fim(), AgentId(0)));
        while !matches!(told.next().await, Some(Told::Event(_))) {}
        drop(told);
    }
    router.idle().await;
    assert_eq!(router.health().await[0].in_flight, 0);
}
