//! Tests the cost of models that `stats` prints.

use serde_json::{Value, json};

use super::home::Home;

#[test]
fn stats_sum_up_the_cost_of_models() {
    let home = Home::new(&json!([{ "reply": [{ "text": "all done" }] }]));
    let left = home.run(&["stats"]);
    assert!(!left.output.contains("cost of models"), "{left:?}");
    let left = home.task("mend the roof");
    assert_eq!(left.code, Some(0), "{left:?}");
    let left = home.run(&["stats", "--json"]);
    let stats: Value = serde_json::from_str(&left.output).expect("JSON");
    let spending = &stats["spending"];
    let total = &spending["total"]["cost_nano"];
    assert!(total.as_u64().is_some_and(|nano| nano > 0), "{stats}");
    for (list, name) in [
        ("models", "mock/m"),
        ("agents", "mend the roof"),
        ("purposes", "Agents"),
    ] {
        let lines = spending[list].as_array().expect("a list");
        assert_eq!(lines.len(), 1, "{stats}");
        assert_eq!(
            (&lines[0]["name"], &lines[0]["cost_nano"]),
            (&json!(name), total)
        );
    }
    let left = home.run(&["stats", "--days", "2"]);
    let line = "by agent, with its subagents:\n  mend the roof  $0.";
    assert!(left.output.contains(line), "{left:?}");
    assert!(
        left.output.contains("cost of models in 2 days: $0."),
        "{left:?}"
    );
}

#[test]
fn a_session_of_auto_records_its_model_and_the_reason() {
    let home = Home::new(&json!([{ "reply": [{ "text": "all done" }] }]));
    let left = home.run(&["run", "--model", "auto", "mend the roof"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    let listed: Value =
        serde_json::from_str(&home.run(&["sessions", "list", "--json"]).output).expect("JSON");
    let id = listed[0]["id"].as_str().expect("an id");
    let left = home.run(&["sessions", "export", id]);
    let records = left.output.lines();
    let records: Vec<Value> = records
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let routed: Vec<String> = records
        .iter()
        .map(Value::to_string)
        .filter(|record| record.contains("\"routed\""))
        .collect();
    assert_eq!(routed.len(), 1, "{left:?}");
    assert!(routed[0].contains("mock/m"), "{routed:?}");
    assert!(
        routed[0].contains("it is the only capable one"),
        "{routed:?}"
    );
}
