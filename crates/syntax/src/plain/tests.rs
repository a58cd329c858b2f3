//! Outlines of texts that are parsed once.

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
