//! Checks the shape of the source files.

use std::collections::BTreeSet;

use crate::scan::{self, PieceKind};
use crate::tree;

/// Files that may be longer than the bound, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// Crates that may report an error as a bare sentence, because they only print it.
const SENTENCE_ERRORS: &[&str] = &["cli"];

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
        if lines > bound && !source.is_test() && !is_excused {
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
    for source in tree::sources().iter().filter(|source| !source.is_test()) {
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

/// Returns the lines on which `code` names a `Result` whose error is a `String`, counted from 1.
fn sentence_errors(code: &str) -> Vec<usize> {
    let results = code.match_indices("Result<");
    let is_sentence = |(at, found): &(usize, &str)| {
        let arguments = generic_arguments(&code[at + found.len()..]);
        let error = arguments.get(1).copied().unwrap_or_default();
        error == "String" || error.ends_with("::String")
    };
    results
        .filter(is_sentence)
        .map(|(at, _)| code[..at].matches('\n').count() + 1)
        .collect()
}

/// Returns the arguments of a generic type, from the text after its `<`.
fn generic_arguments(code: &str) -> Vec<&str> {
    let mut arguments = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (ix, letter) in code.char_indices() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' if code[..ix].ends_with('-') => {}
            '>' | ')' | ']' if depth > 0 => depth -= 1,
            ',' | '>' if depth == 0 => {
                arguments.push(code[start..ix].trim());
                start = ix + 1;
                if letter == '>' {
                    break;
                }
            }
            ';' | '{' if depth == 0 => break,
            _ => {}
        }
    }
    arguments
}

#[test]
fn errors_have_types() {
    let mut problems = Vec::new();
    let mut users = BTreeSet::new();
    for source in tree::sources()
        .iter()
        .filter(|source| source.is_production())
    {
        let krate = source.crate_name();
        let code = scan::without(source.product(), &[PieceKind::Comment, PieceKind::Literal]);
        for line in sentence_errors(&code) {
            users.insert(krate.to_owned());
            if !SENTENCE_ERRORS.contains(&krate) {
                problems.push(format!("{}:{line} has a String for an error", source.name));
            }
        }
    }
    for krate in SENTENCE_ERRORS {
        if !users.contains(*krate) && *krate != "cli" {
            problems.push(format!("{krate} can leave the list of SENTENCE_ERRORS"));
        }
    }
    complain(problems);
}

#[test]
fn errors_that_are_strings_are_found() {
    let code = "fn a() -> Result<Vec<(u8, B)>, String> {}\nfn b() -> Result<String, E>;\n\
                type C = Result<\n    Box<dyn Fn() -> u8>,\n    String,\n>;\nfn d() -> Result<(), std::string::String>;";
    assert_eq!(sentence_errors(code), [1, 3, 7]);
}

#[test]
fn nothing_is_left_unfinished() {
    // Written in two halves so that this file does not contain the forbidden words.
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

/// Finds the lines of attributes that allow a lint without a reason, or a whole group of lints.
fn unfounded_allowances(code: &str) -> Vec<usize> {
    let mut lines = Vec::new();
    for opening in [concat!("#[al", "low("), concat!("#![al", "low(")] {
        for (at, _) in code.match_indices(opening) {
            let rest = &code[at..];
            let attribute = &rest[..rest.find(")]").unwrap_or(rest.len())];
            let lints = attribute.split("reason").next().unwrap_or_default();
            let groups = [
                "warnings",
                "::all",
                "::pedantic",
                "::restriction",
                "::nursery",
            ];
            if !attribute.contains("reason = \"")
                || groups.iter().any(|group| lints.contains(group))
            {
                lines.push(code[..at].lines().count() + 1);
            }
        }
    }
    lines.sort_unstable();
    lines
}

#[test]
fn lints_are_allowed_one_by_one_with_a_reason() {
    let mut problems = Vec::new();
    for source in tree::sources() {
        for line in unfounded_allowances(&source.text) {
            problems.push(format!(
                "{}:{line} allows a group of lints, or a lint without a reason",
                source.name
            ));
        }
    }
    complain(problems);
}

#[test]
fn unfounded_allowances_are_found() {
    let allow = concat!("#[al", "low");
    let code = format!(
        "{allow}(dead_code)]\nfn a() {{}}\n\n{allow}(\n    clippy::all,\n    reason = \"b\"\n)]\nfn b() {{}}\n\
         {allow}(dead_code, reason = \"all of it\")]\nfn c() {{}}\n"
    );
    assert_eq!(unfounded_allowances(&code), [1, 4]);
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
        .filter(|(name, size)| *size > 256 << 10 && !name.starts_with("tests/data/"))
        .map(|(name, size)| {
            format!("{name} has {size} bytes; large files live in assets/ and tests/data/")
        });
    complain(large.collect());
}

/// Returns the functions with their first line (from 1) and their length. The end is found by
/// indentation, since rustfmt puts the closing brace in the column of the `fn`. Exhaustive tables
/// marked `// tidy: table` are omitted.
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
        // The signature of a trait's function without a body ends with a semicolon at the same indentation.
        let declared = format!("{})", " ".repeat(indent));
        let is_end =
            |line: &&&str| **line == closing || line.starts_with(&declared) && line.ends_with(';');
        let Some((length, end)) = lines[start..]
            .iter()
            .enumerate()
            .find(|(_, line)| is_end(line))
        else {
            continue;
        };
        if end.ends_with(';') {
            continue;
        }
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
    let text = "impl A {\n    pub fn a(&self) {\n        if x {\n        }\n    }\n\n    fn b();\n\n    fn c(\n        d: u8,\n    ) -> u8;\n\n    fn e() {\n    }\n}\n";
    let expected = [("a".to_owned(), 2, 4), ("e".to_owned(), 13, 2)];
    assert_eq!(functions(text), expected);
}

#[test]
fn skips_are_reported_in_one_way() {
    let mut problems = Vec::new();
    for source in tree::sources() {
        if source.name.starts_with("crates/test_support/") {
            continue;
        }
        let pieces = scan::pieces(&source.text);
        for piece in pieces.iter().filter(|it| it.kind == PieceKind::Literal) {
            if piece.text.starts_with("\"skipped:") {
                problems.push(format!(
                    "{}:{} says {}; call test_support::skip",
                    source.name, piece.line, piece.text
                ));
            }
        }
    }
    complain(problems);
}

#[test]
fn skipped_tests_are_counted_and_named() {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let output = "test a ... skipped: host::save::owner: only root can do this\nok\n\
                  skipped: host::save::owner: once more\nskipped in part: stories::saving: no strace\n\
                  test result: ok. 5 passed; 1 failed; 2 ignored; 0 measured\n\
                  suite: portable\nskipped: host::save::owner: no root either\n\
                  test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\nsuite:\n\
                  skipped: mac-check::x86_64: no root\n\
                  test result: ok. 1 passed; 0 failed; 0 ignored\n";
    let mut awk = Command::new("awk")
        .args(["-f", ".ci/total.awk"])
        .current_dir(tree::root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("awk");
    let mut input = awk.stdin.take().expect("a pipe");
    input.write_all(output.as_bytes()).expect("written");
    drop(input);
    let done = awk.wait_with_output().expect("awk ends");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let total = text
        .strip_prefix(output)
        .expect("the output passes through");
    assert_eq!(
        total,
        "skipped in part: stories::saving: no strace\n\
         skipped: host::save::owner: only root can do this\n\
         skipped: portable::host::save::owner: no root either\n\
         skipped: mac-check::x86_64: no root\n\
         total: 4 passed, 1 failed, 5 skipped\n"
    );
}

#[test]
fn no_type_has_more_than_120_methods() {
    const MAX_METHODS: usize = 120;
    /// The panel is not yet divided by concern.
    const EXCUSED: &str = "ComposerPanel";
    let mut counts = std::collections::BTreeMap::new();
    for source in tree::sources().iter().filter(|source| !source.is_test()) {
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

/// Returns the type's name in a line `impl … for Type {` or `impl Type {`.
fn type_of_impl(line: &str) -> Option<String> {
    let header = line.trim_end_matches(" {");
    let name = header.rsplit(" for ").next()?;
    let name = name.rsplit(' ').next()?.split('<').next()?;
    Some(name.to_owned())
}
