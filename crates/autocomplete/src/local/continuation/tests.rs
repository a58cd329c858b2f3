//! Continuations at a caret, given the text around it and a project.

use crate::local::story::Story;
use crate::{Suggestion, SuggestionSource};

const PROJECT: &[(&str, &str)] = &[
    (
        "/project/a",
        "fn a(reader: R) {\n    let value = match reader.next_item() {\n        Some(value) => value,\n        None => return Err(Error::Empty),\n    };\n    tracing::debug!(value);\n}\n",
    ),
    (
        "/project/b",
        "fn b(reader: R) {\n    let value = match reader.next_item() {\n        Some(value) => value,\n        None => return Err(Error::Empty),\n    };\n    tracing::info!(value);\n}\n",
    ),
    (
        "/project/c",
        "fn c(reader: R) {\n    let other = match reader.next_item() {\n        Some(value) => value,\n        None => return Err(Error::Empty),\n    };\n    log(other);\n}\n",
    ),
];

fn suggestions(text: &str, project: &[(&str, &str)]) -> Vec<Suggestion> {
    let mut story = Story::new("Rust", text);
    story.learn_project(project);
    let mut all = story.suggestions(0);
    all.retain(|it| it.source == SuggestionSource::Continuation);
    all
}

/// Returns all suggestions, however unlikely.
fn everything(text: &str, project: &[(&str, &str)]) -> Vec<String> {
    let mut story = Story::new("Rust", text);
    story.learn_project(project);
    story.all_suggestions(0).iter().map(new_text).collect()
}

fn new_text(suggestion: &Suggestion) -> String {
    suggestion
        .edits
        .iter()
        .map(|edit| edit.new.as_ref())
        .collect()
}

#[track_caller]
fn check_first(text: &str, project: &[(&str, &str)], expected: &str) {
    let suggestions = suggestions(text, project);
    assert_eq!(
        suggestions.first().map(new_text).as_deref(),
        Some(expected),
        "{suggestions:?}"
    );
}

/// Checks that the occurrences predict all of a text, with any likelihood.
#[track_caller]
fn check_foretold(text: &str, project: &[(&str, &str)], truth: &str) {
    let mut story = Story::new("Rust", text);
    story.learn_project(project);
    let samples = story.local.token_samples(&story.state(0), truth);
    let right = samples.iter().filter(|sample| sample.is_right);
    assert_eq!(
        right.map(|sample| sample.bytes).max(),
        Some(truth.len()),
        "{samples:?}"
    );
}

#[track_caller]
fn check_none(text: &str, project: &[(&str, &str)]) {
    assert_eq!(suggestions(text, project), [], "{text}");
}

#[test]
fn a_typed_prefix_is_completed_with_following_text() {
    check_foretold(
        "fn k(reader: R) {\n    let value = match reader.nex|\n}\n",
        PROJECT,
        "t_item() {\n        Some(value) => value,\n        None => return Err(Error::Empty),\n    };",
    );
}

#[test]
fn completions_do_not_repeat_the_text_after_the_caret() {
    let text = "fn b() {\n    warn(1);\n}\n\nfn k() {\n    warn|(2);\n}\n";
    assert_eq!(everything(text, &[]), Vec::<String>::new());
    let text = text.replace("|(2);", "|");
    let all = everything(&text, &[]);
    assert!(all.iter().any(|it| it.starts_with('(')), "{all:?}");
}

#[test]
fn a_continuation_ends_where_occurrences_disagree() {
    let call = |name: &str| format!("fn a() {{\n    let found = self.lookup.{name}();\n}}\n");
    let project = [call("one"), call("two"), call("three"), call("four")];
    let project = [
        ("/project/a", project[0].as_str()),
        ("/project/b", project[1].as_str()),
        ("/project/c", project[2].as_str()),
        ("/project/d", project[3].as_str()),
    ];
    check_first("fn k() {\n    let found = self.loo|\n}\n", &project, "kup");
}

#[test]
fn continuations_use_the_names_at_the_caret() {
    check_foretold(
        "fn k(source: R) {\n    let item = source.open_it();\n    source.che|\n}\n",
        &[
            (
                "/project/a",
                "fn a(input: R) {\n    let thing = input.open_it();\n    input.check_all(thing, input);\n}\n",
            ),
            (
                "/project/b",
                "fn b(input: R) {\n    let thing = input.open_it();\n    input.check_all(thing, input);\n}\n",
            ),
        ],
        "ck_all(item, source);",
    );
}

#[test]
fn nearby_text_suffices_without_a_project() {
    check_first(
        "fn k() {\n    let remaining_bytes = size_of_thing();\n    other();\n    use_up(rema|)\n}\n",
        &[],
        "ining_bytes",
    );
}

#[test]
fn text_after_the_caret_is_not_suggested_again() {
    let file = "fn a() {\n    one_call(1);\n    two_calls(2);\n    three_calls(3);\n}\n";
    check_none(
        "fn a() {\n    one_call(1);\n    |\n    two_calls(2);\n    three_calls(3);\n}\n",
        &[("/project/first", file)],
    );
}

#[test]
fn closers_after_the_caret_stay() {
    check_foretold(
        "fn k(reader: R) {\n    frobnicate(alpha, |);\n}\n",
        &[
            ("/project/a", "    frobnicate(alpha, beta);\n"),
            ("/project/b", "    frobnicate(alpha, beta);\n"),
        ],
        "beta",
    );
}

#[test]
fn no_continuation_inside_words_numbers_or_without_similar_context() {
    check_none("fn k() { rem|aining }\nfn remarkable() {}\n", &[]);
    check_none("fn k() { 12| }\n1234\n", &[]);
    check_none("fn k() {\n    zebra |\n}\n", PROJECT);
}

#[test]
fn lines_take_the_indent_of_the_caret() {
    check_foretold(
        "impl K {\n    fn k(reader: R) {\n        let value = match reader.next_item() {|\n    }\n}\n",
        PROJECT,
        "\n            Some(value) => value,\n            None => return Err(Error::Empty),\n        };",
    );
}

#[test]
fn continuations_keep_crlf_line_endings() {
    let rows = "fn d(reader: R) {\n    let value = match reader.|\n}\n";
    let with = everything(&rows.replace('\n', "\r\n"), PROJECT);
    let without = everything(rows, PROJECT);
    assert!(!without.is_empty());
    let returned: Vec<String> = without.iter().map(|it| it.replace('\n', "\r\n")).collect();
    assert_eq!(with, returned);
    check_foretold(
        &"fn k(reader: R) {\n    let value = match reader.next_item() {|\n}\n"
            .replace('\n', "\r\n"),
        PROJECT,
        "\r\n        Some(value) => value,\r\n        None => return Err(Error::Empty),\r\n    };",
    );
}

#[test]
fn line_breaks_here_and_in_the_project_are_one_candidate() {
    let text = "fn a() {\n    step_one();\n    two();\n}\nfn k() {\n    step_one();|\n}\n";
    let mut story = Story::new("Rust", text);
    story.learn_project(&[("/project/a", "fn b() {\n    step_one();\n    two();\n}\n")]);
    let samples = story.local.token_samples(&story.state(0), "\n    two();");
    let first = samples.iter().filter(|it| it.depth == 0 && it.is_right);
    assert_eq!(first.count(), 1, "{samples:?}");
}

#[test]
fn rows_of_data_get_no_continuation() {
    let row = |words: usize| format!("fn k() {{ let a = [{}rema|]; }}\n", "7, ".repeat(words));
    let text = |words: usize| format!("fn remaining() {{}}\n{}", row(words));
    assert!(!everything(&text(5), &[]).is_empty());
    assert_eq!(everything(&text(500), &[]), Vec::<String>::new());
}

#[test]
fn an_explicit_request_lists_words_with_the_prefix() {
    let text = "fn remember() {}\n\nfn release() {}\n\n// A recipe.\nfn a() {\n    qux(re|);\n}\n";
    let mut story = Story::new("Rust", text);
    story.learn_project(&[("/project/a", "fn a() { redo(); reduce(); }\n")]);
    let told = story.requested_suggestions(0);
    let told: Vec<String> = told.iter().map(new_text).collect();
    for rest in ["member", "lease", "cipe"] {
        assert!(told.iter().any(|it| it == rest), "{rest} in {told:?}");
    }
    let words = told.iter().collect::<std::collections::HashSet<_>>();
    assert_eq!(words.len(), told.len(), "each once: {told:?}");
}
