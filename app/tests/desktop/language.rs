//! Tests language servers in the window with a scripted server: trust, problems, the definition, edits, the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::desk::Desk;

/// Starts a desktop whose accessible names can be read; `None`, with a skip, if a program for it is missing.
fn desk() -> Option<Desk> {
    let Some(mut desk) = Desk::new() else {
        test_support::skip("needs Xvfb, xdotool and git");
        return None;
    };
    if !desk.listen() {
        test_support::skip("needs dbus, at-spi2-core and python3-pyatspi");
        return None;
    }
    Some(desk)
}

/// Returns whether the accessible name of a node contains `name`.
fn shows(desk: &Desk, name: &str) -> bool {
    let nodes = desk.accessible_nodes();
    nodes.iter().any(|node| node.name.contains(name))
}

/// Writes a folder with two texts, and settings by which the scripted server with a behaviour serves them.
fn write_folder(desk: &Desk, behaviour: &str, editor: &serde_json::Value) -> PathBuf {
    let folder = desk.folder().join("work");
    fs::create_dir_all(&folder).expect("create");
    fs::write(folder.join("a.sql"), "aé🙂b\nsecond\n").expect("write");
    fs::write(folder.join("b.sql"), "first\nsecond\n").expect("write");
    let script = test_support::data("language-server.sh");
    let script = script.canonicalize().expect("the script");
    let server =
        serde_json::json!({ "command": script, "args": [behaviour], "languages": ["SQL"] });
    let settings =
        serde_json::json!({ "lsp": { "servers": { "script": server } }, "editor": editor });
    let config = desk.folder().join("config");
    fs::create_dir_all(&config).expect("create");
    fs::write(config.join("settings.json"), settings.to_string()).expect("write");
    folder
}

fn trust(desk: &Desk, folder: &Path) {
    let state = desk.folder().join("state");
    fs::create_dir_all(&state).expect("create");
    let trusted = serde_json::json!({ "folders": [folder.canonicalize().expect("the folder")] });
    fs::write(state.join("trusted.json"), trusted.to_string()).expect("write");
}

fn has_text(file: &Path, expected: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text == expected)
}

#[test]
fn problems_of_a_server_in_the_window() {
    let Some(desk) = desk() else {
        return;
    };
    let folder = write_folder(&desk, "push", &serde_json::json!({}));
    let file = folder.join("a.sql");

    let burin = desk.start(&[folder.as_os_str(), file.as_os_str()]);
    let shows = |name: &str| shows(&desk, name);
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
        has_text(&file, "ayé🙂b\nxsecond\n")
    });
    let pid = fs::read_to_string(&pids).expect("a server started");
    drop(burin);
    desk.until("the end of the server", 30, || {
        let alive = Command::new("kill").args(["-0", pid.trim()]).output();
        !alive.expect("kill runs").status.success()
    });
}

#[test]
fn edits_of_a_server_in_the_window() {
    let Some(desk) = desk() else {
        return;
    };
    let format = serde_json::json!({
        "format_on_save": true,
        "code_actions_on_save": ["source.fixAll"],
    });
    let folder = write_folder(&desk, "edit", &format);
    let (a, b) = (folder.join("a.sql"), folder.join("b.sql"));
    trust(&desk, &folder);

    let burin = desk.start(&[folder.as_os_str(), a.as_os_str()]);
    let shows = |name: &str| shows(&desk, name);
    desk.until("the problem", 60, || shows("1 error"));

    // The new name reaches the open text and the closed one, after the user has seen the changes.
    desk.keys(&["ctrl+1", "F8", "F2"]);
    desk.until("the question", 30, || shows("Type another name"));
    desk.type_text("third");
    desk.until("the name", 30, || shows("Rename to third"));
    desk.picture("language-4-rename");
    desk.keys(&["ctrl+Return"]);
    desk.until("the changes", 30, || shows("b.sql:2"));
    desk.picture("language-5-preview");
    assert!(has_text(&b, "first\nsecond\n"));
    desk.keys(&["Return"]);
    desk.until("the other file", 30, || has_text(&b, "first\nthird\n"));
    desk.until("the open file", 30, || has_text(&a, "aé🙂b\nthird\n"));
    desk.picture("language-6-renamed");

    // The whole rename is undone, once the window knows that it ended: the files have the new name a little before.
    desk.until("the old name", 60, || {
        desk.keys(&["ctrl+shift+p"]);
        desk.type_text("undo refactoring");
        desk.keys(&["Return"]);
        desk.wait(1_000);
        has_text(&a, "aé🙂b\nsecond\n") && has_text(&b, "first\nsecond\n")
    });

    // A fix; when the text is saved, all fixes, and formatting of the text that they leave.
    desk.keys(&["ctrl+1", "ctrl+period"]);
    desk.until("the fix", 30, || shows("Write an e"));
    desk.picture("language-7-fixes");
    desk.keys(&["Return"]);
    desk.until("the fix", 30, || shows("a.sql, not saved"));
    desk.keys(&["ctrl+s"]);
    desk.until("the formatted text", 30, || {
        has_text(&a, "ae🙂b\n  xsecond\n")
    });

    drop(burin);
}

#[test]
fn the_light_bulb_and_peek_in_the_window() {
    let Some(desk) = desk() else {
        return;
    };
    let folder = write_folder(&desk, "types", &serde_json::json!({}));
    trust(&desk, &folder);
    let file = folder.join("a.sql");
    let burin = desk.start(&[folder.as_os_str(), file.as_os_str()]);
    let shows = |name: &str| shows(&desk, name);
    desk.until("the server", 60, || {
        desk.keys(&["ctrl+1", "Right", "Left"]);
        shows("Show code actions")
    });
    desk.picture("language-8-light-bulb");
    // The reference is in the first row; Enter opens it.
    desk.keys(&["Down", "shift+alt+F12"]);
    desk.until("the reference", 30, || shows("Reference: second"));
    desk.picture("language-9-peek");
    desk.type_text("x");
    desk.keys(&["BackSpace", "Return"]);
    desk.until("the end of the peek", 30, || !shows("Reference: second"));
    assert!(has_text(&file, "aé🙂b\nsecond\n"), "nothing was typed");
    desk.keys(&["Left"]);
    desk.type_text("y");
    desk.keys(&["ctrl+s"]);
    desk.until("the saved text", 30, || has_text(&file, "yaé🙂b\nsecond\n"));
    drop(burin);
}

#[test]
fn a_server_formats_in_the_window_while_the_user_types() {
    let Some(desk) = desk() else {
        return;
    };
    let format = serde_json::json!({ "format_on_type": true });
    let folder = write_folder(&desk, "edit", &format);
    trust(&desk, &folder);
    let file = folder.join("a.sql");
    let burin = desk.start(&[folder.as_os_str(), file.as_os_str()]);
    let shows = |name: &str| shows(&desk, name);
    desk.until("the problem", 60, || shows("1 error"));
    desk.keys(&["ctrl+1", "ctrl+Home"]);
    desk.type_text(";");
    desk.until("the formatted text", 30, || {
        desk.keys(&["ctrl+s"]);
        has_text(&file, ";aé🙂b\n  second\n")
    });
    drop(burin);
}
