//! Whatever the program starts finds none of the secrets in its environment.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::home::{Home, Left};

/// Variables that hold secrets, and those that lead to the user's session.
const SECRETS: &str = include_str!("../../../host/src/environment/secrets.txt");

/// A home in which an agent runs `env > env.txt`.
fn home() -> Home {
    let call = json!({ "tool": "exec_command", "arguments": { "command": "env > env.txt" } });
    Home::new(&json!([
        { "match": { "step": 1, "tools": ["exec_command"] }, "reply": [{ "call": call }] },
        { "reply": [{ "text": "Done." }] }
    ]))
}

fn run(home: &Home, arguments: &[&str], more: &[(&str, &str)]) -> Left {
    let mut command: Command = home.command(arguments);
    command.envs(SECRETS.lines().map(|name| (name, "s3cret")));
    // The key's name of the settings is among them; the model wants one.
    command.envs([("LANG", "C.UTF-8"), ("CARGO_HOME", "/kept")]);
    command.envs(more.iter().copied());
    home.left(command.stdin(Stdio::null()).spawn().expect("the program"))
}

/// Asserts that a child's environment has everything it needs, and no secrets but `meant`.
#[track_caller]
fn check(home: &Home, file: &str, left: &Left, meant: &[&str]) {
    let seen = std::fs::read_to_string(home.path(file));
    let seen = seen.unwrap_or_else(|error| panic!("{file}: {error}: {left:?}"));
    for needed in ["PATH=", "HOME=", "LANG=C.UTF-8", "CARGO_HOME=/kept"] {
        assert!(seen.lines().any(|line| line.starts_with(needed)), "{seen}");
    }
    let secrets = seen.lines().filter(|line| line.ends_with("=s3cret"));
    let names: Vec<_> = secrets
        .filter_map(|line| Some(line.split_once('=')?.0))
        .collect();
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
    let home = home();
    let settings = std::fs::read_to_string(home.path("config/settings.json")).expect("settings");
    home.write(
        "config/settings.json",
        &settings.replace("MOCK_KEY", "EDITOR"),
    );
    let arguments = ["run", "--model", "mock/m", "--yes", "look"];
    let left = run(&home, &arguments, &[("EDITOR", "s3cret")]);
    check(&home, "project/env.txt", &left, &[]);
}

#[test]
fn hooks_find_no_secrets() {
    let home = home();
    let seen = home.path("hook.txt").display().to_string();
    let command = format!("env > {seen}");
    let hooks = json!({ "hooks": { "SessionStart": [{ "hooks": [{ "type": "command", "command": command }] }] } });
    home.write("project/.burin/settings.json", &hooks.to_string());
    let arguments = ["run", "--model", "mock/m", "--yes", "--trust-hooks", "look"];
    let left = run(&home, &arguments, &[]);
    check(&home, "hook.txt", &left, &[]);
}

#[test]
fn servers_find_what_their_entry_names_and_no_other_secret() {
    let home = home();
    let seen = home.path("server.txt").display().to_string();
    let server = |more: Value| {
        let entry =
            json!({ "command": "sh", "args": ["-c", format!("env > {seen}")], "env": more });
        let servers = json!({ "mcpServers": { "it": entry } });
        home.write("config/mcp.json", &servers.to_string());
        run(&home, &["mcp", "list"], &[])
    };
    let left = server(json!({}));
    check(&home, "server.txt", &left, &[]);
    let left = server(json!({ "GITHUB_TOKEN": "${GITHUB_TOKEN}" }));
    check(&home, "server.txt", &left, &["GITHUB_TOKEN"]);
}

#[test]
fn agents_of_others_find_no_secrets() {
    let home = home();
    let seen = home.path("agent.txt").display().to_string();
    home.write("agent.sh", &format!("#!/bin/sh\nenv > {seen}\n"));
    let program = home.path("agent.sh");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("a mode");
    let program = program.display().to_string();
    let left = run(&home, &["run", "--agent", &program, "look"], &[]);
    check(&home, "agent.txt", &left, &[]);
}
