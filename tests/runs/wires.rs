//! Runs the demo task over every wire: the work and the records are the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::world::{Left, WIRES, World, serve};

/// The result of a run, without random parts.
#[derive(Debug, PartialEq)]
struct Work {
    records: Vec<Value>,
    files: BTreeMap<String, String>,
}

#[test]
fn the_demo_task_is_the_same_work_over_every_wire() {
    let works: Vec<Work> = WIRES.iter().map(|wire| work(*wire)).collect();
    let tools = |work: &Work, kind: &str| -> Vec<String> {
        let calls = work.records.iter().filter(|it| it["kind"] == kind);
        calls
            .filter_map(|it| Some(it["tool"].as_str()?.to_owned()))
            .collect()
    };
    let first = &works[0];
    let expected = [
        "exec_command",
        "grep",
        "read",
        "read",
        "edit",
        "edit",
        "exec_command",
    ];
    assert_eq!(tools(first, "call_began"), expected);
    assert_is_fixed(first);
    for (work, (wire, _)) in works.iter().zip(WIRES) {
        for (ix, (own, record)) in work.records.iter().zip(&first.records).enumerate() {
            assert_eq!(own, record, "{wire}, record {ix}");
        }
        assert_eq!(work.records.len(), first.records.len(), "{wire}");
        assert_eq!(work.files, first.files, "{wire}");
    }
}

/// Asserts the course of the task: a test fails, two files are edited, all tests pass.
fn assert_is_fixed(work: &Work) {
    let said = |record: &&Value| record["content"].to_string();
    let commands = work
        .records
        .iter()
        .filter(|it| it["kind"] == "call_ended" && it["tool"] == "exec_command");
    let said: Vec<String> = commands.map(|it| said(&it)).collect();
    assert!(said[0].contains("FAILED (failures=1)"), "{}", said[0]);
    assert!(
        said[1].contains("Ran 21 tests") && said[1].contains("OK"),
        "{}",
        said[1]
    );
    let sample: BTreeMap<&str, &str> = mockllm::demo::SAMPLE.iter().copied().collect();
    let changed: Vec<&String> = work
        .files
        .iter()
        .filter(|(path, text)| sample.get(path.as_str()).copied() != Some(text.as_str()))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(changed, ["tests/test_dates.py", "todo/dates.py"]);
}

fn work(wire: (&str, &str)) -> Work {
    let server = serve(mockllm::demo::SCRIPT);
    let world = World::new(wire, &server);
    for (path, text) in mockllm::demo::SAMPLE {
        let path = world.project().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let left = world.run(&["Please fix the failing test"]);
    assert_eq!(
        left.code,
        Some(0),
        "{wire:?}: {}\n{:?}",
        left.errors,
        left.told.last()
    );
    let rules: Vec<String> = server
        .requests()
        .into_iter()
        .filter_map(|seen| seen.rule)
        .collect();
    assert_eq!(rules.len(), 5, "{wire:?}: {rules:?}");
    let mut files = BTreeMap::new();
    gather(&world.project(), "", &mut files);
    Work {
        records: records(&left, world.path()),
        files,
    }
}

/// Returns the records without ids, times, sizes and reasoning; parallel events are in the order of
/// their calls.
fn records(left: &Left, home: &Path) -> Vec<Value> {
    let told = left.told.iter().filter(|told| told["event"] == "record");
    let mut records: Vec<Value> = told.map(|told| told["record"].clone()).collect();
    let mut ids: Vec<String> = Vec::new();
    let home = home.to_string_lossy().into_owned();
    for record in &mut records {
        plain(record, &home, &mut ids);
        for name in [
            "seq",
            "at_ms",
            "millis",
            "usage",
            "cost_nano",
            "prompt",
            "bytes",
            "same_bytes",
        ] {
            if let Value::Object(members) = record {
                members.shift_remove(name);
            }
        }
    }
    let is_call = |it: &Value| it["kind"] == "call_began" || it["kind"] == "call_ended";
    for stretch in records.chunk_by_mut(|one, other| is_call(one) && is_call(other)) {
        stretch.sort_by_key(|it| (it["call"].to_string(), it["kind"].to_string()));
    }
    records
}

/// Replaces random parts of every text: the home, call ids, seconds.
fn plain(value: &mut Value, home: &str, ids: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            // Providers differ in the reasoning that they show.
            items.retain(|item| item["is"] != "reasoning");
            items.iter_mut().for_each(|item| plain(item, home, ids));
        }
        Value::Object(members) => {
            members.shift_remove("opaque");
            let is_call = members.get("is").is_some_and(|it| it == "call");
            for (name, member) in members.iter_mut() {
                let is_id = name == "call" || is_call && name == "id";
                match member {
                    Value::String(id) if is_id => *id = numbered(id, ids),
                    // Wires differ in the order of an object's members.
                    Value::String(text) if is_call && name == "arguments" => {
                        let mut arguments = serde_json::from_str(text).unwrap_or(Value::Null);
                        arguments = sorted(&arguments);
                        *text = arguments.to_string();
                    }
                    other => plain(other, home, ids),
                }
            }
        }
        Value::String(text) => *text = without_seconds(&text.replace(home, "HOME")),
        _ => {}
    }
}

fn sorted(value: &Value) -> Value {
    let Value::Object(members) = value else {
        return value.clone();
    };
    let sorted: BTreeMap<&String, &Value> = members.iter().collect();
    sorted
        .into_iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn numbered(id: &str, ids: &mut Vec<String>) -> String {
    let known = ids.iter().position(|it| it == id);
    let number = known.unwrap_or_else(|| {
        ids.push(id.to_owned());
        ids.len() - 1
    });
    format!("call {number:02}")
}

/// Replaces every number with a decimal point by the same text.
fn without_seconds(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let end = rest[start..]
            .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .map_or(rest.len(), |length| start + length);
        plain.push_str(&rest[..start]);
        let number = &rest[start..end];
        plain.push_str(if number.trim_end_matches('.').contains('.') {
            "N"
        } else {
            number
        });
        rest = &rest[end..];
    }
    plain + rest
}

fn gather(folder: &Path, below: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder.join(below))
        .expect("a folder")
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = [below, &name].join(if below.is_empty() { "" } else { "/" });
        if entry.path().is_dir() {
            gather(folder, &path, files)
        } else {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            files.insert(path, text);
        }
    }
}
