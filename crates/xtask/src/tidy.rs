//! Rules about the shape of our sources, checked on the files themselves.

use crate::tree::{self, Source};

/// Files that may be longer than the bound, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];

fn is_test(source: &Source) -> bool {
    source.name.ends_with("tests.rs")
        || source.name.contains("/tests/")
        || source.name.starts_with("tests/")
}

fn complain(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}

#[test]
fn every_module_says_what_it_is() {
    let silent = tree::sources()
        .into_iter()
        .filter(|source| !source.text.starts_with("//! ") || source.text.starts_with("//! .\n"))
        .map(|source| format!("{} does not start with a //! sentence", source.name));
    complain(silent.collect());
}

#[test]
fn files_hold_one_idea() {
    let mut problems = Vec::new();
    for source in tree::sources() {
        let lines = source.text.lines().count();
        let bound = if source.name.ends_with("/lib.rs") {
            150
        } else {
            800
        };
        let is_excused = LONG_FILES.iter().any(|(name, _)| *name == source.name);
        if lines > bound && !is_test(&source) && !is_excused {
            problems.push(format!(
                "{} has {lines} lines, the bound is {bound}",
                source.name
            ));
        }
    }
    complain(problems);
}

#[test]
fn functions_fit_a_screen() {
    let mut problems = Vec::new();
    for source in tree::sources().iter().filter(|source| !is_test(source)) {
        for (name, line, length) in functions(&source.text) {
            if length > 100 {
                problems.push(format!(
                    "{}:{line} fn {name} has {length} lines",
                    source.name
                ));
            }
        }
    }
    complain(problems);
}

#[test]
fn names_that_say_nothing_are_not_used() {
    let mute = ["mod.rs", "utils.rs", "util.rs", "types.rs", "helpers.rs"];
    let bad = tree::sources()
        .into_iter()
        .filter(|source| {
            mute.iter()
                .any(|name| source.name.ends_with(&format!("/{name}")))
        })
        .map(|source| source.name);
    complain(bad.collect());
}

#[test]
fn nothing_is_left_unfinished() {
    // Written in two halves so that this file does not name what it forbids.
    let marks = [
        concat!("FIX", "ME"),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[ig", "nore"),
    ];
    let mut problems = Vec::new();
    for source in tree::sources() {
        for (ix, line) in source.text.lines().enumerate() {
            for mark in marks.iter().filter(|mark| line.contains(**mark)) {
                problems.push(format!("{}:{} holds {mark}", source.name, ix + 1));
            }
        }
    }
    complain(problems);
}

#[test]
fn every_manifest_takes_the_workspace_lints() {
    let root = tree::root();
    let manifests = tree::sizes(&["app", "crates", "tests"])
        .into_iter()
        .filter(|(name, _)| name.ends_with("Cargo.toml"));
    let mut problems = Vec::new();
    for (name, _) in manifests {
        let text = std::fs::read_to_string(root.join(&name)).expect("a manifest");
        if !text.contains("[lints]\nworkspace = true") {
            problems.push(format!("{name} lacks [lints] workspace = true"));
        }
    }
    complain(problems);
}

#[test]
fn large_files_are_assets() {
    let large = tree::sizes(&["app", "crates", "tests", "packaging", "themes"])
        .into_iter()
        .filter(|(_, size)| *size > 256 << 10)
        .map(|(name, size)| format!("{name} has {size} bytes; large files live in assets/"));
    complain(large.collect());
}

/// Functions with their first line (from 1) and their length, told by indentation: rustfmt puts the
/// closing brace in the column of the `fn`. Exhaustive tables marked `// tidy: table` are left out.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some(at) = code.find("fn ") else { continue };
        let is_item = code[..at].split_whitespace().all(|word| {
            matches!(word, "pub" | "const" | "async" | "unsafe" | "extern")
                || word.starts_with("pub(")
        });
        if !is_item || code.ends_with(';') {
            continue;
        }
        let indent = line.len() - code.len();
        let closing = format!("{}}}", " ".repeat(indent));
        let Some(length) = lines[start..].iter().position(|line| **line == closing) else {
            continue;
        };
        let is_table = start > 0 && lines[start - 1].contains("tidy: table")
            || lines[start..start + length]
                .iter()
                .take(4)
                .any(|line| line.contains("tidy: table"));
        if !is_table {
            let name = code[at + 3..].split(['(', '<']).next().unwrap_or_default();
            found.push((name.to_owned(), start + 1, length + 1));
        }
    }
    found
}

#[test]
fn the_length_of_a_function_is_told_by_its_indentation() {
    let text =
        "impl A {\n    pub fn a(&self) {\n        if x {\n        }\n    }\n\n    fn b();\n}\n";
    assert_eq!(functions(text), [("a".to_owned(), 2, 4)]);
}

#[test]
fn no_type_has_more_than_120_methods() {
    const MAX_METHODS: usize = 120;
    /// The panel's concerns are not in parts yet.
    const EXCUSED: &str = "ComposerPanel";
    let mut counts = std::collections::BTreeMap::new();
    for source in tree::sources().iter().filter(|source| !is_test(source)) {
        let part = source.name.split("/src/").next().unwrap_or_default();
        let mut of = None;
        for line in source.text.lines() {
            if line.starts_with("impl") {
                of = type_of_impl(line);
            } else if line.starts_with('}') {
                of = None;
            } else if let (Some(name), true) = (&of, is_method(line)) {
                *counts.entry((part.to_owned(), name.clone())).or_insert(0) += 1;
            }
        }
    }
    let many = counts
        .into_iter()
        .filter(|((_, name), count)| *count > MAX_METHODS && name != EXCUSED);
    let many = many.map(|((part, name), count)| format!("{part}: {name} has {count} methods"));
    complain(many.collect());
}

/// Returns whether a line begins a function of an `impl` block.
fn is_method(line: &str) -> bool {
    let code = line
        .strip_prefix("    ")
        .filter(|code| !code.starts_with(' '));
    let words = code.unwrap_or_default().split_whitespace();
    let mut words = words.skip_while(|word| {
        matches!(*word, "pub" | "const" | "async" | "unsafe") || word.starts_with("pub(")
    });
    words.next() == Some("fn")
}

/// Returns the name of the type that a line `impl … for Type {` or `impl Type {` is about.
fn type_of_impl(line: &str) -> Option<String> {
    let header = line.trim_end_matches(" {");
    let name = header.rsplit(" for ").next()?;
    let name = name.rsplit(' ').next()?.split('<').next()?;
    Some(name.to_owned())
}
