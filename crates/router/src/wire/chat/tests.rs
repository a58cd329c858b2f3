//! Tests of the encoder and decoder for OpenAI Chat and its dialects.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use model::{Effort, Message, Role};
use serde_json::{Value, json};

use crate::wire::tests::{body, conversation, decode, options, pretty, request, show, sse, target};
use crate::wire::{ChatDialect, WireProtocol, decoder, encode};

fn dialect(name: &str) -> ChatDialect {
    let text = include_str!("../../../../../assets/models/dialects.json");
    let mut all: BTreeMap<String, ChatDialect> = serde_json::from_str(text).expect("dialects");
    all.remove(name).expect("a dialect of that name")
}

fn encoded(name: &str, members: Value, asked: &model::ModelRequest) -> Value {
    body(&encode(WireProtocol::Chat, &dialect(name), &options(members), asked).expect("encodes"))
}

fn decoded(name: &str, lines: &str) -> String {
    let decoder = decoder(WireProtocol::Chat, &dialect(name), &request(), target());
    show(&decode(decoder, &sse(lines)))
}

fn check(name: &str, lines: &str, expected: &Expect) {
    expected.assert_eq(&decoded(name, lines));
}

#[test]
fn full_request() {
    let mut asked = request();
    asked.messages = conversation(
        "{}",
        Some(r#"{"extra_content":{"google":{"thought_signature":"s"}}}"#),
    );
    let members = json!({ "images": true, "sampling": true, "effort": { "high": "high" } });
    expect![[r#"
        {
          "model": "m-1",
          "messages": [
            {
              "role": "developer",
              "content": "You edit code.\n\nThe repository is small."
            },
            {
              "role": "user",
              "content": "Fix the bug."
            },
            {
              "role": "assistant",
              "content": "I look.",
              "tool_calls": [
                {
                  "id": "call.a",
                  "type": "function",
                  "function": {
                    "name": "read",
                    "arguments": "{\"path\":\"a.rs\"}"
                  },
                  "extra_content": {
                    "google": {
                      "thought_signature": "s"
                    }
                  }
                },
                {
                  "id": "call_b",
                  "type": "function",
                  "function": {
                    "name": "patch",
                    "arguments": "{\"input\":\"*** Begin\\n\\\"x\\\"\"}"
                  }
                }
              ]
            },
            {
              "role": "tool",
              "tool_call_id": "call.a",
              "content": "fn a() {}"
            },
            {
              "role": "tool",
              "tool_call_id": "call_b",
              "content": "Error: no such file"
            },
            {
              "role": "user",
              "content": [
                {
                  "type": "text",
                  "text": "Images from the tool results above:"
                },
                {
                  "type": "image_url",
                  "image_url": {
                    "url": "data:image/png;base64,cG5n"
                  }
                }
              ]
            },
            {
              "role": "user",
              "content": "Also this:"
            },
            {
              "role": "developer",
              "content": "The person is typing."
            }
          ],
          "tools": [
            {
              "type": "function",
              "function": {
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
                }
              }
            },
            {
              "type": "function",
              "function": {
                "name": "patch",
                "description": "Changes files.\n\nThe input satisfies this Lark grammar:\nstart: LINE+",
                "parameters": {
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
                }
              }
            }
          ],
          "tool_choice": "auto",
          "parallel_tool_calls": true,
          "max_completion_tokens": 1000,
          "reasoning_effort": "high",
          "temperature": 0.2,
          "stop": [
            "END"
          ],
          "stream": true,
          "stream_options": {
            "include_usage": true
          },
          "prompt_cache_key": "conv-7"
        }"#]].assert_eq(&pretty(&encoded("openai", members, &asked)));
}

#[test]
fn dialect_differences() {
    let mut asked = request();
    asked.messages = conversation(
        r#"{"reasoning_details":[{"type":"reasoning.encrypted","data":"d"}]}"#,
        None,
    );
    asked.stop = ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    let words = json!({ "effort": { "none": false, "high": "high" } });

    let vllm = encoded("vllm", words.clone(), &asked);
    assert_eq!(vllm["stop"].as_array().map(Vec::len), Some(4));
    assert_eq!(vllm["max_tokens"], 1000);
    assert_eq!(vllm["reasoning_effort"], "high");
    assert_eq!(
        vllm["messages"][5]["role"],
        "user",
        "no late system message: {}",
        pretty(&vllm)
    );
    let quiet = model::ModelRequest {
        effort: Some(Effort::None),
        ..asked.clone()
    };
    let vllm = encoded("vllm", words.clone(), &quiet);
    assert_eq!(vllm["chat_template_kwargs"]["enable_thinking"], false);

    let mistral = encoded("mistral", words.clone(), &asked);
    assert_eq!(mistral.get("stream_options"), None);
    let ids: Vec<&str> = mistral["messages"][2]["tool_calls"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|call| call["id"].as_str())
        .collect();
    assert!(ids.iter().all(|id| id.len() == 9), "{ids:?}");
    assert_ne!(ids[0], ids[1]);
    assert_eq!(mistral["messages"][3]["tool_call_id"], ids[0]);

    let openrouter = encoded(
        "openrouter",
        json!({ "effort": { "high": 4000 }, "reasoning_back": "always" }),
        &asked,
    );
    assert_eq!(openrouter["reasoning"]["max_tokens"], 4000);
    assert_eq!(
        openrouter["messages"][2]["reasoning_details"][0]["data"],
        "d"
    );

    // Only results followed: it is still the same turn.
    asked.messages[2].parts.remove(0);
    let deepseek = encoded("deepseek", words, &asked);
    assert_eq!(
        deepseek["messages"][2]["reasoning_content"],
        "It must be here."
    );
    let mut later = asked;
    later.messages.push(Message::text(Role::Assistant, "Done."));
    later.messages.push(Message::text(Role::User, "Thanks."));
    let deepseek = encoded("deepseek", json!({}), &later);
    assert_eq!(
        deepseek["messages"][2].get("reasoning_content"),
        None,
        "another turn"
    );
}

#[test]
fn headers_carry_the_conversation_id() {
    let encoded = encode(
        WireProtocol::Chat,
        &dialect("llama.cpp"),
        &options(json!({})),
        &request(),
    )
    .expect("encodes");
    let expected =
        ["x-session-id", "x-session-affinity"].map(|name| (name.to_owned(), "conv-7".to_owned()));
    assert_eq!(encoded.headers, expected);
}

#[test]
fn full_answer() {
    check(
        "openai",
        r#"{"id":"chatcmpl-1","model":"m-1x","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}
        {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"I read."}}]}
        {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"read","arguments":""}}]}}]}
        {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}
        {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_1","type":"function","function":{"name":"patch","arguments":"{\"input\":\"a"}}]}}]}
        {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a.rs\"}"}},{"index":1,"function":{"arguments":"\\nb\"}"}}]}}]}
        {"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":5}}}
        [DONE]"#,
        &expect![[r#"
            start chatcmpl-1 m-1x
            text "I read."
            call 0 call_1 read
            args 0 "{\"path\":"
            call 1 call_1_2 patch
            args 1 "a"
            args 0 "\"a.rs\"}"
            args 1 "\nb"
            usage input 36 read 64 written 0+0 output 20 reasoning 5
            end 0
            end 1
            stop ToolUse tool_calls
        "#]],
    );
}

#[test]
fn reasoning_under_various_names() {
    check(
        "deepseek",
        r#"{"id":"d","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"Hm"}}]}
        {"choices":[{"index":0,"delta":{"content":"So."},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":2}}
        [DONE]"#,
        &expect![[r#"
            start d m
            thought "Hm"
            text "So."
            usage input 2 read 8 written 0+0 output 3 reasoning 0
            stop EndTurn stop
        "#]],
    );
    check(
        "openrouter",
        r#"{"id":"o","model":"m","choices":[{"index":0,"delta":{"reasoning":"H","reasoning_details":[{"type":"reasoning.text","text":"H","index":0}]}}]}
        {"choices":[{"index":0,"delta":{"reasoning":"m","reasoning_details":[{"type":"reasoning.text","text":"m","index":0,"signature":"s"}]}}]}
        {"choices":[{"index":0,"delta":{"content":"So."}}]}
        {"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"d","index":1}]},"finish_reason":"stop"}]}
        [DONE]"#,
        &expect![[r#"
            start o m
            thought "H"
            thought "m"
            signed {"reasoning_details":[{"type":"reasoning.text","text":"Hm","index":0,"signature":"s"}]}
            text "So."
            thought ""
            signed {"reasoning_details":[{"type":"reasoning.encrypted","data":"d","index":1}]}
            stop EndTurn stop
        "#]],
    );
    check(
        "mistral",
        r#"{"id":"x","model":"m","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]}]}}]}
        {"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"So."}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":3}}
        [DONE]"#,
        &expect![[r#"
            start x m
            thought "Hm"
            text "So."
            usage input 2 read 0 written 0+0 output 3 reasoning 0
            stop EndTurn stop
        "#]],
    );
}

#[test]
fn calls_under_various_numberings() {
    let calls = |lines: &str| {
        let shown = decoded("ollama", &format!("{lines}\n[DONE]"));
        let lines = shown.lines().filter(|line| {
            line.starts_with("call") || line.starts_with("args") || line.starts_with("stop")
        });
        lines.collect::<Vec<_>>().join("|")
    };
    // All have number 0 and the same id, and are sent as a whole.
    assert_eq!(
        calls(
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{\"path\":\"a\"}"}},{"index":0,"id":"x","function":{"name":"read","arguments":"{\"path\":\"b\"}"}}]},"finish_reason":"stop"}]}"#
        ),
        r#"call 0 x read|args 0 "{\"path\":\"a\"}"|call 1 x_2 read|args 1 "{\"path\":\"b\"}"|stop ToolUse stop"#
    );
    // Neither number nor id, and the arguments as an object.
    assert_eq!(
        calls(
            r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"read","arguments":{"path":"a"}}},{"function":{"name":"read","arguments":{"path":"b"}}}]},"finish_reason":"tool_calls"}]}"#
        ),
        r#"call 0 call_1 read|args 0 "{\"path\":\"a\"}"|call 1 call_2 read|args 1 "{\"path\":\"b\"}"|stop ToolUse tool_calls"#
    );
    // Name and id in every fragment.
    assert_eq!(
        calls(
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{\"path\""}}]}}]}
            {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":":\"a\"}"}}]},"finish_reason":"tool_calls"}]}"#
        ),
        r#"call 0 x read|args 0 "{\"path\""|args 0 ":\"a\"}"|stop ToolUse tool_calls"#
    );
    // A signature next to a call.
    let signed = decoded(
        "openai",
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"read","arguments":"{}"},"extra_content":{"a":1}}]},"finish_reason":"tool_calls"}]}
        [DONE]"#,
    );
    assert!(
        signed.contains(r#"signed call 0 {"extra_content":{"a":1}}"#),
        "{signed}"
    );
}

#[test]
fn stop_reasons() {
    let ending = |choice: &str| {
        let lines = format!("{{\"id\":\"x\",\"choices\":[{choice}]}}\n[DONE]");
        decoded("vllm", &lines)
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        ending(r#"{"index":0,"delta":{"content":"a"},"finish_reason":"length"}"#),
        "stop MaxTokens length"
    );
    assert_eq!(
        ending(r#"{"index":0,"delta":{"content":"a"},"finish_reason":"content_filter"}"#),
        "stop Refusal content_filter"
    );
    assert_eq!(
        ending(r#"{"index":0,"delta":{"refusal":"No."},"finish_reason":"stop"}"#),
        "stop Refusal stop"
    );
    assert_eq!(
        ending(r#"{"index":0,"delta":{"content":"a"},"finish_reason":"stop","stop_reason":"END"}"#),
        "stop StopText stop"
    );
    assert_eq!(
        ending(r#"{"index":0,"delta":{"content":"a"}}"#),
        "stop EndTurn "
    );
    assert!(
        ending(r#"{"index":0,"delta":{},"finish_reason":"error"}"#)
            .starts_with("failed ServerError")
    );
    assert!(
        ending(r#"{"index":0,"delta":{},"finish_reason":"insufficient_system_resource"}"#)
            .starts_with("failed Overloaded")
    );
    assert!(ending(r#"{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x"}]},"finish_reason":"tool_calls"}"#).starts_with("failed Malformed"));
    // No `[DONE]`: complete with a stop reason, truncated without.
    let body =
        r#"{"id":"x","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    assert!(decoded("vllm", body).ends_with("stop EndTurn stop\n"));
    let body = r#"{"id":"x","choices":[{"index":0,"delta":{"content":"a"}}]}"#;
    assert!(decoded("vllm", body).contains("failed Torn"));
    // An error among the chunks.
    let body = r#"{"id":"x","error":{"code":429,"message":"Rate limit"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#;
    assert!(decoded("openrouter", body).contains("failed RateLimited"));
}

#[test]
fn output_counts_reasoning_once() {
    let counted = |usage: Value| {
        let usage = super::usage(&usage, &["/prompt_tokens_details/cached_tokens".to_owned()]);
        (
            usage.input.0,
            usage.cache_read.0,
            usage.cache_write_5m.0,
            usage.output.0,
            usage.reasoning.0,
        )
    };
    let details = json!({ "reasoning_tokens": 30 });
    let within = json!({ "prompt_tokens": 10, "completion_tokens": 50, "total_tokens": 60, "completion_tokens_details": details });
    assert_eq!(counted(within), (10, 0, 0, 50, 30));
    let apart = json!({ "prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 60, "completion_tokens_details": details });
    assert_eq!(counted(apart), (10, 0, 0, 50, 30));
    let cached = json!({ "prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": { "cached_tokens": 60, "cache_write_tokens": 30 } });
    assert_eq!(counted(cached), (10, 60, 30, 1, 0));
    let odd = json!({ "prompt_tokens": 5, "prompt_tokens_details": { "cached_tokens": 60, "cache_write_tokens": 30 } });
    assert_eq!(counted(odd), (0, 5, 0, 0, 0));
}

#[test]
fn rejected_predictions_count_as_output() {
    let check = |completion: u64, total: u64| {
        let counts = json!({
            "prompt_tokens": 166, "completion_tokens": completion, "total_tokens": total,
            "completion_tokens_details": {
                "reasoning_tokens": 0, "accepted_prediction_tokens": 49, "rejected_prediction_tokens": 107,
            },
        });
        let usage = super::decode::usage(&counts, &[]);
        assert_eq!(usage.output.0, 226);
        assert_eq!(usage.accepted_prediction.0, 49);
        assert_eq!(usage.rejected_prediction.0, 107);
    };
    // OpenAI counts them; a server whose total shows that it does not is corrected.
    check(226, 392);
    check(119, 392);
}
