//! Tests the order of problems, their filter, and their texts.

use lsp::{DiagnosticSeverity, ServerRange, UnopenedDiagnostic};
use text::Snapshot;

use super::*;
use DiagnosticSeverity::{Error, Hint, Warning};

fn problem(name: &str, row: usize, severity: DiagnosticSeverity, message: &str) -> Problem {
    let text = Snapshot::new(&"\n".repeat(row));
    let item = UnopenedDiagnostic {
        range: ServerRange::of(&text, Span::from(row..row)),
        severity,
        message: message.to_owned(),
        code: (severity == Error).then(|| "E0308".to_owned()),
        source: Some("rustc".to_owned()),
    };
    let path = AbsPath::new("/p").expect("absolute").join(name);
    Problem::closed(&path, name, &item)
}

fn problems() -> Vec<Problem> {
    ordered(vec![
        problem("a.rs", 1, Warning, "unused variable\nwith details"),
        problem("a.rs", 0, Hint, "rename it"),
        problem("b.rs", 7, Warning, "unused import"),
        problem("b.rs", 9, Error, "mismatched types"),
        problem("b.rs", 8, Error, "not found"),
    ])
}

/// Checks the listed problems and headings of a query.
#[track_caller]
fn check(query: &str, expected: &[&str]) {
    let problems = problems();
    let (scope, query) = ProblemScope::parse(query);
    let listed = matching(&problems, scope, query);
    let mut sections = sections(&problems, &listed).into_iter().peekable();
    let mut found = Vec::new();
    for (row, ix) in listed.iter().enumerate() {
        if let Some((_, title)) = sections.next_if(|(start, _)| *start == row) {
            found.push(format!("[{title}]"));
        }
        found.push(problems[*ix].first_line().to_owned());
    }
    assert_eq!(found, expected, "{query}");
}

#[test]
fn problems_are_grouped_by_file_with_errors_first() {
    let b = "[b.rs, 2 errors, 1 warning]";
    let a = "[a.rs, 1 warning]";
    let (types, import, variable) = ("mismatched types", "unused import", "unused variable");
    check("", &[b, "not found", types, import, a, variable]);
    check("!", &["[b.rs, 2 errors]", "not found", types]);
    let all = [b, "not found", types, import, a, variable, "rename it"];
    check("*", &all);
}

#[test]
fn every_word_of_a_query_is_searched() {
    check("RUSTC b.rs:10", &["[b.rs, 1 error]", "mismatched types"]);
    check("! e0308 found", &["[b.rs, 1 error]", "not found"]);
    check("details", &[]);
    check("*rename", &["[a.rs]", "rename it"]);
}

#[test]
fn tab_goes_through_the_severities() {
    assert_eq!(ProblemScope::next("unused"), "!unused");
    assert_eq!(ProblemScope::next("! unused"), "*unused");
    assert_eq!(ProblemScope::next("*unused"), "unused");
}

#[test]
fn a_prompt_lists_places_and_messages() {
    let problems = problems();
    let expected = "Fix these problems:\n\n\
        - b.rs:9: error: not found (rustc E0308)\n\
        - a.rs:2: warning: unused variable\n  with details (rustc)";
    assert_eq!(prompt([&problems[0], &problems[3]].into_iter()), expected);
    let many: Vec<Problem> = vec![problems[0].clone(); MAX_PROMPTED + 2];
    assert!(prompt(many.iter()).ends_with("\n- and 2 more"));
}
