//! The page to which the user is sent, depending on the metadata of the server and its host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::*;
use crate::mcp::form::{ElicitationForm, Filled};
use crate::mcp::user::NoUser;

/// Records the page without opening it.
#[derive(Default)]
struct RecordingUser(Mutex<Option<String>>);

impl McpUser for RecordingUser {
    fn fill(&self, _: &str, _: ElicitationForm) -> BoxFuture<'static, Filled> {
        Box::pin(std::future::ready(Filled::Declined))
    }

    fn open(&self, page: BrowserPage) -> BoxFuture<'static, bool> {
        *self.0.lock().expect("a lock") = Some(page.url);
        Box::pin(std::future::ready(false))
    }
}

/// A host that serves JSON at these paths and 404 elsewhere; registers every client.
struct AuthorizationHost {
    url: String,
    pages: Arc<Mutex<HashMap<String, Value>>>,
}

impl AuthorizationHost {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let pages: Arc<Mutex<HashMap<String, Value>>> = Arc::default();
        let served = pages.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let pages = served.clone();
                tokio::spawn(async move { serve(stream, &pages).await });
            }
        });
        Self {
            url: format!("http://{address}"),
            pages,
        }
    }

    fn page(&self, path: &str, page: Value) {
        self.pages
            .lock()
            .expect("a lock")
            .insert(path.to_owned(), page);
    }

    /// Metadata of an authorization server at this host, with this issuer.
    fn metadata(&self, issuer: Option<&str>) -> Value {
        let url = &self.url;
        let mut metadata = json!({
            "authorization_endpoint": format!("{url}/own/authorize"),
            "token_endpoint": format!("{url}/own/token"),
            "registration_endpoint": format!("{url}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        });
        if let Some(issuer) = issuer {
            metadata["issuer"] = json!(issuer);
        }
        metadata
    }
}

async fn serve(stream: TcpStream, pages: &Mutex<HashMap<String, Value>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).await.ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        reader.read_line(&mut line).await.ok()?;
        let header = line.trim().to_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if header.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await.ok()?;
    let page = match path.as_str() {
        "/register" => Some(json!({ "client_id": "c", "redirect_uris": [] })),
        path => pages.lock().expect("a lock").get(path).cloned(),
    };
    let (status, text) = match page {
        Some(page) => ("200 OK", page.to_string()),
        None => ("404 Not Found", String::new()),
    };
    let reply = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    let mut stream = reader.into_inner();
    stream.write_all(reply.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}

/// Returns the page to which the user would be sent, without its query.
async fn asked(url: &str) -> Result<String, Error> {
    let user = RecordingUser::default();
    let tokens: Arc<dyn TokenStore> = Arc::new(NoUser::default());
    let failed = sign_in("it", url, &OAuthClient::default(), None, &user, &tokens).await;
    let failed = failed.expect_err("the page is not opened");
    let page = user.0.lock().expect("a lock").clone();
    let page = page.ok_or(failed)?;
    Ok(page.split('?').next().unwrap_or_default().to_owned())
}

const OWN: &str = "/.well-known/oauth-authorization-server";

#[tokio::test]
async fn default_paths_apply_without_metadata() {
    let host = AuthorizationHost::start().await;
    let page = asked(&format!("{}/v1/mcp", host.url)).await;
    assert_eq!(page, Ok(format!("{}/authorize", host.url)));
}

#[tokio::test]
async fn host_metadata_applies_without_resource_metadata() {
    let host = AuthorizationHost::start().await;
    host.page(OWN, host.metadata(Some(&host.url)));
    let page = asked(&format!("{}/v1/mcp", host.url)).await;
    assert_eq!(page, Ok(format!("{}/own/authorize", host.url)));
    // Old servers omit their issuer, or publish it at another location.
    let host = AuthorizationHost::start().await;
    host.page(OWN, host.metadata(None));
    let page = asked(&format!("{}/mcp", host.url)).await;
    assert_eq!(page, Ok(format!("{}/own/authorize", host.url)));
    let host = AuthorizationHost::start().await;
    host.page(OWN, host.metadata(Some(&host.url)));
    host.page(&format!("{OWN}/mcp"), host.metadata(Some(&host.url)));
    let page = asked(&format!("{}/mcp", host.url)).await;
    assert_eq!(page, Ok(format!("{}/own/authorize", host.url)));
}

#[tokio::test]
async fn foreign_issuer_must_confirm_itself() {
    let (host, issuer) = (
        AuthorizationHost::start().await,
        AuthorizationHost::start().await,
    );
    host.page(OWN, host.metadata(Some(&issuer.url)));
    let refused = asked(&host.url).await.expect_err("nothing says so there");
    assert!(refused.to_string().contains("issuer mismatch"), "{refused}");
    issuer.page(OWN, issuer.metadata(Some(&issuer.url)));
    let page = asked(&host.url).await;
    assert_eq!(page, Ok(format!("{}/own/authorize", issuer.url)));
}

#[test]
fn hosts_are_compared_with_their_ports() {
    assert!(is_same_host("https://a.example", "https://A.example/mcp?x"));
    assert!(!is_same_host(
        "https://a.example:1",
        "https://a.example/mcp"
    ));
    assert!(!is_same_host("http://a.example", "https://a.example"));
    assert!(!is_same_host("nonsense", "nonsense"));
}

#[test]
fn only_this_machine_is_local() {
    for url in [
        "http://localhost:80/mcp",
        "http://127.0.0.1",
        "https://[::1]:9/x",
    ] {
        assert!(is_local(url), "{url}");
    }
    for url in [
        "http://localhost.evil.example/",
        "https://127.0.0.1.example",
        "https://10.0.0.1",
    ] {
        assert!(!is_local(url), "{url}");
    }
}

#[tokio::test]
async fn redirect_is_found_among_other_requests() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let knock = |text: &'static [u8]| async move {
        let mut stream = TcpStream::connect(("127.0.0.1", port))
            .await
            .expect("it listens");
        stream.write_all(text).await.expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok();
        answer
    };
    let visits = async {
        knock(b"\xff\xfe nonsense\r\n").await;
        assert!(
            knock(b"GET /favicon.ico HTTP/1.1\r\n\r\n")
                .await
                .contains("404")
        );
        assert!(
            knock(b"GET /callbackish?x HTTP/1.1\r\n\r\n")
                .await
                .contains("404")
        );
        knock(b"GET /callback?code=1&state=2 HTTP/1.1\r\n\r\n").await
    };
    let (target, answer) = tokio::join!(wait_for_redirect(&listener), visits);
    assert_eq!(target.as_deref(), Ok("/callback?code=1&state=2"));
    assert!(answer.contains("200 OK"), "{answer}");
}

/// A store whose tokens cannot be read.
struct BrokenStore;

impl TokenStore for BrokenStore {
    fn load(&self, _: &str) -> BoxFuture<'static, Result<Option<String>, Error>> {
        Box::pin(std::future::ready(Err(Error::Storage(
            "a folder".to_owned(),
        ))))
    }

    fn save(&self, _: &str, _: Option<String>) -> BoxFuture<'static, Result<(), Error>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn unreadable_tokens_are_an_error_and_missing_ones_are_not() {
    let missing: Arc<dyn TokenStore> = Arc::new(NoUser::default());
    let found = signed_in("https://a.example", &missing).await;
    assert!(matches!(found, Ok(None)));
    let broken: Arc<dyn TokenStore> = Arc::new(BrokenStore);
    let failed = signed_in("https://a.example", &broken).await.err();
    let failed = failed.expect("an error").to_string();
    assert!(failed.contains("cannot be read: a folder"), "{failed}");
}
