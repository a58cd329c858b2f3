//! A scripted server over an in-memory pipe.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::model::{DiscoverResult, Implementation, ProtocolVersion, ServerCapabilities};
use rmcp::serve_client_with_lifecycle;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf, split};

use crate::mcp::client_handler::McpClientHandler;
use crate::mcp::connector::{ConnectFailure, Connector, ServerConnection, lifecycle_mode, noise};
use crate::mcp::stdio::Stdio;

/// The lifecycle of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerLifecycle {
    /// It begins with `initialize`.
    Old,
    /// It is stateless.
    Stateless,
}

/// A scripted server. Each `connect` opens a new connection to it.
pub(super) struct FakeServer {
    kind: ServerLifecycle,
    received: Mutex<Vec<String>>,
    lists: AtomicU64,
    /// The tools that it lists in addition to its own.
    pub(super) more_tools: Mutex<Vec<Value>>,
    /// Whether it closes every connection.
    pub(super) is_closed: AtomicBool,
}

type ResponseWriter = Arc<tokio::sync::Mutex<WriteHalf<DuplexStream>>>;

impl FakeServer {
    pub(super) fn new(kind: ServerLifecycle) -> Self {
        Self {
            kind,
            received: Mutex::default(),
            lists: AtomicU64::new(0),
            more_tools: Mutex::default(),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Returns the methods of all received messages.
    pub(super) fn methods(&self) -> Vec<String> {
        self.received.lock().expect("a lock").clone()
    }

    async fn serve(self: Arc<Self>, stream: DuplexStream) {
        let (from, to) = split(stream);
        let out: ResponseWriter = Arc::new(tokio::sync::Mutex::new(to));
        let mut lines = BufReader::new(from).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).expect("we send JSON");
            let method = message["method"].as_str().unwrap_or("answer").to_owned();
            self.received.lock().expect("a lock").push(method.clone());
            if method == "answer" {
                self.answered(&message, &out).await;
                continue;
            }
            if message["params"]["name"] == "die" {
                return;
            }
            let (fake, out) = (self.clone(), out.clone());
            tokio::spawn(async move { fake.hear(&method, message, out).await });
        }
    }

    /// Handles a response to its own request: it becomes the result of the call, whose id is part
    /// of its own.
    async fn answered(&self, message: &Value, out: &ResponseWriter) {
        let call = message["id"]
            .as_str()
            .and_then(|id| id.strip_prefix("back-"));
        let call: u64 = call.expect("our id").parse().expect("a number");
        let said = message
            .get("result")
            .unwrap_or(&message["error"])
            .to_string();
        send(
            out,
            &json!({ "id": call, "result": { "content": [{ "type": "text", "text": said }] } }),
        )
        .await;
    }

    async fn hear(&self, method: &str, message: Value, out: ResponseWriter) {
        let id = message["id"].clone();
        let answer = |result: Value| json!({ "id": id, "result": result });
        let capabilities = json!({ "tools": { "listChanged": true } });
        match (method, self.kind) {
            ("server/discover", ServerLifecycle::Stateless) => {
                let capabilities: ServerCapabilities =
                    serde_json::from_value(capabilities).expect("capabilities");
                let versions = vec![ProtocolVersion::V_2026_07_28];
                let found = DiscoverResult::new(versions, capabilities)
                    .with_server_info(Implementation::new("fake", "1"));
                send(&out, &answer(serde_json::to_value(found).expect("JSON"))).await;
            }
            ("initialize", ServerLifecycle::Old) => {
                let result = json!({
                    "protocolVersion": "2025-06-18", "capabilities": capabilities,
                    "serverInfo": { "name": "fake", "version": "1" }
                });
                send(&out, &answer(result)).await;
            }
            ("tools/list", _) => {
                let count = self.lists.fetch_add(1, Ordering::SeqCst) + 1;
                let tool =
                    json!({ "name": format!("list-{count}"), "inputSchema": { "type": "object" } });
                let more = self.more_tools.lock().expect("a lock").clone();
                let tools: Vec<Value> = std::iter::once(tool).chain(more).collect();
                send(
                    &out,
                    &answer(json!({ "resultType": "complete", "tools": tools })),
                )
                .await;
            }
            ("tools/call", _) => self.call(&message, out).await,
            ("subscriptions/listen", ServerLifecycle::Stateless) => {
                self.listen(&id, &message, &out).await
            }
            _ if id.is_null() => {}
            _ => {
                let error = json!({ "code": -32601, "message": "not known" });
                send(&out, &json!({ "id": id, "error": error })).await;
            }
        }
    }

    /// Acknowledges a subscription, and sends many change notifications.
    async fn listen(&self, id: &Value, message: &Value, out: &ResponseWriter) {
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
        let wanted = &message["params"]["notifications"];
        let params = json!({ "_meta": meta, "notifications": wanted });
        let method = "notifications/subscriptions/acknowledged";
        send(out, &json!({ "method": method, "params": params })).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        for _ in 0..20 {
            let params = json!({ "_meta": meta });
            let method = "notifications/tools/list_changed";
            send(out, &json!({ "method": method, "params": params })).await;
        }
    }

    async fn call(&self, message: &Value, out: ResponseWriter) {
        let id = &message["id"];
        let params = &message["params"];
        let name = params["name"].as_str().expect("a name");
        let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
        let back = |method: &str, params: Value| json!({ "id": format!("back-{id}"), "method": method, "params": params });
        let form = json!({
            "mode": "form", "message": "Who?", "requestedSchema": {
                "type": "object",
                "properties": { "name": { "type": "string", "default": "Ada" } }
            }
        });
        let result = match name {
            "form" => return send(&out, &back("elicitation/create", form)).await,
            "roots" => return send(&out, &back("roots/list", json!({}))).await,
            "sampling" => {
                let content = json!({ "type": "text", "text": "x" });
                let messages = json!([{ "role": "user", "content": content }]);
                let params = json!({ "messages": messages, "maxTokens": 5 });
                return send(&out, &back("sampling/createMessage", params)).await;
            }
            "input" | "input-for-ever" => match params.get("inputResponses") {
                Some(responses) if name == "input" => {
                    text(&format!("{responses} {}", params["requestState"]))
                }
                _ => json!({
                    "resultType": "input_required", "requestState": "state-1",
                    "inputRequests": { "who": { "method": "elicitation/create", "params": form } }
                }),
            },
            "flood" => {
                for _ in 0..500 {
                    send(
                        &out,
                        &json!({ "method": "notifications/tools/list_changed" }),
                    )
                    .await;
                }
                text("flooded")
            }
            "slow" | "endless" => {
                let token = &params["_meta"]["progressToken"];
                let steps = if name == "slow" { 8 } else { 100 };
                for step in 1..=steps {
                    let params = json!({
                        "progressToken": token, "progress": step, "total": steps, "message": "on it"
                    });
                    send(
                        &out,
                        &json!({ "method": "notifications/progress", "params": params }),
                    )
                    .await;
                    tokio::time::sleep(Duration::from_secs(5)).await;
                }
                text("slow")
            }
            "never" => return,
            "failed" => json!({ "content": [], "isError": true }),
            _ => match name.strip_prefix("error ") {
                Some(code) => {
                    let code: i32 = code.parse().expect("a code");
                    let error = json!({ "code": code, "message": "because" });
                    return send(&out, &json!({ "id": id, "error": error })).await;
                }
                None => text(name),
            },
        };
        send(&out, &json!({ "id": id, "result": result })).await;
    }
}

impl Connector for Arc<FakeServer> {
    fn connect(
        &self,
        handler: Arc<McpClientHandler>,
    ) -> BoxFuture<'_, Result<ServerConnection, ConnectFailure>> {
        Box::pin(async move {
            if self.is_closed.load(Ordering::SeqCst) {
                return Err(ConnectFailure::Transient("it hangs up".to_owned()));
            }
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            tokio::spawn(self.clone().serve(theirs));
            let (from, to) = split(ours);
            let transport = Stdio::new(from, to, noise(&handler));
            match serve_client_with_lifecycle(handler, transport, lifecycle_mode()).await {
                Ok(service) => Ok(ServerConnection {
                    service,
                    child: None,
                }),
                Err(error) => Err(ConnectFailure::Transient(error.to_string())),
            }
        })
    }
}

async fn send(out: &ResponseWriter, message: &Value) {
    let mut message = message.clone();
    message["jsonrpc"] = json!("2.0");
    let mut out = out.lock().await;
    // The other side may be gone.
    out.write_all(format!("{message}\n").as_bytes()).await.ok();
}
