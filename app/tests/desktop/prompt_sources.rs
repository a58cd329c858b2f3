//! Resources and prompts of a scripted MCP server in the window's prompt box, by keys.

use std::fs;

use serde_json::{Value, json};

use crate::agents::{Session, agent, choose};
use crate::desk::Desk;

/// A server without tools, as a shell script.
const SERVER: &str = r#"#!/bin/sh
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
  case $line in
  *'"method":"initialize"'*)
    answer '{"protocolVersion":"2025-06-18","capabilities":{"resources":{},"prompts":{}},"serverInfo":{"name":"scripted","version":"1"}}' ;;
  *'"method":"resources/list"'*)
    answer '{"resources":[{"uri":"note:///list","name":"Shopping list"}]}' ;;
  *'"method":"resources/read"'*)
    answer '{"contents":[{"uri":"note:///list","mimeType":"text/plain","text":"buy milk"}]}' ;;
  *'"method":"prompts/list"'*)
    answer '{"prompts":[{"name":"review","arguments":[{"name":"file","required":true}]}]}' ;;
  *'"method":"prompts/get"'*)
    file=$(printf '%s' "$line" | sed -n 's/.*"file":"\([^"]*\)".*/\1/p')
    answer "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"Review $file closely.\"}}]}" ;;
  *'"method":"notifications/'*) ;;
  *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not known"}}\n' "${id:-null}" ;;
  esac
done
"#;

/// Returns whether a text joined the prompts of a session.
fn has_joined(session: &Session<'_>, wanted: &str) -> bool {
    let joined = session.recorded("joined");
    joined
        .iter()
        .any(|record: &Value| record.to_string().contains(wanted))
}

#[test]
fn contents_of_a_server_join_the_prompt() {
    let Some(desk) = Desk::new() else {
        return test_support::skip("needs Xvfb, xdotool and git");
    };
    let Some(agent) = agent() else {
        return test_support::skip("burin-agent is not built beside burin");
    };
    let repo = desk.folder().join("repo");
    let config = desk.folder().join("config");
    fs::create_dir_all(&repo).expect("create");
    fs::create_dir_all(&config).expect("create");
    let script = desk.folder().join("server.sh");
    fs::write(&script, SERVER).expect("write");
    let entry = json!({ "command": "sh", "args": [script.display().to_string()] });
    let servers = json!({ "mcpServers": { "notes": entry } });
    fs::write(config.join("mcp.json"), servers.to_string()).expect("write");

    let _burin = desk.start(&[repo.as_os_str()]);
    desk.keys(&["ctrl+alt+b"]);
    desk.wait(4_000);
    choose(&desk, "demo");
    let session = Session::begin(&desk, &agent, "Fix the failing test");
    desk.until("the question for leave", 60, || session.is_waiting());
    desk.keys(&["ctrl+shift+BackSpace"]);
    desk.until("the end", 60, || !session.end().is_empty());

    // The first list reads the contents, and the next key shows them.
    desk.type_text("see @Shop");
    desk.wait(1_500);
    desk.picture("prompt-sources-1-resource");
    desk.keys(&["Return"]);
    desk.wait(500);
    desk.keys(&["Return"]);
    desk.until("the resource", 60, || has_joined(&session, "buy milk"));
    desk.keys(&["ctrl+shift+BackSpace"]);
    desk.wait(1_500);
    desk.type_text("/rev");
    desk.wait(1_500);
    desk.picture("prompt-sources-2-prompt");
    desk.keys(&["Return"]);
    desk.wait(500);
    desk.type_text("a.rs");
    desk.keys(&["Return"]);
    desk.until("the prompt", 60, || {
        has_joined(&session, "Review a.rs closely.")
    });
    desk.picture("prompt-sources-3-sent");
}
