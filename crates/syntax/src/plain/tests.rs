//! Outlines of texts that are parsed once.

use crate::tests::SAMPLES;
use crate::{PlainTree, language_named};

#[test]
fn the_outline_names_what_is_looked_for_and_no_fields() {
    let check = |language: &str, text: &str, expected: &[&str]| {
        let language = language_named(language).expect("known");
        let tree = PlainTree::parse(language, text).expect("a tree");
        let names: Vec<String> = tree
            .outline(text)
            .iter()
            .map(|item| format!("{:?} {}", item.kind, item.name))
            .collect();
        assert_eq!(names, expected, "{text}");
    };
    check(
        "rust",
        "struct Cart { items: u32 }\nimpl Cart { fn total(&self) {} }\nenum Way { In, Out }",
        &["Struct Cart", "Class Cart", "Method total", "Enum Way"],
    );
    check(
        "python",
        "class Cart:\n    size = 1\n    def total(self):\n        pass\n",
        &["Class Cart", "Method total"],
    );
    check(
        "go",
        "package a\n\nfunc (c *Cart) Total() int { return 1 }\n",
        &["Method (c *Cart) Total"],
    );
    check("json", "{\"a\": {\"b\": 1}}", &[]);
    check("rust", "", &[]);
}

#[test]
fn an_outline_of_a_broken_text_stays_inside_of_it() {
    let texts = [
        "fn a( {{{ struct",
        "impl impl impl",
        "}}}}",
        "fn ü() { \"",
        "\u{0}fn a(){}",
    ];
    for text in texts {
        for language in crate::languages() {
            let Some(tree) = PlainTree::parse(*language, text) else {
                continue;
            };
            for item in tree.outline(text) {
                assert!(item.span.end.0 <= text.len(), "{text} {}", language.name());
            }
            assert!(tree.root().range().end <= text.len());
        }
    }
}

#[test]
fn pattern_starts_find_the_same_items_as_a_full_pass() {
    for (name, sample) in SAMPLES {
        let language = language_named(name).expect("known");
        // Broken texts too: every part of the sample, from somewhere to somewhere.
        let parts = (0..sample.len()).step_by(37).flat_map(|start| {
            let ends = [start + 40, start + 300, sample.len()];
            ends.map(|end| sample.get(start..end.min(sample.len())).unwrap_or_default())
        });
        for text in parts.chain([*sample]) {
            let Some(tree) = PlainTree::parse(language, text) else {
                continue;
            };
            let whole = tree.outline_from(text, None);
            assert_eq!(tree.outline(text), whole, "{name}: {text}");
        }
    }
}

#[test]
fn where_patterns_begin_is_told_for_every_language() {
    for language in crate::languages() {
        let outliner = language.outliner();
        let is_told = outliner.query.is_none() || outliner.starts.is_some();
        assert!(is_told, "{}", language.name());
    }
}

#[test]
fn the_first_kind_of_a_pattern_is_read() {
    let check = |pattern: &str, kind: Option<&str>| {
        assert_eq!(crate::outliner::first_kind(pattern), kind, "{pattern}");
    };
    check(
        "(function_item name: (_) @name) @item",
        Some("function_item"),
    );
    check(
        "((element . (start_tag)) @item (#eq? @a \"b\"))",
        Some("element"),
    );
    check("(\n  (section (heading)))", Some("section"));
    check("[(a) (b)] @item", None);
    check("(_ (a)) @item", None);
    check("(expression/call) @item", None);
    check("\"fn\" @item", None);
    check("", None);
}
