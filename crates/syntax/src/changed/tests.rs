//! Highlights outside of changed spans stay, whatever is typed.

use base::{ByteOffset, Span};
use text::{Change, Snapshot};

use crate::tests::{Edited, SAMPLES, parse_all, random_seed, sample};
use crate::{HighlightKind, SyntaxSnapshot};

/// The kind of every byte of a text.
fn kinds(syntax: &SyntaxSnapshot, text: &Snapshot) -> Vec<Option<HighlightKind>> {
    let mut kinds = vec![None; text.len().0];
    for highlight in syntax.highlights(text, text.full_span()) {
        kinds[highlight.span.range()].fill(Some(highlight.kind));
    }
    kinds
}

/// Edits a text at random and returns how many bytes have another highlight outside of the changed
/// spans, of how many edits that changed something.
fn missed(language: &str, text: &str, seed: u64, steps: usize) -> (usize, usize) {
    let mut edited = Edited::new(language, text, seed);
    let (mut missed, mut all) = (0, 0);
    for _ in 0..steps {
        let (old, before) = (edited.buffer.snapshot(), edited.tree.snapshot());
        edited.edit();
        let text = edited.buffer.snapshot();
        parse_all(&mut edited.tree, &text);
        let Some(change) = edited.buffer.changes_since(old.revision()) else {
            continue;
        };
        let syntax = edited.tree.snapshot();
        let Some(spans) = syntax.changed_spans((&before, &old), &text, &change) else {
            continue;
        };
        for pair in spans.windows(2) {
            assert!(
                pair[0].end < pair[1].start,
                "sorted and disjoint: {spans:?}"
            );
        }
        all += 1;
        missed += usize::from(has_missed(
            &spans,
            (&before, &old),
            (&syntax, &text),
            &change,
        ));
    }
    (missed, all)
}

fn has_missed(
    spans: &[Span],
    (before, old): (&SyntaxSnapshot, &Snapshot),
    (syntax, text): (&SyntaxSnapshot, &Snapshot),
    change: &Change,
) -> bool {
    let (was, is) = (kinds(before, old), kinds(syntax, text));
    let back = change.inverse();
    (0..text.len().0).map(ByteOffset).any(|at| {
        let is_changed = spans.iter().any(|span| span.start <= at && at < span.end);
        let then = back.map(at, base::Bias::Left);
        !is_changed && was.get(then.0) != is.get(at.0)
    })
}

#[test]
fn most_edits_change_highlights_within_the_changed_spans_alone() {
    let seed = random_seed();
    let (mut missed_edits, mut edits) = (0, 0);
    for (language, sample) in SAMPLES {
        let (missed, all) = missed(language, sample, seed, 30);
        (missed_edits, edits) = (missed_edits + missed, edits + all);
    }
    println!("{missed_edits} of {edits} edits");
    assert!(edits > 100, "{edits}");
    // The rest is brought up to date at the next pause in typing.
    assert!(missed_edits * 20 <= edits, "{missed_edits} of {edits}");
}

#[test]
fn a_letter_changes_a_statement() {
    let text = sample("Rust").repeat(20);
    let mut edited = Edited::new("Rust", &text, 1);
    let (old, before) = (edited.buffer.snapshot(), edited.tree.snapshot());
    let at = ByteOffset(text.rfind("let ").expect("a statement") + 5);
    let origin = text::EditOrigin::user(text::Timestamp(0));
    let change = edited.buffer.replace(Span::at(at), "x", &origin);
    let after = edited.buffer.snapshot();
    edited.tree.edit(&old, &after, &change);
    parse_all(&mut edited.tree, &after);
    let syntax = edited.tree.snapshot();
    let spans = syntax.changed_spans((&before, &old), &after, &change);
    let spans = spans.expect("two trees");
    assert_eq!(spans.len(), 1, "{spans:?}");
    assert!(spans[0].contains(at) && spans[0].len() < 300, "{spans:?}");
    assert!(
        syntax
            .changed_spans((&syntax, &after), &after, &change)
            .is_none()
    );
}
