//! Files and their languages.

use std::path::Path;

use super::{language_embedded, language_for, language_named, languages};

fn check(path: &str, first_line: &str, expected: Option<&str>) {
    let found = language_for(Path::new(path), first_line).map(|language| language.name());
    assert_eq!(found, expected, "{path} with first line {first_line:?}");
}

#[test]
fn by_name_and_ending() {
    check("src/main.rs", "", Some("Rust"));
    check("a.PY", "", Some("Python"));
    check("x.d.ts", "", Some("TypeScript"));
    check("x.tsx", "", Some("TSX"));
    check("x.cjs", "", Some("JavaScript"));
    check("package.json", "", Some("JSON"));
    check("tsconfig.json", "", Some("JSONC"));
    check("Cargo.toml", "", Some("TOML"));
    check("Cargo.lock", "", Some("TOML"));
    check(".github/workflows/ci.yml", "", Some("YAML"));
    check("README.md", "", Some("Markdown"));
    check("index.html", "", Some("HTML"));
    check("style.css", "", Some("CSS"));
    check(".bashrc", "", Some("Bash"));
    check("a.c", "", Some("C"));
    check("a.hpp", "", Some("C++"));
    check("main.go", "", Some("Go"));
    check("Main.java", "", Some("Java"));
    check("Gemfile", "", Some("Ruby"));
    check("init.lua", "", Some("Lua"));
    check("schema.sql", "", Some("SQL"));
    check("Makefile", "", Some("Make"));
    check("Makefile.local", "", Some("Make"));
    check("fix.patch", "", Some("Diff"));
    check("notes.txt", "", None);
    check("LICENSE", "", None);
}

#[test]
fn by_first_line() {
    check("run", "#!/usr/bin/env python3.11", Some("Python"));
    check("run", "#!/bin/sh -e", Some("Bash"));
    check(
        "run",
        "#!/usr/bin/env -S FOO=1 node --flag",
        Some("JavaScript"),
    );
    check("run", "# -*- mode: ruby -*-", Some("Ruby"));
    check("run", "# vim: set ft=lua :", Some("Lua"));
    check("page", "<!DOCTYPE html>", Some("HTML"));
    check("change", "diff --git a/x b/x", Some("Diff"));
    check("run", "#!", None);
    check("run", "é", None);
}

#[test]
fn embedded_names() {
    let name = |text| language_embedded(text).map(|language| language.name());
    assert_eq!(name("rust,ignore"), Some("Rust"));
    assert_eq!(name("{.python .numberLines}"), Some("Python"));
    assert_eq!(name("sh"), Some("Bash"));
    assert_eq!(name("markdown_inline"), Some("Markdown Inline"));
    assert_eq!(name(""), None);
    assert_eq!(name("klingon"), None);
}

#[test]
fn every_language_is_found_by_its_name() {
    for language in languages() {
        assert_eq!(language_named(language.name()), Some(*language));
        for extension in language.extensions() {
            assert!(language_named(extension).is_some(), "{extension}");
        }
    }
}
