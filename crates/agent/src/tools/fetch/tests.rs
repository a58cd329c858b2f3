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

/// A network with these names; every host is reached through one transport.
struct FakeNetwork {
    transport: Arc<dyn Transport>,
    /// The addresses of each name, by resolution; the last ones repeat.
    names: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    /// The names that were resolved.
    resolved: Mutex<Vec<String>>,
    /// The hosts that were connected to, with the permitted addresses.
    pinned: Mutex<Vec<(String, Vec<IpAddr>)>>,
}

impl FakeNetwork {
    fn new(transport: Arc<dyn Transport>) -> Self {
        Self {
            transport,
            names: HashMap::new(),
            resolved: Mutex::default(),
            pinned: Mutex::default(),
        }
    }
}

impl WebNetwork for FakeNetwork {
    fn resolve(&self, name: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        let mut resolved = self.resolved.lock().expect("no panic");
        let before = resolved.iter().filter(|it| *it == name).count();
        resolved.push(name.to_owned());
        let answers = self.names.get(name).map(Vec::as_slice).unwrap_or_default();
        let answer = answers.get(before).or(answers.last()).cloned();
        let answer = answer.ok_or_else(|| std::io::ErrorKind::NotFound.into());
        futures::future::ready(answer).boxed()
    }

    fn transport(&self, host: &str, addresses: &[IpAddr]) -> Arc<dyn Transport> {
        let mut pinned = self.pinned.lock().expect("no panic");
        pinned.push((host.to_owned(), addresses.to_vec()));
        self.transport.clone()
    }
}

const HTML: (&str, &str) = ("content-type", "text/html; charset=utf-8");

fn world(pages: Vec<(&'static str, Page)>) -> (World, Arc<Pages>) {
    let pages = Arc::new(Pages {
        pages: pages.into_iter().collect(),
        asked: Mutex::default(),
    });
    let network = FakeNetwork::new(pages.clone());
    let world = World::with(|options| options.network = Some(Arc::new(network)));
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
        ("", InvalidArguments, "is not an address"),
        ("docs.rs", InvalidArguments, "is not an address"),
        (
            "file:///etc/passwd",
            InvalidArguments,
            "neither http nor https",
        ),
        ("https://", InvalidArguments, "is not an address"),
        ("https://user:pw@host/", InvalidArguments, "password"),
        ("https://a b/", InvalidArguments, "is not an address"),
        ("https://host:99999/", InvalidArguments, "names no host"),
        (
            "http://localhost:8080/",
            UnexpectedEnvironment,
            "local network",
        ),
        ("http://127.0.0.1/", UnexpectedEnvironment, "local network"),
        ("http://[::1]/", UnexpectedEnvironment, "local network"),
        (
            "http://[::ffff:10.0.0.1]/",
            UnexpectedEnvironment,
            "local network",
        ),
        (
            "http://169.254.169.254/latest",
            UnexpectedEnvironment,
            "local network",
        ),
        (
            "http://printer.local/",
            UnexpectedEnvironment,
            "local network",
        ),
        ("https://1.1.1.1/404", UnexpectedEnvironment, "no page"),
        (
            "https://1.1.1.1/403",
            UnexpectedEnvironment,
            "is not public",
        ),
        ("https://1.1.1.1/429", ProviderError, "limits requests"),
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
    let mut world = World::with(|options| {
        options.network = Some(Arc::new(FakeNetwork::new(Arc::new(Silent))));
    });
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

/// One address of every class that the sandbox's proxy refuses.
const REFUSED: [&str; 48] = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.255",
    "169.254.169.254",
    "169.254.170.2",
    "168.63.129.16",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:a9fe:a9fe::",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "2a00::5efe:127.0.0.1",
    "2a00::200:5efe:10.0.0.1",
    "4000::1",
    "8000::1",
];

fn ip(text: &str) -> IpAddr {
    text.parse().expect(text)
}

/// A world whose only page is at `http://site.example/`; `names` gives its addresses.
fn named_world(
    page: Page,
    names: Vec<(&'static str, Vec<Vec<&str>>)>,
) -> (World, Arc<FakeNetwork>, Arc<Pages>) {
    let pages = Arc::new(Pages {
        pages: HashMap::from([("http://site.example/", page)]),
        asked: Mutex::default(),
    });
    let mut network = FakeNetwork::new(pages.clone());
    for (name, answers) in names {
        let answers = answers
            .iter()
            .map(|it| it.iter().copied().map(ip).collect());
        network.names.insert(name, answers.collect());
    }
    let network = Arc::new(network);
    let given = network.clone();
    let world = World::with(|options| options.network = Some(given));
    (world, network, pages)
}

#[tokio::test]
async fn every_private_address_class_is_refused() {
    let denied = |answer: &ToolResult, what: &str| {
        assert_says(answer, CallOutcome::UnexpectedEnvironment, "local network");
        assert_eq!(answer.detail, Some(Detail::Denied), "{what}");
    };
    for text in REFUSED {
        let host = match ip(text) {
            IpAddr::V4(v4) => v4.to_string(),
            IpAddr::V6(v6) => format!("[{v6}]"),
        };
        let redirect = (302, vec![("location", "/inner")], Vec::new());
        let public = "93.184.216.34";
        let names = vec![
            ("site.example", vec![vec![public], vec![text]]),
            ("mixed.example", vec![vec![public, text]]),
        ];
        let (world, network, pages) = named_world(redirect, names);
        let fetch = async |url: &str| world.call("fetch", json!({ "url": url })).await;
        denied(&fetch(&format!("http://{host}/")).await, text);
        denied(&fetch("http://mixed.example/").await, text);
        // The page redirects to its own host, whose name now has another address.
        denied(&fetch("http://site.example/").await, text);
        let asked = pages.asked.lock().expect("no panic").clone();
        assert_eq!(asked, ["http://site.example/"], "{text}");
        let pinned = network.pinned.lock().expect("no panic").clone();
        let expected = ("site.example".to_owned(), vec![ip("93.184.216.34")]);
        assert_eq!(pinned, [expected], "{text}");
    }
}

#[tokio::test]
async fn redirect_to_a_private_address_is_not_followed() {
    for text in REFUSED {
        let location: &'static str = match ip(text) {
            IpAddr::V4(v4) => format!("http://{v4}/x").leak(),
            IpAddr::V6(v6) => format!("http://[{v6}]/x").leak(),
        };
        let redirect = (302, vec![("location", location)], Vec::new());
        let names = vec![("site.example", vec![vec!["93.184.216.34"]])];
        let (world, _, pages) = named_world(redirect, names);
        let url = json!({ "url": "http://site.example/" });
        assert_says(
            &world.call("fetch", url).await,
            CallOutcome::Ok,
            "another host",
        );
        let asked = pages.asked.lock().expect("no panic").clone();
        assert_eq!(asked, ["http://site.example/"], "{text}");
    }
}

#[tokio::test]
async fn name_is_resolved_once_and_its_address_pinned() {
    let page = (200, vec![HTML], b"<p>there</p>".to_vec());
    let answers = vec![vec!["93.184.216.34"], vec!["127.0.0.1"]];
    let names = vec![("site.example", answers)];
    let (world, network, _) = named_world(page, names);
    let url = json!({ "url": "http://site.example/" });
    assert_eq!(world.call("fetch", url).await.text(), "there\n");
    assert_eq!(
        *network.resolved.lock().expect("no panic"),
        ["site.example"]
    );
    let pinned = network.pinned.lock().expect("no panic").clone();
    let expected = ("site.example".to_owned(), vec![ip("93.184.216.34")]);
    assert_eq!(pinned, [expected]);
}

#[test]
fn every_notation_of_an_address_is_that_address() {
    for url in [
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://[::ffff:7f00:1]/",
    ] {
        let address = WebAddress::read(url).expect(url);
        let ip = address.ip().expect(url);
        assert!(!is_open_address(ip), "{url}: {ip}");
    }
}
