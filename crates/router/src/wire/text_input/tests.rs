//! Tests that text is unwrapped unchanged, for every division of the JSON into fragments.

use serde_json::json;

use super::*;

fn unwrap(fragments: &[&str]) -> (String, bool) {
    let mut input = TextInput::default();
    let mut text: String = fragments
        .iter()
        .map(|fragment| input.feed(fragment))
        .collect();
    match input.finish() {
        InputEnd::Complete(rest) => {
            text.push_str(&rest);
            (text, true)
        }
        InputEnd::Cut => (text, false),
    }
}

#[test]
fn every_text_in_all_fragmentations() {
    let texts = [
        "",
        "plain",
        "a\nb\t\"c\" \\d\\ /e",
        "Grüße 🦀 \u{8}\u{c}\r",
        "{\"input\":\"x\"}",
    ];
    for text in texts {
        let spellings = [
            json!({ "input": text }).to_string(),
            format!(" {{ \"input\" :\n {} , \"more\": [1] }}", json!(text)),
            format!("{{\"input\":\"{}\"}}", in_escapes(text)),
        ];
        for json in spellings {
            for (at, _) in json.char_indices() {
                let (before, after) = json.split_at(at);
                assert_eq!(
                    unwrap(&[before, after]),
                    (text.to_owned(), true),
                    "{json} at {at}"
                );
            }
            let letters: Vec<String> = json.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            assert_eq!(unwrap(&letters), (text.to_owned(), true), "{json}");
        }
    }
}

fn in_escapes(text: &str) -> String {
    text.encode_utf16()
        .map(|unit| format!("\\u{unit:04x}"))
        .collect()
}

fn check(json: &str, text: &str, is_complete: bool) {
    assert_eq!(unwrap(&[json]), (text.to_owned(), is_complete), "{json}");
}

#[test]
fn other_formats() {
    // Another member comes first: parsed as a whole.
    check(r#"{"note":1,"input":"x"}"#, "x", true);
    check(r#""just text""#, "just text", true);
    check("*** Begin Patch", "*** Begin Patch", true);
    check(r#"{"patch":"x"}"#, r#"{"patch":"x"}"#, true);
    check("", "", true);
    // The text is truncated.
    check(r#"{"input":"half"#, "half", false);
    check(r#"{"inp"#, "", false);
    check(r#"{"note":1,"#, "", false);
    // An unpaired surrogate, and a backslash that is not a JSON escape.
    check(r#"{"input":"\ud83dx\d"}"#, "\u{fffd}x\\d", true);
}
