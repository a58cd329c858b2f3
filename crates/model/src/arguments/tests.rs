//! However it is cut, what streams out is what is written; what is broken is named.

use super::*;
use crate::random::Random;

/// What is told of `pieces`, one event a line.
fn told(pieces: &[&str]) -> (String, Vec<ArgumentProblem>) {
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
fn fields_come_out_while_they_stream() {
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
    let (events, problems) = told(&pieces);
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

/// Reads broken JSON: the value, and the problems as they are told.
fn check(text: &str, value: &str, problems: &[&str]) {
    let arguments = Arguments::read(text);
    assert_eq!(arguments.value.to_string(), value, "{text}");
    let told: Vec<String> = arguments.problems.iter().map(ToString::to_string).collect();
    assert_eq!(told, problems, "{text}");
}

#[test]
fn nothing_stands_for_no_arguments() {
    check("", "{}", &[]);
    check(" \n", "{}", &[]);
    check("{}", "{}", &[]);
}

#[test]
fn what_is_broken_is_named_with_its_place() {
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
        &["line 3, column 3 (in a): '\"' stands where a comma should"],
    );
    check(
        "{'a': 1}",
        "{}",
        &["line 1, column 2: '\\'' stands where a key should"],
    );
    check(
        "{\"a\": 01}",
        "{}",
        &["line 1, column 9 (in a): \"01\" is no JSON value"],
    );
    check(
        "[1}",
        "[1]",
        &["line 1, column 3 (in [0]): '}' stands where a comma or the other bracket should"],
    );
    check(
        "{\"a\": 1e999}",
        "{}",
        &["line 1, column 12 (in a): \"1e999\" is no JSON value"],
    );
}

#[test]
fn what_is_meant_is_taken() {
    check(
        "{\"a\": \"x\ny\", \"b\": True,}",
        r#"{"a":"x\ny","b":true}"#,
        &[
            "line 1, column 9 (in a): the control character '\\n' is not escaped",
            "line 2, column 14 (in b): True is written in lower case in JSON",
            "line 2, column 15: a comma stands before the end",
        ],
    );
    check(
        "[1, 2, ]",
        "[1,2]",
        &["line 1, column 8 (in [2]): a comma stands before the end"],
    );
    check(
        r#"{"a": "\d+\ud83d!\udc00"}"#,
        "{\"a\":\"\\\\d+\u{fffd}!\u{fffd}\"}",
        &[
            "line 1, column 9 (in a): \\d is no escape of JSON; a backslash is written \\\\",
            "line 1, column 17 (in a): half of a surrogate pair stands alone",
            "line 1, column 23 (in a): half of a surrogate pair stands alone",
        ],
    );
    check(
        "{\"a\": 1} }}",
        r#"{"a":1}"#,
        &["line 1, column 10: text follows the end of the JSON"],
    );
}

#[test]
fn a_tool_runs_only_on_what_is_whole() {
    assert!(Arguments::read("{\"a\": \"x\ty\",}").are_whole());
    assert_eq!(Arguments::read("{}").complaint(), None);
    let cut = Arguments::read("{\"text\": \"half a fi");
    assert!(!cut.are_whole());
    assert_eq!(
        cut.complaint().expect("cut off"),
        "the arguments cannot be read: line 1, column 20 (in text): the JSON ends before it is complete; the call \
         was cut off, so send it again in smaller pieces"
    );
}

#[test]
fn depth_is_bounded_as_it_is_for_serde() {
    for depth in [126, 127, 128, 129, 100_000] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let arguments = Arguments::read(&text);
        let theirs: serde_json::Result<Value> = serde_json::from_str(&text);
        assert_eq!(arguments.problems.is_empty(), theirs.is_ok(), "{depth}");
    }
}

fn random_text(random: &mut Random) -> String {
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
    (0..random.below(8))
        .map(|_| *random.pick(&PIECES))
        .collect()
}

fn random_json(random: &mut Random, depth: u64) -> String {
    let space = *random.pick(&["", " ", "\n\t", "\r\n"]);
    let count = random.below(4);
    match random.below(if depth > 4 { 4 } else { 6 }) {
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
                    // Few keys, so that some come twice.
                    let key = *random.pick(&["a", "b", "\\u0061", "old_string"]);
                    format!("{space}\"{key}\"{space}:{}", random_json(random, depth + 1))
                })
                .collect();
            format!("{{{}{space}}}", fields.join(","))
        }
    }
}

/// Cuts a text between chars into pieces, some of them empty.
fn cut<'a>(text: &'a str, random: &mut Random) -> Vec<&'a str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut at = random.below(1 + rest.len().min(9) as u64) as usize;
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (piece, behind) = rest.split_at(at);
        pieces.push(piece);
        rest = behind;
    }
    pieces
}

/// The value that the events of a text build, read in pieces.
fn built(pieces: &[&str]) -> (Option<Value>, Vec<ArgumentProblem>) {
    let mut tree = tree::Tree::default();
    let mut reader = ArgumentReader::default();
    for piece in pieces {
        reader.push(piece, &mut |path, event| tree.take(path, event));
    }
    let problems = reader.finish(&mut |path, event| tree.take(path, event));
    (Some(tree.finish()), problems)
}

#[test]
fn random_json_at_random_cuts_is_what_serde_reads() {
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
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

/// A text with one byte changed, cut out or doubled is refused by us exactly if it is by `serde_json`, reads alike
/// where it is not, and its problems do not depend on the cuts.
#[test]
fn random_damage_is_found_where_serde_finds_it() {
    let mut broken = 0;
    for seed in 0..20_000 {
        let mut random = Random::new(seed);
        let mut text: Vec<char> = random_json(&mut random, 0).chars().collect();
        let at = random.below(text.len() as u64) as usize;
        match random.below(3) {
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
    let arguments = Arguments::read(&text);
    assert_eq!(arguments.problems.len(), MOST_PROBLEMS);
}
