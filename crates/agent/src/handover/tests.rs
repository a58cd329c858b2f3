//! The history, the note and the cost of a handover.

use model::{
    Cost, Message, MessagePart, ModelId, Opaque, PartContent, Price, Rates, Role, TokenCount,
    TokenRate,
};

use super::{for_model, note, switch_cost};

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

#[test]
fn a_cold_cache_costs_more_than_a_warm_one() {
    // Prices are in micro-dollars per million tokens.
    let price = Price {
        base: Rates {
            input: Some(TokenRate(2_000_000)),
            cache_read: Some(TokenRate(200_000)),
            cache_write_5m: Some(TokenRate(2_500_000)),
            ..Rates::default()
        },
        tiers: Vec::new(),
    };
    let cost = switch_cost(
        TokenCount(100_000),
        TokenCount(90_000),
        Some(&price),
        Some(&price),
    );
    // 10 000 tokens at 2 $ and 90 000 at 0.2 $ against 100 000 at 2.5 $, each per million.
    assert_eq!(cost.stay, Some(Cost(38_000_000)));
    assert_eq!(cost.switch, Some(Cost(250_000_000)));
    let unknown = switch_cost(TokenCount(10), TokenCount(99), None, Some(&Price::FREE));
    assert_eq!((unknown.stay, unknown.switch), (None, Some(Cost(0))));
}
