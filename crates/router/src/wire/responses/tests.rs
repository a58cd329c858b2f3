//! Tests of the encoder and decoder for OpenAI Responses.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::wire::tests::{body, conversation, decode, options, pretty, request, show, sse, target};
use crate::wire::{ChatDialect, WireProtocol, decoder};

fn encoded(members: Value, asked: &model::ModelRequest) -> Value {
    body(&super::encode(&options(members), asked).expect("encodes"))
}

fn check(lines: &str, expected: &Expect) {
    let decoder = decoder(
        WireProtocol::Responses,
        &ChatDialect::default(),
        &request(),
        target(),
    );
    expected.assert_eq(&show(&decode(decoder, &sse(lines))));
}

#[test]
fn full_request() {
    let mut asked = request();
    asked.messages = conversation(
        r#"{"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"enc"}}"#,
        None,
    );
    let members = json!({
        "images": true, "text_tools": true, "thinking_display": "auto",
        "effort": { "high": "high" }, "extra": { "text": { "verbosity": "low" } },
    });
    expect![[r#"
        {
          "model": "m-1",
          "instructions": "You edit code.\n\nThe repository is small.",
          "tools": [
            {
              "type": "function",
              "name": "read",
              "description": "Reads a file.",
              "parameters": {
                "type": "object",
                "properties": {
                  "path": {
                    "type": "string"
                  }
                },
                "required": [
                  "path"
                ]
              },
              "strict": false
            },
            {
              "type": "custom",
              "name": "patch",
              "description": "Changes files.",
              "format": {
                "type": "grammar",
                "syntax": "lark",
                "definition": "start: LINE+"
              }
            }
          ],
          "tool_choice": "auto",
          "parallel_tool_calls": true,
          "input": [
            {
              "type": "message",
              "role": "user",
              "content": [
                {
                  "type": "input_text",
                  "text": "Fix the bug."
                }
              ]
            },
            {
              "type": "reasoning",
              "id": "rs_1",
              "summary": [],
              "encrypted_content": "enc"
            },
            {
              "type": "message",
              "role": "assistant",
              "content": [
                {
                  "type": "output_text",
                  "text": "I look."
                }
              ]
            },
            {
              "type": "function_call",
              "call_id": "call_a",
              "name": "read",
              "arguments": "{\"path\":\"a.rs\"}"
            },
            {
              "type": "custom_tool_call",
              "call_id": "call_b",
              "name": "patch",
              "input": "*** Begin\n\"x\""
            },
            {
              "type": "function_call_output",
              "call_id": "call_a",
              "output": [
                {
                  "type": "input_text",
                  "text": "fn a() {}"
                },
                {
                  "type": "input_image",
                  "image_url": "data:image/png;base64,cG5n"
                }
              ]
            },
            {
              "type": "custom_tool_call_output",
              "call_id": "call_b",
              "output": "Error: no such file"
            },
            {
              "type": "message",
              "role": "user",
              "content": [
                {
                  "type": "input_text",
                  "text": "Also this:"
                }
              ]
            },
            {
              "type": "message",
              "role": "developer",
              "content": [
                {
                  "type": "input_text",
                  "text": "The person is typing."
                }
              ]
            }
          ],
          "max_output_tokens": 1000,
          "reasoning": {
            "effort": "high",
            "summary": "auto"
          },
          "prompt_cache_key": "conv-7",
          "store": false,
          "include": [
            "reasoning.encrypted_content"
          ],
          "stream": true,
          "text": {
            "verbosity": "low"
          }
        }"#]]
    .assert_eq(&pretty(&encoded(members, &asked)));
}

#[test]
fn text_tools_are_wrapped_if_unsupported() {
    let mut asked = request();
    asked.messages = conversation("{}", None);
    let body = encoded(json!({}), &asked);
    assert_eq!(body["tools"][1]["type"], "function");
    let call = &body["input"][3];
    assert_eq!(call["type"], "function_call");
    assert_eq!(call["arguments"], r#"{"input":"*** Begin\n\"x\""}"#);
    assert_eq!(body.get("reasoning"), None);
}

#[test]
fn minimal_answer() {
    check(
        r#"{"type":"response.created","response":{"id":"resp_1","model":"m-1x"}}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[]}}
        {"type":"response.output_text.delta","output_index":0,"delta":"Hello"}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hello"}]}}
        {"type":"response.completed","response":{"id":"resp_1","status":"completed","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":64},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3}}}}"#,
        &expect![[r#"
            start resp_1 m-1x
            text "Hello"
            usage input 36 read 64 written 0+0 output 7 reasoning 3
            stop EndTurn completed
        "#]],
    );
}

#[test]
fn reasoning_and_calls() {
    check(
        r#"{"type":"response.created","response":{"id":"r","model":"m"}}
        {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}
        {"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0}
        {"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"One."}
        {"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1}
        {"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Two."}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"enc"}}
        {"type":"response.output_item.done","output_index":1,"item":{"type":"message","phase":"commentary","content":[{"type":"output_text","text":"I look."}]}}
        {"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":""}}
        {"type":"response.output_item.added","output_index":3,"item":{"type":"custom_tool_call","id":"ct_1","call_id":"call_2","name":"patch","input":""}}
        {"type":"response.function_call_arguments.delta","output_index":2,"delta":"{\"path\":"}
        {"type":"response.custom_tool_call_input.delta","output_index":3,"delta":"*** Begin"}
        {"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"call_1","name":"read","arguments":"{\"path\":\"a\"}"}}
        {"type":"response.output_item.done","output_index":3,"item":{"type":"custom_tool_call","call_id":"call_2","name":"patch","input":"*** Begin\nend"}}
        {"type":"response.completed","response":{"id":"r","status":"completed"}}"#,
        &expect![[r#"
            start r m
            thought "One."
            thought "\n\n"
            thought "Two."
            signed {"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"enc"}}
            text "I look."
            signed {"phase":"commentary"}
            call 0 call_1 read
            call 1 call_2 patch
            args 0 "{\"path\":"
            args 1 "*** Begin"
            args 0 "\"a\"}"
            end 0
            args 1 "\nend"
            end 1
            stop ToolUse completed
        "#]],
    );
}

#[test]
fn stop_reasons() {
    let ending = |lines: &str| {
        let decoder = decoder(
            WireProtocol::Responses,
            &ChatDialect::default(),
            &request(),
            target(),
        );
        let shown = show(&decode(decoder, &sse(lines)));
        shown.lines().last().unwrap_or_default().to_owned()
    };
    let incomplete = |reason: &str| {
        ending(&format!(
            r#"{{"type":"response.incomplete","response":{{"id":"r","status":"incomplete","incomplete_details":{{"reason":"{reason}"}}}}}}"#
        ))
    };
    assert_eq!(
        incomplete("max_output_tokens"),
        "stop MaxTokens max_output_tokens"
    );
    assert_eq!(incomplete("content_filter"), "stop Refusal content_filter");
    assert_eq!(
        ending(
            r#"{"type":"response.refusal.delta","output_index":0,"delta":"I can't."}
            {"type":"response.completed","response":{"id":"r","status":"completed"}}"#
        ),
        "stop Refusal completed"
    );
    let failed = |code: &str| {
        ending(&format!(
            r#"{{"type":"response.failed","response":{{"id":"r","status":"failed","error":{{"code":"{code}","message":"Sorry"}}}}}}"#
        ))
    };
    assert!(
        failed("rate_limit_exceeded").starts_with("failed RateLimited"),
        "{}",
        failed("rate_limit_exceeded")
    );
    assert!(failed("server_error").starts_with("failed ServerError"));
    assert!(failed("insufficient_quota").starts_with("failed Quota"));
    assert!(failed("context_length_exceeded").starts_with("failed ContextOverflow"));
    assert!(failed("invalid_prompt").starts_with("failed InvalidRequest"));
    let error =
        ending(r#"{"type":"error","code":"rate_limit_exceeded","message":"Slow","param":null}"#);
    assert!(error.starts_with("failed RateLimited"), "{error}");
    let changed = ending(
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","call_id":"c","name":"read"}}
        {"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"path\":\"a\"}"}
        {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c","name":"read","arguments":"{\"path\":\"b\"}"}}"#,
    );
    assert!(changed.starts_with("failed Malformed"), "{changed}");
    // A server that sends its items only at the end.
    let late = ending(
        r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"function_call","call_id":"c","name":"read","arguments":"{}"}]}}"#,
    );
    assert_eq!(late, "stop ToolUse completed");
}
