//! Tests of bodies that are not answers.

use crate::wire::tests::{decode, request, show, target};
use crate::wire::{ChatDialect, WireProtocol, decoder};

fn check(body: &str, expected: &str) {
    let decoder = decoder(
        WireProtocol::Chat,
        &ChatDialect::default(),
        &request(),
        target(),
    );
    let shown = show(&decode(decoder, body));
    assert!(shown.starts_with(expected), "{body:?}: {shown}");
}

#[test]
fn bodies_without_an_answer() {
    check("", "failed Torn");
    check(": waiting\n\n: waiting\n\n", "failed Torn");
    check(
        "<html><title>Sign in</title></html>",
        "failed Malformed: Maker (api.maker.example) sent an invalid response: Sign in.",
    );
    check(
        r#"{"error":{"type":"overloaded_error","message":"busy"}}"#,
        "failed Overloaded",
    );
    check("data: nonsense\n\n", "failed Malformed");
    check("data: {\"id\":\"x\"", "failed Torn");
    check("data: [DONE]\n\n", "failed Malformed");
    check("data: {\"id\":\"\u{0}\"}\n\n", "failed Malformed");
}
