//! Trees under random edits, budgets, jobs.

use std::sync::atomic::AtomicBool;

use base::Span;
use rand::Rng;
use text::{Edit, EditOrigin, Timestamp};

use super::{Budget, ParseJob, ParseStatus, SyntaxTree};
use crate::equality::are_equal;
use crate::language_named;
use crate::tests::{Edited, SAMPLES, buffer, parse_all, parsed, random_seed, sample};

fn run(job: ParseJob) -> Option<super::ParsedTree> {
    job.run(&AtomicBool::new(false))
}

/// Checks that whatever calls itself settled equals a fresh parse, and that `settle` makes it so.
fn check_random_edits(language: &str, text: &str, seed: u64, steps: usize) {
    let mut edited = Edited::new(language, text, seed);
    for step in 0..steps {
        edited.edit();
        if edited.rng.random_bool(0.1) {
            edited.undo_all();
        }
        let context = format!("{language}, seed {seed}, step {step}");
        let snapshot = edited.buffer.snapshot();
        if parse_all(&mut edited.tree, &snapshot) {
            edited.assert_equals_fresh(&context);
        } else if edited.rng.random_bool(0.3) {
            let job = edited
                .tree
                .repair_job(&snapshot)
                .expect("something to settle");
            edited.tree.accept(run(job).expect("a result"));
            assert!(edited.tree.is_settled(), "{context}");
            edited.assert_equals_fresh(&context);
        }
    }
}

#[test]
fn after_random_edits_a_settled_tree_equals_a_fresh_parse() {
    let seed = random_seed();
    for (language, sample) in SAMPLES {
        check_random_edits(language, sample, seed, 60);
    }
}

#[test]
fn in_larger_texts_with_layers_too() {
    let seed = random_seed();
    let script = format!(
        "<p>a</p>\n<script>\n{}</script>\n<style>\n{}</style>\n",
        sample("JavaScript").replace("</", "<"),
        sample("CSS").repeat(12),
    );
    check_random_edits("HTML", &script.repeat(2), seed, 40);
    let fences = format!(
        "# A\n\n```html\n{script}```\n\n```rust\n{}```\n",
        sample("Rust").repeat(3)
    );
    check_random_edits("Markdown", &fences, seed, 40);
    check_random_edits("Rust", &sample("Rust").repeat(6), seed, 40);
    check_random_edits("Ruby", &sample("Ruby").repeat(8), seed, 40);
}

#[test]
fn layers_hold_large_injections() {
    let style = format!("<style>{}</style>", sample("CSS").repeat(12));
    let tree = parsed("HTML", &text::Snapshot::new(&style));
    let layers = &tree.trees.as_ref().expect("a tree").layers;
    assert_eq!(layers.len(), 1);
    assert_eq!(layers[0].language.name(), "CSS");
}

#[test]
fn a_spent_budget_ends_in_a_job() {
    let language = language_named("rust").expect("a language");
    language.prepare();
    let buffer = buffer(&sample("Rust").repeat(50));
    let text = buffer.snapshot();
    for checks in [0, 1, 2, 5, 20, 100] {
        let mut tree = SyntaxTree::new(language);
        let mut left = checks;
        let mut is_spent = || {
            left -= 1;
            left < 0
        };
        let ParseStatus::Pending(job) = tree.parse(&text, &mut Budget::until(&mut is_spent)) else {
            panic!("{checks} checks sufficed");
        };
        assert!(matches!(
            tree.parse(&text, &mut Budget::unlimited()),
            ParseStatus::Running
        ));
        assert!(
            tree.snapshot()
                .highlights(&text, text.full_span())
                .is_empty()
        );
        assert!(tree.accept(run(job).expect("a result")));
        assert!(matches!(
            tree.parse(&text, &mut Budget::unlimited()),
            ParseStatus::Done
        ));
        let fresh = parsed("rust", &text);
        assert!(are_equal(
            tree.trees.as_ref().expect("a tree"),
            fresh.trees.as_ref().expect("a tree")
        ));
    }
}

#[test]
fn a_result_is_moved_along_with_what_was_typed_meanwhile() {
    let seed = random_seed();
    for (language, sample) in SAMPLES {
        let mut edited = Edited::new(language, &sample.repeat(4), seed);
        for step in 0..10 {
            edited.edit();
            let text = edited.buffer.snapshot();
            let mut is_spent = || true;
            let status = edited.tree.parse(&text, &mut Budget::until(&mut is_spent));
            for _ in 0..3 {
                edited.edit();
            }
            if let ParseStatus::Pending(job) = status {
                edited.tree.accept(run(job).expect("a result"));
            }
            let text = edited.buffer.snapshot();
            // The tree is older than the text, yet in step: nothing it says is out of bounds.
            edited.tree.snapshot().highlights(&text, text.full_span());
            if parse_all(&mut edited.tree, &text) {
                edited.assert_equals_fresh(&format!("{language}, seed {seed}, step {step}"));
            }
        }
    }
}

#[test]
fn a_parse_without_progress_is_aborted() {
    let text = include_str!("tests/circle.tsx");
    let stuck = buffer(text).snapshot();
    let language = language_named("TSX").expect("a language");
    language.prepare();
    let mut tree = SyntaxTree::new(language);
    let status = tree.parse(&stuck, &mut Budget::unlimited());
    assert!(matches!(status, ParseStatus::Unsettled));
    assert!(tree.repair_job(&stuck).is_none(), "it would be in vain");

    // In a job, over an older tree, which stays.
    let whole = sample("TSX");
    let mut edited = Edited::new("TSX", whole, 1);
    let before = edited.buffer.snapshot();
    let change = edited.buffer.edit(
        &[Edit::new(before.full_span(), text)],
        &EditOrigin::user(Timestamp(0)),
    );
    let after = edited.buffer.snapshot();
    edited.tree.edit(&before, &after, &change);
    let mut is_spent = || true;
    let status = edited.tree.parse(&after, &mut Budget::until(&mut is_spent));
    let ParseStatus::Pending(job) = status else {
        panic!("no job");
    };
    assert!(!edited.tree.accept(run(job).expect("an end")));
    assert!(edited.tree.repair_job(&after).is_none());

    // The next text is parsed as ever.
    let change = edited.buffer.edit(
        &[Edit::new(after.full_span(), whole)],
        &EditOrigin::user(Timestamp(0)),
    );
    let next = edited.buffer.snapshot();
    edited.tree.edit(&after, &next, &change);
    parse_all(&mut edited.tree, &next);
    edited.assert_equals_fresh("after a circle");
}

#[test]
fn cancelled_dropped_and_overtaken_jobs_leave_no_trace() {
    let mut edited = Edited::new("Rust", &sample("Rust").repeat(20), 1);
    let mut no_time = || true;
    edited.edit();
    let text = edited.buffer.snapshot();
    let ParseStatus::Pending(job) = edited.tree.parse(&text, &mut Budget::until(&mut no_time))
    else {
        panic!("no job");
    };
    assert!(job.run(&AtomicBool::new(true)).is_none());
    // The job is gone, so the tree can be parsed here again.
    parse_all(&mut edited.tree, &text);
    edited.edit();
    let text = edited.buffer.snapshot();
    drop(edited.tree.parse(&text, &mut Budget::until(&mut no_time)));
    edited.tree.is_settled = false;
    parse_all(&mut edited.tree, &text);
    edited.tree.is_settled = false;
    let settle = edited.tree.repair_job(&text).expect("a job");
    edited.edit();
    let text = edited.buffer.snapshot();
    parse_all(&mut edited.tree, &text);
    assert!(run(settle).is_none(), "overtaken");
}

#[test]
fn a_settled_tree_stays_where_it_is() {
    let mut edited = Edited::new("Rust", &sample("Rust").repeat(20), 1);
    let text = edited.buffer.snapshot();
    assert!(edited.tree.repair_job(&text).is_none());
    edited.tree.is_settled = false;
    let job = edited.tree.repair_job(&text).expect("a job");
    assert!(
        !edited.tree.accept(run(job).expect("a result")),
        "nothing changed"
    );
    assert!(edited.tree.is_settled());
}

#[test]
fn a_large_text_is_not_begun_within_a_budget() {
    let language = language_named("json").expect("a language");
    language.prepare();
    let text = text::Snapshot::new(&format!("[{}1]", "1, ".repeat(400_000)));
    let mut tree = SyntaxTree::new(language);
    let mut is_spent = || panic!("nothing is parsed here");
    let status = tree.parse(&text, &mut Budget::until(&mut is_spent));
    assert!(matches!(status, ParseStatus::Pending(_)));
}

#[test]
fn what_crosses_threads_may() {
    fn check<T: Send + Sync>() {}
    fn check_send<T: Send>() {}
    check::<crate::SyntaxSnapshot>();
    check::<crate::Language>();
    check_send::<ParseJob>();
    check_send::<super::ParsedTree>();
}

#[test]
fn too_large_a_text_gets_no_tree() {
    let language = language_named("json").expect("a language");
    let text = text::Snapshot::new(&" ".repeat(super::MAX_PARSED_BYTES + 1));
    let mut tree = SyntaxTree::new(language);
    assert!(matches!(
        tree.parse(&text, &mut Budget::unlimited()),
        ParseStatus::Done
    ));
    assert!(!tree.snapshot().has_tree());
    assert!(
        tree.snapshot()
            .highlights(&text, Span::from(0..100))
            .is_empty()
    );
}

#[test]
fn an_unprepared_language_is_prepared_in_a_job() {
    // No other test touches this definition's queries.
    let hidden = crate::detection::language_embedded("markdown_inline").expect("a hidden language");
    if hidden.is_prepared() {
        return;
    }
    let text = text::Snapshot::new("*a*");
    let mut tree = SyntaxTree::new(hidden);
    let mut is_spent = || false;
    let status = tree.parse(&text, &mut Budget::until(&mut is_spent));
    if let ParseStatus::Pending(job) = status {
        assert!(tree.accept(run(job).expect("a result")));
    }
    assert!(hidden.is_prepared());
}
