//! Tests of embeddings with a provider that returns prepared responses.

use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream;
use serde_json::json;

use super::*;
use crate::error::Error;
use crate::http::{Providers, Transport};
use crate::keys::{ProgramOutput, SecretSource};

/// Continuation of the stream after the body.
#[derive(Clone, Copy)]
enum End {
    Whole,
    /// Repeats the body forever.
    Never,
    Torn,
    Stalled,
}

/// Answers every call the same way and records it; without a status it stays silent.
struct Server {
    status: Option<u16>,
    body: String,
    end: End,
    asked: Mutex<Vec<HttpRequest>>,
}

impl Transport for Server {
    fn call(
        &self,
        call: HttpRequest,
        _: Duration,
    ) -> BoxFuture<'static, Result<HttpResponse, Failure>> {
        self.asked.lock().expect("nobody panicked").push(call);
        let (status, body) = (self.status, Bytes::from(self.body.clone()));
        let body = std::iter::repeat(body);
        let body = match self.end {
            End::Whole => stream::iter(body.take(1).map(Ok)).boxed(),
            End::Never => stream::iter(body.map(Ok)).boxed(),
            End::Torn => {
                let torn = Err(ConnectionBroken("the line is cut".to_owned()));
                stream::iter(body.take(1).map(Ok).chain([torn])).boxed()
            }
            End::Stalled => stream::iter(body.take(1).map(Ok))
                .chain(stream::pending())
                .boxed(),
        };
        async move {
            let Some(status) = status else {
                return std::future::pending().await;
            };
            Ok(HttpResponse {
                status,
                headers: Vec::new(),
                body,
            })
        }
        .boxed()
    }
}

/// An environment with one key.
struct Key;

impl SecretSource for Key {
    fn environment(&self, name: &str) -> Option<String> {
        (name == "MAKER_API_KEY").then(|| "sk-canary".to_owned())
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

async fn embedded(
    model: &str,
    status: Option<u16>,
    body: &str,
) -> (Result<Vec<Vec<f32>>, Failure>, Vec<HttpRequest>) {
    let server = Server {
        status,
        body: body.to_owned(),
        end: End::Whole,
        asked: Mutex::default(),
    };
    embedded_by(server, model).await
}

async fn embedded_by(
    server: Server,
    model: &str,
) -> (Result<Vec<Vec<f32>>, Failure>, Vec<HttpRequest>) {
    let (mut providers, _) = Providers::builtin();
    let own = json!({
        "maker": {
            "name": "Maker", "wire": "chat", "base_url": "https://maker.test/v1", "key_env": ["MAKER_API_KEY"],
        },
    });
    providers.add(own.as_object().expect("an object"));
    let server = Arc::new(server);
    let transport: Arc<dyn Transport> = server.clone();
    let profiles = Arc::new(|_: &ModelId| None);
    let client =
        HttpClient::with_transport(providers, profiles, Arc::new(Key), |_| transport.clone());
    let model = ModelId::parse(model).expect("a model");
    let answer = client.embed(&model, &["one", "two"]).await;
    let asked = server.asked.lock().expect("nobody panicked").clone();
    (answer, asked)
}

#[tokio::test]
async fn embeddings_are_requested_and_returned() {
    let body = r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[2]}]}"#;
    let (answer, asked) = embedded("maker/m", Some(200), body).await;
    assert_eq!(answer.ok(), Some(vec![vec![1.0], vec![2.0]]));
    let [call] = &asked[..] else {
        panic!("one request: {asked:?}");
    };
    assert_eq!(call.url, "https://maker.test/v1/embeddings");
    assert_eq!(
        call.key.as_ref().map(|key| key.name.as_str()),
        Some("authorization")
    );
}

#[tokio::test(start_paused = true)]
async fn errors_are_sentences_without_the_key() {
    let check = async |model: &str, status, body: &str, words: &str| {
        let (answer, _) = embedded(model, status, body).await;
        let message = answer.expect_err("it fails").message;
        assert!(message.contains(words), "{message}");
        assert!(!message.contains("sk-canary"), "{message}");
    };
    let refusal = r#"{"error":{"message":"wrong key sk-canary"}}"#;
    check("maker/m", Some(401), refusal, "Maker").await;
    check("maker/m", Some(404), "no such page", "Maker").await;
    check("maker/m", Some(200), "<html>", "not a list of vectors").await;
    check("maker/m", Some(200), r#"{"data":[]}"#, "for some text").await;
    check("maker/m", None, "", "within 10 s").await;
    check("anthropic/m", Some(200), "", "OpenAI-compatible").await;
    check("nobody/m", Some(200), "", "There is no provider \"nobody\"").await;
}

#[tokio::test]
async fn endless_response_is_not_read_to_its_end() {
    let check = async |status, is_refusal: bool| {
        let server = Server {
            status: Some(status),
            body: "all is wrong. ".repeat(1_000),
            end: End::Never,
            asked: Mutex::default(),
        };
        let (answer, _) = embedded_by(server, "maker/m").await;
        let message = answer.expect_err("it fails").message;
        assert_eq!(message.contains("too long"), !is_refusal, "{message}");
    };
    check(400, true).await;
    check(200, false).await;
}

#[tokio::test(start_paused = true)]
async fn truncated_or_stalled_refusal_is_still_reported() {
    for end in [End::Torn, End::Stalled] {
        let server = Server {
            status: Some(401),
            body: r#"{"error":{"message":"no such key"}}"#.to_owned(),
            end,
            asked: Mutex::default(),
        };
        let (answer, _) = embedded_by(server, "maker/m").await;
        let failure = answer.expect_err("it is refused");
        assert_eq!(failure.class, FailureClass::Authentication);
        assert!(failure.message.contains("no such key"), "{failure:?}");
    }
}
