//! Runs whose input has ended: their questions are refused, and they exit.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use super::home::Home;

/// A model that runs a command, then asks the user, and then is done.
fn home() -> Home {
    let command = json!({ "call": { "tool": "exec_command", "arguments": { "command": "touch made-by-the-model" } } });
    Home::new(&json!([
        { "match": { "step": 1 }, "reply": [command] },
        { "reply": [{ "text": "Done." }] }
    ]))
}

#[test]
fn a_run_in_json_ends_when_its_input_has_ended() {
    let home = home();
    let left = home.run(&["run", "--json", "--model", "mock/m", "work"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(
        !super::home::is_there(&home.path("project/made-by-the-model")),
        "{left:?}"
    );
    let asked = home.asked();
    assert_eq!(asked.len(), 2, "the model was told the answer: {left:?}");
    // Every line of output is an event nevertheless.
    for line in left.output.lines() {
        let event: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        assert!(event.is_object(), "{line}");
    }
}

#[test]
fn an_answer_that_came_before_the_end_counts() {
    let home = home();
    let arguments = ["run", "--json", "--model", "mock/m", "work"];
    let mut child = home.start(&arguments, Stdio::piped());
    let mut input = child.stdin.take().expect("an input");
    let output = child.stdout.take().expect("an output");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(output));
    let call = loop {
        let line = lines.next().expect("a question").expect("a line");
        let event: serde_json::Value = serde_json::from_str(&line).expect("a line of JSON");
        if let Some(call) = find(&event, "leave_asked") {
            break call;
        }
    };
    let decide = json!({ "command": "decide", "call": call, "decision": "once" });
    writeln!(input, "{decide}").expect("written");
    drop(input);
    for line in lines {
        line.expect("a line");
    }
    let status = child.wait().expect("its end");
    assert!(status.success());
    assert!(super::home::is_there(
        &home.path("project/made-by-the-model")
    ));
}

/// Finds the call of a record of this kind anywhere in the event.
fn find(value: &serde_json::Value, kind: &str) -> Option<String> {
    match value {
        serde_json::Value::Object(map) => {
            let is_kind =
                map.values().any(|it| it.as_str() == Some(kind)) || map.contains_key(kind);
            let call = map.get("call").or_else(|| map.get(kind)?.get("call"));
            if is_kind && let Some(call) = call.and_then(|call| call.as_str()) {
                return Some(call.to_owned());
            }
            map.values().find_map(|it| find(it, kind))
        }
        serde_json::Value::Array(list) => list.iter().find_map(|it| find(it, kind)),
        _ => None,
    }
}
