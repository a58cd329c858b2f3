//! The built-in table, and tables with mistakes.

use std::collections::BTreeSet;

use super::*;

#[test]
fn the_builtin_table_has_no_problems() {
    let text = include_str!("../../../../assets/languages/servers.json");
    let (table, problems) = ServerTable::parse("servers.json", text);
    assert_eq!(problems, []);
    assert!(table.servers.len() >= 60, "{}", table.servers.len());
    let ids: BTreeSet<_> = table.servers.iter().map(|it| &it.id).collect();
    assert_eq!(ids.len(), table.servers.len());
}

#[test]
fn every_language_with_a_grammar_has_an_identifier() {
    let table = ServerTable::builtin();
    for language in syntax::languages() {
        assert!(table.has_language(language.name()), "{}", language.name());
    }
    for language in table.languages.iter().filter(|it| it.files.is_empty()) {
        let known = syntax::language_named(&language.name).map(|it| it.name());
        assert_eq!(known, Some(language.name.as_str()));
    }
}

#[test]
fn a_file_has_a_language_and_an_identifier() {
    let check = |path: &str, line: &str, expected: Option<(&str, &str)>| {
        let found = ServerTable::builtin().language_of(Path::new(path), line);
        let found = found.map(|it| (it.name, it.id));
        let expected = expected.map(|(name, id)| (name.to_owned(), id.to_owned()));
        assert_eq!(found, expected, "{path}");
    };
    check("a/main.rs", "", Some(("Rust", "rust")));
    check("view.tsx", "", Some(("TSX", "typescriptreact")));
    check("view.jsx", "", Some(("JavaScript", "javascriptreact")));
    check("a.scss", "", Some(("CSS", "scss")));
    check("Dockerfile.dev", "", Some(("Dockerfile", "dockerfile")));
    check("CMakeLists.txt", "", Some(("CMake", "cmake")));
    check("run", "#!/bin/bash", Some(("Bash", "shellscript")));
    check("notes.txt", "", None);
}

#[test]
fn mistakes_are_left_out_and_located() {
    let check = |server: &str, words: &str| {
        let text = format!(
            "{{ \"languages\": {{ \"Rust\": {{ \"id\": \"rust\" }} }},\n \"servers\": {{ \"a\": {server} }} }}"
        );
        let (table, problems) = ServerTable::parse("t.json", &text);
        assert!(table.servers.is_empty());
        assert_eq!(problems[0].line, 2);
        assert!(problems[0].message.contains(words), "{}", problems[0]);
    };
    let with = |rest: &str| {
        format!(r#"{{ "languages": ["Rust"], "role": "primary", "program": "a"{rest} }}"#)
    };
    check("5", "invalid type");
    check(&with(r#", "colour": 1"#), "unknown field `colour`");
    check(
        &with(r#", "install": { "npm": ["-g"] }"#),
        "\"-g\" is not the name of a package",
    );
    check(
        r#"{ "languages": ["Rist"], "role": "primary", "program": "a" }"#,
        "there is no language \"Rist\"",
    );
    check(
        r#"{ "languages": ["Rust"], "role": "primary", "program": "./a" }"#,
        "without slashes",
    );
}
