//! Cases with the states that Neovim 0.11.4 reached, for machines without it.
//!
//! `BURIN_VIM_RECORD` names a file to which the comparison adds the cases that agree.

use std::fs::OpenOptions;
use std::io::Write as _;

use serde_json::{Value, json};

use super::differential::{differences, ours};
use super::neovim::{Case, input, outcome};

const RECORDED: &str = include_str!("recorded.jsonl");

/// Adds a case to the file that the environment names.
pub(super) fn record(case: &Case, state: &Value) {
    let Ok(path) = std::env::var("BURIN_VIM_RECORD") else {
        return;
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    let line = json!({ "case": input(case), "state": state });
    writeln!(file.expect("a file"), "{line}").expect("written");
}

fn case(value: &Value) -> Case {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |value: &Value| value.as_array().expect("a list").iter().map(text).collect();
    let number = |value: &Value| value.as_u64().expect("a number");
    Case {
        lines: texts(&value["lines"]),
        row: number(&value["row"]) as u32,
        col: number(&value["col"]) as usize,
        commands: texts(&value["commands"]),
        set: text(&value["set"]),
    }
}

#[test]
fn recorded_commands_do_as_in_neovim() {
    let mut count = 0;
    for line in RECORDED.lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        let case = case(&value["case"]);
        let found = differences(&ours(&case), &outcome(&value["state"]));
        assert!(found.is_empty(), "{case:?}: {found:?}");
        count += 1;
    }
    assert!(count >= 300, "the file was read");
}
