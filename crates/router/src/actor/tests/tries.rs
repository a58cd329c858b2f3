//! What a provider is told of the tries of one question.

use super::*;
use model::{Attempt, Fim};

/// Plays scripts, and notes which try each request is said to be.
#[derive(Clone, Default)]
struct Noting {
    scripted: ScriptedClient,
    tries: Arc<Mutex<Vec<Attempt>>>,
}

impl Noting {
    fn new(scripts: impl IntoIterator<Item = Script>) -> Self {
        Self {
            scripted: ScriptedClient::new(scripts),
            tries: Arc::default(),
        }
    }

    fn tries(&self) -> Vec<Attempt> {
        self.tries.lock().unwrap().clone()
    }

    /// How many tries came before each, having checked that all have one key.
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

impl Client for Noting {
    fn send(&self, request: Request) -> BoxStream<'static, Event> {
        self.send_attempt(request, Attempt::default())
    }

    fn complete(&self, request: Fim) -> BoxStream<'static, Event> {
        self.complete_attempt(request, Attempt::default())
    }

    fn send_attempt(&self, request: Request, attempt: Attempt) -> BoxStream<'static, Event> {
        self.tries.lock().unwrap().push(attempt);
        self.scripted.send(request)
    }

    fn complete_attempt(&self, request: Fim, attempt: Attempt) -> BoxStream<'static, Event> {
        self.tries.lock().unwrap().push(attempt);
        self.scripted.complete(request)
    }
}

fn started(client: &Noting) -> RouterHandle {
    Router::start(config(vec![lane("test/one", client.clone())]))
}

#[tokio::test(start_paused = true)]
async fn tries_of_one_question_share_a_key_and_are_counted() {
    let client = Noting::new([
        Script::fails(failure(FailureClass::Overloaded)),
        Script::fails(limited(1)),
        Script::events([start(), text("half")]),
        Script::text("whole"),
    ]);
    let heard = heard(&events(started(&client).submit(ask("hi"))).await);
    assert_eq!((heard.text.as_str(), heard.restarts), ("whole", 1));
    assert_eq!(client.retries(), [0, 1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn questions_have_keys_of_their_own_however_alike_they_are() {
    let client = Noting::new((0..4).map(|_| Script::text("ok")));
    // Another router is another run of the program: it counts its questions from the beginning, too.
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

/// What another lane is sent is another request: its model may be another, and a key stands for one body.
#[tokio::test(start_paused = true)]
async fn another_lane_is_asked_under_another_key_and_counted_anew() {
    let first = Noting::new([Script::fails(failure(FailureClass::Quota))]);
    let second = Noting::new([
        Script::fails(failure(FailureClass::Overloaded)),
        Script::text("there"),
    ]);
    let mut other = lane("test/one", second.clone());
    other.lane.key = KeyName("SECOND_KEY".to_owned());
    let router = Router::start(config(vec![lane("test/one", first.clone()), other]));
    assert_eq!(heard(&events(router.submit(ask("hi"))).await).text, "there");
    assert_eq!(first.retries(), [0]);
    assert_eq!(second.retries(), [0, 1]);
    let key = |client: &Noting| client.tries()[0].idempotency_key.clone();
    assert_ne!(key(&first), key(&second));
}

/// A server that knows the key would answer a twin with the slow one's answer, or refuse it.
#[tokio::test(start_paused = true)]
async fn a_twin_has_a_key_of_its_own() {
    let client = Noting::default();
    let router = started(&client);
    let gap = || {
        let fim = Fim::gap(model("test/one"), "let x = ", ";", TokenCount(32));
        Ask::fim(fim, AgentId(0))
    };
    let after = |seconds| {
        Script::default()
            .then_until(tokio::time::sleep(Duration::from_secs_f64(seconds)))
            .then_events([start(), text("here"), stop()])
    };
    for _ in 0..25 {
        client.scripted.then(after(0.1));
        events(router.submit(gap())).await;
    }
    client.scripted.then(after(20.0));
    client.scripted.then(after(0.1));
    events(router.submit(gap())).await;
    let tries = client.tries();
    let [.., slow, twin] = tries.as_slice() else {
        panic!("{tries:?}");
    };
    assert_eq!(tries.len(), 27);
    assert_eq!((slow.retries, twin.retries), (0, 0));
    assert_ne!(slow.idempotency_key, twin.idempotency_key);
}
