//! Editing, moving and removing files.

use base::AbsPath;
use host::{ErrorReason, FakeOperation};
use model::{EditTool, Profile, ToolNames};
use serde_json::json;

use super::*;
use crate::outcome::Detail;
use crate::tool::{LockScope, ToolDisplay};

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

#[tokio::test]
async fn an_edit_lands_and_shows_what_changed() {
    let (world, files) = World::fake();
    world.write("a.rs", "one\r\ntwo\r\nthree\r\n");
    let input = json!({ "path": "a.rs", "old_string": "two\n", "new_string": "2\n" });
    let access = world.access("edit", input.clone()).expect("a place");
    assert_eq!(access.writes, [LockScope::Path("a.rs".to_owned())]);
    assert_eq!(access.title, "edit a.rs");
    let answer = world.call("edit", input).await;
    assert_says(
        &answer,
        CallOutcome::Ok,
        "@@ a.rs, line 1\n one\n-two\n+2\n three\n",
    );
    assert_eq!(
        files.content(&path("/r/a.rs")).as_deref(),
        Some(&b"one\r\n2\r\nthree\r\n"[..])
    );
    assert!(matches!(&answer.display[..], [ToolDisplay::Diff { path, .. }] if path == "a.rs"));
    let all = json!({ "file_path": "/r/a.rs", "old_string": "e", "new_string": "E", "replace_all": "true" });
    assert_eq!(world.call("edit", all).await.outcome, CallOutcome::Ok);
    assert_eq!(world.text("a.rs").as_deref(), Some("onE\r\n2\r\nthrEE\r\n"));
    let new = json!({ "path": "new/b.rs", "old_string": "", "new_string": "b\n" });
    assert_eq!(world.call("edit", new).await.outcome, CallOutcome::Ok);
    assert_eq!(world.text("new/b.rs").as_deref(), Some("b\n"));
}

#[tokio::test]
pub(super) async fn a_patch_changes_all_of_its_files_or_none() {
    let (world, _) = World::fake();
    world.write("a", "a\nb\n");
    world.write("b", "b\n");
    let good = "*** Begin Patch\n*** Update File: a\n@@\n-a\n+A\n*** Add File: c\n+c\n*** Delete File: b\n*** End Patch\n";
    let answer = world
        .input("apply_patch", CallInput::Text(good.to_owned()))
        .await;
    assert_says(&answer, CallOutcome::Ok, "+A");
    let texts = || ["a", "b", "c"].map(|name| world.text(name));
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(texts(), [some("A\nb\n"), None, some("c\n")]);
    let bad = "*** Begin Patch\n*** Delete File: c\n*** Update File: a\n@@\n-nothing like it\n+x\n*** End Patch\n";
    let answer = world.call("apply_patch", json!({ "input": bad })).await;
    assert_says(
        &answer,
        CallOutcome::InvalidArguments,
        "Nothing was changed",
    );
    assert_eq!(texts(), [some("A\nb\n"), None, some("c\n")]);
    let lines = format!(
        "*** File: a\nreplace 2#{}\n+B\n",
        patch::anchor::line_hash("b")
    );
    let answer = world.input("edit_lines", CallInput::Text(lines)).await;
    assert_eq!(answer.outcome, CallOutcome::Ok, "{}", answer.text());
    let blocks = "a\n<<<<<<< SEARCH\nA\n=======\nAA\n>>>>>>> REPLACE\n";
    let answer = world
        .input("edit_blocks", CallInput::Text(blocks.to_owned()))
        .await;
    assert_eq!(answer.outcome, CallOutcome::Ok, "{}", answer.text());
    assert_eq!(world.text("a"), some("AA\nB\n"));
}

#[tokio::test]
pub(super) async fn what_changed_after_it_was_read_is_not_edited() {
    let (world, _) = World::fake();
    world.write("a", "one\ntwo\nthree\n");
    world.call("read", json!({ "path": "a" })).await;
    world.write("a", "one\nTWO\nthree\n");
    let stale = json!({ "path": "a", "old_string": "TWO", "new_string": "2" });
    let answer = world.call("edit", stale.clone()).await;
    assert_says(
        &answer,
        CallOutcome::UnexpectedEnvironment,
        "changed after they were read",
    );
    assert_eq!(answer.detail, Some(Detail::StaleEdit));
    let elsewhere = json!({ "path": "a", "old_string": "three", "new_string": "3" });
    assert_eq!(world.call("edit", elsewhere).await.outcome, CallOutcome::Ok);
    world.call("read", json!({ "path": "a" })).await;
    assert_eq!(world.call("edit", stale).await.outcome, CallOutcome::Ok);
    // A file the session wrote itself counts as read.
    let own = json!({ "path": "a", "old_string": "2", "new_string": "two" });
    assert_eq!(world.call("edit", own).await.outcome, CallOutcome::Ok);
}

#[tokio::test]
pub(super) async fn a_file_is_replaced_only_by_who_has_read_it() {
    let (world, _) = World::fake();
    world.write("a", "old\n");
    let write = |text: &str| json!({ "path": "a", "content": text });
    let answer = world.call("write", write("new\n")).await;
    assert_says(
        &answer,
        CallOutcome::UnexpectedEnvironment,
        "not read in this session",
    );
    world.call("read", json!({ "path": "a" })).await;
    assert_eq!(
        world.call("write", write("new\n")).await.outcome,
        CallOutcome::Ok
    );
    world.write("a", "somebody else's\n");
    let answer = world.call("write", write("mine\n")).await;
    assert_says(
        &answer,
        CallOutcome::UnexpectedEnvironment,
        "changed after it was read",
    );
    assert_eq!(answer.detail, Some(Detail::StaleEdit));
    let answer = world
        .call(
            "write",
            json!({ "path": "docs/new.md", "content": "# New\n" }),
        )
        .await;
    assert_eq!(answer.outcome, CallOutcome::Ok, "{}", answer.text());
    assert_eq!(world.text("docs/new.md").as_deref(), Some("# New\n"));
}

#[tokio::test]
async fn files_are_moved_and_removed() {
    let (world, files) = World::fake();
    world.write("a", "a\n");
    world.write("dir/b", "b\n");
    let answer = world
        .call("move", json!({ "from": "a", "to": "new/c" }))
        .await;
    assert_says(&answer, CallOutcome::Ok, "Moved a to new/c.");
    assert_eq!(world.text("new/c").as_deref(), Some("a\n"));
    let answer = world.call("delete", json!({ "path": "new/c" })).await;
    assert!(
        matches!(&answer.display[..], [ToolDisplay::Diff { old: Some(old), new: None, .. }] if old == "a\n")
    );
    assert_eq!(world.text("new/c"), None);
    let answer = world
        .call("delete", json!({ "path": "dir", "recursive": true }))
        .await;
    assert_says(&answer, CallOutcome::Ok, "Removed dir.");
    assert!(!files.exists(&path("/r/dir")));
}

#[tokio::test]
pub(super) async fn every_way_of_changing_to_fail_says_what_to_do() {
    use CallOutcome::{InvalidArguments, UnexpectedEnvironment, UserAborted};
    let (world, files) = World::fake();
    world.write("a", "x\ny\nx\n");
    world.write("dir/b", "b\n");
    files.write(&path("/r/binary"), b"\0\x01\x02\0\0\xff\0");
    files.write(&path("/out/secret"), "s");
    files.link(&path("/r/away"), "/out");
    files.link(&path("/r/inside"), "/r/a");
    let edit = |path: &str, old: &str, new: &str| json!({ "path": path, "old_string": old, "new_string": new });
    let cases = [
        (
            "edit",
            json!({ "path": "a" }),
            InvalidArguments,
            "`old_string` is missing",
        ),
        (
            "edit",
            edit("a", "z", "w"),
            InvalidArguments,
            "is not in the file",
        ),
        (
            "edit",
            edit("a", "x", "w"),
            InvalidArguments,
            "occurs 2 times",
        ),
        (
            "edit",
            edit("a", "y", "y"),
            InvalidArguments,
            "nothing would change",
        ),
        (
            "edit",
            edit("none", "y", "z"),
            UnexpectedEnvironment,
            "no such file",
        ),
        ("edit", edit("a", "", "z"), UnexpectedEnvironment, "already"),
        (
            "edit",
            edit("binary", "y", "z"),
            UnexpectedEnvironment,
            "not a text file",
        ),
        (
            "edit",
            edit("dir", "y", "z"),
            UnexpectedEnvironment,
            "folder",
        ),
        (
            "edit",
            edit("../out/secret", "s", "z"),
            UnexpectedEnvironment,
            "outside",
        ),
        (
            "edit",
            edit("/out/secret", "s", "z"),
            UnexpectedEnvironment,
            "outside",
        ),
        (
            "edit",
            edit("away/secret", "s", "z"),
            UnexpectedEnvironment,
            "leads out",
        ),
        (
            "edit",
            edit("away/new", "", "z"),
            UnexpectedEnvironment,
            "leads out",
        ),
        (
            "edit",
            edit(".", "y", "z"),
            InvalidArguments,
            "project folder itself",
        ),
        (
            "edit",
            edit("a", "y\nx", "y\n# ... existing code ..."),
            InvalidArguments,
            "write those lines out in full",
        ),
        (
            "edit",
            edit("a", "y", "x\ny"),
            InvalidArguments,
            "applied already",
        ),
        (
            "apply_patch",
            json!({ "input": "*** Begin Patch\n*** Add File: a\n+z\n*** End Patch" }),
            UnexpectedEnvironment,
            "a file exists at this path already",
        ),
        (
            "apply_patch",
            json!({ "input": "*** Begin Patch\n*** Update File: dir/b\n*** Move to: a\n*** End Patch" }),
            UnexpectedEnvironment,
            "a file exists at this path already",
        ),
        (
            "apply_patch",
            json!({ "input": "no patch" }),
            InvalidArguments,
            "apply_patch",
        ),
        (
            "apply_patch",
            json!({}),
            InvalidArguments,
            "`input` is missing",
        ),
        (
            "apply_patch",
            json!({ "input": "*** Begin Patch\n*** Frobnicate: a\n*** End Patch" }),
            InvalidArguments,
            "line 2",
        ),
        (
            "edit_lines",
            json!({ "input": "*** File: a\nreplace 2#ffff\n+Y\n" }),
            UnexpectedEnvironment,
            "no longer in the file",
        ),
        (
            "write",
            json!({ "path": "b" }),
            InvalidArguments,
            "`content` is missing",
        ),
        (
            "write",
            json!({ "path": "away/new", "content": "" }),
            UnexpectedEnvironment,
            "leads out",
        ),
        (
            "write",
            json!({ "path": "a/b", "content": "" }),
            UnexpectedEnvironment,
            "a/b",
        ),
        (
            "move",
            json!({ "from": "a" }),
            InvalidArguments,
            "`to` is missing",
        ),
        (
            "move",
            json!({ "from": "a", "to": "dir/b" }),
            UnexpectedEnvironment,
            "already",
        ),
        (
            "move",
            json!({ "from": "none", "to": "c" }),
            UnexpectedEnvironment,
            "There is no file none",
        ),
        (
            "move",
            json!({ "from": "a", "to": "../c" }),
            UnexpectedEnvironment,
            "outside",
        ),
        (
            "move",
            json!({ "from": "inside", "to": "c" }),
            UnexpectedEnvironment,
            "is a link",
        ),
        (
            "delete",
            json!({ "path": "dir" }),
            UnexpectedEnvironment,
            "`recursive`",
        ),
        (
            "delete",
            json!({ "path": "none" }),
            UnexpectedEnvironment,
            "There is no file none",
        ),
        (
            "delete",
            json!({ "path": "inside" }),
            UnexpectedEnvironment,
            "is a link",
        ),
        (
            "delete",
            json!({ "path": "." }),
            InvalidArguments,
            "project folder itself",
        ),
        (
            "delete",
            json!({ "path": "a", "recursive": "maybe" }),
            InvalidArguments,
            "true or false",
        ),
    ];
    for (tool, input, outcome, says) in cases {
        let answer = world.call(tool, input.clone()).await;
        assert!(
            answer.outcome == outcome && answer.text().contains(says),
            "{tool} {input}: {answer:?}"
        );
    }
    assert_eq!(world.text("a").as_deref(), Some("x\ny\nx\n"));
    let doing = [
        ("edit", edit("a", "y", "z"), FakeOperation::Save),
        (
            "write",
            json!({ "path": "n", "content": "n" }),
            FakeOperation::Save,
        ),
        (
            "move",
            json!({ "from": "a", "to": "c" }),
            FakeOperation::Arrange,
        ),
        ("delete", json!({ "path": "a" }), FakeOperation::Arrange),
    ];
    for (tool, input, operation) in doing {
        files.fail_always(operation, ErrorReason::NoSpace);
        let answer = world.call(tool, input.clone()).await;
        assert_says(&answer, UnexpectedEnvironment, "disk is full");
        files.heal();
        let mut stopped = World::fake().0;
        let (sender, stop) = tokio::sync::watch::channel(true);
        stopped.context.stop = stop;
        stopped.write("a", "x\ny\nx\n");
        let answer = stopped.call(tool, input).await;
        assert_says(&answer, UserAborted, "Stopped");
        drop(sender);
    }
    assert_eq!(world.text("a").as_deref(), Some("x\ny\nx\n"));
}

#[test]
fn each_profile_gets_its_edit_tool() {
    let (world, _) = World::fake();
    let offered = |edit: EditTool, tool_names: ToolNames| {
        let profile = Profile {
            edit,
            tool_names,
            ..Profile::harmless()
        };
        let specs = all(&world.options)
            .into_iter()
            .filter_map(move |tool| tool.spec(&profile));
        specs.map(|spec| spec.name).collect::<Vec<_>>()
    };
    let edits = ["edit", "apply_patch", "edit_lines", "edit_blocks", "write"];
    let of = |edit: EditTool| {
        let mut names = offered(edit, ToolNames::Snake);
        names.retain(|name| edits.contains(&name.as_str()));
        names
    };
    assert_eq!(of(EditTool::StrReplace), ["edit", "write"]);
    assert_eq!(of(EditTool::ApplyPatch), ["apply_patch"]);
    assert_eq!(of(EditTool::Hashline), ["edit_lines", "write"]);
    assert_eq!(of(EditTool::SearchReplace), ["edit_blocks", "write"]);
    assert_eq!(of(EditTool::WholeFile), ["write"]);
    let pascal = offered(EditTool::StrReplace, ToolNames::Pascal);
    for name in ["Read", "Edit", "Write", "Bash", "Glob", "Grep", "LS"] {
        assert!(
            pascal.iter().any(|offered| offered == name),
            "{name} in {pascal:?}"
        );
    }
    for tool in all(&world.options) {
        assert_eq!(crate::tool_names::by_name(tool.name()), Some(tool.name()));
    }
}

/// The path that was permitted is the one that is written, whatever happens to folders meanwhile.
#[tokio::test]
async fn edit_follows_no_link_created_after_its_check() {
    use std::os::unix::fs::symlink;
    let world = World::real();
    world.write("a/x", "one\n");
    let (root, tool) = (world.context.root.clone(), world.tool("edit"));
    let join = |name: &str| root.join(name).as_path().to_owned();
    symlink("a", join("link")).expect("a link");
    let input = json!({ "path": "link/x", "old_string": "one\n", "new_string": "two\n" });
    let call = call("edit", input);
    let access = tool.access(&call, &world.context).expect("an access");
    assert_eq!(access.edits[0].path, "a/x");
    let outside = root.join("../outside");
    let files = &world.context.sources.files;
    files.rename(&root.join("a"), &outside).expect("renamed");
    symlink(outside.as_path(), join("a")).expect("a link");
    let answer = tool.run(&call, &access, &world.context).await;
    assert!(answer.outcome.is_error(), "{answer:?}");
    let text = files.read(&outside.join("x"), 1 << 10).expect("read");
    assert_eq!(text, b"one\n");
}
