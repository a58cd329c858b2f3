//! The reader of tool arguments accepts any text, divided anywhere, reads valid JSON as `serde_json`
//! does, and reports a problem for every other text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::{ArgumentEvent, ArgumentReader, ParsedArguments};
use serde_json::Value;

/// Returns the events and problems of a text. Fragments of one string are joined, as they depend
/// on the division.
fn events<'a>(pieces: impl Iterator<Item = &'a str>) -> (Vec<String>, Vec<String>) {
    let mut lines: Vec<String> = Vec::new();
    let mut in_text = false;
    let mut sink = |path: &[_], event: ArgumentEvent<'_>| {
        let was_in_text = std::mem::replace(&mut in_text, matches!(event, ArgumentEvent::Text(_)));
        match (event, lines.last_mut()) {
            (ArgumentEvent::Text(text), Some(last)) if was_in_text => last.push_str(text),
            (ArgumentEvent::Text(text), _) => lines.push(format!("{path:?} {text}")),
            (event, _) => lines.push(format!("{path:?} {event:?}")),
        }
    };
    let mut reader = ArgumentReader::default();
    for piece in pieces {
        reader.push(piece, &mut sink);
    }
    let problems = reader.finish(&mut sink);
    (lines, problems.iter().map(ToString::to_string).collect())
}

fuzz_target!(|data: &[u8]| {
    let Some((size, data)) = data.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(data);
    let whole = events(std::iter::once(&*text));
    let size = usize::from(*size) + 1;
    let mut rest = &*text;
    let pieces = std::iter::from_fn(|| {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(size.min(rest.len())));
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    });
    assert_eq!(events(pieces), whole, "the cuts make no difference");
    let arguments = ParsedArguments::read(&text);
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => {
            assert_eq!(arguments.problems, []);
            assert_eq!(arguments.value, value);
        }
        Err(_) => assert!(text.trim().is_empty() || !arguments.problems.is_empty()),
    }
});
