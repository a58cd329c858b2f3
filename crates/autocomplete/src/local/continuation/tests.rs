//! Continuations at a caret, given the text around it and a project.

use crate::local::line_ending::lf_len;
use crate::local::story::{Story, key_len};
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
        Some(lf_len(truth)),
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
    let with = everything(&crlf(rows), PROJECT);
    let without = everything(rows, PROJECT);
    assert!(!without.is_empty());
    let without: Vec<String> = without.iter().map(|it| crlf(it)).collect();
    assert_eq!(with, without);
    check_foretold(
        &crlf("fn k(reader: R) {\n    let value = match reader.next_item() {|\n}\n"),
        PROJECT,
        "\r\n        Some(value) => value,\r\n        None => return Err(Error::Empty),\r\n    };",
    );
}

fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

/// Returns descriptions of the suggestions and of all samples at each caret while `typed` is typed
/// in place of `old`, and whether a right guess had more than one row. Rows end with `ending`.
fn while_typing(
    (language, text): (&str, &str),
    (old, typed): (&str, &str),
    project: &[(&str, &str)],
    ending: &str,
) -> (Vec<String>, bool) {
    let with_ending = |text: &str| text.replace('\n', ending);
    let (old, typed) = (with_ending(old), with_ending(typed));
    let mut story = Story::new(language, &with_ending(text));
    let files: Vec<String> = project.iter().map(|(_, text)| with_ending(text)).collect();
    let paths = project.iter().map(|(path, _)| *path);
    let files: Vec<(&str, &str)> = paths.zip(files.iter().map(String::as_str)).collect();
    story.learn_project(&files);
    let mut at = story.text(0).find(&old).expect("the old text");
    story.erase(0, &old);
    story.work();
    let (mut told, mut has_rows) = (Vec::new(), false);
    let mut left = typed.as_str();
    while !left.is_empty() {
        let suggestions = [
            story.suggestions(0),
            story.requested_suggestions(0),
            story.word_suggestions(0),
        ];
        let texts = |suggestions: &Vec<Suggestion>| -> Vec<(String, f32)> {
            let texts = suggestions.iter();
            let texts = texts.map(|it| (new_text(it).replace("\r\n", "\n"), it.confidence));
            texts.collect()
        };
        let suggestions = suggestions.iter().map(texts).collect::<Vec<_>>();
        let tokens = story.local.token_samples(&story.state(0), left);
        let guesses = story.local.guess_samples(&story.state(0), left);
        told.push(format!("{suggestions:?}\n{tokens:?}\n{guesses:?}"));
        let row = left.lines().next().map_or(0, str::len);
        has_rows |= tokens.iter().any(|it| it.is_right && it.bytes > row + 1);
        let (key, rest) = left.split_at(key_len(left));
        story.type_at(0, at, key);
        at += key.len();
        left = rest;
    }
    (told, has_rows)
}

#[track_caller]
fn check_line_endings(text: (&str, &str), (old, typed): (&str, &str), project: &[(&str, &str)]) {
    let with = while_typing(text, (old, typed), project, "\r\n");
    let without = while_typing(text, (old, typed), project, "\n");
    assert_eq!(with.0.len(), without.0.len());
    for (with, without) in with.0.iter().zip(&without.0) {
        assert_eq!(with, without);
    }
    assert!(without.1, "no guess of several rows");
}

#[test]
fn guesses_are_equal_with_lf_and_crlf() {
    let body = "    let value = match input.next_item() {\n        Some(value) => value,\n\n        None => return Err(Error::Empty),\n    };";
    let text = format!(
        "fn d(input: R) {{\n{body}\n    log(value);\n}}\n\nfn e(input: R) {{\n    // Old.\n\n    old_call(input);\n    log(input);\n}}\n"
    );
    let old = "    // Old.\n\n    old_call(input);";
    check_line_endings(("Rust", &text), (old, body), PROJECT);
}

#[test]
fn guesses_in_long_texts_are_equal_with_lf_and_crlf() {
    // The rows above decide the width of an indentation step, as far as they are read.
    let rows = |unit: usize, count: usize| -> String {
        let (one, two) = (" ".repeat(unit), " ".repeat(2 * unit));
        let row = |row: usize| {
            format!("def call_{row}(x):\n{one}if x:\n{two}return 1\n{one}return x\n\n")
        };
        (0..count).map(row).collect()
    };
    let above = format!("{}{}", rows(2, 200), rows(4, 350));
    let end = "def last(x):\n    if x:\n        # Old.\n        pass\n    return 1\n";
    let text = format!("{above}{end}{}", rows(4, 100));
    let typed = "        return 1\n    return x\n\ndef next(y):\n    if y:\n        return 1";
    check_line_endings(
        ("Python", &text),
        ("        # Old.\n        pass", typed),
        &[],
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
