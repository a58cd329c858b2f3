//! The output of `burin-agent sandbox` about a command, and the files it quarantines.

use std::process::Command;

use serde_json::json;

use super::home::{Home, is_there};

fn home() -> Home {
    let home = Home::new(&json!([{ "reply": [{ "text": "Done." }] }]));
    let done = Command::new("git")
        .args(["init", "-q"])
        .current_dir(home.path("project"))
        .status();
    assert!(done.is_ok_and(|status| status.success()));
    home
}

fn sandboxed(home: &Home, script: &str) -> super::home::Left {
    home.run(&["sandbox", "--", "sh", "-c", script])
}

#[test]
fn what_a_command_leaves_is_told_and_put_aside() {
    let home = home();
    let left = sandboxed(
        &home,
        "mkdir -p sub/.vscode; echo '{}' > sub/.vscode/tasks.json; echo x > AGENTS.md",
    );
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(
        left.errors.contains("sub/.vscode/tasks.json is new"),
        "{left:?}"
    );
    assert!(left.errors.contains("AGENTS.md is new"), "{left:?}");
    assert!(!is_there(&home.path("project/sub/.vscode/tasks.json")));
    assert!(is_there(&home.path("project/AGENTS.md")));
    let aside = left
        .errors
        .split("--restore ")
        .nth(1)
        .and_then(|rest| rest.split('`').next());
    let back = home.run(&["sandbox", "--restore", aside.expect("where it is")]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert!(is_there(&home.path("project/sub/.vscode/tasks.json")));
}

#[test]
fn work_is_not_commented_on() {
    let home = home();
    let left = sandboxed(&home, "echo x > a.txt; git add a.txt; git status --short");
    assert_eq!((left.code, left.errors.as_str()), (Some(0), ""), "{left:?}");
}

#[test]
fn a_home_folder_as_the_workspace_is_said_aloud() {
    let home = home();
    let root = home.path("").display().to_string();
    let root = root.trim_end_matches('/');
    for arguments in [
        &["sandbox", "--workspace", root, "--", "true"][..],
        &["run", "--root", root, "--model", "mock/m", "work"],
    ] {
        let left = home.run(arguments);
        assert!(
            left.errors.contains("is your home folder or holds it"),
            "{left:?}"
        );
    }
    let left = home.run(&["run", "--model", "mock/m", "work"]);
    assert!(!left.errors.contains("home folder"), "{left:?}");
}

#[test]
fn git_hooks_are_reported_before_the_first_command() {
    let home = home();
    home.write("project/.git/hooks/pre-commit", "#!/bin/sh\nnpm test\n");
    let left = home.run(&["run", "--model", "mock/m", "work"]);
    assert!(
        left.errors
            .contains("pre-commit by itself, which calls \"npm\""),
        "{left:?}"
    );
}

#[test]
fn a_first_repository_is_protected_for_the_next_command() {
    let command = |text: &str| json!({ "call": { "tool": "exec_command", "arguments": { "command": text } } });
    let home = Home::new(&json!([
        { "match": { "step": 1 }, "reply": [command("git init -q && git add . && git status --short")] },
        { "match": { "step": 2 }, "reply": [command("echo x > .git/hooks/pre-commit; git config core.fsmonitor x; git config user.name Ada; echo $?")] },
        { "match": { "step": 3 }, "reply": [command("git -c user.name=a -c user.email=b commit -q --allow-empty -m x && echo committed")] },
        { "reply": [{ "text": "Done." }] }
    ]));
    home.write("project/a.txt", "one\n");
    let left = home.run(&["run", "--model", "mock/m", "--yes", "work"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(is_there(&home.path("project/.git/HEAD")), "{left:?}");
    assert!(
        !is_there(&home.path("project/.git/hooks/pre-commit")),
        "{left:?}"
    );
    let config =
        std::fs::read_to_string(home.path("project/.git/config")).expect("a configuration");
    assert!(
        !config.contains("fsmonitor") && !config.contains("Ada"),
        "{config}"
    );
    let told = home.asked().last().expect("a request").to_string();
    assert!(told.contains("committed"), "{told}");
}

#[test]
fn command_line_grants_a_local_port() {
    let home = home();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        std::io::Write::write_all(&mut stream, b"hello\n").expect("written");
    });
    let script = format!("bash -c 'cat < /dev/tcp/localhost/{port}'");
    let host = format!("127.0.0.1:{port}");
    let left = home.run(&["sandbox", "--allow-host", &host, "--", "sh", "-c", &script]);
    assert_eq!(
        (left.code, left.output.as_str()),
        (Some(0), "hello\n"),
        "{left:?}"
    );
    server.join().expect("the server");
}
