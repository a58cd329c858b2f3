//! Tests of conversation order and of call id formats.

use model::{Message, ModelId};
use serde_json::json;

use crate::wire::tests::{conversation, request};

use super::*;

fn asked(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        messages,
        ..request()
    }
}

#[test]
fn results_come_first_and_model_messages_are_joined() {
    let mut messages = conversation("{}", None);
    messages.insert(1, Message::text(Role::Assistant, "Well."));
    messages.insert(3, Message::text(Role::System, "Hurry."));
    let asked = asked(messages);
    let history = ChatHistory::new(&asked, IdRule::Any);
    let shape: Vec<String> = history
        .grouped_turns()
        .iter()
        .map(|turn| match turn {
            HistoryTurn::Assistant(parts) => format!("assistant {}", parts.len()),
            HistoryTurn::Others { results, messages } => {
                format!("{} results, {} messages", results.len(), messages.len())
            }
        })
        .collect();
    assert_eq!(
        shape,
        [
            "0 results, 1 messages",
            "assistant 5",
            "2 results, 3 messages"
        ]
    );
}

#[test]
fn ids() {
    let call = |id: &str| {
        MessagePart::new(PartContent::ToolCall {
            id: id.to_owned(),
            name: "read".to_owned(),
            arguments: "{}".to_owned(),
        })
    };
    let asked = asked(vec![Message::new(
        Role::Assistant,
        ["a.b", "a:b", "call_1", "abcDEF123"].map(call),
    )]);
    let ids = |rule| {
        let history = ChatHistory::new(&asked, rule);
        ["a.b", "a:b", "call_1", "abcDEF123"].map(|id| history.id(id).to_owned())
    };
    assert_eq!(ids(IdRule::Any), ["a.b", "a:b", "call_1", "abcDEF123"]);
    assert_eq!(ids(IdRule::Word), ["a_b", "a_b_2", "call_1", "abcDEF123"]);
    let nine = ids(IdRule::Nine);
    assert_eq!(nine[3], "abcDEF123");
    assert!(
        nine.iter()
            .all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())),
        "{nine:?}"
    );
    assert_eq!(nine, ids(IdRule::Nine));
}

#[test]
fn arguments_are_objects() {
    let asked = asked(Vec::new());
    let history = ChatHistory::new(&asked, IdRule::Any);
    assert_eq!(
        history.arguments("read", r#"{"path":"a"}"#),
        json!({ "path": "a" })
    );
    assert_eq!(history.arguments("read", " "), json!({}));
    assert_eq!(history.arguments("read", "[1"), json!({ "input": "[1" }));
    assert_eq!(history.arguments("patch", "{}"), json!({ "input": "{}" }));
}

#[test]
fn opaque_data_return_only_to_their_model() {
    let mut asked = asked(conversation(r#"{"signature":"s"}"#, None));
    let part = asked.messages[1].parts[0].clone();
    assert!(
        ChatHistory::new(&asked, IdRule::Any)
            .opaque(&part)
            .is_some()
    );
    asked.model = ModelId::parse("maker/m-2").expect("an id");
    assert!(
        ChatHistory::new(&asked, IdRule::Any)
            .opaque(&part)
            .is_none()
    );
}
