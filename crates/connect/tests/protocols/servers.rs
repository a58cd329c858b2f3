//! Real MCP servers: processes and URLs. They come from npm and are installed in a cache folder;
//! without them these tests are skipped with a message.

#![expect(
    clippy::disallowed_methods,
    reason = "a test looks at the disk and starts the other side by itself"
)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::AbsPath;
use connect::Variables;
use connect::mcp::{
    BrowserPage, CallProgress, ElicitationForm, Filled, McpClients, McpError, McpErrorKind,
    McpEvent, McpSetup, McpToolCall, McpToolResult, McpUser, NoUser, RequestTimeouts, ServerOrigin,
    ServerStatus, config,
};
use futures::future::{BoxFuture, ready};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

const START_TIMEOUT: Duration = Duration::from_secs(60);

fn npm() -> PathBuf {
    let folder = std::env::var_os("BURIN_NPM").map(PathBuf::from);
    folder.unwrap_or_else(|| {
        let home = std::env::var_os("HOME").unwrap_or_default();
        PathBuf::from(home).join(".cache/burin/npm-mcp")
    })
}

/// Returns the script of a server; `None` if it is not installed, so that the test is skipped.
fn script(package: &str) -> Option<String> {
    let path = npm()
        .join("node_modules/@modelcontextprotocol")
        .join(package)
        .join("dist/index.js");
    if path.exists() {
        Some(path.display().to_string())
    } else {
        test_support::skip(format_args!("{} is not installed with npm", path.display()));
        None
    }
}

/// Fills in every form with its defaults.
struct DefaultsUser;

impl McpUser for DefaultsUser {
    fn fill(&self, _: &str, _: ElicitationForm) -> BoxFuture<'static, Filled> {
        Box::pin(ready(Filled::Accepted(serde_json::Map::new())))
    }

    fn open(&self, _: BrowserPage) -> BoxFuture<'static, bool> {
        Box::pin(ready(false))
    }
}

fn hub(servers: &Value, root: &AbsPath) -> McpClients {
    let environment: Variables = host::environment::all_text_variables().collect();
    let (entries, problems) = config::parse(servers, &ServerOrigin::User, root, &environment);
    assert!(problems.is_empty(), "{problems:?}");
    let no_user = Arc::new(NoUser::default());
    McpClients::start(McpSetup {
        servers: entries,
        roots: vec![root.clone()],
        environment,
        approvals: no_user.clone(),
        user: Arc::new(DefaultsUser),
        tokens: no_user,
    })
}

async fn ready_hub(servers: &Value, root: &AbsPath) -> McpClients {
    let hub = hub(servers, root);
    hub.wait_until_started(START_TIMEOUT).await;
    for state in hub.servers() {
        assert!(
            matches!(state.status, ServerStatus::Ready { .. }),
            "{state:?}"
        );
    }
    hub
}

struct PendingCall {
    call: McpToolCall,
    progress: mpsc::Receiver<CallProgress>,
    stop: watch::Sender<bool>,
}

fn ask(server: &str, tool: &str, arguments: Value) -> PendingCall {
    let (sender, progress) = mpsc::channel(64);
    let (stop, stopped) = watch::channel(false);
    let call = McpToolCall {
        server: server.to_owned(),
        tool: tool.to_owned(),
        arguments: arguments.as_object().expect("an object").clone(),
        timeouts: RequestTimeouts::default(),
        progress: sender,
        stop: stopped,
    };
    PendingCall {
        call,
        progress,
        stop,
    }
}

async fn call(
    hub: &McpClients,
    server: &str,
    tool: &str,
    arguments: Value,
) -> Result<McpToolResult, McpError> {
    hub.call(ask(server, tool, arguments).call).await
}

fn text(answer: Result<McpToolResult, McpError>) -> String {
    let answer = answer.expect("an answer");
    assert!(!answer.is_error, "{answer:?}");
    answer.text()
}

async fn walk_through_everything(hub: &McpClients) {
    let tools = hub.tools();
    let names: Vec<_> = tools.iter().map(|tool| tool.tool.as_str()).collect();
    assert!(names.contains(&"echo"), "{names:?}");
    assert!(
        tools.iter().all(|tool| tool.name.starts_with("mcp__it__")),
        "{names:?}"
    );

    let echoed = text(call(hub, "it", "echo", json!({ "message": "hello" })).await);
    assert!(echoed.contains("hello"), "{echoed}");
    let sum = text(call(hub, "it", "get-sum", json!({ "a": 2, "b": 40 })).await);
    assert!(sum.contains("42"), "{sum}");
    let image = call(hub, "it", "get-tiny-image", json!({}))
        .await
        .expect("an answer");
    assert!(
        image.text().contains("[a picture, image/png"),
        "{}",
        image.text()
    );
    let structured = call(
        hub,
        "it",
        "get-structured-content",
        json!({ "location": "Chicago" }),
    )
    .await;
    assert!(structured.expect("an answer").structured.is_some());
    let links = text(call(hub, "it", "get-resource-links", json!({ "count": 2 })).await);
    assert!(links.contains("demo://"), "{links}");

    let wrong = call(hub, "it", "get-sum", json!({ "a": "x" })).await;
    match wrong {
        Ok(answer) => assert!(answer.is_error, "{answer:?}"),
        Err(error) => assert_eq!(error.class, McpErrorKind::InvalidArguments, "{error}"),
    }
    let missing = call(hub, "it", "no-such-tool", json!({})).await;
    assert!(missing.is_err() || missing.is_ok_and(|answer| answer.is_error));

    let resources = hub.resources("it").await.expect("resources");
    let first = resources.first().expect("at least one");
    let read = hub.read("it", &first.uri).await.expect("its content");
    assert!(!read.is_empty());
    let prompts = hub.prompts("it").await.expect("prompts");
    let simple = prompts
        .iter()
        .find(|prompt| prompt.arguments.is_empty())
        .expect("a simple one");
    let spelled = hub.prompt("it", &simple.name, serde_json::Map::new()).await;
    assert!(!spelled.expect("messages").is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_everything_over_pipes() {
    let Some(script) = script("server-everything") else {
        return;
    };
    let folder = tempfile();
    let servers = json!({ "it": { "command": "node", "args": [script] } });
    let start = Instant::now();
    let hub = ready_hub(&servers, folder.path()).await;
    eprintln!(
        "ready after {:?}: {:?}",
        start.elapsed(),
        hub.servers()[0].status
    );
    let count = hub.tools().len();
    eprintln!(
        "{count} tools: {:?}",
        hub.tools()
            .iter()
            .map(|it| it.tool.clone())
            .collect::<Vec<_>>()
    );
    walk_through_everything(&hub).await;

    // Progress is reported, and the result comes at the end.
    let mut long = ask(
        "it",
        "trigger-long-running-operation",
        json!({ "duration": 1, "steps": 4 }),
    );
    let answer = text(hub.call(long.call).await);
    assert!(answer.contains("completed"), "{answer}");
    let mut steps = Vec::new();
    while let Ok(step) = long.progress.try_recv() {
        steps.push(step.done);
    }
    // The last one may arrive with the result.
    assert!(steps.starts_with(&[1.0, 2.0, 3.0]), "{steps:?}");

    // A stop takes effect immediately.
    let long = ask(
        "it",
        "trigger-long-running-operation",
        json!({ "duration": 30, "steps": 30 }),
    );
    let stop = long.stop;
    let start = Instant::now();
    let (stopped, ()) = tokio::join!(hub.call(long.call), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        stop.send(true).expect("it listens");
    });
    assert_eq!(stopped.expect_err("stopped").class, McpErrorKind::Stopped);
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );

    // It requests the roots and a form, if it has tools that do.
    let names: Vec<_> = hub.tools().into_iter().map(|tool| tool.tool).collect();
    if names.iter().any(|name| name == "get-roots-list") {
        let roots = text(call(&hub, "it", "get-roots-list", json!({})).await);
        assert!(roots.contains("file://"), "{roots}");
    }
    let elicits = "trigger-elicitation-request";
    if names.iter().any(|name| name == elicits) {
        let form = text(call(&hub, "it", elicits, json!({})).await);
        eprintln!("{form}");
        assert!(form.contains("provided"), "{form}");
    }
    let start = Instant::now();
    hub.close().await;
    eprintln!("closed after {:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_filesystem_over_pipes() {
    let Some(script) = script("server-filesystem") else {
        return;
    };
    let folder = tempfile();
    let real = folder.path().as_path().canonicalize().expect("a real path");
    let root = AbsPath::new(real).expect("an absolute path");
    std::fs::write(root.join("note.txt"), "written before").expect("a file");
    // No folder is configured: it requests our roots.
    let servers = json!({ "files": { "command": "node", "args": [script] } });
    let hub = ready_hub(&servers, &root).await;
    let tools = hub.tools();
    eprintln!("{} tools", tools.len());
    let reads = tools
        .iter()
        .filter(|tool| tool.hints.is_read_only == Some(true))
        .count();
    assert!(reads > 0, "{tools:?}");
    // The roots are requested after initialization.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let note = root.join("note.txt").as_path().display().to_string();
    let read = text(call(&hub, "files", "read_text_file", json!({ "path": note })).await);
    assert!(read.contains("written before"), "{read}");
    let new = root.join("new.txt").as_path().display().to_string();
    let arguments = json!({ "path": new, "content": "by a tool" });
    text(call(&hub, "files", "write_file", arguments).await);
    assert_eq!(
        std::fs::read_to_string(root.join("new.txt")).expect("a file"),
        "by a tool"
    );
    let outside = call(
        &hub,
        "files",
        "read_text_file",
        json!({ "path": "/etc/hostname" }),
    )
    .await;
    assert!(outside.is_err() || outside.is_ok_and(|answer| answer.is_error));
    hub.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_everything_over_http() {
    let Some(script) = script("server-everything") else {
        return;
    };
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port")
        .port();
    let mut server = std::process::Command::new("node")
        .args([script.as_str(), "streamableHttp"])
        .env("PORT", port.to_string())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("node starts");
    let folder = tempfile();
    // Reconnection succeeds once it listens.
    let servers = json!({ "it": { "url": format!("http://127.0.0.1:{port}/mcp") } });
    let hub = hub(&servers, folder.path());
    let start = Instant::now();
    while !matches!(hub.servers()[0].status, ServerStatus::Ready { .. }) {
        assert!(start.elapsed() < START_TIMEOUT, "{:?}", hub.servers());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    eprintln!(
        "ready after {:?}: {:?}",
        start.elapsed(),
        hub.servers()[0].status
    );
    walk_through_everything(&hub).await;

    // Its death is a status with a reason, and calls are refused with that reason.
    server.kill().expect("it runs");
    server.wait().expect("it ran");
    let error = call(&hub, "it", "echo", json!({ "message": "x" }))
        .await
        .expect_err("gone");
    eprintln!("{error}");
    assert!(
        matches!(
            error.class,
            McpErrorKind::Disconnected | McpErrorKind::Failed
        ),
        "{error:?}"
    );
    hub.close().await;
}

#[tokio::test]
async fn a_server_that_dies_says_why() {
    let folder = tempfile();
    let script = "read -r line; echo 'no licence: see the manual' >&2; exit 7";
    let servers = json!({
        "dying": { "command": "sh", "args": ["-c", script] },
        "missing": { "command": "burin-no-such-server" },
        "greeting": { "command": "sh", "args": ["-c", "echo Hello; echo '{\"a\":1}'; cat >/dev/null"] }
    });
    let hub = hub(&servers, folder.path());
    let mut events = hub.events();
    let mut broken = std::collections::BTreeMap::new();
    let mut said = Vec::new();
    while broken.len() < 2 || said.len() < 2 {
        let event = tokio::time::timeout(START_TIMEOUT, events.recv())
            .await
            .expect("in time");
        match event.expect("an event") {
            McpEvent::Status {
                server,
                status: ServerStatus::Broken { why, again },
            } => {
                broken.insert(server, (why, again));
            }
            McpEvent::Message { server, text, .. } => said.push((server, text)),
            _ => {}
        }
    }
    let (why, again) = &broken["dying"];
    assert_eq!(
        why,
        "it ended with code 7; it last said: no licence: see the manual"
    );
    assert_eq!(*again, Some(Duration::from_secs(1)));
    let (why, again) = &broken["missing"];
    assert!(
        why.contains("burin-no-such-server is not installed"),
        "{why}"
    );
    assert_eq!(*again, None);
    assert_eq!(
        said[0],
        ("greeting".to_owned(), "it printed: Hello".to_owned())
    );
    let error = call(&hub, "dying", "x", json!({}))
        .await
        .expect_err("it does not work");
    assert_eq!(error.class, McpErrorKind::Disconnected);
    let error = call(&hub, "nobody", "x", json!({}))
        .await
        .expect_err("there is none");
    assert!(
        error
            .message
            .contains("there are: dying, greeting, missing"),
        "{error}"
    );
}

fn tempfile() -> host::TempFolder {
    host::TempFolder::new().expect("a folder")
}
