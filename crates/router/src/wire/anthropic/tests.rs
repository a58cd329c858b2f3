//! Tests of the encoder and decoder for Anthropic Messages.

use expect_test::{Expect, expect};
use model::{CacheMark, Effort, Message, Role, SystemBlock, TokenCount, ToolChoice};
use serde_json::{Value, json};

use crate::wire::tests::{body, conversation, decode, options, pretty, request, show, sse, target};
use crate::wire::{ChatDialect, WireProtocol, decoder};

fn encoded(members: Value, asked: &model::ModelRequest) -> Value {
    body(&super::encode(&options(members), asked).expect("encodes"))
}

fn check(lines: &str, expected: &Expect) {
    let decoder = decoder(
        WireProtocol::Anthropic,
        &ChatDialect::default(),
        &request(),
        target(),
    );
    expected.assert_eq(&show(&decode(decoder, &sse(lines))));
}

#[test]
fn full_request() {
    let mut asked = request();
    asked.messages = conversation(r#"{"signature":"sig-1"}"#, None);
    let options = options(json!({
        "images": true, "cache_marks": true, "thinking": "adaptive", "eager_tool_input": true,
        "thinking_display": "summarized", "effort": { "low": "low", "high": "high" },
        "headers": { "Anthropic-Beta": "x" }, "extra": { "metadata": { "user_id": "u" } },
    }));
    let encoded = super::encode(&options, &asked).expect("encodes");
    expect![[
        r#"(Root("v1/messages"), [("anthropic-version", "2023-06-01"), ("anthropic-beta", "x")])"#
    ]]
    .assert_eq(&format!("{:?}", (&encoded.path, &encoded.headers)));
    expect![[r#"
        {
          "model": "m-1",
          "max_tokens": 1000,
          "stream": true,
          "thinking": {
            "type": "adaptive",
            "display": "summarized"
          },
          "output_config": {
            "effort": "high"
          },
          "stop_sequences": [
            "END"
          ],
          "tools": [
            {
              "name": "read",
              "description": "Reads a file.",
              "input_schema": {
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
              "eager_input_streaming": true
            },
            {
              "name": "patch",
              "description": "Changes files.\n\nThe input satisfies this Lark grammar:\nstart: LINE+",
              "input_schema": {
                "type": "object",
                "properties": {
                  "input": {
                    "type": "string",
                    "description": "The whole input, as text."
                  }
                },
                "required": [
                  "input"
                ],
                "additionalProperties": false
              },
              "eager_input_streaming": true
            }
          ],
          "tool_choice": {
            "type": "auto"
          },
          "system": [
            {
              "type": "text",
              "text": "You edit code.",
              "cache_control": {
                "type": "ephemeral",
                "ttl": "1h"
              }
            },
            {
              "type": "text",
              "text": "The repository is small.",
              "cache_control": {
                "type": "ephemeral"
              }
            }
          ],
          "messages": [
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "Fix the bug.",
                  "cache_control": {
                    "type": "ephemeral"
                  }
                }
              ]
            },
            {
              "role": "assistant",
              "content": [
                {
                  "type": "thinking",
                  "thinking": "It must be here.",
                  "signature": "sig-1"
                },
                {
                  "type": "text",
                  "text": "I look."
                },
                {
                  "type": "tool_use",
                  "id": "call_a",
                  "name": "read",
                  "input": {
                    "path": "a.rs"
                  }
                },
                {
                  "type": "tool_use",
                  "id": "call_b",
                  "name": "patch",
                  "input": {
                    "input": "*** Begin\n\"x\""
                  }
                }
              ]
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "tool_result",
                  "tool_use_id": "call_a",
                  "content": [
                    {
                      "type": "text",
                      "text": "fn a() {}"
                    },
                    {
                      "type": "image",
                      "source": {
                        "type": "base64",
                        "media_type": "image/png",
                        "data": "cG5n"
                      }
                    }
                  ]
                },
                {
                  "type": "tool_result",
                  "tool_use_id": "call_b",
                  "content": [
                    {
                      "type": "text",
                      "text": "no such file"
                    }
                  ],
                  "is_error": true
                },
                {
                  "type": "text",
                  "text": "Also this:"
                },
                {
                  "type": "text",
                  "text": "The person is typing.",
                  "cache_control": {
                    "type": "ephemeral"
                  }
                }
              ]
            }
          ],
          "metadata": {
            "user_id": "u"
          }
        }"#]].assert_eq(&pretty(&body(&encoded)));
}

#[test]
fn breakpoints() {
    let marks = |blocks: &[CacheMark], turns: usize, minimum: u64| -> Vec<String> {
        let mut asked = request();
        asked.tools.clear();
        let blocks = blocks.iter();
        asked.system = blocks
            .map(|mark| SystemBlock {
                text: "word ".repeat(100),
                cache: *mark,
            })
            .collect();
        asked.messages.clear();
        for _ in 0..turns {
            asked.messages.push(Message::text(Role::User, "a"));
            asked.messages.push(Message::text(Role::Assistant, "b"));
        }
        asked.messages.push(Message::text(Role::User, "c"));
        let body = encoded(
            json!({ "cache_marks": true, "cache_minimum": minimum }),
            &asked,
        );
        let mut found = Vec::new();
        for (at, block) in body["system"].as_array().into_iter().flatten().enumerate() {
            if let Some(mark) = block.get("cache_control") {
                found.push(format!("s{at} {}", mark["ttl"].as_str().unwrap_or("5m")));
            }
        }
        for (at, message) in body["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            if message["content"][0].get("cache_control").is_some() {
                found.push(format!("m{at}"));
            }
        }
        found
    };
    use CacheMark::{Long, None as Unmarked, Short};
    assert_eq!(marks(&[Unmarked], 2, 0), Vec::<String>::new());
    assert_eq!(marks(&[Long, Short], 0, 0), ["s0 1h", "s1 5m", "m0"]);
    assert_eq!(marks(&[Long, Short], 3, 0), ["s0 1h", "s1 5m", "m4", "m6"]);
    // At most four: the last system blocks cover most.
    assert_eq!(
        marks(&[Long, Long, Long, Short], 3, 0),
        ["s2 1h", "s3 5m", "m4", "m6"]
    );
    // A one-hour breakpoint never follows a five-minute one.
    assert_eq!(marks(&[Short, Long], 0, 0), ["s0 5m", "s1 5m", "m0"]);
    // 500 bytes per block are certainly below 300 tokens; two blocks may be above.
    assert_eq!(marks(&[Short, Short], 0, 300), ["s1 5m", "m0"]);
    assert_eq!(marks(&[Short, Short], 0, 4000), Vec::<String>::new());
}

#[test]
fn thinking() {
    let said = |members: Value, effort: Option<Effort>, choice: ToolChoice| {
        let asked = model::ModelRequest {
            effort,
            tool_choice: choice,
            max_output: TokenCount(8000),
            ..request()
        };
        let body = encoded(members, &asked);
        json!([body["thinking"], body["output_config"], body["temperature"]]).to_string()
    };
    let adaptive = json!({ "sampling": true, "thinking": "adaptive", "effort": { "none": false, "high": "high" } });
    let budget = json!({ "sampling": true, "thinking": "budget", "effort": { "none": false, "high": 20000 } });
    let auto = ToolChoice::Auto;
    assert_eq!(
        said(
            json!({ "sampling": true }),
            Some(Effort::High),
            auto.clone()
        ),
        "[null,null,0.2]"
    );
    assert_eq!(
        said(adaptive.clone(), Some(Effort::High), auto.clone()),
        r#"[{"type":"adaptive"},{"effort":"high"},null]"#
    );
    assert_eq!(
        said(adaptive.clone(), None, auto.clone()),
        r#"[{"type":"adaptive"},null,null]"#
    );
    assert_eq!(
        said(adaptive.clone(), Some(Effort::None), auto.clone()),
        r#"[{"type":"disabled"},null,0.2]"#
    );
    // A budget stays below the total output.
    assert_eq!(
        said(budget.clone(), Some(Effort::High), auto.clone()),
        r#"[{"type":"enabled","budget_tokens":7999},null,null]"#
    );
    assert_eq!(said(budget, None, auto), "[null,null,0.2]");
    let forced = ToolChoice::Tool("read".to_owned());
    assert_eq!(
        said(adaptive, Some(Effort::High), forced),
        r#"[{"type":"disabled"},{"effort":"high"},0.2]"#
    );
}

#[test]
fn tool_choice_and_single_calls() {
    let choice = |choice: ToolChoice, parallel_tools: bool, members: Value| {
        let asked = model::ModelRequest {
            tool_choice: choice,
            parallel_tools,
            ..request()
        };
        encoded(members, &asked)["tool_choice"].to_string()
    };
    let read = || ToolChoice::Tool("read".to_owned());
    assert_eq!(
        choice(ToolChoice::Auto, true, json!({})),
        r#"{"type":"auto"}"#
    );
    assert_eq!(
        choice(ToolChoice::None, false, json!({})),
        r#"{"type":"none"}"#
    );
    assert_eq!(
        choice(ToolChoice::Required, false, json!({})),
        r#"{"type":"any","disable_parallel_tool_use":true}"#
    );
    assert_eq!(
        choice(read(), true, json!({})),
        r#"{"type":"tool","name":"read"}"#
    );
    assert_eq!(
        choice(read(), true, json!({ "forced_tool": false })),
        r#"{"type":"auto"}"#
    );
}

#[test]
fn reasoning_of_another_model_is_omitted() {
    let mut asked = request();
    asked.messages = conversation(r#"{"signature":"s"}"#, None);
    asked.model.model = "m-2".to_owned();
    let body = encoded(json!({}), &asked);
    assert_eq!(body["messages"][1]["content"][0]["type"], "text");
    let mut asked = request();
    asked.messages = conversation(r#"{"redacted":"xyz"}"#, None);
    let body = encoded(json!({ "system_messages": true }), &asked);
    assert_eq!(
        body["messages"][1]["content"][0],
        json!({ "type": "redacted_thinking", "data": "xyz" })
    );
    assert_eq!(body["messages"][3]["role"], "system");
}

#[test]
fn full_answer() {
    check(
        r#"{"type":"message_start","message":{"id":"msg_1","model":"m-1x","usage":{"input_tokens":10,"cache_read_input_tokens":200,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":10},"output_tokens":1}}}
        {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
        {"type":"ping"}
        {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}
        {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"abc="}}
        {"type":"content_block_stop","index":0}
        {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}
        {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I read."}}
        {"type":"content_block_stop","index":1}
        {"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"xyz"}}
        {"type":"content_block_stop","index":2}
        {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}
        {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}
        {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a"}}
        {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":".rs\"}"}}
        {"type":"content_block_stop","index":3}
        {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_1","name":"patch","input":{}}}
        {"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"input\":\"*** Begin\\n"}}
        {"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"x\"}"}}
        {"type":"content_block_stop","index":4}
        {"type":"some_new_event","x":1}
        {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89,"output_tokens_details":{"thinking_tokens":40}}}
        {"type":"message_stop"}"#,
        &expect![[r#"
            start msg_1 m-1x
            usage input 10 read 200 written 20+10 output 1 reasoning 0
            thought "Hm."
            signed {"signature":"abc="}
            text "I read."
            thought ""
            signed {"redacted":"xyz"}
            call 0 toolu_1 read
            args 0 "{\"path\": \"a"
            args 0 ".rs\"}"
            end 0
            call 1 toolu_1_2 patch
            args 1 "*** Begin\n"
            args 1 "x"
            end 1
            usage input 10 read 200 written 20+10 output 89 reasoning 40
            stop ToolUse tool_use
        "#]],
    );
}

#[test]
fn stop_reasons() {
    let ending = |delta: &str| {
        let lines = format!(
            r#"{{"type":"message_start","message":{{"id":"m","model":"c"}}}}
            {{"type":"message_delta","delta":{delta}}}
            {{"type":"message_stop"}}"#
        );
        let decoder = decoder(
            WireProtocol::Anthropic,
            &ChatDialect::default(),
            &request(),
            target(),
        );
        let shown = show(&decode(decoder, &sse(&lines)));
        shown.lines().skip(1).collect::<Vec<_>>().join("|")
    };
    assert_eq!(
        ending(r#"{"stop_reason":"end_turn"}"#),
        "stop EndTurn end_turn"
    );
    assert_eq!(
        ending(r#"{"stop_reason":"max_tokens"}"#),
        "stop MaxTokens max_tokens"
    );
    assert_eq!(
        ending(r#"{"stop_reason":"stop_sequence"}"#),
        "stop StopText stop_sequence"
    );
    assert_eq!(
        ending(r#"{"stop_reason":"pause_turn"}"#),
        "stop Pause pause_turn"
    );
    assert_eq!(
        ending(r#"{"stop_reason":"model_context_window_exceeded"}"#),
        "stop MaxTokens model_context_window_exceeded"
    );
    assert_eq!(
        ending(
            r#"{"stop_reason":"refusal","stop_details":{"type":"refusal","explanation":"No."}}"#
        ),
        "text \"No.\"|stop Refusal refusal"
    );
    assert_eq!(
        ending(r#"{"stop_reason":"something_new"}"#),
        "stop EndTurn something_new"
    );
}

#[test]
fn errors_within_the_stream() {
    check(
        r#"{"type":"message_start","message":{"id":"m","model":"c"}}
        {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
        {"type":"message_stop"}"#,
        &expect![[r#"
            start m c
            failed Overloaded: Maker (api.maker.example) is overloaded: Overloaded. Wait a moment.
        "#]],
    );
    check(
        r#"{"type":"message_start","message":{"id":"m","model":"c"}}
        {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hel"}}"#,
        &expect![[r#"
            start m c
            text "Hel"
            failed Torn: The connection to Maker (api.maker.example) ended before the answer was complete.
        "#]],
    );
}
