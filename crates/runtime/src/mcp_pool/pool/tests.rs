//! Servers of a checkout that serve a worktree.

use connect::Variables;
use connect::mcp::{ServerOrigin, config};
use host::FakeFiles;
use serde_json::json;

use super::*;

fn path(text: &str) -> AbsPath {
    AbsPath::new(text).expect("absolute")
}

#[track_caller]
fn check(arguments: &[&str], expected: &[&str]) {
    let files = FakeFiles::new();
    files.write(&path("/checkout/tools/server.js"), "");
    let servers =
        json!({ "s": { "command": "node", "args": arguments, "env": { "DATA": "./tools" } } });
    let checkout = path("/checkout");
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
    assert_eq!(arguments, expected);
    assert_eq!(environment["DATA"], "/worktree/tools");
    assert_eq!(folder, &checkout, "code is found from the checkout");
}

#[test]
fn worktree_session_runs_server_code_of_the_checkout() {
    check(
        &["./tools/server.js", "."],
        &["./tools/server.js", "/worktree"],
    );
    check(&["${workspaceFolder}"], &["/worktree"]);
    check(
        &["--root=./tools", "/checkout/tools"],
        &["--root=/worktree/tools", "/worktree/tools"],
    );
    check(
        &["--script=./tools/server.js", "/etc"],
        &["--script=./tools/server.js", "/etc"],
    );
    check(&["tools", "./missing", ".."], &["tools", "./missing", ".."]);
}
