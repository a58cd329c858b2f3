//! Tests of hints: the parser knows every key of them.

use super::after;
use crate::command::{Parse, ParseContext, VisualShape, parse};
use crate::key::Key;

#[test]
fn every_hinted_key_goes_on_with_the_command() {
    let prefixes = [
        ("\"", false),
        ("g", false),
        ("gr", false),
        ("z", false),
        ("[", false),
        ("]", false),
        ("Z", false),
        ("<C-w>", false),
        ("d", false),
        ("\"a3d", false),
        ("gU2", false),
        ("ci", false),
        ("ya", false),
        ("i", true),
    ];
    for (prefix, is_visual) in prefixes {
        let context = ParseContext {
            visual: is_visual.then_some(VisualShape::Chars),
            tilde_operator: false,
            replace_with_register: false,
            is_recording: false,
        };
        let keys = Key::parse(prefix, '\\');
        let hints = after(&keys, is_visual);
        assert!(!hints.is_empty(), "{prefix}");
        for hint in hints {
            let mut keys = keys.clone();
            keys.extend(Key::parse(&hint.keys, '\\'));
            assert_ne!(
                parse(&keys, context),
                Parse::Invalid,
                "{prefix} {}",
                hint.keys
            );
        }
    }
}

#[test]
fn arguments_have_no_hints() {
    for keys in ["f", "r", "m", "df", "ys"] {
        assert_eq!(after(&Key::parse(keys, '\\'), false), [], "{keys}");
    }
}
