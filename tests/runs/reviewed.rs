//! The changes of a session in the user's folder are listed, taken out, restored and put back by
//! later commands.

use serde_json::json;

use super::world::{WIRES, World, serve};

#[test]
fn later_commands_review_a_session() {
    let call = |contains: &str, tool: &str, arguments: serde_json::Value| {
        json!({
            "match": { "user": { "contains": contains }, "step": 1 },
            "reply": [{ "call": { "tool": tool, "arguments": arguments } }],
        })
    };
    let script = json!({ "rules": [
        call("Comment on `new.txt:1`", "exec_command", json!({ "command": "printf 'mended\\n' > new.txt" })),
        call("write it", "write", json!({ "path": "new.txt", "content": "made\n" })),
        call("run it", "exec_command", json!({ "command": "printf 'by a command\\n' > old.txt" })),
        { "reply": [{ "text": "Done." }] },
    ] });
    let server = serve(&script.to_string());
    let world = World::new(WIRES[2], &server);
    let write = |path: &str, text: &str| {
        std::fs::write(world.project().join(path), text).expect("a file");
    };
    write("old.txt", "old\n");
    write("other.txt", "other\n");
    let left = world.run(&["write it"]);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    let id = left.told[0]["id"].as_str().expect("a session").to_owned();
    let left = world.run(&["--resume", &id, "run it"]);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    assert_eq!(world.text("old.txt"), "by a command\n");
    let changes = || {
        let left = world.agent(&["sessions", "changes", "--json", &id]);
        assert_eq!(left.code, Some(0), "{}", left.errors);
        left.told[0].clone()
    };
    let left = world.agent(&[
        "sessions",
        "comment",
        &id,
        "new.txt:1",
        "--json",
        "--yes",
        "why",
        "so?",
    ]);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    let left = world.agent(&["sessions", "comment", &id, "other.txt:1", "why?"]);
    assert_eq!(left.code, Some(1));
    assert!(
        left.errors.contains("no change to review at other.txt:1"),
        "{}",
        left.errors
    );
    let listed = changes();
    let answered = json!([{ "text": "why so?", "state": "answered", "answer": "Done." }]);
    assert_eq!(
        listed["hunks"][0]["comments"], answered,
        "the mended change keeps its comment"
    );
    assert_eq!(listed["hunks"][0]["prompt"], "Comment on `new.txt:1`:");
    assert_eq!(listed["hunks"][1]["prompt"], "run it");
    let hunks: Vec<_> = listed["hunks"].as_array().into_iter().flatten().collect();
    let shown: Vec<String> = hunks
        .iter()
        .map(|it| format!("{} {} {}", it["path"], it["calls"][0]["turn"], it["after"]))
        .collect();
    assert_eq!(
        shown,
        [
            "\"new.txt\" 3 [\"mended\"]",
            "\"old.txt\" 2 [\"by a command\"]",
        ]
    );
    let run = |arguments: &[&str]| {
        let left = world.agent(arguments);
        assert_eq!(left.code, Some(0), "{}", left.errors);
    };
    run(&["sessions", "restore", &id, "1"]);
    assert_eq!(
        (world.text("old.txt"), world.text("new.txt")),
        ("old\n".to_owned(), String::new())
    );
    assert!(!world.project().join("new.txt").exists());
    run(&["sessions", "undo-restore", &id]);
    assert_eq!(world.text("old.txt"), "by a command\n");
    assert_eq!(changes()["hunks"], listed["hunks"]);
    run(&["sessions", "keep", &id, "--file", "new.txt"]);
    run(&["sessions", "reject", &id]);
    assert_eq!(
        (world.text("old.txt"), world.text("new.txt")),
        ("old\n".to_owned(), "mended\n".to_owned())
    );
    assert_eq!(changes()["hunks"], json!([]));
    assert_eq!(world.text("other.txt"), "other\n");
}
