//! Tests the report on quality that `quality` and `stats` print.

use serde_json::{Value, json};

use super::home::Home;

fn report(home: &Home) -> Value {
    let left = home.run(&["quality", "--json"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    serde_json::from_str(&left.output).expect("JSON")
}

#[test]
fn a_written_file_is_followed_from_its_call() {
    let write =
        json!({ "tool": "write", "arguments": { "path": "a.txt", "content": "one two three\n" } });
    let home = Home::new(&json!([
        { "match": { "step": 1 }, "reply": [{ "calls": [write] }] },
        { "reply": [{ "text": "done" }] },
    ]));
    let left = home.run(&["quality"]);
    assert!(left.output.contains("nothing was measured yet"), "{left:?}");
    let left = home.run(&["run", "--yes", "--model", "mock/m", "write it"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    let report = report(&home);
    let line = &report["kept"][0];
    assert_eq!(
        (&line["name"], &line["units"], &line["tokens"]),
        (&json!("mock/m"), &json!(1), &json!(3)),
        "{report}"
    );
    // Half a minute has not passed, so nothing is known about it.
    assert_eq!(line["kept"][0], json!(["30s", null]), "{report}");
    assert_eq!(line["calls"], json!(1), "{report}");
    let left = home.run(&["stats", "--keep"]);
    assert!(
        left.output.contains("mock/m: 1 change of 3 tokens; 30s ?"),
        "{left:?}"
    );
    let left = home.run(&["stats", "--alarms", "--experiments"]);
    assert!(left.output.contains("alarms: none in 1 calls"), "{left:?}");
    assert!(left.output.contains("experiments: none"), "{left:?}");
}

#[test]
fn sessions_of_an_experiment_are_recorded_with_their_variant() {
    let home = Home::new(&json!([{ "reply": [{ "text": "done" }] }]));
    let experiments = json!({ "experiments": [{
        "id": "short", "unit": "session", "metric": "error_share",
        "variants": [{ "name": "usual" }, { "name": "tried", "effort": "low" }],
    }] });
    home.write("config/experiments.json", &experiments.to_string());
    for _ in 0..2 {
        let left = home.task("mend the roof");
        assert_eq!(left.code, Some(0), "{left:?}");
    }
    let report = report(&home);
    let line = &report["experiments"][0];
    assert_eq!(line["id"], json!("short"), "{report}");
    // The sessions made no calls, so their share of failed ones is unknown.
    assert_eq!(line["sessions"], json!([0, 0]), "{report}");
    let sentence = line["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("undecided"), "{sentence}");
}
