//! Tests the whole program as a user would: a virtual display, real keys, a real repository and
//! real git.
//!
//! Skipped if Xvfb or xdotool is missing. Screenshots of the steps are kept in
//! `target/desktop/`.
#![expect(
    clippy::disallowed_methods,
    reason = "a story starts programs and looks at files"
)]

#[path = "desktop/agents.rs"]
mod agents;
#[path = "desktop/desk.rs"]
mod desk;
#[path = "desktop/language.rs"]
mod language;
#[path = "desktop/terminal.rs"]
mod terminal;

use std::fs;
use std::process::Command;

use desk::Desk;

/// Files of the repository that is opened.
const FILES: usize = 2_100;

#[test]
fn the_program_says_who_it_is() {
    let output = Command::new(env!("CARGO_BIN_EXE_burin"))
        .arg("--version")
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    assert!(text.starts_with("burin "), "{text}");
}

#[test]
fn without_a_display_it_says_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_burin"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        text.contains("display") && text.contains("burin-agent"),
        "{text}"
    );
}

#[test]
fn of_a_display_that_does_not_answer_it_says_so() {
    for (variable, other, name) in [
        ("DISPLAY", "WAYLAND_DISPLAY", ":4095"),
        ("WAYLAND_DISPLAY", "DISPLAY", "wayland-nowhere"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_burin"))
            .env(variable, name)
            .env_remove(other)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(
            text.contains(name) && text.contains(variable) && text.contains("burin-agent"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1, "one sentence: {text}");
    }
}

#[test]
fn a_walk_through_a_real_repository() {
    let Some(desk) = Desk::new() else {
        return test_support::skip("needs Xvfb, xdotool and git");
    };
    let repo = desk.folder().join("repo");
    plant(&repo);
    desk.git(&repo, &["init", "-q"]);
    desk.git(&repo, &["add", "."]);
    desk.git(&repo, &["commit", "-q", "-m", "start"]);

    let burin = desk.start(&[repo.as_os_str()]);
    desk.picture("1-opened");

    // Find a file and edit it with five carets.
    let read = |n| fs::read_to_string(repo.join(name(n))).unwrap_or_default();
    // Enter waits for the search.
    desk.keys(&["ctrl+p"]);
    desk.type_text("file1234");
    desk.picture("2-found");
    desk.keys(&["Return"]);
    desk.titled("file1234");
    desk.until("the text", 60, || desk.stands_still(3));
    desk.keys(&[
        "ctrl+Home",
        "ctrl+d",
        "ctrl+d",
        "ctrl+d",
        "ctrl+d",
        "ctrl+d",
    ]);
    desk.type_text("thread");
    desk.picture("3-five-carets");
    desk.keys(&["Escape", "ctrl+s"]);
    desk.until("the saved file", 60, || read(1_234).contains("thread"));

    // Replace by an expression in the whole project.
    desk.keys(&["ctrl+shift+h", "alt+r"]);
    desk.type_text(r"old_name\((\d+)\)");
    desk.keys(&["Tab"]);
    desk.type_text("new_name($1, $1)");
    desk.picture("4-replace-preview");
    // The confirmation appears after the last result. The confirmation is static, whereas the caret
    // of a text field blinks.
    desk.showing("the question", |desk| desk.keys(&["ctrl+alt+Return"]));
    desk.picture("5-replace-asked");
    // Cancel has the focus: Enter alone must not change two thousand files.
    desk.keys(&["Tab", "Return"]);
    desk.until("the replacement", 60, || {
        // The open file changes in its tab and waits to be saved.
        (0..FILES).all(|n| n == 1_234 || read(n).contains("new_name"))
    });
    desk.until("the end of the replacement", 60, || desk.stands_still(3));
    desk.keys(&["ctrl+k", "s"]);
    desk.until("the saved tab", 60, || read(1_234).contains("new_name"));
    desk.picture("6-replaced");

    // Splits the pane, edits another file in it, and saves.
    desk.keys(&["ctrl+p"]);
    desk.type_text("file0007");
    desk.keys(&["Return"]);
    desk.titled("file0007");
    desk.showing("the other pane", |desk| desk.keys(&["ctrl+backslash"]));
    desk.keys(&["ctrl+End"]);
    desk.type_text("// the end");
    desk.keys(&["ctrl+s"]);
    desk.until("the saved end", 60, || read(7).ends_with("// the end"));
    desk.picture("7-split");
    drop(burin);

    // Only the intended text was replaced.
    for n in 0..FILES {
        let mut expect =
            content(n).replace(&format!("old_name({n})"), &format!("new_name({n}, {n})"));
        match n {
            1_234 => expect = expect.replace("needle", "thread"),
            7 => expect.push_str("// the end"),
            _ => {}
        }
        let found = fs::read_to_string(repo.join(name(n))).expect("the file is there");
        assert_eq!(found, expect, "{}", name(n));
    }
    let changed = desk.git(&repo, &["status", "--porcelain"]);
    let other: Vec<_> = changed
        .lines()
        .filter(|line| !line.starts_with(" M dir"))
        .collect();
    assert!(other.is_empty(), "{other:?}");
    assert_eq!(changed.lines().count(), FILES);
}

#[test]
fn a_second_start_opens_in_the_running_window() {
    let Some(desk) = Desk::new() else {
        return test_support::skip("needs Xvfb, xdotool and git");
    };
    let (first, second) = (desk.folder().join("a.txt"), desk.folder().join("b.txt"));
    fs::write(&first, "first\n").expect("write");
    fs::write(&second, "one\ntwo\nthree\n").expect("write");
    let _burin = desk.start(&[first.as_os_str()]);
    let place = format!("{}:2:4", second.display());
    assert!(desk.start_again(&[place.as_ref()]), "the second start ends");
    desk.wait(1_000);
    desk.picture("9-second-start");
    desk.type_text("!");
    desk.keys(&["ctrl+s"]);
    desk.until("the second file to be saved", 20, || {
        fs::read_to_string(&second).is_ok_and(|text| text == "one\ntwo!\nthree\n")
    });
}

#[test]
fn typing_survives_kill_9() {
    let Some(desk) = Desk::new() else {
        return test_support::skip("needs Xvfb, xdotool and git");
    };
    let file = desk.folder().join("notes.txt");
    fs::write(&file, "first line\n").expect("write");
    let mut burin = desk.start(&[file.as_os_str()]);
    desk.keys(&["ctrl+End"]);
    desk.type_text("typed and never saved");
    desk.keys(&["ctrl+n"]);
    desk.wait(500);
    desk.type_text("an untitled thought");
    desk.wait(600);
    burin.kill();
    assert_eq!(fs::read_to_string(&file).expect("there"), "first line\n");

    let _again = desk.start(&[file.as_os_str()]);
    desk.wait(1_500);
    desk.picture("8-recovered");
    desk.keys(&["ctrl+k", "s"]);
    desk.until("the recovered text to be saved", 20, || {
        fs::read_to_string(&file).is_ok_and(|text| text == "first line\ntyped and never saved")
    });
}

#[test]
fn idle_window_sleeps_until_it_must_draw() {
    /// Maximum number of wake-ups in two seconds; a window that draws continuously has a hundred
    /// and twenty.
    const FEW: u64 = 60;
    let Some(desk) = Desk::new() else {
        return test_support::skip("needs Xvfb, xdotool and git");
    };
    let file = desk.folder().join("notes.txt");
    fs::write(&file, "first line\n").expect("write");
    let burin = desk.start(&[file.as_os_str()]);
    let rests = || {
        let before = burin.wakes();
        desk.wait(2_000);
        burin.wakes() - before < FEW
    };
    for round in 0..3 {
        desk.until("the window's rest", 60, rests);
        let before = desk.screen();
        desk.type_text("word ");
        desk.until("a picture of what was typed", 20, || {
            desk.screen() != before
        });
        if round == 1 {
            desk.until("the window's rest", 60, rests);
            burin.hide_and_show(&desk);
        }
    }
}

#[test]
fn a_screen_reader_is_told_the_name_of_every_control() {
    /// The accessibility roles of interactive elements.
    const CONTROLS: &[&str] = &[
        "push button",
        "button",
        "toggle button",
        "check box",
        "radio button",
        "combo box",
        "entry",
        "text",
        "editbar",
        "link",
        "list item",
        "menu item",
        "page tab",
        "slider",
        "spin button",
        "tree item",
    ];
    let Some(mut desk) = Desk::new() else {
        return test_support::skip("needs Xvfb, xdotool and git");
    };
    if !desk.listen() {
        return test_support::skip("needs dbus, at-spi2-core and python3-pyatspi");
    }
    let folder = desk.folder().join("work");
    fs::create_dir_all(folder.join("src")).expect("create");
    fs::write(folder.join("src/main.rs"), "fn main() {}\n").expect("write");
    let _burin = desk.start(&[folder.as_os_str()]);
    let look = |what: &str, wanted: &[&str]| {
        desk.wait(1_000);
        desk.picture(&format!("accessible-{what}"));
        let nodes = desk.accessible_nodes();
        for node in &nodes {
            let is_control = node.is_focusable || CONTROLS.contains(&node.role.as_str());
            let has_name = !node.name.trim().is_empty();
            let place = (&node.role, &node.path);
            assert!(!is_control || has_name, "{what}: without a name: {place:?}");
        }
        for wanted in wanted {
            let is_there = nodes.iter().any(|node| node.name.contains(wanted));
            let names: Vec<_> = nodes.iter().map(|node| &node.name).collect();
            assert!(is_there, "{what}: {wanted} is not among {names:?}");
        }
    };
    look("an empty window", &["Project files", "New text", "Menu"]);
    desk.keys(&["ctrl+p"]);
    desk.type_text("main");
    look("the file finder", &["main.rs"]);
    desk.keys(&["Return"]);
    look("a text", &["main.rs", "Rust"]);
    desk.keys(&["ctrl+f"]);
    look("find", &["Find"]);
    desk.keys(&["Escape", "ctrl+shift+f"]);
    look("the search", &["Match case"]);
    desk.keys(&["ctrl+shift+p"]);
    look("the palette", &["Commands"]);
}

fn name(n: usize) -> String {
    format!("dir{:02}/file{n:04}.rs", n % 40)
}

fn content(n: usize) -> String {
    let needles = if n == 1_234 {
        "needle\n".repeat(5)
    } else {
        String::new()
    };
    format!("{needles}/// Number {n}.\npub fn call_{n}() -> usize {{\n    old_name({n})\n}}\n")
}

fn plant(repo: &std::path::Path) {
    for n in 0..FILES {
        let path = repo.join(name(n));
        fs::create_dir_all(path.parent().expect("a folder")).expect("create");
        fs::write(path, content(n)).expect("write");
    }
}
