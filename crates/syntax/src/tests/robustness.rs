//! No question panics, whatever the text: random bytes, unbalanced brackets, deep nests, long rows.

use base::{ByteOffset, Row, Span};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use text::Snapshot;

use super::{SAMPLES, parsed};
use crate::SyntaxSnapshot;

/// Asks everything at some places, and checks that answers stay within the text.
fn ask_everything(syntax: &SyntaxSnapshot, text: &Snapshot, places: &[usize]) {
    let length = text.len();
    let within = |span: Span| assert!(span.start <= span.end && span.end <= length, "{span:?}");
    for &place in places {
        let offset = text.clip(ByteOffset(place), base::Bias::Left);
        let row = text.point_at(offset).row;
        syntax.scope_at(text, offset);
        syntax.language_at(text, offset);
        syntax.context_rows(text, row);
        syntax.indent_for_new_line(text, offset);
        syntax.suggested_indent(text, row);
        let pairs = [
            syntax.matching_bracket(text, offset),
            syntax.enclosing_brackets(text, Span::at(offset)),
        ];
        for pair in pairs.into_iter().flatten() {
            within(pair.open);
            within(pair.close);
        }
        let mut span = Span::at(offset);
        for _ in 0..8 {
            let Some(next) = syntax.expand(text, span) else {
                break;
            };
            within(next);
            span = next;
        }
        syntax.shrink(text, span, offset);
        let end = (offset + 200).min(length);
        for highlight in syntax.highlights(text, Span::new(offset, end)) {
            within(highlight.span);
        }
        for fold in syntax.folds(text, row..row + 20) {
            within(Span::new(fold.start, fold.end));
        }
    }
    for item in syntax.outline(text) {
        within(item.span);
    }
    syntax.folds(text, Row(0)..Row(u32::MAX));
}

fn check(language: &str, text: &str, rng: &mut StdRng) {
    let text = Snapshot::new(text);
    let tree = parsed(language, &text);
    let places: Vec<usize> = (0..3).map(|_| rng.random_range(0..=text.len().0)).collect();
    ask_everything(&tree.snapshot(), &text, &places);
}

#[test]
fn random_bytes() {
    let seed: u64 = rand::random();
    println!("seed {seed}");
    let mut rng = StdRng::seed_from_u64(seed);
    for (language, sample) in SAMPLES {
        let bytes: Vec<u8> = (0..rng.random_range(0..600))
            .map(|_| rng.random())
            .collect();
        check(language, &String::from_utf8_lossy(&bytes), &mut rng);
        // A sample cut anywhere, and with pieces in the wrong order.
        let chars: Vec<char> = sample.chars().collect();
        let (a, b) = (
            rng.random_range(0..chars.len()),
            rng.random_range(0..chars.len()),
        );
        let cut: String = chars[a.min(b)..a.max(b)].iter().collect();
        check(language, &cut, &mut rng);
        let turned: String = chars[a..].iter().chain(&chars[..a]).collect();
        check(language, &turned, &mut rng);
        check(language, &sample.replace('\n', "\r\n"), &mut rng);
        check(language, "", &mut rng);
        check(language, "\n", &mut rng);
    }
}

#[test]
fn stale_trees_and_other_texts() {
    let mut rng = StdRng::seed_from_u64(3);
    for (language, sample) in SAMPLES {
        let tree = parsed(language, &Snapshot::new(sample));
        // Texts that the tree never saw: shorter, empty, of other chars.
        for text in [
            "",
            "é",
            "ééééééééééééééééé\n\n\n",
            &sample[..sample.len() / 3],
        ] {
            let text = Snapshot::new(text);
            let places: Vec<usize> = (0..4).map(|_| rng.random_range(0..=text.len().0)).collect();
            ask_everything(&tree.snapshot(), &text, &places);
        }
    }
}

#[test]
fn deep_nests_and_long_rows() {
    let mut rng = StdRng::seed_from_u64(4);
    let nest = |open: &str, close: &str| open.repeat(2000) + &close.repeat(2000);
    check("JSON", &nest("[", "]"), &mut rng);
    check("JSON", &nest("{\"a\":", "}"), &mut rng);
    check(
        "Rust",
        &format!("fn f() {{ {} }}", nest("(", ")")),
        &mut rng,
    );
    check("JavaScript", &nest("f(() => {", "})"), &mut rng);
    check("HTML", &nest("<div>", "</div>"), &mut rng);
    check("Markdown", &("> ".repeat(500) + "a"), &mut rng);
    check("Python", &"(".repeat(3000), &mut rng);
    check("Rust", &"{".repeat(3000), &mut rng);
    check("JSON", &format!("[{}1]", "1,".repeat(100_000)), &mut rng);
    check("JavaScript", &"a=b+c;".repeat(20_000), &mut rng);
}
