//! Finds obsolete items: results that a later call repeats, and failures that a later call fixed.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{CompactItem, CompactItemKind, calls};

/// Read-only tools: a result is outdated once the same call was repeated.
const READ_ONLY_TOOLS: [&str; 13] = [
    "read",
    "list",
    "glob",
    "grep",
    "symbols",
    "semantic_search",
    "diagnostics",
    "definition",
    "references",
    "hover",
    "git_status",
    "git_diff",
    "git_log",
];
/// Arguments that identify the target of a call.
const TARGET_ARGUMENTS: [&str; 6] = ["path", "file_path", "file", "cmd", "command", "url"];

/// Maps the ids of read-only calls before index `boundary` whose result a later, successful call
/// with the same arguments repeats to the id of that later call.
pub(super) fn repeated_results(items: &[CompactItem], boundary: usize) -> HashMap<&str, &str> {
    let errors = errors(items);
    let mut latest: HashMap<String, &str> = HashMap::new();
    let mut repeated = HashMap::new();
    for (ix, item) in items.iter().enumerate().rev() {
        let CompactItemKind::Call { id, tool, input } = &item.kind else {
            continue;
        };
        // A failed call repeats nothing, and a call without a result has no answer yet.
        if !READ_ONLY_TOOLS.contains(&tool.as_str()) || errors.get(id.as_str()) != Some(&false) {
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

/// Returns the placeholder for a result that a later call repeats.
pub(super) fn pointer(later: &str) -> String {
    format!("[omitted: the same call was repeated later as {later}; see its result]")
}

/// Returns the ids of failed calls before index `boundary` for which a later call of the same tool
/// on the same target succeeded.
pub(super) fn superseded_failures(items: &[CompactItem], boundary: usize) -> Vec<String> {
    let errors = errors(items);
    let mut succeeded: HashSet<(&str, String)> = HashSet::new();
    let mut dropped = Vec::new();
    for (ix, item) in items.iter().enumerate().rev() {
        let CompactItemKind::Call { id, tool, input } = &item.kind else {
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

/// Maps each call with a result to whether that is an error.
fn errors(items: &[CompactItem]) -> HashMap<&str, bool> {
    let known = calls(items);
    let results = items.iter().filter_map(|item| match &item.kind {
        CompactItemKind::Result { call, is_error } => Some((call.as_str(), *is_error)),
        _ => None,
    });
    results
        .filter(|(call, _)| known.contains_key(call))
        .collect()
}

/// Returns the target of a call: its path, its command, or all of its arguments.
fn target(input: &Value) -> String {
    let named = TARGET_ARGUMENTS
        .iter()
        .find_map(|name| input.get(name)?.as_str());
    if let Some(named) = named {
        return named.to_owned();
    }
    let patched = input.as_str().or_else(|| input.get("input")?.as_str());
    match patched.map(patched_files).filter(|files| !files.is_empty()) {
        Some(files) => files,
        None => sorted(input),
    }
}

/// Lists the files of a patch, in order.
fn patched_files(patch: &str) -> String {
    let names = patch.lines().filter_map(|line| {
        let rest = line.strip_prefix("*** ")?;
        let (kind, path) = rest.split_once(" File: ")?;
        matches!(kind, "Add" | "Update" | "Delete").then_some(path.trim())
    });
    names.collect::<Vec<_>>().join(" ")
}

/// Serialises arguments with sorted keys, so that their order does not matter.
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

    fn call(id: &str, tool: &str, input: Value, is_error: bool) -> [CompactItem; 2] {
        let item = |kind| CompactItem {
            seq: 0,
            step: 0,
            kind,
            text: String::new(),
            bytes: 0,
        };
        [
            item(CompactItemKind::Call {
                id: id.into(),
                tool: tool.into(),
                input,
            }),
            item(CompactItemKind::Result {
                call: id.into(),
                is_error,
            }),
        ]
    }

    #[test]
    fn fixed_failures_are_found() {
        let check = |calls: &[(&str, Value, bool)], expected: &[&str]| {
            let items: Vec<CompactItem> = calls
                .iter()
                .enumerate()
                .flat_map(|(ix, (tool, input, is_error))| {
                    call(&ix.to_string(), tool, input.clone(), *is_error)
                })
                .collect();
            assert_eq!(
                superseded_failures(&items, items.len()),
                expected,
                "{calls:?}"
            );
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
    fn repeated_reads_are_found() {
        let check = |calls: &[(&str, Value, bool)], expected: &[(&str, &str)]| {
            let items: Vec<CompactItem> = calls
                .iter()
                .enumerate()
                .flat_map(|(ix, (tool, input, is_error))| {
                    call(&ix.to_string(), tool, input.clone(), *is_error)
                })
                .collect();
            let mut found: Vec<(&str, &str)> =
                repeated_results(&items, items.len()).into_iter().collect();
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
