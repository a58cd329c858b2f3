//! Scripted servers, without processes and with a paused clock.

mod fake;

use std::sync::atomic::Ordering;

use rmcp::model::ProtocolVersion;
use serde_json::json;

use self::fake::{FakeServer, ServerLifecycle};
use super::*;
use crate::mcp::config::{ServerFingerprint, ServerOrigin, ServerTransport};
use crate::mcp::form::{ElicitationForm, Filled};
use crate::mcp::user::{Approval, BrowserPage, NoUser};
use crate::mcp::{CallProgress, RequestTimeouts};

/// Fills in forms with their defaults, and approves the given entries.
#[derive(Default)]
struct FormUser {
    approved: std::sync::Mutex<Vec<ServerFingerprint>>,
}

impl McpUser for FormUser {
    fn fill(&self, _: &str, form: ElicitationForm) -> futures::future::BoxFuture<'static, Filled> {
        Box::pin(std::future::ready(Filled::Accepted(form.defaults())))
    }

    fn open(&self, _: BrowserPage) -> futures::future::BoxFuture<'static, bool> {
        Box::pin(std::future::ready(false))
    }
}

impl Approvals for FormUser {
    fn approval(&self, entry: &ServerEntry) -> Approval {
        if self
            .approved
            .lock()
            .expect("a lock")
            .contains(&entry.fingerprint)
        {
            Approval::Allowed
        } else {
            Approval::Unasked
        }
    }
}

fn entry(origin: ServerOrigin) -> ServerEntry {
    ServerEntry {
        name: "it".to_owned(),
        origin,
        written: json!({ "command": "it" }),
        fingerprint: ServerFingerprint::of("it", &json!({ "command": "it" })),
        is_disabled: false,
        startup: None,
        reach: Ok(ServerTransport::Http {
            url: "http://nowhere".to_owned(),
            headers: BTreeMap::new(),
            client: Default::default(),
        }),
    }
}

fn start_entry(fake: &Arc<FakeServer>, entry: ServerEntry, user: Arc<FormUser>) -> McpClients {
    let start = McpSetup {
        servers: vec![entry],
        roots: vec![AbsPath::new("/project").expect("absolute")],
        environment: Variables::new(),
        approvals: user.clone(),
        user,
        tokens: Arc::new(NoUser::default()),
    };
    McpClients::start_with(start, |_| Arc::new(fake.clone()))
}

async fn ready(fake: &Arc<FakeServer>) -> McpClients {
    let hub = start_entry(fake, entry(ServerOrigin::User), Arc::default());
    hub.wait_until_started(Duration::from_secs(5)).await;
    let state = &hub.servers()[0];
    assert!(
        matches!(state.status, ServerStatus::Ready { .. }),
        "{state:?}"
    );
    hub
}

struct PendingCall {
    call: McpToolCall,
    progress: mpsc::Receiver<CallProgress>,
    stop: watch::Sender<bool>,
}

fn calling(tool: &str) -> PendingCall {
    let (sender, progress) = mpsc::channel(64);
    let (stop, stopped) = watch::channel(false);
    let call = McpToolCall {
        server: "it".to_owned(),
        tool: tool.to_owned(),
        arguments: Map::new(),
        timeouts: RequestTimeouts {
            idle: Duration::from_secs(10),
            total: Duration::from_secs(60),
        },
        progress: sender,
        stop: stopped,
    };
    PendingCall {
        call,
        progress,
        stop,
    }
}

async fn text(hub: &McpClients, tool: &str) -> String {
    hub.call(calling(tool).call)
        .await
        .expect("an answer")
        .text()
}

#[tokio::test(start_paused = true)]
async fn neither_lifecycle_is_assumed() {
    for (kind, version) in [
        (ServerLifecycle::Old, ProtocolVersion::V_2025_06_18),
        (ServerLifecycle::Stateless, ProtocolVersion::V_2026_07_28),
    ] {
        let fake = Arc::new(FakeServer::new(kind));
        let hub = ready(&fake).await;
        let ServerStatus::Ready { protocol, program } = hub.servers()[0].status.clone() else {
            panic!("it is ready");
        };
        assert_eq!(
            (protocol, program.as_deref()),
            (version.to_string(), Some("fake"))
        );
        assert_eq!(hub.tools()[0].name, "mcp__it__list-1");
        assert_eq!(text(&hub, "echo").await, "echo");
        let methods = fake.methods();
        assert_eq!(
            methods.contains(&"initialize".to_owned()),
            kind == ServerLifecycle::Old,
            "{methods:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn tool_with_invalid_schema_is_omitted_and_others_stay() {
    for kind in [ServerLifecycle::Old, ServerLifecycle::Stateless] {
        let fake = Arc::new(FakeServer::new(kind));
        *fake.more_tools.lock().expect("a lock") = vec![
            json!({ "name": "text", "inputSchema": "string" }),
            json!({ "name": "list", "inputSchema": { "type": "array" } }),
            json!({ "name": 7, "inputSchema": {} }),
            json!({ "name": "either", "inputSchema": { "anyOf": [{ "properties": { "a": {} } }] } }),
            json!({ "name": "none" }),
        ];
        let hub = ready(&fake).await;
        let tools = hub.tools();
        let names: Vec<&str> = tools.iter().map(|tool| tool.tool.as_str()).collect();
        assert_eq!(names, ["list-1", "either", "none"]);
        let either = json!({ "type": "object", "properties": { "a": {} } });
        assert_eq!(tools[1].schema, either);
        let left_out = hub.servers()[0].left_out.join("; ");
        for named in [
            "the tool \"text\" is left out",
            "the tool \"list\" is left out",
            "without a name",
        ] {
            assert!(left_out.contains(named), "{left_out}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn servers_send_requests_in_both_lifecycles() {
    let hub = ready(&Arc::new(FakeServer::new(ServerLifecycle::Old))).await;
    let form = text(&hub, "form").await;
    assert!(
        form.contains(r#""action":"accept""#) && form.contains(r#""name":"Ada""#),
        "{form}"
    );
    assert!(text(&hub, "roots").await.contains("file:///project"));
    let sampling = text(&hub, "sampling").await;
    assert!(
        sampling.contains("does not let servers ask models"),
        "{sampling}"
    );

    let hub = ready(&Arc::new(FakeServer::new(ServerLifecycle::Stateless))).await;
    let form = text(&hub, "input").await;
    assert!(
        form.contains(r#""name":"Ada""#) && form.contains("state-1"),
        "{form}"
    );
    let for_ever = hub
        .call(calling("input-for-ever").call)
        .await
        .expect_err("no end");
    assert_eq!(for_ever.class, McpErrorKind::InvalidResponse);
}

#[tokio::test(start_paused = true)]
async fn change_notices_are_coalesced() {
    for (kind, floods) in [
        (ServerLifecycle::Old, "flood"),
        (ServerLifecycle::Stateless, "echo"),
    ] {
        let fake = Arc::new(FakeServer::new(kind));
        let hub = ready(&fake).await;
        let mut events = hub.events();
        text(&hub, floods).await;
        let tools = McpEvent::Tools {
            server: "it".to_owned(),
        };
        while events.recv().await.expect("an event") != tools {}
        tokio::time::sleep(Duration::from_secs(5)).await;
        let lists = fake
            .methods()
            .iter()
            .filter(|method| *method == "tools/list")
            .count();
        assert!((2..=4).contains(&lists), "{kind:?}: {lists}");
        assert_eq!(hub.tools()[0].tool, format!("list-{lists}"));
    }
}

#[tokio::test(start_paused = true)]
async fn progress_extends_the_timeout_and_silence_ends_it() {
    let fake = Arc::new(FakeServer::new(ServerLifecycle::Old));
    let hub = ready(&fake).await;
    // It takes forty seconds, with progress every five.
    let mut slow = calling("slow");
    let answer = hub.call(slow.call).await.expect("an answer");
    assert_eq!(answer.text(), "slow");
    let first = slow.progress.try_recv().expect("progress");
    assert_eq!(
        (first.done, first.total, first.message.as_deref()),
        (1.0, Some(8.0), Some("on it"))
    );

    let silent = hub.call(calling("never").call).await.expect_err("silence");
    assert_eq!(silent.class, McpErrorKind::Timeout);
    assert!(
        silent.message.contains("made no progress for 10 s"),
        "{silent}"
    );
    let endless = hub.call(calling("endless").call).await.expect_err("no end");
    assert!(endless.message.contains("more than 60 s"), "{endless}");
    tokio::time::sleep(Duration::from_millis(10)).await;
    let cancelled = fake
        .methods()
        .iter()
        .filter(|it| *it == "notifications/cancelled")
        .count();
    assert_eq!(cancelled, 2);
}

#[tokio::test(start_paused = true)]
async fn stopped_and_dropped_calls_are_cancelled() {
    let fake = Arc::new(FakeServer::new(ServerLifecycle::Old));
    let hub = ready(&fake).await;
    let never = calling("never");
    let stop = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        never.stop.send(true).expect("it listens");
    };
    let (stopped, ()) = tokio::join!(hub.call(never.call), stop);
    assert_eq!(stopped.expect_err("stopped").class, McpErrorKind::Stopped);
    let dropped = hub.call(calling("never").call);
    tokio::time::timeout(Duration::from_secs(1), dropped)
        .await
        .expect_err("it never ends");
    tokio::time::sleep(Duration::from_millis(10)).await;
    let cancelled = fake
        .methods()
        .iter()
        .filter(|it| *it == "notifications/cancelled")
        .count();
    assert_eq!(cancelled, 2);
}

#[tokio::test(start_paused = true)]
async fn errors_have_classes() {
    let hub = ready(&Arc::new(FakeServer::new(ServerLifecycle::Old))).await;
    let check = async |tool: &str, class: McpErrorKind, expected: &str| {
        let error = hub.call(calling(tool).call).await.expect_err("an error");
        assert_eq!(error.class, class, "{error}");
        assert!(error.message.contains(expected), "{error}");
    };
    check(
        "error -32602",
        McpErrorKind::InvalidArguments,
        "the call of error -32602",
    )
    .await;
    check("error -32601", McpErrorKind::NotFound, "with an error").await;
    check("error -1", McpErrorKind::Failed, "with an error").await;
    let failed = hub.call(calling("failed").call).await.expect("an answer");
    assert!(failed.is_error);
}

#[tokio::test(start_paused = true)]
async fn lost_server_is_reconnected_with_backoff() {
    let fake = Arc::new(FakeServer::new(ServerLifecycle::Old));
    let hub = ready(&fake).await;
    let mut events = hub.events();
    fake.is_closed.store(true, Ordering::SeqCst);
    let error = hub.call(calling("die").call).await.expect_err("it is gone");
    assert_eq!(error.class, McpErrorKind::Disconnected, "{error}");
    let mut pauses = Vec::new();
    loop {
        let McpEvent::Status { status, .. } = events.recv().await.expect("an event") else {
            continue;
        };
        if let ServerStatus::Broken { again, why } = status {
            assert!(!why.is_empty());
            pauses.push(again.map(|pause| pause.as_secs()));
            if again.is_none() {
                break;
            }
        }
    }
    assert_eq!(
        pauses,
        [Some(1), Some(2), Some(4), Some(8), Some(16), Some(32), None]
    );
    // A restart on request succeeds.
    fake.is_closed.store(false, Ordering::SeqCst);
    hub.restart("it").await.expect("it listens");
    tokio::time::sleep(Duration::from_millis(100)).await;
    hub.wait_until_started(Duration::from_secs(5)).await;
    assert_eq!(text(&hub, "echo").await, "echo");
}

#[tokio::test(start_paused = true)]
async fn project_server_waits_for_approval() {
    let fake = Arc::new(FakeServer::new(ServerLifecycle::Old));
    let file = AbsPath::new("/project/.mcp.json").expect("absolute");
    let entry = entry(ServerOrigin::Project { file });
    let user = Arc::new(FormUser::default());
    let hub = start_entry(&fake, entry.clone(), user.clone());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(hub.servers()[0].status, ServerStatus::Unapproved);
    assert!(fake.methods().is_empty(), "no request may reach it");
    let error = hub.call(calling("echo").call).await.expect_err("not yet");
    assert_eq!(error.class, McpErrorKind::NeedsUser);
    user.approved
        .lock()
        .expect("a lock")
        .push(entry.fingerprint);
    hub.restart("it").await.expect("it listens");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(text(&hub, "echo").await, "echo");

    let mut disabled = self::entry(ServerOrigin::User);
    disabled.is_disabled = true;
    let hub = start_entry(&fake, disabled, user);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(hub.servers()[0].status, ServerStatus::Disabled);
    hub.close().await;
}
