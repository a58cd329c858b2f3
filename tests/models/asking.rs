//! `burin-agent ask` and `burin-agent models`.

use base::AbsPath;
use ledger::Ledger;
use serde_json::Value;

use super::{Home, Left, WIRES, server};

const KEY: (&str, &str) = ("MOCK_KEY", "sk-the-secret-of-this-story");

fn said(left: &Left) -> &str {
    // The test harness in the child process prints the beginning of the line that the answer ends.
    let line = left.output.lines().last().unwrap_or_default();
    line.strip_prefix("test agent::is_burin_agent ... ")
        .unwrap_or(line)
}

fn assert_secret(left: &Left) {
    assert!(
        !left.output.contains(KEY.1) && !left.errors.contains(KEY.1),
        "the key is shown"
    );
}

#[test]
fn a_question_is_answered_over_every_wire_and_written_down() {
    for (wire, path) in WIRES {
        let server = server(
            r#"{ "rules": [{ "match": { "user": { "contains": "6 x 7" } }, "reply": [{ "text": "It is 42." }] }] }"#,
        );
        let home = Home::with_mock(wire, &format!("{}{path}", server.url()), "");
        let left = home.run(
            &["ask", "--model", "mock/m", "--why", "what is 6 x 7?"],
            &[KEY],
        );
        assert_eq!(left.code, Some(0), "{wire}: {}", left.errors);
        assert_eq!(said(&left), "It is 42.", "{wire}: {}", left.output);
        assert!(
            left.errors.contains("it was requested by name"),
            "{wire}: {}",
            left.errors
        );
        assert!(
            left.errors.contains("call 1 to mock/m: answered"),
            "{wire}: {}",
            left.errors
        );
        assert_secret(&left);
        let path = AbsPath::new(home.state().join("state/ledger.db")).expect("absolute");
        let opened = Ledger::open(&path, 1).expect("the ledger");
        let calls = opened.ledger.calls(0).expect("its calls");
        assert_eq!(calls.len(), 1, "{wire}");
        assert_eq!(
            (calls[0].outcome.as_str(), calls[0].is_estimate),
            ("ok", false),
            "{wire}"
        );
        assert!(calls[0].cost_nano > Some(0), "{wire}: {:?}", calls[0]);
        let decisions = opened.ledger.decisions(9).expect("its decisions");
        assert_eq!(decisions[0].chosen.as_deref(), Some("mock/m"), "{wire}");
        assert!(
            !decisions[0].body.contains(KEY.1),
            "{wire}: the key is written down"
        );
        let left = home.run(&["models"], &[KEY]);
        assert!(
            left.output.contains("key found: MOCK_KEY"),
            "{wire}: {}",
            left.output
        );
        assert_secret(&left);
    }
}

#[test]
fn an_overload_is_waited_out_and_told() {
    let server = server(
        r#"{ "rules": [{ "reply": [{ "text": "Here I am." }], "faults": [{ "first": 2, "fault": { "overloaded": {} } }] }] }"#,
    );
    let home = Home::with_mock("anthropic", &server.url(), "");
    let left = home.run(&["ask", "--model", "mock/m", "are you there?"], &[KEY]);
    assert_eq!(
        (left.code, said(&left)),
        (Some(0), "Here I am."),
        "{}",
        left.errors
    );
    assert_eq!(
        left.errors.matches("trying again in").count(),
        2,
        "{}",
        left.errors
    );
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_used_up_quota_is_not_asked_again() {
    let server =
        server(r#"{ "rules": [{ "reply": [], "faults": [{ "fault": { "quota": {} } }] }] }"#);
    let home = Home::with_mock("openai", &format!("{}/v1", server.url()), "");
    let left = home.run(&["ask", "--model", "mock/m", "hello"], &[KEY]);
    assert_eq!(left.code, Some(97), "{}", left.errors);
    assert_eq!(server.requests().len(), 1);
    assert!(left.errors.contains("burin-agent: "), "{}", left.errors);
    assert_secret(&left);
}

#[test]
fn a_budget_refuses_before_anything_is_sent() {
    let server = server(r#"{ "rules": [{ "reply": [{ "text": "no" }] }] }"#);
    let home = Home::with_mock("anthropic", &server.url(), "\"budget_day\": 0.01,");
    let left = home.run(&["ask", "--model", "mock/m", "hello"], &[KEY]);
    assert_eq!(left.code, Some(3), "{}", left.errors);
    assert!(left.errors.contains("raise the budget"), "{}", left.errors);
    // Without a known price, no budget can be enforced.
    let left = home.run(&["ask", "--model", "mock/other", "hello"], &[KEY]);
    assert_eq!(left.code, Some(3), "{}", left.errors);
    assert!(
        left.errors.contains("price of this model is unknown"),
        "{}",
        left.errors
    );
    // With a smaller maximum output, the request fits the budget.
    let arguments = ["ask", "--model", "mock/m", "--max-output", "900", "hello"];
    assert_eq!(home.run(&arguments, &[KEY]).code, Some(0));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn the_demo_model_needs_neither_key_nor_network() {
    let home = Home::new("{}");
    let left = home.run(&["ask", "--model", "demo", "hello"], &[]);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    assert!(!said(&left).is_empty(), "{}", left.output);
}

#[test]
fn with_nothing_set_up_one_is_told_what_to_do() {
    let home = Home::new("{}");
    let left = home.run(&["ask", "hello"], &[]);
    assert_eq!(left.code, Some(97), "{}", left.errors);
    for word in [
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "Ollama",
        "--model demo",
    ] {
        assert!(left.errors.contains(word), "{word}: {}", left.errors);
    }
    let left = home.run(&["ask", "--model", "nobody/m", "hello"], &[]);
    assert_eq!(left.code, Some(1), "{}", left.errors);
    assert!(
        left.errors.contains("there is no provider \"nobody\""),
        "{}",
        left.errors
    );
    let left = home.run(&["ask", "--model", "m", "hello"], &[]);
    assert!(left.errors.contains("provider/model"), "{}", left.errors);
}

#[test]
fn auto_explains_its_choice_of_model() {
    let server = server(r#"{ "rules": [{ "reply": [{ "text": "Done." }] }] }"#);
    let home = Home::with_mock("anthropic", &server.url(), "\"auto\": [\"mock/m\"],");
    let left = home.run(&["ask", "--why", "rename this variable"], &[KEY]);
    assert_eq!(
        (left.code, said(&left)),
        (Some(0), "Done."),
        "{}",
        left.errors
    );
    assert!(left.errors.contains("complexity"), "{}", left.errors);
}

#[test]
fn models_says_what_was_found_and_never_a_key() {
    let server = server(
        r#"{ "models": { "tiny": { "context": 4096 } }, "rules": [{ "reply": [{ "text": "-" }] }] }"#,
    );
    let home = Home::new("{ \"nonsense\": 1 }");
    let variables = [
        ("ANTHROPIC_API_KEY", KEY.1),
        ("LMSTUDIO_BASE_URL", &format!("{}/v1", server.url())),
    ];
    let left = home.run(&["models", "--json"], &variables);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    assert_secret(&left);
    let at = left.output.find("{\n").expect("an object");
    let found: Value = serde_json::from_str(&left.output[at..]).expect("JSON");
    let provider = |id: &str| {
        let mut providers = found["providers"].as_array().expect("a list").iter();
        providers
            .find(|provider| provider["id"] == id)
            .expect("known")
            .clone()
    };
    assert_eq!(provider("anthropic")["key"], "found");
    assert_eq!(provider("anthropic")["place"], "ANTHROPIC_API_KEY");
    assert_eq!(provider("openai")["key"], "missing");
    assert_eq!(provider("openai")["variables"][0], "OPENAI_API_KEY");
    let models = found["models"].as_array().expect("a list");
    let anthropic = models.iter().filter(|model| {
        model["id"]
            .as_str()
            .is_some_and(|id| id.starts_with("anthropic/"))
    });
    let priced = anthropic.filter(|model| model["dollars_per_million"]["input"].is_number());
    assert!(priced.count() > 3, "{models:?}");
    assert!(
        found["problems"].to_string().contains("nonsense"),
        "{}",
        found["problems"]
    );
    let left = home.run(&["models"], &variables);
    assert!(
        left.output.contains("no key: set OPENAI_API_KEY"),
        "{}",
        left.output
    );
    assert!(left.output.contains("none on PATH"), "{}", left.output);
    assert_secret(&left);
}
