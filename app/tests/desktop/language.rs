//! Tests language servers in the window with a scripted server: trust, problems, the definition, the end.

use std::fs;
use std::process::Command;

use crate::desk::Desk;

#[test]
fn problems_of_a_server_in_the_window() {
    let Some(mut desk) = Desk::new() else {
        return test_support::skip("needs Xvfb, xdotool and git");
    };
    if !desk.listen() {
        return test_support::skip("needs dbus, at-spi2-core and python3-pyatspi");
    }
    let folder = desk.folder().join("work");
    fs::create_dir_all(&folder).expect("create");
    let file = folder.join("a.sql");
    fs::write(&file, "aé🙂b\nsecond\n").expect("write");
    fs::create_dir_all(desk.folder().join("config")).expect("create");
    let script = test_support::data("language-server.sh");
    let script = script.canonicalize().expect("the script");
    let settings = serde_json::json!({
        "lsp": { "servers": { "script": { "command": script, "args": ["push"], "languages": ["SQL"] } } }
    });
    fs::write(
        desk.folder().join("config/settings.json"),
        settings.to_string(),
    )
    .expect("write");

    let burin = desk.start(&[folder.as_os_str(), file.as_os_str()]);
    let shows = |name: &str| {
        let nodes = desk.accessible_nodes();
        nodes.iter().any(|node| node.name.contains(name))
    };
    // Nothing starts in a folder without trust.
    desk.until("the reason", 60, || shows("No language servers"));
    let pids = folder.join("server-pids");
    assert!(!pids.exists());
    desk.keys(&["ctrl+shift+p"]);
    desk.type_text("language show servers");
    desk.keys(&["Return"]);
    desk.until("the menu", 30, || shows("Trust this folder"));
    desk.picture("language-1-menu");
    desk.type_text("trust");
    desk.keys(&["Return"]);
    desk.until("the problem", 60, || shows("1 error"));
    desk.picture("language-2-problem");

    // The keyboard goes to the problem, the definition, and back to the problem.
    desk.keys(&["ctrl+1", "F8"]);
    desk.until("the card", 30, || shows("it is wrong"));
    desk.picture("language-3-card");
    desk.keys(&["F12"]);
    desk.until("the definition", 30, || shows("2:1"));
    desk.type_text("x");
    desk.keys(&["F8"]);
    desk.until("the problem", 30, || shows("1:2"));
    desk.type_text("y");
    desk.keys(&["ctrl+s"]);
    desk.until("the saved text", 30, || {
        fs::read_to_string(&file).is_ok_and(|text| text == "ayé🙂b\nxsecond\n")
    });
    let pid = fs::read_to_string(&pids).expect("a server started");
    drop(burin);
    desk.until("the end of the server", 30, || {
        let alive = Command::new("kill").args(["-0", pid.trim()]).output();
        !alive.expect("kill runs").status.success()
    });
}
