//! Tests real servers from npm in whole sessions. They are in a cache folder; without them these tests are
//! skipped.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::home::{Home, offered};

/// Returns the path of a test dependency that is not shipped: from a variable, or in the cache
/// folder.
pub(super) fn cached(variable: &str, name: &str, path: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let folder = named.unwrap_or_else(|| {
        let home = std::env::var_os("HOME").unwrap_or_default();
        PathBuf::from(home).join(".cache/burin").join(name)
    });
    let path = folder.join(path);
    if !path.exists() {
        test_support::skip(format_args!("{} is not installed with npm", path.display()));
        return None;
    }
    Some(path)
}

fn server(package: &str) -> Option<Value> {
    let path = format!("node_modules/@modelcontextprotocol/{package}/dist/index.js");
    let path = cached("BURIN_NPM", "npm-mcp", &path)?;
    Some(json!({ "command": "node", "args": [path.display().to_string()] }))
}

/// Returns the results of calls in the last request: the texts, and the number of pictures.
fn results(home: &Home) -> (String, usize) {
    let asked = home.asked();
    let last = asked.last().expect("a request");
    let mut texts = String::new();
    let mut pictures = 0;
    for message in last["messages"].as_array().expect("messages") {
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_result" {
                for piece in block["content"].as_array().into_iter().flatten() {
                    texts.push_str(piece["text"].as_str().unwrap_or_default());
                    texts.push('\n');
                    pictures += usize::from(piece["type"] == "image");
                }
                texts.push_str(block["content"].as_str().unwrap_or_default());
            }
        }
    }
    (texts, pictures)
}

#[test]
fn server_everything_in_a_session() {
    let Some(server) = server("server-everything") else {
        return;
    };
    let rules = json!([
        { "match": { "step": 1 }, "reply": [{ "calls": [
            { "tool": "mcp__every__echo", "arguments": { "message": "hello there" } },
            { "tool": "mcp__every__get-sum", "arguments": { "a": 2, "b": 40 } },
            { "tool": "mcp__every__get-tiny-image" },
            { "tool": "mcp__every__get-sum", "arguments": { "a": "two" } },
            { "tool": "mcp__every__trigger-long-running-operation", "arguments": { "duration": 1, "steps": 3 } }
        ] }] },
        { "reply": [{ "text": "All is done." }] }
    ]);
    let home = Home::new(&rules);
    home.allow(&["mcp__every"]);
    let servers = json!({ "mcpServers": { "every": server } });
    home.write("config/mcp.json", &servers.to_string());
    let left = home.run(&["run", "--model", "mock/m", "--json", "do it"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(!left.errors.contains("not ready"), "{left:?}");
    let (texts, pictures) = results(&home);
    assert!(texts.contains("hello there"), "{texts}");
    assert!(texts.contains("42"), "{texts}");
    assert!(texts.contains("[a picture, image/png"), "{texts}");
    assert!(texts.contains("completed"), "{texts}");
    assert_eq!(pictures, 1, "{texts}");
    let events: Vec<Value> = left
        .output
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let ended = events
        .iter()
        .filter(|it| it["record"].get("outcome").is_some());
    let outcomes: Vec<_> = ended.map(|it| it["record"]["outcome"].clone()).collect();
    assert_eq!(outcomes.len(), 5, "{events:#?}");
    assert_eq!(outcomes.iter().filter(|it| **it == "ok").count(), 4);
    assert_eq!(
        outcomes
            .iter()
            .filter(|it| **it == "invalid_arguments")
            .count(),
        1
    );
    let progress = events.iter().filter(|it| it["event"] == "progress");
    assert!(progress.count() >= 2, "{events:#?}");
    let count = offered(&home.asked()[0]).len();
    eprintln!("{count} tools are offered in all");
}

#[test]
fn server_filesystem_in_a_session() {
    let Some(server) = server("server-filesystem") else {
        return;
    };
    let home = Home::new(&json!([]));
    let path = |name: &str| home.path(name).display().to_string();
    let rules = json!({ "rules": [
        { "match": { "step": 1 }, "reply": [{ "call": { "tool": "mcp__files__read_text_file", "arguments": { "path": path("project/note.txt") } } }] },
        { "match": { "step": 2, "results": [{ "says": { "contains": "written before" } }] },
          "reply": [{ "call": { "tool": "mcp__files__write_file", "arguments": { "path": path("project/new.txt"), "content": "by a tool" } } }] },
        { "match": { "step": 3 }, "reply": [{ "call": { "tool": "mcp__files__read_text_file", "arguments": { "path": "/etc/hostname" } } }] },
        { "reply": [{ "text": "All is done." }] }
    ] });
    let script = mockllm::Script::parse("files", &rules.to_string()).expect("a script");
    home.model.replace(script);
    home.write("project/note.txt", "written before");
    home.allow(&["mcp__files"]);
    // No folder is configured, so the server requests the client's roots.
    let servers = json!({ "mcpServers": { "files": server } });
    home.write("project/.burin/mcp.json", &servers.to_string());
    assert_eq!(home.run(&["mcp", "approve", "files"]).code, Some(0));
    let left = home.task("do it");
    assert_eq!(left.code, Some(0), "{left:?}");
    let new = std::fs::read_to_string(home.path("project/new.txt"));
    assert_eq!(new.expect("it was written"), "by a tool", "{left:?}");
    let (texts, _) = results(&home);
    assert!(texts.contains("denied"), "{texts}");
}
