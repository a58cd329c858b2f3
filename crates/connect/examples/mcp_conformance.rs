//! The client driven by the MCP project's conformance suite: `npx @modelcontextprotocol/conformance
//! client --command "target/debug/examples/mcp_conformance" --scenario initialize`. The last
//! argument is the server's address; the scenario's name is in `MCP_CONFORMANCE_SCENARIO`.

#![expect(clippy::print_stderr, reason = "a command line speaks to its terminal")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use connect::Variables;
use connect::mcp::{
    BrowserPage, ElicitationForm, Filled, McpClients, McpErrorKind, McpEvent, McpSetup, McpTool,
    McpToolCall, McpUser, NoUser, RequestTimeouts, ServerOrigin, ServerStatus, config,
};
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

/// The suite's address of the document that describes its client.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// Maximum number of sign-ins because a server requests more scopes.
const ESCALATIONS: usize = 2;

/// Accepts every form with its defaults, and opens every page.
struct DefaultsUser;

impl McpUser for DefaultsUser {
    fn fill(&self, _: &str, _: ElicitationForm) -> BoxFuture<'static, Filled> {
        Box::pin(ready(Filled::Accepted(Map::new())))
    }

    fn open(&self, page: BrowserPage) -> BoxFuture<'static, bool> {
        // The suite's page grants access without interaction and redirects the browser.
        tokio::spawn(async move {
            let mut next = Some(page.url);
            while let Some(url) = next {
                next = visit(&url).await;
            }
        });
        Box::pin(ready(true))
    }
}

/// Visits a page like a browser and returns the target of its redirect.
async fn visit(url: &str) -> Option<String> {
    let rest = url.strip_prefix("http://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).await.ok()?;
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    let found = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("location")
            .then(|| value.trim().to_owned())
    })?;
    if found.starts_with('/') {
        Some(format!("http://{host}{found}"))
    } else {
        Some(found)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Connects to the server, signs in if required, and calls each of its tools. Fails if any of that
/// fails.
async fn run() -> Result<(), String> {
    let url = std::env::args()
        .next_back()
        .ok_or("the address of a server is missing")?;
    let root = AbsPath::new("/").ok_or("there is no root")?;
    let environment: Variables = host::environment::all_text_variables().collect();
    // The scenario's registered client if it has one, else a document that describes us.
    let context = environment.get("MCP_CONFORMANCE_CONTEXT");
    let context: Value = context.map_or(Value::Null, |text| {
        serde_json::from_str(text).unwrap_or_default()
    });
    let auth = match context.get("client_id") {
        Some(id) => json!({ "CLIENT_ID": id, "CLIENT_SECRET": context["client_secret"] }),
        None => json!({ "CLIENT_METADATA_URL": DOCUMENT }),
    };
    let servers = json!({ "it": { "url": url, "auth": auth } });
    let (servers, problems) = config::parse(&servers, &ServerOrigin::User, &root, &environment);
    if let Some(problem) = problems.first() {
        return Err(problem.0.clone());
    }
    let no_user = Arc::new(NoUser::default());
    let hub = McpClients::start(McpSetup {
        servers,
        roots: Vec::new(),
        environment,
        approvals: no_user.clone(),
        user: Arc::new(DefaultsUser),
        tokens: no_user,
    });
    hub.wait_until_started(Duration::from_secs(20)).await;
    if matches!(hub.servers()[0].status, ServerStatus::NeedsSignIn { .. }) {
        hub.sign_in("it").await.map_err(|error| error.message)?;
        signed_in(&hub).await;
    }
    let state = hub.servers().pop().ok_or("there is no server")?;
    if !matches!(state.status, ServerStatus::Ready { .. }) {
        return Err(format!("{:?}", state.status));
    }
    for tool in hub.tools() {
        call(&hub, &tool).await?;
    }
    hub.close().await;
    Ok(())
}

/// Calls a tool; if the server requests more scopes for it, signs in again.
async fn call(hub: &McpClients, tool: &McpTool) -> Result<(), String> {
    for escalation in 0.. {
        let (progress, _unheard) = mpsc::channel(1);
        let (_stop, stopped) = watch::channel(false);
        let call = McpToolCall {
            server: tool.server.clone(),
            tool: tool.tool.clone(),
            arguments: arguments(tool),
            timeouts: RequestTimeouts::default(),
            progress,
            stop: stopped,
        };
        match hub.call(call).await {
            Ok(answer) => {
                eprintln!("{}: {}", tool.tool, answer.text());
                break;
            }
            Err(error) if error.class == McpErrorKind::NeedsUser && escalation < ESCALATIONS => {
                // The server's task receives the challenge a moment later.
                tokio::time::sleep(Duration::from_millis(200)).await;
                hub.sign_in("it").await.map_err(|error| error.message)?;
                signed_in(hub).await;
            }
            Err(error) => return Err(format!("{}: {error}", tool.tool)),
        }
    }
    Ok(())
}

/// Waits until signing in succeeded or failed.
async fn signed_in(hub: &McpClients) {
    let mut events = hub.events();
    let over = async {
        while let Ok(event) = events.recv().await {
            let McpEvent::Status { status, .. } = event else {
                continue;
            };
            match status {
                ServerStatus::Ready { .. } | ServerStatus::Broken { .. } => return,
                ServerStatus::NeedsSignIn { why: Some(_) } => return,
                _ => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), over)
        .await
        .ok();
}

/// Returns a value for every required argument of a tool.
fn arguments(tool: &McpTool) -> Map<String, Value> {
    let properties = tool.schema.get("properties").and_then(Value::as_object);
    let value = |schema: &Value| match schema.get("type").and_then(Value::as_str) {
        Some("number" | "integer") => json!(2),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("something"),
    };
    let properties = properties.into_iter().flatten();
    properties
        .map(|(name, schema)| (name.clone(), value(schema)))
        .collect()
}
