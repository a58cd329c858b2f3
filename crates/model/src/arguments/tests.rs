//! Tests that streamed results do not depend on fragment boundaries and that problems are reported.

use super::*;
use crate::random::TestRng;

/// Returns the events of `pieces`, one per line, and the problems.
fn events(pieces: &[&str]) -> (String, Vec<ArgumentProblem>) {
    let mut lines = Vec::new();
    let mut reader = ArgumentReader::default();
    let mut sink = |path: &[ArgumentStep], event: ArgumentEvent<'_>| {
        let path = path_text(path);
        lines.push(match event {
            ArgumentEvent::Open(container) => format!("{path} open {container:?}"),
            ArgumentEvent::Text(text) => format!("{path} + {text:?}"),
            ArgumentEvent::TextEnd => format!("{path} end"),
            ArgumentEvent::Value(value) => format!("{path} = {value}"),
            ArgumentEvent::Close(container) => format!("{path} close {container:?}"),
        });
    };
    for piece in pieces {
        reader.push(piece, &mut sink);
    }
    let problems = reader.finish(&mut sink);
    (lines.join("\n"), problems)
}

#[test]
fn fields_are_emitted_while_they_stream() {
    let pieces = [
        "{\"path\": \"src/ma",
        "in.rs\", \"edits\": [{\"old_str",
        "ing\": \"a\\",
        "n\\u00e",
        "9\\ud83",
        "d\\ude00b\", \"all\": tr",
        "ue, \"n\": -1",
        "2.5e1}, {}], \"e\": \"\"}",
    ];
    let (events, problems) = events(&pieces);
    assert_eq!(problems, []);
    expect_test::expect![[r#"
         open Object
        path + "src/ma"
        path + "in.rs"
        path end
        edits open Array
        edits[0] open Object
        edits[0].old_string + "a"
        edits[0].old_string + "\n"
        edits[0].old_string + "é"
        edits[0].old_string + "😀"
        edits[0].old_string + "b"
        edits[0].old_string end
        edits[0].all = true
        edits[0].n = -125.0
        edits[0] close Object
        edits[1] open Object
        edits[1] close Object
        edits close Array
        e end
         close Object"#]]
    .assert_eq(&events);
}

/// Reads invalid JSON and compares the value and the formatted problems.
fn check(text: &str, value: &str, problems: &[&str]) {
    let arguments = ParsedArguments::read(text);
    assert_eq!(arguments.value.to_string(), value, "{text}");
    let messages: Vec<String> = arguments.problems.iter().map(ToString::to_string).collect();
    assert_eq!(messages, problems, "{text}");
}

#[test]
fn empty_text_means_no_arguments() {
    check("", "{}", &[]);
    check(" \n", "{}", &[]);
    check("{}", "{}", &[]);
}

#[test]
fn errors_are_reported_with_their_position() {
    let ends = "the JSON ends before it is complete";
    check(
        "{\"a\": 1, \"b\": \"x",
        r#"{"a":1,"b":"x"}"#,
        &[&format!("line 1, column 17 (in b): {ends}")],
    );
    check(
        "{\"a\": [1, 2",
        r#"{"a":[1]}"#,
        &[&format!("line 1, column 12 (in a[1]): {ends}")],
    );
    check("{\"a", "{}", &[&format!("line 1, column 4: {ends}")]);
    check(
        "{\n  \"a\": 1\n  \"b\": 2}",
        r#"{"a":1}"#,
        &["line 3, column 3 (in a): found '\"', expected a comma"],
    );
    check(
        "{'a': 1}",
        "{}",
        &["line 1, column 2: found '\\'', expected a key"],
    );
    check(
        "{\"a\": 01}",
        "{}",
        &["line 1, column 9 (in a): \"01\" is not a JSON value"],
    );
    check(
        "[1}",
        "[1]",
        &["line 1, column 3 (in [0]): found '}', expected a comma or the other bracket"],
    );
    check(
        "{\"a\": 1e999}",
        "{}",
        &["line 1, column 12 (in a): \"1e999\" is not a JSON value"],
    );
}

#[test]
fn recoverable_errors_keep_the_meaning() {
    check(
        "{\"a\": \"x\ny\", \"b\": True,}",
        r#"{"a":"x\ny","b":true}"#,
        &[
            "line 1, column 9 (in a): the control character '\\n' is not escaped",
            "line 2, column 14 (in b): True must be lower case in JSON",
            "line 2, column 15: trailing comma",
        ],
    );
    check(
        "[1, 2, ]",
        "[1,2]",
        &["line 1, column 8 (in [2]): trailing comma"],
    );
    check(
        r#"{"a": "\d+\ud83d!\udc00"}"#,
        "{\"a\":\"\\\\d+\u{fffd}!\u{fffd}\"}",
        &[
            "line 1, column 9 (in a): \\d is not a JSON escape; write a backslash as \\\\",
            "line 1, column 17 (in a): unpaired surrogate",
            "line 1, column 23 (in a): unpaired surrogate",
        ],
    );
    check(
        "{\"a\": 1} }}",
        r#"{"a":1}"#,
        &["line 1, column 10: unexpected text after the end of the JSON"],
    );
}

#[test]
fn tool_runs_only_on_complete_arguments() {
    assert!(ParsedArguments::read("{\"a\": \"x\ty\",}").is_complete());
    let cut = ParsedArguments::read("{\"text\": \"half a fi");
    assert!(!cut.is_complete());
    assert_eq!(
        cut.problems[0].to_string(),
        "line 1, column 20 (in text): the JSON ends before it is complete"
    );
}

#[test]
fn depth_limit_equals_that_of_serde() {
    for depth in [126, 127, 128, 129, 100_000] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let arguments = ParsedArguments::read(&text);
        let theirs: serde_json::Result<Value> = serde_json::from_str(&text);
        assert_eq!(arguments.problems.is_empty(), theirs.is_ok(), "{depth}");
    }
}

fn random_text(random: &mut TestRng) -> String {
    const PIECES: [&str; 14] = [
        "a",
        "word",
        " ",
        "\\n",
        "\\\"",
        "\\\\",
        "é",
        "語",
        "🦀",
        "\\u00e9",
        "\\ud83e\\udd80",
        "\\/",
        "\\u0000",
        "{[,:]}",
    ];
    (0..random.next_below(8))
        .map(|_| *random.pick(&PIECES))
        .collect()
}

fn random_json(random: &mut TestRng, depth: u64) -> String {
    let space = *random.pick(&["", " ", "\n\t", "\r\n"]);
    let count = random.next_below(4);
    match random.next_below(if depth > 4 { 4 } else { 6 }) {
        0 => format!("{space}\"{}\"", random_text(random)),
        1 => format!(
            "{}{space}",
            random.pick(&[
                "0",
                "-0",
                "12",
                "-3.5",
                "1e3",
                "2E-2",
                "123456789012345678901234"
            ])
        ),
        2 => (*random.pick(&["true", "false", "null"])).to_owned(),
        3 => format!("\"{}\"", random_text(random)),
        4 => {
            let items: Vec<_> = (0..count).map(|_| random_json(random, depth + 1)).collect();
            format!("[{space}{}]", items.join(","))
        }
        _ => {
            let fields: Vec<_> = (0..count)
                .map(|_| {
                    // Few keys, so that duplicates occur.
                    let key = *random.pick(&["a", "b", "\\u0061", "old_string"]);
                    format!("{space}\"{key}\"{space}:{}", random_json(random, depth + 1))
                })
                .collect();
            format!("{{{}{space}}}", fields.join(","))
        }
    }
}

/// Splits a text at char boundaries into fragments, some of them empty.
fn cut<'a>(text: &'a str, random: &mut TestRng) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut at = random.next_below(1 + rest.len().min(9) as u64) as usize;
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (piece, behind) = rest.split_at(at);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// Rebuilds the value from the events of a fragmented text.
fn built(pieces: &[&str]) -> (Option<Value>, Vec<ArgumentProblem>) {
    let mut tree = tree::ValueBuilder::default();
    let mut reader = ArgumentReader::default();
    for piece in pieces {
        reader.push(piece, &mut |path, event| tree.take(path, event));
    }
    let problems = reader.finish(&mut |path, event| tree.take(path, event));
    (Some(tree.finish()), problems)
}

#[test]
fn random_json_in_random_fragments_parses_as_in_serde() {
    for seed in 0..20_000 {
        let mut random = TestRng::new(seed);
        let text = random_json(&mut random, 0);
        let expected: Value = serde_json::from_str(&text).expect("the generator writes JSON");
        let pieces = cut(&text, &mut random);
        let (value, problems) = built(&pieces);
        assert_eq!(
            (value, problems),
            (Some(expected), Vec::new()),
            "seed {seed}: {text}"
        );
    }
}

/// Changes, removes or duplicates one byte of a text. The reader must reject exactly what
/// `serde_json` rejects, agree on what it accepts, and report the same problems for every
/// fragmentation.
#[test]
fn random_damage_is_rejected_where_serde_rejects_it() {
    let mut broken = 0;
    for seed in 0..20_000 {
        let mut random = TestRng::new(seed);
        let mut text: Vec<char> = random_json(&mut random, 0).chars().collect();
        let at = random.next_below(text.len() as u64) as usize;
        match random.next_below(3) {
            0 => {
                text[at] = *random.pick(&[
                    '"', '\\', '{', '}', '[', ']', ',', ':', 'u', '1', ' ', '\n', 'x', '-',
                ])
            }
            1 => {
                text.remove(at);
            }
            _ => text.insert(at, text[at]),
        }
        let text: String = text.into_iter().collect();
        let (value, problems) = built(&cut(&text, &mut random));
        let (again, same) = built(&[&text]);
        assert_eq!(
            (&value, &problems),
            (&again, &same),
            "seed {seed}: {text:?}"
        );
        match serde_json::from_str::<Value>(&text) {
            Ok(expected) => assert_eq!(
                (value, problems),
                (Some(expected), Vec::new()),
                "seed {seed}: {text:?}"
            ),
            Err(error) => {
                broken += 1;
                assert!(!problems.is_empty(), "seed {seed}: {text:?}: {error}");
            }
        }
    }
    assert!(broken > 5_000, "{broken}");
}

#[test]
fn problems_are_bounded() {
    let text = format!("{{\"a\": \"{}\"}}", "\\q".repeat(10_000));
    let arguments = ParsedArguments::read(&text);
    assert_eq!(arguments.problems.len(), MAX_PROBLEMS);
}
