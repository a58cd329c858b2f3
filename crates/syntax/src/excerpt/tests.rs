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

#[test]
fn items_after_a_long_header_comment_are_left_out() {
    let header = "// A line of the licence.\n".repeat(20);
    let items = "fn other() {\n    work();\n}\n".repeat(100);
    let text = format!("{header}use a::b;\n{items}fn f() {{\n    ˇ\n}}\n{items}");
    let short = excerpt(&Marked::new("rust", &text));
    assert!(short.len() < 1_500, "{} bytes: {short}", short.len());
}

#[test]
fn rows_of_long_strings_and_comments_are_left_out() {
    let rows = "    A row of the text.\n".repeat(100);
    let python = format!("class A:\n    \"\"\"Start\n{rows}    \"\"\"\n    ˇx = 1\n");
    let short = excerpt(&Marked::new("python", &python));
    assert_eq!(short, "class A:\n    \"\"\"Start\n    \"\"\"\n    x = 1\n");
    let script = format!("/**\n{rows}one\ntwo ˇ\nthree\n{rows}*/\nf();\n");
    let short = excerpt(&Marked::new("javascript", &script));
    assert_eq!(short, "/**\none\ntwo \nthree\n*/\nf();\n");
}

#[test]
fn siblings_inside_an_error_are_left_out_at_the_same_depth() {
    let tests = "  it('works', function () {\n    f(1);\n  });\n".repeat(60);
    let text = format!(
        "describe('a', function () {{\n{tests}  it('is typed', function () {{\n    g(ˇ\n{tests}}});\n"
    );
    let marked = Marked::new("javascript", &text);
    assert_ne!(marked.syntax.damage(), Some(Damage::default()));
    let short = excerpt(&marked);
    assert!(short.len() < 2_000, "{} bytes: {short}", short.len());
    let count = |part: &str| short.matches(part).count();
    assert_eq!(count("{") - count("}"), 1, "{short}");
}
