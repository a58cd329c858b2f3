//! Excerpts that parse like the whole text, in every language.

use base::{ByteOffset, Span};
use text::Snapshot;

use crate::tests::{Marked, SAMPLES};
use crate::trial::TrialParse;
use crate::{Budget, Damage};

/// The excerpt around the caret of a text.
fn excerpt(marked: &Marked) -> String {
    let span = Span::at(marked.caret());
    let kept = marked.syntax.excerpt(&marked.text, &[span], usize::MAX);
    let kept = kept.expect("a tree");
    kept.iter()
        .map(|span| marked.text.text(*span).into_owned())
        .collect()
}

#[test]
fn far_siblings_are_left_out() {
    let many = |count: usize, item: &str| item.repeat(count);
    let statements = many(40, "        step(1, 2, 3);\n");
    let items = many(40, "fn other() {\n    work();\n}\n");
    let text = format!(
        "{items}impl Walker {{\n    fn walk(&self) {{\n{statements}        ˇlast(1);\n{statements}    }}\n}}\n{items}"
    );
    let marked = Marked::new("rust", &text);
    let short = excerpt(&marked);
    assert!(short.len() < 600, "{} bytes: {short}", short.len());
    let count = |part: &str| short.matches(part).count();
    assert_eq!(count("impl Walker {\n"), 1);
    assert_eq!(count("last(1);"), 1);
    assert!(count("step(1, 2, 3);") >= 3, "{short}");
    assert_eq!(count("{"), count("}"), "{short}");
}

#[test]
fn an_excerpt_parses_like_the_text_in_every_language() {
    for (language, sample) in SAMPLES {
        // Twice, so that there is something to leave out.
        let text = Snapshot::new(&format!("{sample}{sample}"));
        let syntax = crate::tests::parsed(language, &text).snapshot();
        if syntax.damage() != Some(Damage::default()) {
            continue;
        }
        for at in (0..text.len().0).step_by(97) {
            let at = text.clip(ByteOffset(at), base::Bias::Left);
            let kept = syntax.excerpt(&text, &[Span::at(at)], usize::MAX);
            let kept = kept.expect("a tree");
            let short: String = kept.iter().map(|span| text.text(*span)).collect();
            let parsed = TrialParse::new(syntax.language(), &short, &mut Budget::unlimited());
            let damage = parsed.expect("a parse that ends").damage();
            assert_eq!(damage, Damage::default(), "{language} at {at:?}: {short}");
        }
    }
}

#[test]
fn spans_are_kept_and_a_long_excerpt_is_refused() {
    let text = "let a = [\n    ˇ1,\n];\n".replace("1,", &"100,\n    ".repeat(200));
    let marked = Marked::new("javascript", &text);
    let all = marked.text.full_span();
    let kept = marked.syntax.excerpt(&marked.text, &[all], usize::MAX);
    assert_eq!(kept, Some(vec![all]));
    assert_eq!(marked.syntax.excerpt(&marked.text, &[all], 100), None);
    let short = excerpt(&marked);
    assert!(short.len() < 200, "{short}");
}
