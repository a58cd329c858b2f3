//! One text for every language.

/// Language names and their texts.
pub(crate) const SAMPLES: &[(&str, &str)] = &[
    ("Rust", include_str!("../../samples/rust.sample")),
    ("Python", include_str!("../../samples/python.sample")),
    (
        "TypeScript",
        include_str!("../../samples/typescript.sample"),
    ),
    ("TSX", include_str!("../../samples/tsx.sample")),
    (
        "JavaScript",
        include_str!("../../samples/javascript.sample"),
    ),
    ("JSON", include_str!("../../samples/json.sample")),
    ("JSONC", include_str!("../../samples/jsonc.sample")),
    ("TOML", include_str!("../../samples/toml.sample")),
    ("YAML", include_str!("../../samples/yaml.sample")),
    ("Markdown", include_str!("../../samples/markdown.sample")),
    ("HTML", include_str!("../../samples/html.sample")),
    ("CSS", include_str!("../../samples/css.sample")),
    ("Bash", include_str!("../../samples/bash.sample")),
    ("C", include_str!("../../samples/c.sample")),
    ("C++", include_str!("../../samples/cpp.sample")),
    ("Go", include_str!("../../samples/go.sample")),
    ("Java", include_str!("../../samples/java.sample")),
    ("Ruby", include_str!("../../samples/ruby.sample")),
    ("Lua", include_str!("../../samples/lua.sample")),
    ("SQL", include_str!("../../samples/sql.sample")),
    ("Make", include_str!("../../samples/make.sample")),
    ("Diff", include_str!("../../samples/diff.sample")),
];

/// The text of one language.
pub(crate) fn sample(language: &str) -> &'static str {
    let found = SAMPLES.iter().find(|(name, _)| *name == language);
    found.expect("every language has a sample").1
}

#[test]
fn every_language_has_a_sample_that_parses() {
    for language in crate::languages() {
        let marked = super::Marked::new(language.name(), sample(language.name()));
        let root = marked.syntax.root_view().expect("a tree");
        let root = root.root();
        assert!(!root.has_error(), "{}: {}", language.name(), root.to_sexp());
    }
}
