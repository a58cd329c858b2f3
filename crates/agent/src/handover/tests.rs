//! The history and the note of a handover.

use model::{Message, MessagePart, ModelId, Opaque, PartContent, Role};

use super::{for_model, note};

#[test]
fn handover_drops_foreign_reasoning_and_stays_valid() {
    let foreign = ModelId::parse("a/b");
    let signed = |content| MessagePart {
        content,
        opaque: foreign.clone().map(|model| Opaque {
            model,
            data: "{}".to_owned(),
        }),
    };
    let messages = vec![
        Message::text(Role::User, "one"),
        Message::new(
            Role::Assistant,
            [signed(PartContent::Reasoning("hm".to_owned()))],
        ),
        Message::text(Role::User, "two"),
        Message::new(
            Role::Assistant,
            [
                signed(PartContent::Reasoning("so".to_owned())),
                signed(PartContent::Text("three".to_owned())),
            ],
        ),
    ];
    let own = ModelId::parse("a/b").expect("a model");
    assert_eq!(for_model(messages.clone(), &own), messages);
    let other = ModelId::parse("c/d").expect("a model");
    let seen = for_model(messages, &other);
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].parts.len(), 2);
    assert_eq!(seen[1].parts, [MessagePart::text("three").into()]);
}

#[test]
fn handover_note_names_foreign_tools() {
    let told = note("a/b", "c/d", &["Read", "grep"], &["read", "grep"]);
    assert!(told.contains("You (c/d) take over"), "{told}");
    assert!(told.contains("do not call them: Read."), "{told}");
    let told = note("a/b", "c/d", &["grep"], &["grep"]);
    assert!(!told.contains("not yours"), "{told}");
}
