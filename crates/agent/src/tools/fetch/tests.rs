//! Pages from a transport that never leaves the machine.

use std::collections::HashMap;
use std::sync::Mutex;

use futures::{FutureExt, stream};
use router::http::ConnectionBroken;
use serde_json::json;

use super::*;
use crate::tools::tests::{World, assert_says};

type Page = (u16, Vec<(&'static str, &'static str)>, Vec<u8>);

/// Replies by address; an unknown address is offline.
#[derive(Default)]
struct Pages {
    pages: HashMap<&'static str, Page>,
    asked: Mutex<Vec<String>>,
}

impl Transport for Pages {
    fn call(
        &self,
        call: HttpCall,
        _: Duration,
    ) -> BoxFuture<'static, Result<HttpResponse, Failure>> {
        self.asked.lock().expect("no panic").push(call.url.clone());
        let page = self.pages.get(call.url.as_str()).cloned();
        async move {
            let Some((status, headers, body)) = page else {
                let message = "No connection.".to_owned();
                return Err(Failure::new(FailureClass::Offline, message));
            };
            let headers = headers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
            let pieces: Vec<Result<Bytes, ConnectionBroken>> = match body.as_slice() {
                b"broken" => vec![
                    Ok(Bytes::from_static(b"x")),
                    Err(ConnectionBroken("it broke".to_owned())),
                ],
                _ => vec![Ok(Bytes::from(body))],
            };
            Ok(HttpResponse {
                status,
                headers: headers.collect(),
                body: stream::iter(pieces).boxed(),
            })
        }
        .boxed()
    }
}

const HTML: (&str, &str) = ("content-type", "text/html; charset=utf-8");

fn world(pages: Vec<(&'static str, Page)>) -> (World, Arc<Pages>) {
    let pages = Arc::new(Pages {
        pages: pages.into_iter().collect(),
        asked: Mutex::default(),
    });
    let transport: Arc<dyn Transport> = pages.clone();
    let world = World::with(|options| options.transport = Some(transport));
    (world, pages)
}

#[tokio::test]
async fn a_page_comes_as_text() {
    // A numeric address, so that no name is resolved.
    let (world, _) = world(vec![
        (
            "https://1.1.1.1/a",
            (200, vec![HTML], b"<h1>Hi</h1><p>there</p>".to_vec()),
        ),
        (
            "https://1.1.1.1/j",
            (
                200,
                vec![("content-type", "application/json")],
                b"{\"a\": 1}".to_vec(),
            ),
        ),
        (
            "https://1.1.1.1/r",
            (302, vec![("location", "a")], Vec::new()),
        ),
        (
            "https://1.1.1.1/away",
            (301, vec![("location", "https://9.9.9.9/x")], Vec::new()),
        ),
    ]);
    let fetch = async |url: &str| world.call("fetch", json!({ "url": url })).await;
    assert_eq!(
        fetch("https://1.1.1.1/a#part").await.text(),
        "# Hi\n\nthere\n"
    );
    assert_eq!(fetch("https://1.1.1.1/j").await.text(), "{\"a\": 1}");
    assert_eq!(fetch("https://1.1.1.1/r").await.text(), "# Hi\n\nthere\n");
    let answer = fetch("https://1.1.1.1/away").await;
    assert_says(&answer, CallOutcome::Ok, "another host, https://9.9.9.9/x");
    let access = world
        .access("fetch", json!({ "url": "HTTPS://Docs.RS:8443/x" }))
        .expect("an address");
    assert_eq!(access.host.as_deref(), Some("docs.rs"));
}

#[tokio::test]
pub(in crate::tools) async fn every_way_of_fetching_to_fail_says_what_to_do() {
    use CallOutcome::{InvalidArguments, ProviderError, UnexpectedEnvironment};
    let page = |status, body: &[u8]| (status, vec![HTML], body.to_vec());
    let (world, pages) = world(vec![
        ("https://1.1.1.1/404", page(404, b"")),
        ("https://1.1.1.1/403", page(403, b"")),
        (
            "https://1.1.1.1/429",
            (429, vec![("retry-after", "7")], Vec::new()),
        ),
        ("https://1.1.1.1/500", page(500, b"")),
        ("https://1.1.1.1/304", page(304, b"")),
        ("https://1.1.1.1/broken", page(200, b"broken")),
        ("https://1.1.1.1/binary", page(200, b"\0\x01\x02\xff\0\0\0")),
        (
            "https://1.1.1.1/zip",
            (
                200,
                vec![("content-type", "application/zip")],
                b"PK".to_vec(),
            ),
        ),
        (
            "https://1.1.1.1/loop",
            (302, vec![("location", "/loop")], Vec::new()),
        ),
        (
            "https://1.1.1.1/inner",
            (302, vec![("location", "http://127.0.0.1/x")], Vec::new()),
        ),
        ("https://1.1.1.1/empty", page(200, b"<script>x</script>")),
    ]);
    let cases = [
        ("", InvalidArguments, "is no address"),
        ("docs.rs", InvalidArguments, "is no address"),
        (
            "file:///etc/passwd",
            InvalidArguments,
            "neither http nor https",
        ),
        ("https://", InvalidArguments, "is no address"),
        ("https://user:pw@host/", InvalidArguments, "password"),
        ("https://a b/", InvalidArguments, "is no address"),
        ("https://host:99999/", InvalidArguments, "names no host"),
        (
            "http://localhost:8080/",
            UnexpectedEnvironment,
            "own network",
        ),
        ("http://127.0.0.1/", UnexpectedEnvironment, "own network"),
        ("http://[::1]/", UnexpectedEnvironment, "own network"),
        (
            "http://[::ffff:10.0.0.1]/",
            UnexpectedEnvironment,
            "own network",
        ),
        (
            "http://169.254.169.254/latest",
            UnexpectedEnvironment,
            "own network",
        ),
        (
            "http://printer.local/",
            UnexpectedEnvironment,
            "own network",
        ),
        ("https://1.1.1.1/404", UnexpectedEnvironment, "no page"),
        ("https://1.1.1.1/403", UnexpectedEnvironment, "not open"),
        ("https://1.1.1.1/429", ProviderError, "fewer requests"),
        ("https://1.1.1.1/500", ProviderError, "failed"),
        ("https://1.1.1.1/304", UnexpectedEnvironment, "status 304"),
        ("https://1.1.1.1/broken", ProviderError, "it broke"),
        (
            "https://1.1.1.1/binary",
            UnexpectedEnvironment,
            "holds no text",
        ),
        (
            "https://1.1.1.1/zip",
            UnexpectedEnvironment,
            "application/zip",
        ),
        ("https://1.1.1.1/loop", ProviderError, "more than 5 times"),
        ("https://1.1.1.1/offline", ProviderError, "No connection"),
        ("https://1.1.1.1/empty", CallOutcome::Ok, "has no text"),
        ("https://1.1.1.1/inner", CallOutcome::Ok, "another host"),
    ];
    for (url, outcome, says) in cases {
        let answer = world.call("fetch", json!({ "url": url })).await;
        assert!(
            answer.outcome == outcome && answer.text().contains(says),
            "{url}: {answer:?}"
        );
    }
    let asked = pages.asked.lock().expect("no panic").clone();
    assert!(
        asked.iter().all(|url| url.starts_with("https://1.1.1.1/")),
        "{asked:?}"
    );
    let missing = world.call("fetch", json!({})).await;
    assert_says(&missing, InvalidArguments, "`url` is missing");
    let limited = world
        .call("fetch", json!({ "url": "https://1.1.1.1/429" }))
        .await;
    let retry_after = Some(Duration::from_secs(7));
    assert_eq!(limited.detail, Some(Detail::RateLimited { retry_after }));
}

#[tokio::test]
pub(in crate::tools) async fn a_long_page_is_cut_and_kept() {
    let page = "a line of a long page\n".repeat(400);
    let plain = vec![("content-type", "text/plain")];
    let (mut world, _) = world(vec![(
        "https://1.1.1.1/long",
        (200, plain, page.into_bytes()),
    )]);
    world.context.output_tokens = 500;
    let input = json!({ "url": "https://1.1.1.1/long" });
    let answer = world.call("fetch", input).await;
    assert_says(
        &answer,
        CallOutcome::Ok,
        "lines omitted; whole output: out-1",
    );
    assert_eq!(answer.detail, Some(Detail::OutputTruncated));
}

#[tokio::test(start_paused = true)]
pub(in crate::tools) async fn a_page_that_does_not_come_is_given_up() {
    struct Silent;
    impl Transport for Silent {
        fn call(
            &self,
            _: HttpCall,
            _: Duration,
        ) -> BoxFuture<'static, Result<HttpResponse, Failure>> {
            futures::future::pending().boxed()
        }
    }
    let mut world = World::with(|options| options.transport = Some(Arc::new(Silent)));
    let answer = world
        .call("fetch", json!({ "url": "https://1.1.1.1/" }))
        .await;
    assert_says(&answer, CallOutcome::Timeout, "did not come within 30 s");
    let (_sender, stop) = tokio::sync::watch::channel(true);
    world.context.stop = stop;
    let answer = world
        .call("fetch", json!({ "url": "https://1.1.1.1/" }))
        .await;
    assert_says(&answer, CallOutcome::UserAborted, "Stopped");
}
