//! An agent that breaks a type learns of it from the result of its edit, and needs no step to look for errors.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::world::{WIRES, World, serve};

/// The calls and results of a run: the tool and its text.
type Steps = Vec<(String, String)>;

/// A model that writes a wrong type. It corrects the type once the error is reported to it, and looks for errors if the result of
/// an edit does not mention them.
fn script() -> String {
    let write = |text: &str| json!([{ "call": { "tool": "write", "arguments": { "path": "a.sql", "content": text } } }]);
    let after = |tool: &str, says: &str, reply: Value| {
        let results = json!([{ "tool": tool, "says": { "contains": says } }]);
        json!({ "match": { "user": { "contains": "task" }, "results": results }, "reply": reply })
    };
    let check = json!([{ "call": { "tool": "diagnostics", "arguments": { "paths": ["a.sql"] } } }]);
    let read = json!([{ "call": { "tool": "read", "arguments": { "path": "a.sql" } } }]);
    let done = json!([{ "text": "Done." }]);
    let rules = json!([
        { "match": { "user": { "contains": "task" }, "step": 1 }, "reply": read },
        after("read", "", write("wrong type\n")),
        after("write", "1 new error:\na.sql:1: mismatched types", write("right type\n")),
        after("write", "1 error resolved:\na.sql:1: mismatched types", done.clone()),
        after("write", "", check),
        after("diagnostics", "a.sql:1: error: mismatched types", write("right type\n")),
        after("diagnostics", "No errors", done.clone()),
        { "reply": done },
    ]);
    json!({ "rules": rules }).to_string()
}

/// Runs the agent with the errors after edits on or off.
fn steps(has_errors_after_edit: bool) -> Steps {
    let server = serve(&script());
    let world = World::new(WIRES[2], &server);
    let path = world.path().join("config/settings.json");
    let text = fs::read_to_string(&path).expect("settings");
    let mut settings: Value = serde_json::from_str(&text).expect("JSON");
    let script = test_support::data("language-server.sh");
    settings["lsp"] = json!({
        "diagnostics_after_edit": has_errors_after_edit,
        "servers": { "script": {
            "command": script.canonicalize().expect("the script"),
            "args": ["types", world.path()],
            "languages": ["SQL"],
        } },
    });
    fs::write(&path, settings.to_string()).expect("settings");
    fs::write(world.project().join("a.sql"), "some type\n").expect("a file");
    let left = world.run(&["the task"]);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    assert_eq!(world.text("a.sql"), "right type\n");
    assert_eq!(server_processes(&world), Vec::<String>::new());
    let ended = left.told.iter().map(|told| &told["record"]);
    let ended = ended.filter(|record| record["kind"] == "call_ended");
    let step = |record: &Value| {
        let tool = record["tool"].as_str().expect("a tool").to_owned();
        (tool, record["content"].to_string())
    };
    ended.map(step).collect()
}

/// The command lines of the language server of a world.
fn server_processes(world: &World) -> Vec<String> {
    let output = Command::new("ps").args(["axww", "-o", "args"]).output();
    let output = output.expect("a list of processes").stdout;
    let text = String::from_utf8_lossy(&output);
    let mark = format!("types {}", world.path().display());
    let lines = text.lines().filter(|line| line.contains(&mark));
    lines.map(str::to_owned).collect()
}

fn tools(steps: &Steps) -> Vec<&str> {
    steps.iter().map(|(tool, _)| tool.as_str()).collect()
}

#[test]
fn an_agent_hears_of_its_error_with_the_edit_that_made_it() {
    let with = steps(true);
    assert_eq!(tools(&with), ["read", "write", "write"], "{with:?}");
    let without = steps(false);
    let expected = ["read", "write", "diagnostics", "write", "diagnostics"];
    assert_eq!(tools(&without), expected, "{without:?}");
    // Of the steps after the first edit, a third is left.
    assert_eq!((with.len() - 2, without.len() - 2), (1, 3));
}
