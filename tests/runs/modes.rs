//! A session continues in the mode that the command line names.

use serde_json::json;

use super::world::{WIRES, World, serve};

#[test]
fn resumed_session_uses_the_requested_mode() {
    let write = |path: &str| {
        json!({
            "match": { "user": { "contains": path }, "step": 1 },
            "reply": [{ "call": { "tool": "write", "arguments": { "path": path, "content": "made\n" } } }],
        })
    };
    let server = serve(
        &json!({ "rules": [write("first.txt"), write("second.txt"), { "reply": [{ "text": "Done." }] }] })
            .to_string(),
    );
    let world = World::new(WIRES[2], &server);
    let left = world.run(&["hello"]);
    let id = left.told[0]["id"].as_str().expect("a session").to_owned();
    let left = world.run(&["--resume", &id, "--plan", "write first.txt"]);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    assert_eq!(world.text("first.txt"), "", "who plans changes nothing");
    let modes = |left: &super::world::Left| -> Vec<String> {
        let records = left.told.iter().map(|told| &told["record"]);
        let set = records.filter(|record| record["kind"] == "mode_set");
        set.map(|record| record["mode"].to_string()).collect()
    };
    assert_eq!(modes(&left), ["\"plan\""]);
    let left = world.run(&["--resume", &id, "--plan", "plan on"]);
    assert!(modes(&left).is_empty());
    let left = world.run(&["--resume", &id, "write second.txt"]);
    assert_eq!(left.code, Some(0), "{}", left.errors);
    assert_eq!(modes(&left), ["\"build\""]);
    assert_eq!(world.text("second.txt"), "made\n");
}
