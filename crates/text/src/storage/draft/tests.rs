//! Runs of edits against a plain `String`.

use base::Span;

use super::StorageDraft;
use crate::random::SeededRng;
use crate::storage::Storage;

#[test]
fn runs_read_like_a_string() {
    for seed in 0..200 {
        let mut random = SeededRng::new(seed);
        let mut text = random.text(60);
        let mut draft = StorageDraft::new(Storage::new(&text));
        let mut at = random.boundary(&text).0;
        for _ in 0..100 {
            if random.one_in(6) {
                at = random.boundary(&text).0;
            }
            let back = text[..at].chars().next_back().map_or(0, char::len_utf8);
            let ahead = text[at..].chars().next().map_or(0, char::len_utf8);
            let range = match random.next_below(6) {
                0 => at - back..at,
                1 => at..at + ahead,
                2 => at - back..at + ahead,
                _ => at..at,
            };
            let inserted = match random.next_below(8) {
                0 => "long ".repeat(random.next_below(150)),
                _ => random.text(2),
            };
            text.replace_range(range.clone(), &inserted);
            draft.replace(range.clone(), &inserted);
            at = range.start + inserted.len();
            check(&draft, &text, &mut random);
        }
        assert_eq!(draft.flush().text(0..text.len()), text);
    }
}

fn check(draft: &StorageDraft, text: &str, random: &mut SeededRng) {
    assert_eq!(draft.len(), text.len());
    for _ in 0..4 {
        let span = Span::new(random.boundary(text), random.boundary(text));
        assert_eq!(draft.text(span.range()), text[span.range()]);
        let chars = text[..span.start.0].chars().count();
        assert_eq!(draft.offset_at_char(chars), span.start.0);
        let anywhere = random.next_below(text.len() + 3);
        assert_eq!(
            draft.is_char_boundary(anywhere),
            text.is_char_boundary(anywhere)
        );
    }
    assert_eq!(draft.offset_at_char(text.len() + 1), text.len());
    if random.one_in(3) {
        assert_eq!(draft.storage().text(0..text.len()), text);
    }
}
