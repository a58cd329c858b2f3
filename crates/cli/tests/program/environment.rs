//! Tests the environment of every kind of child process: it contains no secrets except those meant
//! for it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::home::{Home, Left};

/// Variables that hold secrets, and those that lead to the user's session.
const SECRETS: &str = include_str!("../../../host/src/environment/secrets.txt");

/// A variable that every child receives unless the settings name it as a key.
const EDITOR: (&str, &str) = ("EDITOR", "s3cret");

/// Creates a home in which an agent runs `env > env.txt`.
fn home() -> Home {
    let call = json!({ "tool": "exec_command", "arguments": { "command": "env > env.txt" } });
    Home::new(&json!([
        { "match": { "step": 1, "tools": ["exec_command"] }, "reply": [{ "call": call }] },
        { "reply": [{ "text": "Done." }] }
    ]))
}

/// Creates the same home, whose settings name the variable `EDITOR` as the model's key.
fn home_with_key_in_editor() -> Home {
    let home = home();
    let settings = std::fs::read_to_string(home.path("config/settings.json")).expect("settings");
    home.write(
        "config/settings.json",
        &settings.replace("MOCK_KEY", "EDITOR"),
    );
    home
}

/// Runs `test` without and with an ordinary variable that the settings name as a key. The test
/// passes the variables to the program.
fn with_ordinary_and_named_keys(test: impl Fn(Home, &[(&str, &str)])) {
    test(home(), &[]);
    test(home_with_key_in_editor(), &[EDITOR]);
}

/// Writes a program into the home and returns its path.
fn write_program(home: &Home, name: &str, text: &str) -> String {
    home.write(name, text);
    let path = home.path(name);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a mode");
    path.display().to_string()
}

fn run(home: &Home, arguments: &[&str], more: &[(&str, &str)]) -> Left {
    let mut command: Command = home.command(arguments);
    command.envs(SECRETS.lines().map(|name| (name, "s3cret")));
    // The variable that the settings name as the key is among them, because the model needs a key.
    command.envs([("LANG", "C.UTF-8"), ("CARGO_HOME", "/kept")]);
    command.envs(more.iter().copied());
    home.left(command.stdin(Stdio::null()).spawn().expect("the program"))
}

/// Asserts that a child's environment has everything it needs, and no secrets but `meant`, which
/// are sorted.
#[track_caller]
fn check(home: &Home, file: &str, left: &Left, meant: &[&str]) {
    let seen = std::fs::read_to_string(home.path(file));
    let seen = seen.unwrap_or_else(|error| panic!("{file}: {error}: {left:?}"));
    for needed in ["PATH=", "HOME=", "LANG=C.UTF-8", "CARGO_HOME=/kept"] {
        assert!(seen.lines().any(|line| line.starts_with(needed)), "{seen}");
    }
    let secrets = seen.lines().filter(|line| line.ends_with("=s3cret"));
    let mut names: Vec<_> = secrets
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
    names.sort_unstable();
    assert_eq!(names, meant, "{seen}");
}

#[test]
fn commands_of_agents_find_no_secrets() {
    for more in [&[][..], &["--no-sandbox"]] {
        let home = home();
        let arguments = ["run", "--model", "mock/m", "--yes"].iter().chain(more);
        let arguments: Vec<&str> = arguments.copied().chain(["look"]).collect();
        let left = run(&home, &arguments, &[]);
        check(&home, "project/env.txt", &left, &[]);
    }
}

#[test]
fn commands_find_what_the_person_names_for_them_but_keys() {
    for off in [false, true] {
        let home = home();
        let named = ["DATABASE_URL", "MOCK_KEY", "NOT_SET"];
        let sandbox = json!({ "off": off, "environment": named });
        home.write(
            "config/permissions.json",
            &json!({ "sandbox": sandbox }).to_string(),
        );
        let left = run(&home, &["run", "--model", "mock/m", "--yes", "look"], &[]);
        check(&home, "project/env.txt", &left, &["DATABASE_URL"]);
    }
}

#[test]
fn a_key_under_an_ordinary_name_is_withheld() {
    let home = home_with_key_in_editor();
    let arguments = ["run", "--model", "mock/m", "--yes", "look"];
    let left = run(&home, &arguments, &[EDITOR]);
    check(&home, "project/env.txt", &left, &[]);
}

#[test]
fn hooks_find_no_secrets() {
    with_ordinary_and_named_keys(|home, more| {
        let seen = home.path("hook.txt").display().to_string();
        let command = format!("env > {seen}");
        let hooks = json!({ "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": command }] }] } });
        home.write("project/.burin/settings.json", &hooks.to_string());
        let arguments = ["run", "--model", "mock/m", "--yes", "--trust-hooks", "look"];
        let left = run(&home, &arguments, more);
        check(&home, "hook.txt", &left, &[]);
    });
}

#[test]
fn servers_find_what_their_entry_names_and_no_other_secret() {
    with_ordinary_and_named_keys(|home, more| {
        let seen = home.path("server.txt").display().to_string();
        let server = |environment: Value| {
            let entry = json!({
                "command": "sh", "args": ["-c", format!("env > {seen}")], "env": environment
            });
            let servers = json!({ "mcpServers": { "it": entry } });
            home.write("config/mcp.json", &servers.to_string());
            run(&home, &["mcp", "list"], more)
        };
        let left = server(json!({}));
        check(&home, "server.txt", &left, &[]);
        let left = server(json!({ "GITHUB_TOKEN": "${GITHUB_TOKEN}" }));
        check(&home, "server.txt", &left, &["GITHUB_TOKEN"]);
    });
}

#[test]
fn agents_of_others_find_no_secrets() {
    with_ordinary_and_named_keys(|home, more| {
        let seen = home.path("agent.txt").display().to_string();
        let text = format!("#!/bin/sh\nenv > {seen}\n");
        let program = write_program(&home, "agent.sh", &text);
        let left = run(&home, &["run", "--agent", &program, "look"], more);
        check(&home, "agent.txt", &left, &[]);
    });
}

#[test]
fn language_tools_in_the_sandbox_find_no_secrets() {
    with_ordinary_and_named_keys(|home, more| {
        let arguments = ["sandbox", "--", "sh", "-c", "env > tool.txt"];
        let left = run(&home, &arguments, more);
        check(&home, "project/tool.txt", &left, &[]);
    });
}

#[test]
fn git_finds_the_users_session_and_no_secrets() {
    with_ordinary_and_named_keys(|home, more| {
        let seen = home.path("git.txt").display().to_string();
        let text = format!("#!/bin/sh\nenv > {seen}\necho git version 2.47.0\n");
        write_program(&home, "bin/git", &text);
        let path = std::env::var("PATH").expect("a PATH");
        let path = format!("{}:{path}", home.path("bin").display());
        let more: Vec<_> = more.iter().copied().chain([("PATH", &*path)]).collect();
        let left = run(&home, &["doctor"], &more);
        let session = ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "SSH_AUTH_SOCK"];
        check(&home, "git.txt", &left, &session);
    });
}
