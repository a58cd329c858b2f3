//! Tests of attempt numbers and idempotency keys sent to providers.

use super::*;
use model::{Attempt, Fim};

/// Plays scripts, and records the attempt of each request.
#[derive(Clone, Default)]
struct Noting {
    scripted: ScriptedClient,
    tries: Arc<Mutex<Vec<Attempt>>>,
}

impl Noting {
    fn new(scripts: impl IntoIterator<Item = ResponseScript>) -> Self {
        Self {
            scripted: ScriptedClient::new(scripts),
            tries: Arc::default(),
        }
    }

    fn tries(&self) -> Vec<Attempt> {
        self.tries.lock().unwrap().clone()
    }

    /// Returns the number of retries of each request, after checking that all share one key.
    fn retries(&self) -> Vec<u32> {
        let tries = self.tries();
        let key = &tries[0].idempotency_key;
        assert!(!key.is_empty());
        assert!(
            tries.iter().all(|one| one.idempotency_key == *key),
            "{tries:?}"
        );
        tries.iter().map(|one| one.retries).collect()
    }
}

impl ModelClient for Noting {
    fn send(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        self.send_attempt(request, Attempt::default())
    }

    fn complete(&self, request: Fim) -> BoxStream<'static, StreamEvent> {
        self.complete_attempt(request, Attempt::default())
    }

    fn send_attempt(
        &self,
        request: ModelRequest,
        attempt: Attempt,
    ) -> BoxStream<'static, StreamEvent> {
        self.tries.lock().unwrap().push(attempt);
        self.scripted.send(request)
    }

    fn complete_attempt(&self, request: Fim, attempt: Attempt) -> BoxStream<'static, StreamEvent> {
        self.tries.lock().unwrap().push(attempt);
        self.scripted.complete(request)
    }
}

fn started(client: &Noting) -> RouterHandle {
    Router::start(config(vec![route("test/one", client.clone())]))
}

#[tokio::test(start_paused = true)]
async fn attempts_of_a_request_share_a_key_and_are_numbered() {
    let client = Noting::new([
        ResponseScript::fails(failure(FailureClass::Overloaded)),
        ResponseScript::fails(limited(1)),
        ResponseScript::events([start(), text("half")]),
        ResponseScript::text("whole"),
    ]);
    let answer = assemble(&events(started(&client).submit(ask("hi"))).await);
    assert_eq!((answer.text.as_str(), answer.restarts), ("whole", 1));
    assert_eq!(client.retries(), [0, 1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn equal_requests_have_different_keys() {
    let client = Noting::new((0..4).map(|_| ResponseScript::text("ok")));
    // Another router is another run of the program, which numbers its requests from the start as
    // well.
    for router in [started(&client), started(&client)] {
        for _ in 0..2 {
            events(router.submit(ask("hi"))).await;
        }
    }
    let tries = client.tries();
    assert!(tries.iter().all(|one| one.retries == 0), "{tries:?}");
    let mut keys: Vec<_> = tries.into_iter().map(|one| one.idempotency_key).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 4, "{keys:?}");
}

/// Another route receives another request: its model may differ, and a key identifies one body.
#[tokio::test(start_paused = true)]
async fn another_route_gets_another_key_and_numbering() {
    let first = Noting::new([ResponseScript::fails(failure(FailureClass::Quota))]);
    let second = Noting::new([
        ResponseScript::fails(failure(FailureClass::Overloaded)),
        ResponseScript::text("there"),
    ]);
    let mut other = route("test/one", second.clone());
    other.route.key = KeyName("SECOND_KEY".to_owned());
    let router = Router::start(config(vec![route("test/one", first.clone()), other]));
    assert_eq!(
        assemble(&events(router.submit(ask("hi"))).await).text,
        "there"
    );
    assert_eq!(first.retries(), [0]);
    assert_eq!(second.retries(), [0, 1]);
    let key = |client: &Noting| client.tries()[0].idempotency_key.clone();
    assert_ne!(key(&first), key(&second));
}

/// A server that knows the key would answer the hedge with the slow answer, or refuse it.
#[tokio::test(start_paused = true)]
async fn hedge_has_its_own_key() {
    let client = Noting::default();
    let router = started(&client);
    let gap = || {
        let fim = Fim::gap(model("test/one"), "let x = ", ";", TokenCount(32));
        RouterRequest::fim(fim, AgentId(0))
    };
    let after = |seconds| {
        ResponseScript::default()
            .then_until(tokio::time::sleep(Duration::from_secs_f64(seconds)))
            .then_events([start(), text("here"), stop()])
    };
    for _ in 0..25 {
        client.scripted.push_script(after(0.1));
        events(router.submit(gap())).await;
    }
    client.scripted.push_script(after(20.0));
    client.scripted.push_script(after(0.1));
    events(router.submit(gap())).await;
    let tries = client.tries();
    let [.., slow, twin] = tries.as_slice() else {
        panic!("{tries:?}");
    };
    assert_eq!(tries.len(), 27);
    assert_eq!((slow.retries, twin.retries), (0, 0));
    assert_ne!(slow.idempotency_key, twin.idempotency_key);
}
