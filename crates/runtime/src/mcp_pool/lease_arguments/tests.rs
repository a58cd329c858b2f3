//! Servers of a checkout that serve a worktree.

use connect::Variables;
use connect::mcp::{ServerOrigin, config};
use host::FakeFiles;
use serde_json::{Value, json};

use super::*;

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

/// Points an entry at a worktree of a checkout with the folder `tools`.
#[track_caller]
fn pointed(entry: &Value) -> (Vec<String>, Variables) {
    let files = FakeFiles::new();
    files.write(&path("/checkout/tools/server.js"), "");
    let checkout = path("/checkout");
    let servers = json!({ "s": entry });
    let (mut entries, problems) =
        config::parse(&servers, &ServerOrigin::User, &checkout, &Variables::new());
    assert!(problems.is_empty());
    point_at_worktree(&files, &mut entries[0], &checkout, &path("/worktree"));
    let Ok(ServerTransport::Process {
        arguments,
        environment,
        folder,
        ..
    }) = &entries[0].reach
    else {
        panic!("a process");
    };
    assert_eq!(folder, &checkout, "code is found from the checkout");
    (arguments.clone(), environment.clone())
}

#[track_caller]
fn check(command: &str, arguments: &[&str], expected: &[&str]) {
    let (found, _) = pointed(&json!({ "command": command, "args": arguments }));
    assert_eq!(found, expected, "{command} {arguments:?}");
}

/// Checks that the arguments stay as the user approved them.
#[track_caller]
fn check_stays(command: &str, arguments: &[&str]) {
    check(command, arguments, arguments);
}

#[test]
fn folders_that_a_server_works_on_become_those_of_the_worktree() {
    let server = "./tools/server.js";
    check("node", &[server, "."], &[server, "/worktree"]);
    check(
        "/usr/bin/node",
        &[server, "${workspaceFolder}"],
        &[server, "/worktree"],
    );
    let options = ["--root=./tools", "--repository", "/checkout/tools"];
    let moved = ["--root=/worktree/tools", "--repository", "/worktree/tools"];
    check("uvx", &options, &moved);
    let package = "@modelcontextprotocol/server-filesystem";
    check("npx", &["-y", package, "."], &["-y", package, "/worktree"]);
    check(
        "python3.12",
        &["-m", "git", "."],
        &["-m", "git", "/worktree"],
    );
    check(
        "go",
        &["run", "./tools", "."],
        &["run", "./tools", "/worktree"],
    );
    check("mcp-server-files", &["."], &["/worktree"]);
}

#[test]
fn folders_that_may_hold_code_stay_those_of_the_checkout() {
    check_stays("node", &["."]);
    check_stays("node.exe", &["./tools"]);
    check_stays("node22", &["./tools"]);
    check_stays("python3.12", &["./tools"]);
    check_stays("go", &["run", "./tools"]);
    check_stays("uv", &["run", "--directory", ".", "server"]);
    check_stays("uv", &["--directory=.", "run", "server"]);
    check_stays("npm", &["--prefix", "./tools", "start"]);
    check_stays("env", &["MODE=x", "node", "./tools"]);
    check_stays("sh", &["./tools/run", "."]);
    check_stays("./tools/server", &["--plugins=./tools"]);
    check_stays("./tools/server", &["--plugins", "./tools"]);
    check_stays("node", &["--script=./tools/server.js", "/etc"]);
    check_stays("node", &["tools", "./missing", ".."]);
}

#[test]
fn variables_lead_to_the_worktree_only_with_names_of_data() {
    let variables = ["PROJECT_ROOT", "PYTHONPATH", "NODE_PATH", "PLUGIN_DIR"];
    let values = variables.map(|name| (name.to_owned(), Value::from("./tools")));
    let values = Value::from(serde_json::Map::from_iter(values));
    let entry = json!({ "command": "node", "env": values });
    let (_, environment) = pointed(&entry);
    assert_eq!(environment["PROJECT_ROOT"], "/worktree/tools");
    for name in &variables[1..] {
        assert_eq!(environment[*name], "./tools", "{name}");
    }
}
