//! The client that the MCP project's conformance suite drives: `npx @modelcontextprotocol/conformance client
//! --command "target/debug/examples/mcp_conformance" --scenario initialize`. The last argument is the server's
//! address; the scenario's name is in `MCP_CONFORMANCE_SCENARIO`.

#![expect(clippy::print_stderr, reason = "a command line speaks to its terminal")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use connect::Variables;
use connect::mcp::{
    Filled, ForeignCall, ForeignTool, Form, Hub, Nobody, Origin, Page, Patience, Person, Start,
    Status, config,
};
use futures::future::{BoxFuture, ready};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};

/// Says yes to every form and lets the defaults stand.
struct Agreeable;

impl Person for Agreeable {
    fn fill(&self, _: &str, _: Form) -> BoxFuture<'static, Filled> {
        Box::pin(ready(Filled::Accepted(Map::new())))
    }

    fn open(&self, _: Page) -> BoxFuture<'static, bool> {
        Box::pin(ready(false))
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

async fn run() -> Result<(), String> {
    let url = std::env::args()
        .next_back()
        .ok_or("the address of a server is missing")?;
    let root = AbsPath::new("/").ok_or("there is no root")?;
    let environment: Variables = std::env::vars().collect();
    let servers = json!({ "it": { "url": url } });
    let (servers, problems) = config::parse(&servers, &Origin::Person, &root, &environment);
    if let Some(problem) = problems.first() {
        return Err(problem.0.clone());
    }
    let nobody = Arc::new(Nobody::default());
    let hub = Hub::start(Start {
        servers,
        roots: Vec::new(),
        environment,
        approvals: nobody.clone(),
        person: Arc::new(Agreeable),
        tokens: nobody,
    });
    hub.settled(Duration::from_secs(20)).await;
    let state = hub.servers().pop().ok_or("there is no server")?;
    if !matches!(state.status, Status::Ready { .. }) {
        return Err(format!("{:?}", state.status));
    }
    for tool in hub.tools() {
        let (progress, _unheard) = mpsc::channel(1);
        let (_stop, stopped) = watch::channel(false);
        let call = ForeignCall {
            server: tool.server.clone(),
            tool: tool.tool.clone(),
            arguments: arguments(&tool),
            patience: Patience::default(),
            progress,
            stop: stopped,
        };
        match hub.call(call).await {
            Ok(answer) => eprintln!("{}: {}", tool.tool, answer.text()),
            Err(error) => return Err(format!("{}: {error}", tool.tool)),
        }
    }
    hub.close().await;
    Ok(())
}

/// Something for every argument that a tool must be given.
fn arguments(tool: &ForeignTool) -> Map<String, Value> {
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
