//! End-to-end tests of the client over loopback and over recordings.

use std::sync::Mutex as StdMutex;
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::super::HttpResponse;
use super::super::tests::{accept_one, until_closed};
use super::*;
use crate::error::Error;
use crate::keys::ProgramOutput;
use crate::wire::tests::{gap_request, request, show, sse};

/// A secret source with one key, which can be replaced.
struct ReplaceableKey(StdMutex<Option<String>>);

impl ReplaceableKey {
    fn new(key: Option<&str>) -> Arc<Self> {
        Arc::new(Self(StdMutex::new(key.map(str::to_owned))))
    }
}

impl SecretSource for ReplaceableKey {
    fn environment(&self, name: &str) -> Option<String> {
        let key = self.0.lock().expect("lock").clone();
        key.filter(|_| name == "MAKER_API_KEY")
    }

    fn run<'a>(
        &'a self,
        _: &'a [String],
        _: Duration,
    ) -> BoxFuture<'a, Result<ProgramOutput, Error>> {
        let error = Error::Program("no programs here".to_owned());
        std::future::ready(Err(error)).boxed()
    }
}

fn providers(url: &str) -> Providers {
    let (mut providers, _) = Providers::builtin();
    let own = json!({
        "maker": {
            "name": "Maker", "wire": "chat", "base_url": format!("{url}/v1"), "key_env": ["MAKER_API_KEY"],
            "options": { "sampling": true }, "models": { "m-1": { "extra": { "seed": 7 } } },
        },
    });
    let problems = providers.add(own.as_object().expect("an object"));
    assert_eq!(problems, Vec::<String>::new());
    providers
}

fn client(url: &str, secrets: Arc<ReplaceableKey>) -> HttpClient {
    HttpClient::new(providers(url), Arc::new(|_: &ModelId| None), secrets)
}

async fn first(client: &HttpClient, request: ModelRequest) -> String {
    let events: Vec<StreamEvent> = client.send(request).collect().await;
    show(&events)
}

#[tokio::test]
async fn a_request_over_a_socket() {
    let (url, accepted) = accept_one().await;
    let client = client(&url, ReplaceableKey::new(Some("sk-canary")));
    let attempt = Attempt {
        idempotency_key: "turn-9".to_owned(),
        retries: 2,
    };
    let answer = tokio::spawn(client.send_attempt(request(), attempt).collect::<Vec<_>>());
    let (asked, mut socket) = accepted.await.expect("a request");
    for part in [
        "POST /v1/chat/completions HTTP/1.1\r\n",
        "authorization: Bearer sk-canary\r\n",
        "content-type: application/json\r\n",
        "idempotency-key: turn-9\r\n",
        "x-retry-count: 2\r\n",
        "\"temperature\":0.2",
        "\"seed\":7",
    ] {
        assert!(asked.contains(part), "{part:?} in {asked}");
    }
    let body = sse(
        "{\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n[DONE]",
    );
    let response = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nx-ratelimit-limit-requests: 5\r\n\r\n{body}",
        body.len()
    );
    socket.write_all(response.as_bytes()).await.expect("sent");
    let shown = show(&answer.await.expect("no panic"));
    assert!(
        shown.ends_with("start c m\ntext \"Hi\"\nstop EndTurn stop\n"),
        "{shown}"
    );
    assert!(shown.starts_with("limits"), "{shown}");
}

#[tokio::test]
async fn dropping_the_stream_closes_the_socket_at_once() {
    let (url, accepted) = accept_one().await;
    let client = client(&url, ReplaceableKey::new(Some("k")));
    let mut events = client.send(request());
    let first = tokio::spawn(async move {
        let event = events.next().await;
        (event, events)
    });
    let (_, mut socket) = accepted.await.expect("a request");
    let body = sse(r#"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}]}"#);
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("{head}{:x}\r\n{body}\r\n", body.len());
    socket.write_all(chunk.as_bytes()).await.expect("sent");
    let (event, events) = first.await.expect("no panic");
    assert!(matches!(event, Some(StreamEvent::Start { .. })));
    drop(events);
    let waited = until_closed(socket).await;
    assert!(waited < Duration::from_millis(50), "{waited:?}");
}

#[tokio::test]
async fn missing_configuration_fails_before_sending() {
    let client = client("http://127.0.0.1:1", ReplaceableKey::new(None));
    let shown = first(&client, request()).await;
    assert_eq!(
        shown,
        "failed Authentication: There is no key for Maker. Set MAKER_API_KEY, or enter one in the settings.\n"
    );
    let mut unknown = request();
    unknown.model.provider = "nobody".to_owned();
    let shown = first(&client, unknown).await;
    assert!(
        shown.starts_with("failed NoSuchModel: There is no provider \"nobody\""),
        "{shown}"
    );
    let events: Vec<StreamEvent> = client.complete(gap_request()).collect().await;
    assert!(
        show(&events)
            .starts_with("failed InvalidRequest: Maker does not support fill-in-the-middle"),
        "{}",
        show(&events)
    );
}

/// Rejects every key but the second.
struct SecondKeyOnly(StdMutex<Vec<String>>);

impl Transport for SecondKeyOnly {
    fn call(
        &self,
        call: HttpRequest,
        _connect: Duration,
    ) -> BoxFuture<'static, Result<HttpResponse, Failure>> {
        let key = call
            .key
            .map(|key| key.secret.expose().to_owned())
            .unwrap_or_default();
        let status = if key == "new" { 200 } else { 401 };
        self.0.lock().expect("lock").push(key);
        let body =
            sse("{\"id\":\"c\",\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n[DONE]");
        let body = stream::iter([Ok(Bytes::from(body))]).boxed();
        std::future::ready(Ok(HttpResponse {
            status,
            headers: Vec::new(),
            body,
        }))
        .boxed()
    }
}

#[tokio::test]
async fn rejected_key_is_looked_up_again() {
    let secrets = ReplaceableKey::new(Some("old"));
    let picky = Arc::new(SecondKeyOnly(StdMutex::default()));
    let transport = picky.clone();
    let client = HttpClient::with_transport(
        providers("http://127.0.0.1:1"),
        Arc::new(|_: &ModelId| None),
        secrets.clone(),
        move |_| transport.clone(),
    );
    assert!(
        first(&client, request())
            .await
            .contains("failed Authentication")
    );
    *secrets.0.lock().expect("lock") = Some("new".to_owned());
    assert!(first(&client, request()).await.contains("stop EndTurn"));
    *secrets.0.lock().expect("lock") = Some("newer".to_owned());
    assert!(first(&client, request()).await.contains("stop EndTurn"));
    assert_eq!(*picky.0.lock().expect("lock"), ["old", "new", "new"]);
}
