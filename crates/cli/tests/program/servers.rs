//! Tools of MCP servers in sessions: approvals, order, questions, answers.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::home::{Home, is_there, offered};

/// A server as a shell script. It creates a mark when it runs. After a call of `say` it lists another tool too.
const SERVER: &str = r#"#!/bin/sh
touch "$1"
more=
tool() { printf '{"name":"%s","description":"Does %s.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}%s}' "$1" "$1" "$2"; }
text() { printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]%s}}\n' "$1" "$2" "$3"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/^{"jsonrpc":"2.0","id":\([0-9]*\),.*/\1/p')
  case $line in
  *'"method":"initialize"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"scripted","version":"1"}}}\n' "$id" ;;
  *'"method":"tools/list"'*)
    printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s,%s,%s%s]}}\n' "$id" "$(tool say)" "$(tool look ',"annotations":{"readOnlyHint":true}')" "$(tool ask)" "$more" ;;
  *'"method":"tools/call"'*'"name":"say"'*)
    more=",$(tool another)"
    printf '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
    text "$id" "said it" ;;
  *'"method":"tools/call"'*'"name":"look"'*) text "$id" "cannot look" ',"isError":true' ;;
  *'"method":"tools/call"'*'"name":"ask"'*)
    asked=$id
    printf '{"jsonrpc":"2.0","id":900,"method":"elicitation/create","params":{"message":"which color?","requestedSchema":{"type":"object","properties":{"color":{"type":"string","enum":["red","green"]}},"required":["color"]}}}\n' ;;
  *'"id":900'*)
    case $line in
    *'"action":"accept"'*'green'*|*'green'*'"action":"accept"'*) text "$asked" "they like green" ;;
    *'"action":"decline"'*) text "$asked" "they declined" ;;
    *) text "$asked" "they said something else" ;;
    esac ;;
  *'"method":"notifications/'*) ;;
  *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not known"}}\n' "${id:-null}" ;;
  esac
done
"#;

fn entry(home: &Home, mark: &str) -> Value {
    let script = home.path("server.sh").display().to_string();
    let mark = home.path(mark).display().to_string();
    json!({ "command": "sh", "args": [script, mark] })
}

/// A project with one scripted server.
fn project(rules: &Value) -> Home {
    let home = Home::new(rules);
    home.write("server.sh", SERVER);
    let servers = json!({ "mcpServers": { "it": entry(&home, "runs") } });
    home.write("project/.mcp.json", &servers.to_string());
    home
}

fn calls(tool: &str) -> Value {
    json!([
        { "match": { "step": 1, "tools": [tool] }, "reply": [{ "call": { "tool": tool } }] },
        { "match": { "step": 2, "results": [{ "says": { "regex": "(?s)(?<said>.*)" } }] }, "reply": [{ "text": "It answered: {{said}}" }] },
        { "reply": [{ "text": "There is no such tool." }] }
    ])
}

#[test]
fn a_projects_server_runs_only_as_it_was_approved() {
    let home = project(&calls("mcp__it__say"));
    home.allow(&["mcp__it"]);
    let check = |expected: &str, runs: bool| {
        std::fs::remove_file(home.path("runs")).ok();
        let left = home.task("do it");
        assert_eq!(left.code, Some(0), "{left:?}");
        assert!(left.output.contains(expected), "{left:?}");
        assert_eq!(is_there(&home.path("runs")), runs, "{left:?}");
        left.errors
    };
    let hint = "the MCP server \"it\" waits for your approval: look at it under MCP servers in the Agents menu, or with \
                `burin-agent mcp approve it`";
    let errors = check("There is no such tool.", false);
    assert!(errors.contains(hint), "{errors}");
    let approved = home.run(&["mcp", "approve", "it"]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert!(approved.output.contains("server.sh"), "{approved:?}");
    let errors = check("It answered: said it", true);
    assert!(!errors.contains("approv"), "{errors}");

    // A changed entry needs approval again.
    let changed =
        json!({ "mcpServers": { "it": entry(&home, "runs"), "other": { "command": "true" } } });
    home.write("project/.mcp.json", &changed.to_string());
    check("It answered: said it", true);
    let mut other = entry(&home, "runs");
    other["args"]
        .as_array_mut()
        .expect("a list")
        .push(json!("more"));
    let changed = json!({ "mcpServers": { "it": other } });
    home.write("project/.mcp.json", &changed.to_string());
    check("There is no such tool.", false);

    // The same entry in another file needs its own approval.
    std::fs::remove_file(home.path("project/.mcp.json")).expect("it is there");
    let same = json!({ "mcpServers": { "it": entry(&home, "runs") } });
    home.write("project/.cursor/mcp.json", &same.to_string());
    check("There is no such tool.", false);

    home.write("project/.mcp.json", &same.to_string());
    check("It answered: said it", true);
    assert_eq!(home.run(&["mcp", "revoke", "it"]).code, Some(0));
    let errors = check("There is no such tool.", false);
    assert!(!errors.contains("approv"), "{errors}");
}

#[test]
fn the_persons_own_server_needs_no_approval_and_its_calls_are_asked_for() {
    let home = project(&calls("mcp__mine__look"));
    std::fs::remove_file(home.path("project/.mcp.json")).expect("it is there");
    let servers = json!({ "mcpServers": { "mine": entry(&home, "runs") } });
    home.write("config/mcp.json", &servers.to_string());
    let left = home.task("do it");
    assert!(is_there(&home.path("runs")), "{left:?}");
    assert!(left.output.contains("no user is attached"), "{left:?}");
    // A tool that claims to only read needs permission as well.
    home.allow(&["mcp__mine__look"]);
    let left = home.task("do it");
    assert!(left.output.contains("It answered: cannot look"), "{left:?}");
    assert!(left.output.contains("✗ mcp__mine__look"), "{left:?}");
    let listed = home.run(&["mcp", "list"]);
    for words in [
        "mine is ready (scripted, MCP 2025-06-18)",
        "yours, in mcp.json",
        "3 tools: mcp__mine__say, mcp__mine__look, mcp__mine__ask",
    ] {
        assert!(listed.output.contains(words), "{listed:?}");
    }
    let approved = home.run(&["mcp", "approve", "mine"]);
    assert!(approved.errors.contains("is your own"), "{approved:?}");
    let listed = home.run(&["mcp", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.output).expect("JSON");
    assert_eq!(listed[0]["is_ready"], json!(true));
}

#[test]
fn the_tools_of_a_session_do_not_change_while_it_is_open() {
    let rules = json!([
        { "match": { "step": 1 }, "reply": [{ "call": { "tool": "mcp__it__say" } }] },
        // Gives the server time to list its tools again.
        { "match": { "step": 2 }, "reply": [{ "call": { "tool": "mcp__it__look" } }], "faults": [{ "fault": { "slow_first_byte": { "ms": 700 } } }] },
        { "match": { "step": 3 }, "reply": [{ "call": { "tool": "mcp__it__another" } }] },
        { "reply": [{ "text": "done" }] }
    ]);
    let home = project(&rules);
    home.allow(&["mcp__it"]);
    assert_eq!(home.run(&["mcp", "approve", "it"]).code, Some(0));
    let left = home.task("do it");
    assert_eq!(left.code, Some(0), "{left:?}");
    let asked = home.asked();
    assert_eq!(asked.len(), 4, "{left:?}");
    let names = offered(&asked[0]);
    let foreign: Vec<_> = names
        .iter()
        .filter(|name| name.starts_with("mcp__"))
        .collect();
    assert_eq!(
        foreign,
        [&"mcp__it__ask", &"mcp__it__look", &"mcp__it__say"]
    );
    for request in &asked {
        assert_eq!(request["tools"].to_string(), asked[0]["tools"].to_string());
    }
    let told = asked[3]["messages"].to_string();
    assert!(told.contains("There is no tool mcp__it__another"), "{told}");
}

#[test]
fn what_a_server_asks_reaches_the_person_and_nobody_declines() {
    let home = project(&calls("mcp__it__ask"));
    home.allow(&["mcp__it"]);
    assert_eq!(home.run(&["mcp", "approve", "it"]).code, Some(0));
    let left = home.task("do it");
    assert!(
        left.output.contains("It answered: they declined"),
        "{left:?}"
    );

    let arguments = ["run", "--model", "mock/m", "--json", "do it"];
    let mut child = home.start(&arguments, Stdio::piped());
    let mut input = child.stdin.take().expect("its input");
    let output = BufReader::new(child.stdout.take().expect("its output"));
    let mut answers = ["yes", "blue", "green"].into_iter();
    let (mut asked, mut all) = (Vec::new(), String::new());
    for line in output.lines() {
        let line = line.expect("a line");
        let event: Value = serde_json::from_str(&line).expect("JSON");
        if event["event"] == "asking" {
            asked.push(event["text"].as_str().expect("a text").to_owned());
            let text = answers.next().expect("no more questions");
            let reply = json!({ "command": "reply", "question": event["question"], "text": text });
            writeln!(input, "{reply}").expect("it reads");
        }
        all.push_str(&line);
    }
    assert!(child.wait().expect("its end").success());
    assert_eq!(asked[0], "The server \"it\" asks: which color?\nAnswer it?");
    assert_eq!(asked[1], "color");
    assert!(
        asked[2].starts_with("color is not one of the choices"),
        "{asked:?}"
    );
    assert!(all.contains("It answered: they like green"), "{all}");
}

#[test]
fn servers_that_do_not_work_are_named_and_hold_nobody_up() {
    let home = Home::new(&json!([{ "reply": [{ "text": "done" }] }]));
    let servers = json!({ "mcpServers": {
        "missing": { "command": "burin-no-such-server" },
        "wrong": { "args": 3 },
        "off": { "command": "true", "disabled": true }
    } });
    home.write("config/mcp.json", &servers.to_string());
    home.write("project/.mcp.json", "{");
    let left = home.task("do it");
    assert_eq!(left.code, Some(0), "{left:?}");
    for words in [
        "the MCP server \"missing\" does not work:",
        "burin-no-such-server is not installed",
        "The server \"wrong\" in your settings is invalid",
        ".mcp.json is not JSON",
    ] {
        assert!(left.errors.contains(words), "{left:?}");
    }
    assert!(!left.errors.contains("\"off\""), "{left:?}");
    assert_eq!(home.run(&["mcp", "list"]).code, Some(1));
}

#[test]
fn a_tool_that_is_off_is_not_offered() {
    let home = project(&calls("mcp__it__say"));
    home.allow(&["mcp__it"]);
    assert_eq!(home.run(&["mcp", "approve", "it"]).code, Some(0));
    let off = home.run(&["mcp", "turn-off", "mcp__it__say"]);
    assert_eq!(off.code, Some(0), "{off:?}");
    let left = home.task("do it");
    assert!(left.output.contains("There is no such tool."), "{left:?}");
    let listed = home.run(&["permissions", "list"]);
    assert!(listed.output.contains("deny  mcp__it__say"), "{listed:?}");
    assert_eq!(home.run(&["mcp", "turn-on", "mcp__it__say"]).code, Some(0));
    let left = home.task("do it");
    assert!(left.output.contains("It answered: said it"), "{left:?}");
    let refused = home.run(&["mcp", "turn-off", "read"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.errors.contains("mcp list"), "{refused:?}");
}
