//! Tests of the encoder and decoder for Gemini.

use expect_test::{Expect, expect};
use model::{Effort, Message, MessagePart, Opaque, PartContent, Role, StreamEvent};
use serde_json::{Value, json};

use crate::wire::tests::{
    body, conversation, decode, model_id, options, pretty, request, show, sse, target,
};
use crate::wire::{ChatDialect, WireProtocol, decoder};

fn encoded(members: Value, asked: &model::ModelRequest) -> Value {
    body(&super::encode(&options(members), asked).expect("encodes"))
}

fn decoded(lines: &str) -> Vec<StreamEvent> {
    let decoder = decoder(
        WireProtocol::Gemini,
        &ChatDialect::default(),
        &request(),
        target(),
    );
    decode(decoder, &sse(lines))
}

fn check(lines: &str, expected: &Expect) {
    expected.assert_eq(&show(&decoded(lines)));
}

#[test]
fn full_request() {
    let mut asked = request();
    asked.messages = conversation(
        r#"{"thoughtSignature":"t"}"#,
        Some(r#"{"thoughtSignature":"c"}"#),
    );
    let options =
        options(json!({ "images": true, "sampling": true, "effort": { "high": "high" } }));
    let encoded = super::encode(&options, &asked).expect("encodes");
    expect![[r#"Root("v1beta/models/m-1:streamGenerateContent?alt=sse")"#]]
        .assert_eq(&format!("{:?}", encoded.path));
    expect![[r#"
        {
          "systemInstruction": {
            "parts": [
              {
                "text": "You edit code."
              },
              {
                "text": "The repository is small."
              }
            ]
          },
          "tools": [
            {
              "functionDeclarations": [
                {
                  "name": "read",
                  "description": "Reads a file.",
                  "parametersJsonSchema": {
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
                },
                {
                  "name": "patch",
                  "description": "Changes files.\n\nThe input satisfies this Lark grammar:\nstart: LINE+",
                  "parametersJsonSchema": {
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
              ]
            }
          ],
          "toolConfig": {
            "functionCallingConfig": {
              "mode": "AUTO"
            }
          },
          "contents": [
            {
              "role": "user",
              "parts": [
                {
                  "text": "Fix the bug."
                }
              ]
            },
            {
              "role": "model",
              "parts": [
                {
                  "text": "It must be here.",
                  "thought": true,
                  "thoughtSignature": "t"
                },
                {
                  "text": "I look."
                },
                {
                  "functionCall": {
                    "name": "read",
                    "args": {
                      "path": "a.rs"
                    },
                    "id": "call.a"
                  },
                  "thoughtSignature": "c"
                },
                {
                  "functionCall": {
                    "name": "patch",
                    "args": {
                      "input": "*** Begin\n\"x\""
                    },
                    "id": "call_b"
                  }
                }
              ]
            },
            {
              "role": "user",
              "parts": [
                {
                  "functionResponse": {
                    "name": "read",
                    "response": {
                      "output": "fn a() {}"
                    },
                    "id": "call.a"
                  }
                },
                {
                  "functionResponse": {
                    "name": "patch",
                    "response": {
                      "error": "no such file"
                    },
                    "id": "call_b"
                  }
                },
                {
                  "inlineData": {
                    "mimeType": "image/png",
                    "data": "cG5n"
                  }
                },
                {
                  "text": "Also this:"
                },
                {
                  "text": "The person is typing."
                }
              ]
            }
          ],
          "generationConfig": {
            "maxOutputTokens": 1000,
            "temperature": 0.2,
            "stopSequences": [
              "END"
            ],
            "thinkingConfig": {
              "includeThoughts": true,
              "thinkingLevel": "high"
            }
          }
        }"#]].assert_eq(&pretty(&body(&encoded)));
}

#[test]
fn thinking() {
    let said = |effort, members: Value| {
        let asked = model::ModelRequest {
            effort: Some(effort),
            ..request()
        };
        encoded(members, &asked)["generationConfig"]["thinkingConfig"].to_string()
    };
    let budgets = json!({ "effort": { "none": false, "high": 8192 } });
    assert_eq!(
        said(Effort::None, budgets.clone()),
        r#"{"thinkingBudget":0}"#
    );
    assert_eq!(
        said(Effort::Max, budgets),
        r#"{"includeThoughts":true,"thinkingBudget":8192}"#
    );
    assert_eq!(said(Effort::Max, json!({})), "null");
}

#[test]
fn full_answer() {
    check(
        r#"{"responseId":"r1","modelVersion":"m-1x","candidates":[{"content":{"role":"model","parts":[{"text":"Hm.","thought":true}]}}]}
        {"candidates":[{"content":{"parts":[{"text":"I "}]}}]}
        {"candidates":[{"content":{"parts":[{"text":"read."},{"text":"","thoughtSignature":"t1"}]}}]}
        {"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":{"path":"a"}},"thoughtSignature":"c1"},{"functionCall":{"name":"patch","args":{"input":"x\ny"}}},{"functionCall":{"id":"fc9","name":"read","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":20,"thoughtsTokenCount":7}}"#,
        &expect![[r#"
            start r1 m-1x
            thought "Hm."
            text "I "
            text "read."
            signed {"thoughtSignature":"t1","from":7}
            call 0 own-call-1 read
            args 0 "{\"path\":\"a\"}"
            signed call 0 {"thoughtSignature":"c1"}
            end 0
            call 1 own-call-2 patch
            args 1 "x\ny"
            end 1
            call 2 fc9 read
            args 2 "{}"
            end 2
            usage input 40 read 60 written 0+0 output 27 reasoning 7
            stop ToolUse STOP
        "#]],
    );
}

/// Signatures return on the parts that carried them.
#[test]
fn signatures_return_to_their_parts() {
    let sent = [
        json!({ "text": "Hm.", "thought": true, "thoughtSignature": "a" }),
        json!({ "text": "I " }),
        json!({ "text": "read.", "thoughtSignature": "b" }),
        json!({ "text": "", "thoughtSignature": "c" }),
        json!({ "functionCall": { "name": "read", "args": { "path": "a" }, "id": "x" }, "thoughtSignature": "d" }),
    ];
    let mut lines = String::new();
    for part in &sent {
        lines.push_str(&json!({ "candidates": [{ "content": { "parts": [part] } }] }).to_string());
        lines.push('\n');
    }
    lines.push_str(r#"{"candidates":[{"content":{"parts":[]},"finishReason":"STOP"}]}"#);
    let mut parts: Vec<MessagePart> = Vec::new();
    let mut has_ended = true;
    for event in decoded(&lines) {
        let sign = |part: &mut MessagePart, opaque: Opaque| part.opaque = Some(opaque);
        match event {
            StreamEvent::TextDelta(text) => match parts.last_mut() {
                Some(MessagePart {
                    content: PartContent::Text(before),
                    ..
                }) if !has_ended => before.push_str(&text),
                _ => {
                    parts.push(MessagePart::text(text));
                    has_ended = false;
                }
            },
            StreamEvent::ReasoningDelta(text) => {
                parts.push(MessagePart::new(PartContent::Reasoning(text)));
                has_ended = false;
            }
            StreamEvent::ToolStart { id, name, .. } => {
                parts.push(MessagePart::new(PartContent::ToolCall {
                    id,
                    name,
                    arguments: r#"{"path":"a"}"#.to_owned(),
                }))
            }
            StreamEvent::Signature {
                index: None,
                opaque,
            } if has_ended => {
                parts.push(MessagePart::new(PartContent::Reasoning(String::new())));
                sign(parts.last_mut().expect("a part"), opaque);
            }
            StreamEvent::Signature { opaque, .. } => {
                sign(parts.last_mut().expect("a part"), opaque);
                has_ended = true;
            }
            _ => {}
        }
    }
    assert!(
        parts
            .iter()
            .flat_map(|part| &part.opaque)
            .all(|opaque| opaque.model == model_id())
    );
    let asked = model::ModelRequest {
        messages: vec![
            Message::text(Role::User, "Go."),
            Message::new(Role::Assistant, parts),
        ],
        ..request()
    };
    let back = encoded(json!({}), &asked)["contents"][1]["parts"].clone();
    assert_eq!(pretty(&back), pretty(&json!(sent)));
}

#[test]
fn stop_reasons() {
    let ending = |candidate: &str| {
        let lines = format!(r#"{{"responseId":"r","candidates":[{candidate}]}}"#);
        show(&decoded(&lines))
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        ending(r#"{"finishReason":"MAX_TOKENS"}"#),
        "stop MaxTokens MAX_TOKENS"
    );
    assert_eq!(
        ending(r#"{"finishReason":"SAFETY"}"#),
        "stop Refusal SAFETY"
    );
    assert!(
        ending(r#"{"finishReason":"MALFORMED_FUNCTION_CALL"}"#).starts_with("failed Malformed")
    );
    assert!(ending(r#"{"content":{"parts":[{"text":"a"}]}}"#).starts_with("failed Torn"));
    let blocked = r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#;
    assert!(show(&decoded(blocked)).ends_with("stop Refusal PROHIBITED_CONTENT\n"));
    let error =
        r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#;
    assert!(show(&decoded(error)).contains("failed Overloaded"));
}
