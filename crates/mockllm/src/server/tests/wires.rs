//! Tests of the responses of each wire, event by event.

use serde_json::{Value, json};

use super::{
    question,
    raw::{Raw, RawEnd, post, post_with, receive, send},
    saying, serve,
};
use crate::MockServer;

/// Starts a server that answers with reasoning, text and two calls.
fn rich() -> MockServer {
    saying(json!([
        { "thinking": { "text": "Let me think about this for a while." } },
        { "text": "I shall read two files." },
        { "interleaved": [
            { "tool": "read", "arguments": { "path": "src/one_rather_long_name.rs" } },
            { "tool": "read", "arguments": { "path": "src/two_rather_long_name.rs" } },
        ] },
    ]))
}

fn joined(events: &[Value], pointer: &str) -> String {
    let pieces = events
        .iter()
        .filter_map(|event| event.pointer(pointer)?.as_str());
    pieces.collect()
}

fn check_whole(raw: &Raw) {
    assert_eq!(
        (raw.status, &raw.end),
        (200, &RawEnd::Complete),
        "{}",
        raw.text()
    );
}

#[test]
fn anthropic_streams_blocks_in_sequence() {
    let raw = post(&rich(), "/v1/messages?beta=true", &question("go"));
    check_whole(&raw);
    assert_eq!(
        raw.header("content-type"),
        Some("text/event-stream; charset=utf-8")
    );
    assert!(
        raw.header("request-id")
            .is_some_and(|id| id.starts_with("req_"))
    );
    assert_eq!(raw.header("transfer-encoding"), Some("chunked"));
    let block = [
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    ];
    let mut names = vec!["message_start", "content_block_start", "ping"];
    names.extend(&block[1..]);
    names.extend(block.repeat(3));
    names.extend(["message_delta", "message_stop"]);
    assert_eq!(raw.names(), names);
    let events = raw.events();
    assert_eq!(
        joined(&events, "/delta/thinking"),
        "Let me think about this for a while."
    );
    assert_eq!(joined(&events, "/delta/text"), "I shall read two files.");
    assert!(joined(&events, "/delta/signature").starts_with("mock"));
    let of_block = |index: u64| -> Vec<Value> {
        let events = events.iter().filter(|event| event["index"] == index);
        events.cloned().collect()
    };
    let first = joined(&of_block(2), "/delta/partial_json");
    assert_eq!(first, r#"{"path":"src/one_rather_long_name.rs"}"#);
    assert!(of_block(2).len() > 5, "arguments come in fragments");
    let second = joined(&of_block(3), "/delta/partial_json");
    assert_eq!(second, r#"{"path":"src/two_rather_long_name.rs"}"#);
    let end = &events[events.len() - 2];
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    // Four bytes are a token: 36 + 23 + 2 * 38 bytes.
    assert_eq!(end["usage"]["output_tokens"], 9 + 6 + 2 * 10);
}

#[test]
fn anthropic_omits_reasoning_unless_requested() {
    let mut body = question("go");
    body["thinking"] = json!({ "type": "disabled" });
    let raw = post(&rich(), "/v1/messages", &body);
    assert_eq!(joined(&raw.events(), "/delta/thinking"), "");
    body["stream"] = json!(false);
    let whole = post(&rich(), "/v1/messages", &body).json();
    let kinds: Vec<&Value> = whole["content"]
        .as_array()
        .expect("blocks")
        .iter()
        .map(|block| &block["type"])
        .collect();
    assert_eq!(kinds, ["text", "tool_use", "tool_use"]);
    assert_eq!(
        whole["content"][1]["input"]["path"],
        "src/one_rather_long_name.rs"
    );
}

#[test]
fn responses_stream_every_item_and_part() {
    let body = json!({
        "model": "m", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
        "reasoning": { "effort": "high", "summary": "auto" },
        "input": [{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "go" }] }],
    });
    let raw = post(&rich(), "/v1/responses", &body);
    check_whole(&raw);
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(raw.names(), expected);
    let events = raw.events();
    let numbers = events.iter().map(|event| event["sequence_number"].as_u64());
    assert!(
        numbers.eq((0..events.len() as u64).map(Some)),
        "numbered without a gap"
    );
    let deltas: Vec<u64> = events
        .iter()
        .filter(|event| event["type"] == "response.function_call_arguments.delta")
        .filter_map(|event| event["output_index"].as_u64())
        .collect();
    assert_eq!(
        deltas[..4],
        [2, 3, 2, 3],
        "the calls' fragments come in turns"
    );
    let last = &events[events.len() - 1]["response"];
    assert_eq!(
        last["output"][0]["summary"][0]["text"],
        "Let me think about this for a while."
    );
    assert!(last["output"][0]["encrypted_content"].is_string());
    assert_eq!(
        last["output"][3]["arguments"],
        r#"{"path":"src/two_rather_long_name.rs"}"#
    );
    assert_eq!(
        last["usage"]["output_tokens_details"]["reasoning_tokens"],
        9
    );
}

#[test]
fn responses_send_free_form_input_to_custom_tools() {
    let server = saying(json!([{ "call": { "tool": "apply_patch", "raw": "*** Begin Patch\n" } }]));
    let body = json!({
        "model": "m", "stream": true, "input": "go",
        "tools": [{ "type": "custom", "name": "apply_patch", "format": { "type": "text" } }],
    });
    let raw = post(&server, "/responses", &body);
    let events = raw.events();
    let input = events
        .iter()
        .find(|event| event["type"] == "response.custom_tool_call_input.done")
        .expect("the input's end");
    assert_eq!(input["input"], "*** Begin Patch\n");
}

#[test]
fn chat_sends_fragments_by_index_and_usage_at_the_end() {
    let body = json!({
        "model": "m", "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": "go" }],
    });
    let raw = post(&rich(), "/v1/chat/completions", &body);
    check_whole(&raw);
    assert!(raw.text().ends_with("data: [DONE]\n\n"));
    let events = raw.events();
    assert_eq!(
        events[0]["choices"][0]["delta"],
        json!({ "role": "assistant", "content": "" })
    );
    assert_eq!(
        joined(&events, "/choices/0/delta/content"),
        "I shall read two files."
    );
    let calls: Vec<&Value> = events
        .iter()
        .filter_map(|event| event.pointer("/choices/0/delta/tool_calls/0"))
        .collect();
    let order: Vec<u64> = calls
        .iter()
        .filter_map(|call| call["index"].as_u64())
        .collect();
    assert_eq!(order[..6], [0, 1, 0, 1, 0, 1]);
    assert!(calls[0]["id"].is_string() && calls[2].get("id").is_none());
    let end = &events[events.len() - 2];
    assert_eq!(end["choices"][0]["finish_reason"], "tool_calls");
    let usage = &events[events.len() - 1];
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["completion_tokens"], 35);
}

#[test]
fn chat_accounts_predictions_and_rejects_them_next_to_tools() {
    let server = saying(
        json!([{ "text": "fn b() {}\n\nfn main() {\n    let sum = a() + a();\n    print(sum);\n}\n" }]),
    );
    let mut body = json!({
        "model": "m", "stream": true, "stream_options": { "include_usage": true },
        "messages": [{ "role": "user", "content": "go" }],
        "prediction": { "type": "content", "content": "fn a() {}\n\nfn main() {\n    let sum = a() + a();\n    print(sum);\n}\n" },
    });
    let events = post(&server, "/v1/chat/completions", &body).events();
    let usage = &events[events.len() - 1]["usage"];
    let details = &usage["completion_tokens_details"];
    assert_eq!(details["accepted_prediction_tokens"], 8);
    assert_eq!(details["rejected_prediction_tokens"], 9);
    assert_eq!(usage["completion_tokens"], 17 + 9);
    for member in ["tools", "max_completion_tokens"] {
        body[member] = json!([]);
        let raw = post(&server, "/v1/chat/completions", &body);
        assert_eq!(raw.status, 400);
        assert!(raw.text().contains(member), "{}", raw.text());
        body.as_object_mut().expect("an object").remove(member);
    }
}

#[test]
fn chat_dialects_follow_their_providers() {
    let script = json!({
        "models": {
            "router": { "dialect": "openrouter" }, "deep": { "dialect": "deepseek" },
            "mistral": { "dialect": "mistral" },
        },
        "rules": [{ "reply": [
            { "thinking": { "text": "Hmm." } }, { "call": { "tool": "read" } },
        ] }],
    });
    let server = serve(&script);
    let ask = |model: &str| {
        let body = json!({
            "model": model, "stream": true, "stream_options": { "include_usage": true },
            "messages": [{ "role": "user", "content": "go" }],
        });
        post(&server, "/api/v1/chat/completions", &body)
    };
    let router = ask("router");
    assert!(router.text().starts_with(": OPENROUTER PROCESSING\n\n"));
    assert_eq!(
        joined(&router.events(), "/choices/0/delta/reasoning"),
        "Hmm."
    );
    let signature = "/choices/0/delta/reasoning_details/0/signature";
    assert!(joined(&router.events(), signature).starts_with("mock"));
    let deep = ask("deep").events();
    assert_eq!(joined(&deep, "/choices/0/delta/reasoning_content"), "Hmm.");
    assert!(deep[deep.len() - 1]["usage"]["prompt_cache_miss_tokens"].is_u64());
    let id = joined(&ask("mistral").events(), "/choices/0/delta/tool_calls/0/id");
    assert_eq!(id.len(), 9);
    let plain = ask("other").text();
    assert!(
        !plain.contains("Hmm."),
        "OpenAI shows no thought on this wire"
    );
}

#[test]
fn chat_answers_without_streaming() {
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "go" }] });
    let whole = post(&rich(), "/v1/chat/completions", &body).json();
    assert_eq!(whole["object"], "chat.completion");
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["content"], "I shall read two files.");
    assert_eq!(message["tool_calls"].as_array().map(Vec::len), Some(2));
}

#[test]
fn gemini_sends_calls_whole_and_signs_the_first() {
    let body = json!({
        "contents": [{ "role": "user", "parts": [{ "text": "go" }] }],
        "generationConfig": { "thinkingConfig": { "includeThoughts": true } },
    });
    let server = saying(json!([
        { "thinking": { "text": "Hmm.", "signature": "c2lnbmVk" } },
        { "text": "Both." },
        { "calls": [{ "tool": "read", "arguments": { "path": "a" } }, { "tool": "list" }] },
    ]));
    let path = "/v1beta/models/gem:streamGenerateContent";
    let raw = post(&server, &format!("{path}?alt=sse"), &body);
    check_whole(&raw);
    assert!(
        raw.text().contains("\r\n\r\n"),
        "this provider ends lines as HTTP does"
    );
    let events = raw.events();
    let parts: Vec<&Value> = events
        .iter()
        .filter_map(|event| event.pointer("/candidates/0/content/parts/0"))
        .collect();
    assert_eq!(parts[0]["thought"], true);
    let calls: Vec<&&Value> = parts
        .iter()
        .filter(|part| part.get("functionCall").is_some())
        .collect();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0]["functionCall"]["args"], json!({ "path": "a" }));
    assert_eq!(calls[0]["thoughtSignature"], "c2lnbmVk");
    assert!(calls[1].get("thoughtSignature").is_none());
    let last = &events[events.len() - 1];
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    assert_eq!(last["usageMetadata"]["thoughtsTokenCount"], 1);
    let array = post(&server, path, &body).json();
    assert_eq!(array.as_array().map(Vec::len), Some(events.len()));
}

#[test]
fn gemini_answers_a_schema_with_json_that_satisfies_it() {
    let server = saying(json!([{ "text": "not JSON at all" }]));
    let body = json!({
        "contents": [{ "role": "user", "parts": [{ "text": "how hard is this?" }] }],
        "generationConfig": { "responseMimeType": "application/json", "responseJsonSchema": {
            "type": "object",
            "properties": {
                "complexity_reasoning": { "type": "string" },
                "complexity_score": { "type": "integer", "minimum": 1, "maximum": 100 },
                "model_choice": { "enum": ["flash", "pro"] },
            },
            "required": ["complexity_reasoning", "complexity_score", "model_choice"],
        } },
    });
    let whole = post(&server, "/v1beta/models/gem:generateContent", &body).json();
    let text = whole["candidates"][0]["content"]["parts"][0]["text"]
        .as_str()
        .expect("text");
    let value: Value = serde_json::from_str(text).expect("JSON");
    let expected = json!({
        "complexity_reasoning": "not JSON at all", "complexity_score": 1, "model_choice": "flash",
    });
    assert_eq!(value, expected);
}

#[test]
fn counted_tokens_equal_billed_tokens() {
    let server = rich();
    let mut body = question("a question of some length");
    let counted = post(&server, "/v1/messages/count_tokens", &body).json();
    body["stream"] = json!(false);
    let billed = post(&server, "/v1/messages", &body).json();
    assert_eq!(counted["input_tokens"], billed["usage"]["input_tokens"]);
    let contents = json!({ "contents": [{ "role": "user", "parts": [{ "text": "go" }] }] });
    let count = post(&server, "/v1beta/models/gem:countTokens", &contents).json();
    assert!(count["totalTokens"].as_u64() > Some(5));
}

#[test]
fn gaps_are_filled_on_every_wire() {
    let script = json!({ "rules": [{
        "match": { "prefix": { "regex": "fn (?<name>\\w+)\\($" }, "suffix": { "contains": "}" } },
        "reply": [{ "text": ") { {{name}}_body();\n// more\n" }],
    }] });
    let server = serve(&script);
    let text = ") { main_body();\n";
    let raw = post(
        &server,
        "/infill",
        &json!({
            "input_prefix": "fn main(", "input_suffix": "}", "stream": true, "stop": ["// more"],
            "input_extra": [{ "filename": "a.rs", "text": "struct A;" }],
        }),
    );
    let events = raw.events();
    assert_eq!(joined(&events, "/content"), text);
    let last = &events[events.len() - 1];
    assert_eq!(
        (&last["stop"], &last["stop_type"]),
        (&json!(true), &json!("word"))
    );
    assert_eq!(last["stopping_word"], "// more");
    let body = json!({
        "model": "m", "prompt": "fn main(", "suffix": "}", "max_tokens": 3, "stream": true,
    });
    let completion = post(&server, "/v1/completions", &body).events();
    assert_eq!(joined(&completion, "/choices/0/text"), ") { main_bod");
    assert_eq!(
        completion[completion.len() - 1]["choices"][0]["finish_reason"],
        "length"
    );
    let deepseek = post(&server, "/beta/completions", &body).events();
    assert_eq!(joined(&deepseek, "/choices/0/text"), ") { main_bod");
    let mistral = post(&server, "/v1/fim/completions", &body).events();
    assert_eq!(joined(&mistral, "/choices/0/delta/content"), ") { main_bod");
    let raw = post(&server, "/api/generate", &body);
    assert_eq!(raw.header("content-type"), Some("application/x-ndjson"));
    let lines: Vec<Value> = raw
        .text()
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    assert_eq!(joined(&lines, "/response"), ") { main_body();\n// more\n");
    assert_eq!(lines[lines.len() - 1]["done_reason"], "stop");
}

#[test]
fn models_are_listed_in_every_providers_format() {
    let script = json!({ "models": { "alpha": { "context": 9000 }, "beta": {} }, "rules": [{ "reply": [{ "text": "." }] }] });
    let server = serve(&script);
    let ask = |path: &str, headers: &str| receive(send(&server, "GET", path, headers, b"")).json();
    assert_eq!(ask("/v1/models", "")["data"][1]["id"], "beta");
    assert_eq!(
        ask("/v1/models", "anthropic-version: 2023-06-01\r\n")["first_id"],
        "alpha"
    );
    assert_eq!(
        ask("/v1beta/models", "")["models"][0]["inputTokenLimit"],
        9000
    );
    let google = ask("/v1/models", "x-goog-api-key: k\r\n");
    assert_eq!(google["models"][1]["name"], "models/beta");
    assert_eq!(ask("/api/tags", "")["models"][0]["name"], "alpha");
    assert_eq!(
        ask("/props", "")["default_generation_settings"]["n_ctx"],
        9000
    );
}

#[test]
fn unknown_requests_are_answered() {
    let server = rich();
    let raw = receive(send(&server, "GET", "/favicon.ico", "", b""));
    assert_eq!(raw.status, 404);
    assert!(raw.json()["error"]["message"].is_string());
    let raw = receive(send(&server, "HEAD", "/", "", b""));
    assert_eq!((raw.status, raw.body.len()), (404, 0));
}

#[test]
fn refusals_use_each_providers_stop_reason() {
    let server = saying(json!([{ "refusal": "I would rather not." }]));
    let events = post(&server, "/v1/messages", &question("go")).events();
    assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "refusal");
    let body = json!({ "model": "m", "stream": true, "input": "go" });
    let raw = post(&server, "/v1/responses", &body);
    assert!(raw.names().contains(&"response.refusal.delta".to_owned()));
    let body =
        json!({ "model": "m", "stream": true, "messages": [{ "role": "user", "content": "go" }] });
    let events = post(&server, "/v1/chat/completions", &body).events();
    assert_eq!(
        joined(&events, "/choices/0/delta/refusal"),
        "I would rather not."
    );
    let body = json!({ "contents": [{ "role": "user", "parts": [{ "text": "go" }] }] });
    let whole = post(&server, "/v1beta/models/gem:generateContent", &body).json();
    assert_eq!(whole["candidates"][0]["finishReason"], "SAFETY");
}

#[test]
fn compressed_requests_are_read() {
    let server = rich();
    let body = json!({ "model": "m", "stream": true, "input": "go" }).to_string();
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    let small = ruzstd::encoding::compress_to_vec(body.as_bytes(), level);
    let raw = receive(send(
        &server,
        "POST",
        "/v1/responses",
        "content-encoding: zstd\r\n",
        &small,
    ));
    check_whole(&raw);
    assert_eq!(
        server.requests()[0].body,
        body.as_bytes(),
        "the log shows what was meant"
    );
    let raw = receive(send(
        &server,
        "POST",
        "/v1/responses",
        "content-encoding: br\r\n",
        b"x",
    ));
    assert_eq!(raw.status, 400);
    assert!(
        raw.json()["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("\"br\""))
    );
}

#[test]
fn a_conversation_must_keep_the_providers_rules() {
    let server = rich();
    let mut body = question("go");
    let first = post(
        &server,
        "/v1/messages",
        &json!({ "stream": false, "model": "m", "max_tokens": 100,
        "thinking": { "type": "adaptive" }, "messages": body["messages"] }),
    );
    let content = first.json()["content"].clone();
    let results: Vec<Value> = content
        .as_array()
        .expect("blocks")
        .iter()
        .filter(|block| block["type"] == "tool_use")
        .map(|block| json!({ "type": "tool_result", "tool_use_id": block["id"], "content": "ok" }))
        .collect();
    body["messages"] = json!([
        { "role": "user", "content": "go" },
        { "role": "assistant", "content": content },
        { "role": "user", "content": results },
    ]);
    check_whole(&post(&server, "/v1/messages", &body));
    let mut lacking = body.clone();
    lacking["messages"][2]["content"]
        .as_array_mut()
        .expect("results")
        .pop();
    let raw = post(&server, "/v1/messages", &lacking);
    assert_eq!(raw.status, 400);
    assert!(raw.text().contains("without `tool_result` blocks"));
    let mut forged = body.clone();
    forged["messages"][1]["content"][0]["signature"] = json!("forged");
    assert!(
        post(&server, "/v1/messages", &forged)
            .text()
            .contains("Invalid `signature`")
    );
    let raw = post_with(
        &server,
        "/v1/messages",
        "",
        &json!({ "model": "m", "messages": [] }),
    );
    assert!(raw.text().contains("max_tokens: Field required"));
}
