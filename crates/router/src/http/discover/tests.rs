//! Tests that local servers are identified by their responses, not by their ports.

use std::collections::HashMap;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream;
use model::{Failure, FailureClass};

use super::super::HttpResponse;
use super::*;

/// Responses by address; other addresses refuse, or stay silent if marked so.
struct Machine(HashMap<&'static str, &'static str>);

impl Transport for Machine {
    fn call(
        &self,
        call: HttpRequest,
        _connect: Duration,
    ) -> BoxFuture<'static, Result<HttpResponse, Failure>> {
        assert_eq!(call.method, Method::Get);
        assert!(call.key.is_none());
        let answer = self.0.get(call.url.as_str()).copied();
        async move {
            match answer {
                Some("silence") => std::future::pending().await,
                Some(body) => Ok(HttpResponse {
                    status: 200,
                    headers: Vec::new(),
                    body: stream::iter([Ok(Bytes::from(body))]).boxed(),
                }),
                None => Err(Failure::new(FailureClass::Offline, "refused")),
            }
        }
        .boxed()
    }
}

async fn found(answers: &[(&'static str, &'static str)]) -> String {
    let (providers, _) = Providers::builtin();
    let transport: Arc<dyn Transport> = Arc::new(Machine(answers.iter().copied().collect()));
    let servers = discover(&providers, &transport, Duration::from_millis(300)).await;
    let servers = servers.iter().map(|server| {
        let models = server.models.iter();
        let models = models
            .map(|model| format!("{}/{:?}", model.name, model.context.map(|tokens| tokens.0)));
        format!(
            "{}: {}",
            server.provider,
            models.collect::<Vec<_>>().join(", ")
        )
    });
    servers.collect::<Vec<_>>().join("; ")
}

#[tokio::test(start_paused = true)]
async fn no_servers_found() {
    assert_eq!(found(&[]).await, "");
}

#[tokio::test(start_paused = true)]
async fn all_servers_found() {
    let shown = found(&[
        (
            "http://127.0.0.1:11434/api/tags",
            r#"{"models":[{"name":"qwen:7b"},{"name":"llama:8b"}]}"#,
        ),
        (
            "http://127.0.0.1:8080/v1/models",
            r#"{"data":[{"id":"a.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}"#,
        ),
        (
            "http://127.0.0.1:8080/props",
            r#"{"default_generation_settings":{"n_ctx":8192}}"#,
        ),
        (
            "http://127.0.0.1:1234/api/v0/models",
            r#"{"data":[{"id":"phi","max_context_length":16384}]}"#,
        ),
        (
            "http://127.0.0.1:8000/v1/models",
            r#"{"data":[{"id":"m","owned_by":"vllm","max_model_len":32768}]}"#,
        ),
    ])
    .await;
    assert_eq!(
        shown,
        "llama.cpp: a.gguf/Some(8192); lmstudio: phi/Some(16384); ollama: qwen:7b/None, llama:8b/None; vllm: m/Some(32768)"
    );
}

#[tokio::test(start_paused = true)]
async fn foreign_and_silent_servers_are_skipped() {
    let started = tokio::time::Instant::now();
    let shown = found(&[
        ("http://127.0.0.1:11434/api/tags", "silence"),
        (
            "http://127.0.0.1:8080/v1/models",
            "<html>my web server</html>",
        ),
        (
            "http://127.0.0.1:8000/v1/models",
            r#"{"data":[{"id":"m","owned_by":"somebody"}]}"#,
        ),
        ("http://127.0.0.1:1234/api/v0/models", r#"{"data":[]}"#),
    ])
    .await;
    assert_eq!(shown, "lmstudio: ");
    assert!(
        started.elapsed() <= Duration::from_millis(600),
        "{:?}",
        started.elapsed()
    );
}
