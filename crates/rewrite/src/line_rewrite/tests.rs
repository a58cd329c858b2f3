//! The parts of a request.

use base::Row;
use model::{ModelId, Role};
use text::{LineEnding, RowSpan, Snapshot};

use super::{EarlierRewrite, LineRewrite};
use crate::RewriteRegion;

fn rewrite(text: &str, rows: std::ops::Range<u32>) -> LineRewrite {
    let rows = RowSpan {
        start: Row(rows.start),
        end: Row(rows.end),
    };
    LineRewrite {
        path: "src/a.rs".to_owned(),
        language: Some("Rust".to_owned()),
        region: RewriteRegion::new(&Snapshot::new(text), rows, LineEnding::Lf),
        problems: vec!["line 2: unused variable".to_owned()],
        rules: vec!["<instructions path=\"AGENTS.md\">\nUse tabs.\n</instructions>\n".to_owned()],
        earlier: Vec::new(),
        instruction: "rename b to c".to_owned(),
    }
}

fn texts(rewrite: &LineRewrite) -> (Vec<String>, Vec<(Role, String)>, Option<String>) {
    let model = ModelId::parse("openai/gpt-4.1").expect("a model");
    let request = rewrite.request(model, None);
    let system = request.system.iter().map(|it| it.text.clone()).collect();
    let messages = request.messages.iter().map(|message| {
        let text = message.parts.iter().filter_map(|part| match &part.content {
            model::PartContent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        (message.role, text.collect())
    });
    let messages = messages.collect();
    (system, messages, request.prediction)
}

#[test]
fn a_request_names_the_file_the_lines_and_what_is_known_of_them() {
    let (system, messages, prediction) = texts(&rewrite("fn a() {\n    b();\n}\n", 1..2));
    assert!(system[1].contains("Use tabs."));
    let expected = "File: src/a.rs\n\nThe text before the lines:\n```rust\nfn a() {\n```\n\nThe text after the \
                    lines:\n```rust\n}\n```\n\nProblems in the lines:\n- line 2: unused variable\n\nLine 2, to be \
                    rewritten:\n```rust\n    b();\n```\n\nrename b to c";
    assert_eq!(messages, [(Role::User, expected.to_owned())]);
    assert_eq!(prediction.as_deref(), Some("```rust\n    b();\n```\n"));
}

#[test]
fn a_refinement_starts_from_the_latest_answer() {
    let mut refined = rewrite("a\nb\n", 0..1);
    refined.earlier = vec![EarlierRewrite {
        instruction: "rename a".to_owned(),
        lines: vec!["c".to_owned()],
    }];
    refined.instruction = "in capitals".to_owned();
    let (_, messages, prediction) = texts(&refined);
    let expected = "Line 1, to be rewritten:\n```rust\na\n```\n\nEarlier instruction: rename a\nYour text of the \
                    lines so far, to be rewritten again:\n```rust\nc\n```\n\nin capitals";
    assert!(messages[0].1.ends_with(expected), "{}", messages[0].1);
    assert_eq!(prediction.as_deref(), Some("```rust\nc\n```\n"));
}

#[test]
fn a_blank_line_is_an_insertion_without_a_prediction() {
    let (_, messages, prediction) = texts(&rewrite("a\n\nb\n", 1..2));
    assert!(messages[0].1.contains("Line 2 is blank"));
    assert_eq!(prediction, None);
}

#[test]
fn the_text_around_the_lines_is_limited_at_rows() {
    let line = "x".repeat(99);
    let long = format!("{line}\n").repeat(1000);
    let (_, messages, _) = texts(&rewrite(&long, 500..501));
    let asked = &messages[0].1;
    assert!(
        asked.len() > 30_000 && asked.len() < 40_000,
        "{}",
        asked.len()
    );
    let is_whole = |row: &str| row == line || row.len() < 99;
    assert!(asked.split('\n').all(is_whole));
    let short = texts(&rewrite("é\r\nb\r\n", 1..2)).1;
    assert!(short[0].1.contains("```rust\né\n```"));
}
