//! Tests of predicted answers: who gets them, and what they save.

use super::{
    Arc, HttpClient, NetworkTransport, OneKey, Profile, TokenCount, ToolInput, ToolSpec, Usage,
    providers, send, serve, summary, usage, user,
};
use mockllm::MockServer;
use model::{ModelId, ModelRequest, StreamEvent};
use serde_json::{Value, json};

/// A client whose models named `predicting` take predictions.
fn client(server: &MockServer) -> HttpClient {
    let profile = |model: &ModelId| {
        Some(Profile {
            predicted_output: model.model == "predicting",
            ..Profile::harmless()
        })
    };
    HttpClient::with_transport(
        providers(&server.url()),
        Arc::new(profile),
        Arc::new(OneKey),
        |_| Arc::new(NetworkTransport::default()),
    )
}

fn rewriting(provider: &str, model: &str, prediction: Option<&str>) -> ModelRequest {
    let model = ModelId {
        provider: provider.to_owned(),
        model: model.to_owned(),
    };
    let mut request = ModelRequest::new(model, user("rewrite it"), TokenCount(100_000));
    request.prediction = prediction.map(str::to_owned);
    request
}

fn read_tool() -> ToolSpec {
    ToolSpec {
        name: "read".to_owned(),
        description: "Reads a file.".to_owned(),
        input: ToolInput::Json(json!({ "type": "object", "properties": {} })),
    }
}

/// A file of 2,000 lines, and the file with three of them changed.
fn file_and_rewrite() -> (String, String) {
    let line = |ix: usize| format!("    let value_{ix} = compute({ix}, &options)?;\n");
    let before: Vec<String> = (0..2_000).map(line).collect();
    let mut after = before.clone();
    after[17] = "    let first = compute(17, &options).unwrap_or_default();\n".to_owned();
    after[1_000] = "    // The value is computed by the caller.\n".to_owned();
    after[1_876].insert_str(4, "let checked = check(&options)?;\n    ");
    (before.concat(), after.concat())
}

fn answering(text: &str) -> MockServer {
    serve(&json!({ "rules": [{ "reply": [{ "text": text }] }] }))
}

/// Sends the request and returns the path and the body of the call, and the events.
async fn exchange(server: &MockServer, request: ModelRequest) -> (String, Value, Vec<StreamEvent>) {
    let events = send(&client(server), request).await;
    let call = server.requests().pop().expect("a request");
    (call.path.clone(), call.json(), events)
}

/// Returns the bytes that the server accounts as generated: all output that no prediction spared,
/// the rejected part included.
fn generated_bytes(usage: Usage) -> u64 {
    (usage.output.0 - usage.accepted_prediction.0) * 4
}

#[tokio::test]
async fn prediction_spares_four_fifths_of_a_rewritten_file() {
    let (before, after) = file_and_rewrite();
    let server = answering(&after);
    let mut generated = Vec::new();
    for prediction in [None, Some(before.as_str())] {
        let request = rewriting("openai", "predicting", prediction);
        let (_, _, events) = exchange(&server, request).await;
        let expected = [
            format!("text {after}"),
            "0 calls ended".to_owned(),
            "stop EndTurn".to_owned(),
        ];
        assert!(summary(&events) == expected, "the answer is the new text");
        let used = usage(&events);
        generated.push(generated_bytes(used));
        if prediction.is_some() {
            // The output includes the rejected part.
            let spared = used.output.0 - used.accepted_prediction.0;
            assert!(5 * spared <= used.output.0, "{used:?}");
        }
    }
    let [without, with] = generated[..] else {
        panic!("two answers");
    };
    assert!(without >= after.len() as u64, "{without}");
    assert!(5 * with <= without, "{with} of {without} bytes generated");
    // Three lines, and the bytes after which the server follows the prediction again.
    assert!(with <= 600, "{with} bytes generated");
}

#[tokio::test]
async fn only_models_that_take_predictions_get_one() {
    let server = answering("fn b() {}\n");
    for provider in ["anthropic", "openai", "openrouter", "mistral", "gemini"] {
        let request = rewriting(provider, "other", Some("fn a() {}\n"));
        let (path, body, _) = exchange(&server, request).await;
        assert!(!body.to_string().contains("fn a()"), "{provider}: {body}");
        assert!(!path.contains("chat") || provider != "openai", "{path}");
    }
}

#[tokio::test]
async fn openai_takes_a_prediction_on_its_chat_wire_without_a_limit() {
    let server = answering("fn b() {}\n");
    let request = rewriting("openai", "predicting", Some("fn a() {}\n"));
    let (path, body, events) = exchange(&server, request).await;
    assert_eq!(path, "/v1/chat/completions");
    let expected = json!({ "type": "content", "content": "fn a() {}\n" });
    assert_eq!(body["prediction"], expected);
    assert_eq!(body.get("max_completion_tokens"), None);
    let usage = usage(&events);
    assert_eq!(usage.accepted_prediction, TokenCount(0));
    assert_eq!(usage.rejected_prediction, TokenCount(2));
    // The rejected tokens are billed as output.
    assert_eq!(usage.output, TokenCount(3 + 2));

    let request = rewriting("openai", "predicting", None);
    let (path, _, _) = exchange(&server, request).await;
    assert_eq!(path, "/v1/responses");
}

#[tokio::test]
async fn mistral_takes_a_prediction_next_to_a_limit() {
    let server = serve(&json!({
        "models": { "predicting": { "dialect": "mistral" } },
        "rules": [{ "reply": [{ "text": "fn b() {}" }] }],
    }));
    let request = rewriting("mistral", "predicting", Some("fn a() {}"));
    let (_, body, _) = exchange(&server, request).await;
    assert_eq!(body["prediction"]["content"], "fn a() {}");
    assert_eq!(body["max_tokens"], 100_000);
}

#[tokio::test]
async fn no_prediction_is_sent_with_tools_a_schema_or_after_a_rejection() {
    let server = answering("{}");
    let request = || rewriting("openai", "predicting", Some("fn a() {}\n"));
    let with_tools = ModelRequest {
        tools: vec![read_tool()],
        ..request()
    };
    let with_schema = ModelRequest {
        response_schema: Some(json!({ "type": "object" })),
        ..request()
    };
    let rejected = ModelRequest {
        omit: vec!["prediction".to_owned()],
        ..request()
    };
    let empty = rewriting("openai", "predicting", Some(""));
    for request in [with_tools, with_schema, rejected, empty] {
        let (path, body, events) = exchange(&server, request).await;
        assert_eq!(path, "/v1/responses");
        assert_eq!(body.get("prediction"), None);
        assert!(matches!(events.last(), Some(StreamEvent::Stop { .. })));
    }
}

#[tokio::test]
async fn a_refused_prediction_is_sent_again_without_and_remembered() {
    let server = serve(&json!({
        "rules": [
            {
                "match": { "wire": "chat" },
                "faults": [{ "fault": { "status": {
                    "code": 400,
                    "message": "Unsupported parameter: 'prediction' is not supported with this model."
                } } }],
                "reply": [{ "text": "never" }]
            },
            { "reply": [{ "text": "fn b() {}\n" }] }
        ]
    }));
    let client = client(&server);
    // OpenAI's plain requests take another wire.
    for round in 0..2 {
        let request = rewriting("openai", "predicting", Some("fn a() {}\n"));
        let events = send(&client, request).await;
        let text = summary(&events);
        assert!(text.iter().any(|it| it == "text fn b() {}\n"), "{text:?}");
        // The refused request, and the plain one of each round.
        assert_eq!(server.requests().len(), 2 + round);
    }
    let bodies: Vec<Value> = server.requests().iter().map(|it| it.json()).collect();
    let predicted: Vec<bool> = bodies
        .iter()
        .map(|body| body.get("prediction").is_some())
        .collect();
    assert_eq!(predicted, [true, false, false]);
}
