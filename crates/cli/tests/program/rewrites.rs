//! Tests `ask --rewrite`: the file as prompt and prediction, and the answer as edits.

use std::io::Write;
use std::process::Stdio;

use serde_json::json;

use super::home::Home;

/// A home with a file of 2,000 lines, whose model answers with the file with three of them changed.
/// Returns it with the new text.
fn home() -> (Home, String) {
    let line = |ix: usize| format!("    let value_{ix} = compute({ix}, &options)?;\n");
    let before: Vec<String> = (0..2_000).map(line).collect();
    let mut after = before.clone();
    for ix in [17, 1_000, 1_876] {
        after[ix] = format!("    let value_{ix} = 0;\n");
    }
    let after = after.concat();
    let reply = format!("src/long.rs\n```\n{after}```\n");
    let home = Home::new(&json!([{ "reply": [{ "text": reply }] }]));
    let provider =
        json!({ "name": "mock", "wire": "openai", "url": home.model.url(), "key": "MOCK_KEY" });
    let settings = json!({ "models": { "providers": [provider] } });
    home.write("config/settings.json", &settings.to_string());
    home.write("project/src/long.rs", &before.concat());
    (home, after)
}

fn allow_predictions(home: &Home) {
    let profile = json!({ "match": ["mock/*"], "predicted_output": true });
    let profiles = json!({ "profiles": [profile] }).to_string();
    home.write("config/models/profiles.json", &profiles);
}

const REWRITE: [&str; 7] = [
    "ask",
    "--model",
    "mock/m",
    "--why",
    "--rewrite",
    "src/long.rs",
    "set three values to 0",
];

#[test]
fn rewritten_file_is_predicted_and_applies() {
    let (home, after) = home();
    allow_predictions(&home);
    let left = home.run(&REWRITE);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    let asked = home.model.requests().pop().expect("a request").json();
    let prediction = asked["prediction"]["content"]
        .as_str()
        .expect("a prediction");
    assert!(prediction.starts_with("src/long.rs\n```\n    let value_0 = "));
    assert!(asked["messages"].to_string().contains("set three values"));
    assert!(
        left.errors.contains("accepted from the prediction"),
        "{}",
        left.errors
    );

    let mut apply = home.start(&["apply", "--format", "whole"], Stdio::piped());
    let mut input = apply.stdin.take().expect("its input");
    input
        .write_all(left.output.as_bytes())
        .expect("it reads its input");
    drop(input);
    let applied = home.left(apply);
    assert_eq!(applied.code, Some(0), "{applied:?}");
    let text = std::fs::read_to_string(home.path("project/src/long.rs")).expect("the file");
    assert!(text == after, "the file has the new text");
}

#[test]
fn only_the_named_lines_are_rewritten() {
    let reply = "Here:\n```rust\nlet two = 2;\nlet three = 3;\n```\n";
    let home = Home::new(&json!([{ "reply": [{ "text": reply }] }]));
    let provider =
        json!({ "name": "mock", "wire": "openai", "url": home.model.url(), "key": "MOCK_KEY" });
    let settings = json!({ "models": { "providers": [provider] } });
    home.write("config/settings.json", &settings.to_string());
    home.write("project/src/a.rs", "fn a() {\r\n    old();\r\n}\r\n");
    let left = home.run(&[
        "ask",
        "--model",
        "mock/m",
        "--rewrite",
        "src/a.rs",
        "--lines",
        "2",
        "count",
    ]);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    let asked = home.model.requests().pop().expect("a request").json();
    let asked = asked["messages"].to_string();
    assert!(asked.contains("Line 2, to be rewritten:"), "{asked}");
    let expected =
        "src/a.rs\n```\nfn a() {\r\n    let two = 2;\r\n    let three = 3;\r\n}\r\n```\n";
    assert_eq!(left.output, expected);

    let wrong = home.run(&["ask", "--rewrite", "src/a.rs", "--lines", "3-4", "count"]);
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
    assert!(wrong.errors.contains("there is no line 4"), "{wrong:?}");
}

#[test]
fn model_without_predictions_gets_the_file_as_prompt_alone() {
    let (home, _) = home();
    let left = home.run(&REWRITE);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    let asked = home.model.requests().pop().expect("a request").json();
    assert_eq!(asked.get("prediction"), None);
    assert!(asked["max_completion_tokens"].as_u64() > Some(30_000));
    assert!(!left.errors.contains("prediction"), "{}", left.errors);
}

#[test]
fn unreadable_file_is_reported_before_a_request() {
    let (home, _) = home();
    let left = home.run(&["ask", "--model", "mock/m", "--rewrite", "src/none.rs", "go"]);
    assert_eq!(left.code, Some(1), "{left:?}");
    assert!(left.errors.contains("none.rs"), "{left:?}");
    assert_eq!(home.model.requests().len(), 0);
}
