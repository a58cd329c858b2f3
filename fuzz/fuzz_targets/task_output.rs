//! Problem matchers with any expressions read any output, in any pieces, alike. The first line of the data is the
//! expression of a matcher; the second one, if the first is empty, is the name of a built-in matcher.
#![no_main]

use std::sync::Arc;

use base::{AbsPath, Platform};
use host::FakeFiles;
use libfuzzer_sys::fuzz_target;
use serde_json::json;
use tasks::{TaskOutput, TaskSet};

/// Returns the search of a task with one matcher; `None` if that is invalid.
fn search(matcher: &serde_json::Value) -> Option<TaskOutput> {
    let root = AbsPath::new("/p").expect("absolute");
    let files = FakeFiles::new();
    files.write(&root.join("a.c"), "");
    let task = json!({ "label": "t", "command": "x", "problemMatcher": matcher });
    let text = json!({ "version": "2.0.0", "tasks": [task] }).to_string();
    files.write(&root.join(".vscode/tasks.json"), text);
    let set = TaskSet::read(&files, &root, Platform::Linux);
    let task = set.task("t").filter(|task| !task.matchers.is_empty())?;
    Some(TaskOutput::new(
        &task.matchers,
        &root,
        &root,
        Arc::new(files),
    ))
}

fn line(data: &[u8]) -> (String, &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n');
    let (line, rest) = match end {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (data, &[][..]),
    };
    (String::from_utf8_lossy(line).into_owned(), rest)
}

fuzz_target!(|data: &[u8]| {
    let (expression, mut output) = line(data);
    let matcher = if expression.is_empty() {
        let (name, rest) = line(output);
        output = rest;
        json!(name)
    } else {
        let pattern = json!({ "regexp": expression, "file": 1, "line": 2, "message": 0 });
        json!({ "pattern": [pattern, { "regexp": expression, "file": 1, "loop": true }] })
    };
    let (Some(mut whole), Some(mut split)) = (search(&matcher), search(&matcher)) else {
        return;
    };
    whole.feed(output);
    whole.finish();
    let piece = usize::from(data[0] % 7) + 1;
    for piece in output.chunks(piece) {
        split.feed(piece);
    }
    split.finish();
    assert_eq!(whole.problems(), split.problems());
    assert_eq!(whole.omitted(), split.omitted());
    for problem in whole.problems() {
        assert!(problem.message.len() <= 8 << 10);
    }
});
