//! Pieces that say nothing any more: results that a later call repeats, and failures that were put right.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Item, ItemKind, calls};

/// Tools whose result is out of date once the same call was made again.
const LOOKS: [&str; 10] = [
    "read",
    "list",
    "glob",
    "grep",
    "symbols",
    "semantic_search",
    "diagnostics",
    "git_status",
    "git_diff",
    "git_log",
];
/// Names of arguments that say what a call is about.
const TARGETS: [&str; 6] = ["path", "file_path", "file", "cmd", "command", "url"];

/// Old results with the same call made again later: call and the later one.
pub(super) fn repeated(items: &[Item], boundary: usize) -> HashMap<&str, &str> {
    let errors = errors(items);
    let mut latest: HashMap<String, &str> = HashMap::new();
    let mut repeated = HashMap::new();
    for (ix, item) in items.iter().enumerate().rev() {
        let ItemKind::Call { id, tool, input } = &item.kind else {
            continue;
        };
        // A failure repeats nothing, and one without a result yet is no answer.
        if !LOOKS.contains(&tool.as_str()) || errors.get(id.as_str()) != Some(&false) {
            continue;
        }
        let key = format!("{tool} {}", sorted(input));
        match latest.get(&key) {
            Some(later) if ix < boundary => {
                repeated.insert(id.as_str(), *later);
            }
            Some(_) => {}
            None => {
                latest.insert(key, id.as_str());
            }
        }
    }
    repeated
}

/// What stands for a result that a later call repeats.
pub(super) fn pointer(later: &str) -> String {
    format!("[left out: the same call was made again later, as {later}; its result stands there]")
}

/// Old calls that failed and whose like succeeded later.
pub(super) fn put_right(items: &[Item], boundary: usize) -> Vec<String> {
    let errors = errors(items);
    let mut succeeded: HashSet<(&str, String)> = HashSet::new();
    let mut dropped = Vec::new();
    for (ix, item) in items.iter().enumerate().rev() {
        let ItemKind::Call { id, tool, input } = &item.kind else {
            continue;
        };
        let key = (tool.as_str(), target(input));
        match errors.get(id.as_str()) {
            Some(false) => {
                succeeded.insert(key);
            }
            Some(true) if ix < boundary && succeeded.contains(&key) => dropped.push(id.clone()),
            _ => {}
        }
    }
    dropped.reverse();
    dropped
}

/// Calls that have a result: whether it is a failure.
fn errors(items: &[Item]) -> HashMap<&str, bool> {
    let known = calls(items);
    let results = items.iter().filter_map(|item| match &item.kind {
        ItemKind::Result { call, is_error } => Some((call.as_str(), *is_error)),
        _ => None,
    });
    results
        .filter(|(call, _)| known.contains_key(call))
        .collect()
}

/// What a call is about: its path, its command, or all of its arguments.
fn target(input: &Value) -> String {
    let named = TARGETS.iter().find_map(|name| input.get(name)?.as_str());
    if let Some(named) = named {
        return named.to_owned();
    }
    let patched = input.as_str().or_else(|| input.get("input")?.as_str());
    match patched.map(patched_files).filter(|files| !files.is_empty()) {
        Some(files) => files,
        None => sorted(input),
    }
}

/// The files that a patch names, in its order.
fn patched_files(patch: &str) -> String {
    let names = patch.lines().filter_map(|line| {
        let rest = line.strip_prefix("*** ")?;
        let (kind, path) = rest.split_once(" File: ")?;
        matches!(kind, "Add" | "Update" | "Delete").then_some(path.trim())
    });
    names.collect::<Vec<_>>().join(" ")
}

/// The same arguments in another order are the same.
fn sorted(input: &Value) -> String {
    match input {
        Value::Object(fields) => {
            let mut fields: Vec<String> = fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| format!("{name:?}:{}", sorted(value)))
                .collect();
            fields.sort();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(id: &str, tool: &str, input: Value, is_error: bool) -> [Item; 2] {
        let item = |kind| Item {
            seq: 0,
            step: 0,
            kind,
            text: String::new(),
            bytes: 0,
        };
        [
            item(ItemKind::Call {
                id: id.into(),
                tool: tool.into(),
                input,
            }),
            item(ItemKind::Result {
                call: id.into(),
                is_error,
            }),
        ]
    }

    #[test]
    fn what_was_put_right_is_found() {
        let check = |calls: &[(&str, Value, bool)], expected: &[&str]| {
            let items: Vec<Item> = calls
                .iter()
                .enumerate()
                .flat_map(|(ix, (tool, input, is_error))| {
                    call(&ix.to_string(), tool, input.clone(), *is_error)
                })
                .collect();
            assert_eq!(put_right(&items, items.len()), expected, "{calls:?}");
        };
        let edit = |path: &str, old: &str| json!({"path": path, "old": old});
        check(
            &[
                ("edit", edit("a", "x"), true),
                ("edit", edit("a", "y"), false),
            ],
            &["0"],
        );
        check(
            &[
                ("edit", edit("a", "x"), true),
                ("edit", edit("b", "y"), false),
            ],
            &[],
        );
        check(
            &[
                ("edit", edit("a", "x"), false),
                ("edit", edit("a", "y"), true),
            ],
            &[],
        );
        check(
            &[
                ("edit", edit("a", "x"), true),
                ("write", edit("a", "y"), false),
            ],
            &[],
        );
        check(
            &[
                ("edit", edit("a", "x"), true),
                ("edit", edit("a", "z"), true),
                ("edit", edit("a", "y"), false),
            ],
            &["0", "1"],
        );
        let patch = |text: &str| json!({"input": format!("*** Begin Patch\n*** Update File: a.rs\n{text}")});
        check(
            &[
                ("apply_patch", patch("-x"), true),
                ("apply_patch", patch("-y"), false),
            ],
            &["0"],
        );
        check(
            &[
                ("exec_command", json!({"cmd": "make"}), true),
                ("exec_command", json!({"cmd": "make", "tty": true}), false),
            ],
            &["0"],
        );
    }

    #[test]
    fn looks_that_were_repeated_are_found() {
        let check = |calls: &[(&str, Value, bool)], expected: &[(&str, &str)]| {
            let items: Vec<Item> = calls
                .iter()
                .enumerate()
                .flat_map(|(ix, (tool, input, is_error))| {
                    call(&ix.to_string(), tool, input.clone(), *is_error)
                })
                .collect();
            let mut found: Vec<(&str, &str)> = repeated(&items, items.len()).into_iter().collect();
            found.sort();
            assert_eq!(found, expected, "{calls:?}");
        };
        let read = json!({"path": "a", "from": 1});
        let turned = json!({"from": 1, "path": "a", "to": null});
        check(
            &[("read", read.clone(), false), ("read", turned, false)],
            &[("0", "1")],
        );
        check(
            &[
                ("read", read.clone(), false),
                ("read", json!({"path": "a"}), false),
            ],
            &[],
        );
        check(
            &[("read", read.clone(), false), ("read", read.clone(), true)],
            &[],
        );
        check(
            &[
                ("read", read.clone(), false),
                ("read", read.clone(), false),
                ("read", read.clone(), false),
            ],
            &[("0", "2"), ("1", "2")],
        );
        check(
            &[
                ("exec_command", read.clone(), false),
                ("exec_command", read, false),
            ],
            &[],
        );
    }
}
