//! Outlines that are updated after edits, against outlines that are built anew.

use std::sync::atomic::AtomicBool;

use base::{ByteOffset, Span, counting};
use rand::Rng;
use text::Snapshot;

use crate::SyntaxTree;
use crate::outline::Outline;
use crate::tests::{Edited, SAMPLES, parse_all, parsed, random_seed, sample};

/// Builds the outline of the same tree without what is known of the document.
fn built(tree: &SyntaxTree, text: &Snapshot) -> Outline {
    let trees = tree.trees_for_test().clone();
    let snapshot = tree.snapshot().with_trees(trees, text.revision());
    snapshot.shared_outline(text)
}

fn assert_same(updated: &Outline, built: &Outline, places: &[usize], context: &str) {
    let items = built.items();
    assert_eq!(updated.items(), items, "{context}");
    for item in &items {
        let name = &item.name;
        let (ours, theirs) = (updated.definition(name), built.definition(name));
        assert_eq!(ours, theirs, "{context}: {name}");
    }
    for place in places {
        let place = ByteOffset(*place);
        let holds = |span: Span| span.start <= place && place <= span.end;
        let around: Vec<_> = items.iter().filter(|it| holds(it.span)).cloned().collect();
        assert_eq!(updated.around(place), around, "{context}: {place:?}");
    }
}

/// Settles the tree, if there is something to settle.
fn settle(tree: &mut SyntaxTree, text: &Snapshot) {
    if let Some(job) = tree.repair_job(text) {
        let parsed = job.run(&AtomicBool::new(false)).expect("a result");
        tree.accept(parsed);
    }
}

fn check_random_edits(language: &str, text: &str, seed: u64, steps: usize) {
    let mut edited = Edited::new(language, text, seed);
    for step in 0..steps {
        for _ in 0..edited.rng.random_range(1..5) {
            edited.edit();
        }
        if edited.rng.random_bool(0.05) {
            edited.undo_all();
        }
        let text = edited.buffer.snapshot();
        let context = format!("{language}, seed {seed}, step {step}");
        if edited.rng.random_bool(0.3) {
            // The structure is older than the text, but everything lies within it.
            for item in edited.tree.snapshot().outline(&text) {
                assert!(item.span.end <= text.len(), "{context}: {item:?}");
                assert!(item.name_span.end <= text.len(), "{context}: {item:?}");
            }
        }
        parse_all(&mut edited.tree, &text);
        if edited.rng.random_bool(0.1) {
            settle(&mut edited.tree, &text);
        }
        let updated = edited.tree.snapshot().shared_outline(&text);
        let built = built(&edited.tree, &text);
        let places: Vec<usize> = (0..5)
            .map(|_| edited.rng.random_range(0..=text.len().0))
            .collect();
        assert_same(&updated, &built, &places, &context);
    }
}

#[test]
fn an_updated_outline_equals_a_new_one() {
    let seed = random_seed();
    for (language, sample) in SAMPLES {
        // Repeated, so that an update is not abandoned for a new outline.
        check_random_edits(language, &sample.repeat(4), seed, 40);
    }
}

#[test]
fn an_outline_is_derived_once_per_revision() {
    let text = Snapshot::new(&sample("Rust").repeat(20));
    let syntax = parsed("Rust", &text).snapshot();
    let (first, built) = counting(|| syntax.outline(&text));
    let (second, known) = counting(|| syntax.shared_outline(&text));
    assert_eq!(second.items(), first);
    assert!(known.text_bytes == 0 && known.tree_steps == 0, "{known:?}");
    #[cfg(debug_assertions)]
    assert!(built.text_bytes > 0 && built.tree_steps > 0, "{built:?}");
}
