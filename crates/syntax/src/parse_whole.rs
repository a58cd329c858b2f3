//! The parse of a short text that is not edited.

use text::Snapshot;

use crate::language::Language;
use crate::snapshot::SyntaxSnapshot;
use crate::tree::{Budget, ParseStatus, SyntaxTree};

/// Parses a text with at most `max_steps` progress checks of the parser. Returns `None` if that is too few.
pub fn parse_whole(language: Language, text: &Snapshot, max_steps: u32) -> Option<SyntaxSnapshot> {
    let mut tree = SyntaxTree::new(language);
    let mut steps = 0;
    let mut is_spent = || {
        steps += 1;
        steps > max_steps
    };
    match tree.parse(text, &mut Budget::until(&mut is_spent)) {
        ParseStatus::Done | ParseStatus::Unsettled => Some(tree.snapshot()),
        ParseStatus::Running | ParseStatus::Pending(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use text::Snapshot;

    use super::parse_whole;
    use crate::language_named;

    #[test]
    fn a_parse_with_too_few_steps_is_given_up() {
        let language = language_named("rust").expect("a language");
        let text = Snapshot::new(&"fn f() { g(1); }\n".repeat(20_000));
        assert!(parse_whole(language, &text, 1).is_none());
        let parsed = parse_whole(language, &text, u32::MAX).expect("parsed");
        assert!(!parsed.highlights(&text, text.full_span()).is_empty());
    }
}
