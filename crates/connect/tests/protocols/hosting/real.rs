//! The four agents from npm, each with one turn against our model server and no network. They are
//! installed in a cache folder; without them these tests are skipped with a message.

use std::path::{Path, PathBuf};

use connect::acp::host::SignIn;
use connect::acp::protocol::PromptStop;
use host::TempFolder;
use mockllm::{MockServer, Script};
use serde_json::json;

use super::guest::{Program, cached};

const SCRIPT: &str = r#"{ "rules": [{ "reply": [{ "text": "Greetings from the mock." }] }] }"#;

fn installed(path: &str) -> Option<PathBuf> {
    let folder = cached("BURIN_NPM_AGENTS", "npm-agents");
    let path = folder.join(path);
    if !path.exists() {
        test_support::skip(format_args!("{} is not installed with npm", path.display()));
        return None;
    }
    Some(path)
}

/// A separate home, and unreachable proxies: an agent that contacts its vendor fails.
fn guarded(program: Program, home: &Path) -> Program {
    let nowhere = "http://127.0.0.1:9";
    let mut program = program
        .with("HOME", home.display().to_string())
        .with("NO_PROXY", "127.0.0.1,localhost")
        .with("no_proxy", "127.0.0.1,localhost");
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
        program = program.with(name, nowhere);
    }
    program
}

async fn complete_a_turn(program: Program, server: &MockServer) {
    let start = std::time::Instant::now();
    let mut guest = program.start();
    guest.begun().await;
    let begun = start.elapsed();
    let (said, end) = guest.turn("Please greet me.").await;
    assert_eq!(end, PromptStop::Done, "{:#?}", guest.events);
    assert!(
        said.contains("Greetings from the mock."),
        "{said}: {:#?}",
        guest.events
    );
    assert!(!server.requests().is_empty());
    eprintln!(
        "{} requests; its session began after {begun:?}, its turn ended after {:?}",
        server.requests().len(),
        start.elapsed()
    );
    guest
        .say(connect::acp::host::HostedAgentCommand::Close)
        .await;
    assert_eq!(guest.closed().await, None);
}

fn mock() -> MockServer {
    let script = Script::parse("agents", SCRIPT).expect("a script");
    MockServer::start(script).expect("a port")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claude_completes_a_turn() {
    let path = "claude/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js";
    let Some(path) = installed(path) else {
        return;
    };
    let (server, home) = (mock(), TempFolder::new().expect("a folder"));
    let program = Program::new("node", &[&path.display().to_string()])
        .with("ANTHROPIC_BASE_URL", server.url())
        .with("ANTHROPIC_API_KEY", "any")
        .with("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .with("IS_SANDBOX", "1");
    complete_a_turn(guarded(program, home.path().as_path()), &server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gemini_completes_a_turn() {
    let Some(path) = installed("gemini/node_modules/@google/gemini-cli/bundle/gemini.js") else {
        return;
    };
    let (server, home) = (mock(), TempFolder::new().expect("a folder"));
    let mut program = Program::new("node", &[&path.display().to_string(), "--acp"]);
    program.auth_meta = json!({ "gateway": true })
        .as_object()
        .expect("an object")
        .clone();
    let meta = json!({ "gateway": { "baseUrl": server.url(), "headers": { "x-test": "1" } } });
    program.sign_in = Some(SignIn {
        method: "gateway".to_owned(),
        meta: meta.as_object().expect("an object").clone(),
    });
    complete_a_turn(guarded(program, home.path().as_path()), &server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codex_completes_a_turn() {
    let Some(path) = installed("codex/node_modules/@zed-industries/codex-acp/bin/codex-acp.js")
    else {
        return;
    };
    let (server, home) = (mock(), TempFolder::new().expect("a folder"));
    let config = format!(
        "model = \"gpt-5.2-codex\"\nmodel_provider = \"mock\"\n[model_providers.mock]\n\
         name = \"mock\"\nbase_url = \"{}/v1\"\nenv_key = \"OPENAI_API_KEY\"\n\
         wire_api = \"responses\"\n",
        server.url()
    );
    std::fs::write(home.path().join("config.toml"), config).expect("a file");
    let mut program = Program::new("node", &[&path.display().to_string()])
        .with("OPENAI_API_KEY", "any")
        .with("CODEX_HOME", home.path().as_path().display().to_string());
    program.sign_in = Some(SignIn {
        method: "openai-api-key".to_owned(),
        meta: serde_json::Map::new(),
    });
    complete_a_turn(guarded(program, home.path().as_path()), &server).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opencode_completes_a_turn() {
    let Some(path) = installed("opencode/node_modules/opencode-linux-x64/bin/opencode") else {
        return;
    };
    let (server, home) = (mock(), TempFolder::new().expect("a folder"));
    let config = json!({
        "autoupdate": false, "share": "disabled", "model": "mock/m1", "small_model": "mock/m1",
        "provider": { "mock": {
            "npm": "@ai-sdk/openai-compatible", "name": "mock",
            "options": { "baseURL": format!("{}/v1", server.url()), "apiKey": "x" },
            "models": { "m1": { "name": "m1", "limit": { "context": 128000, "output": 8000 } } }
        } }
    });
    let folder = home.path().join(".config/opencode");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("opencode.json"), config.to_string()).expect("a file");
    let program = Program::new(path, &["acp"]);
    complete_a_turn(guarded(program, home.path().as_path()), &server).await;
}
