//! Reading, listing, finding and searching files.

use base::AbsPath;
use host::{ErrorReason, FakeOperation};
use model::{LineNumbers, PartContent, Profile};
use serde_json::json;

use super::*;
use crate::outcome::Detail;
use crate::tool::LockScope;

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

#[tokio::test]
async fn lines_are_read_with_their_numbers() {
    let (mut world, _) = World::fake();
    world.write("a.rs", "one\ntwo\r\nthree");
    let whole = [
        (LineNumbers::None, "one\ntwo\nthree\n"),
        (
            LineNumbers::Tab,
            "     1\tone\n     2\ttwo\n     3\tthree\n",
        ),
        (LineNumbers::Label, "L1: one\nL2: two\nL3: three\n"),
    ];
    for (line_numbers, expected) in whole {
        world.context.profile = Arc::new(Profile {
            line_numbers,
            ..Profile::harmless()
        });
        let answer = world.call("read", json!({ "path": "a.rs" })).await;
        assert_eq!(answer.text(), expected);
    }
    world.context.profile = Arc::new(Profile {
        line_numbers: LineNumbers::Hash,
        ..Profile::harmless()
    });
    let answer = world
        .call(
            "read",
            json!({ "path": "/r/a.rs", "offset": 2, "limit": 1 }),
        )
        .await;
    let hash = patch::anchor::line_hash("two");
    assert_eq!(
        answer.text(),
        format!("2#{hash}|two\n(lines 2 to 2 of 3; read on with offset 3)")
    );
    assert_eq!(answer.detail, Some(Detail::OutputTruncated));
}

#[tokio::test]
pub(super) async fn a_long_file_is_read_in_parts() {
    let (mut world, _) = World::fake();
    world.context.output_tokens = 100;
    let text: String = (1..=200).map(|ix| format!("line {ix}\n")).collect();
    world.write("long.txt", &text);
    let mut offset = 1;
    let mut seen = String::new();
    for _ in 0..50 {
        let answer = world
            .call("read", json!({ "path": "long.txt", "offset": offset }))
            .await;
        let text = answer.text();
        assert!(text.len() < 600, "{}", text.len());
        seen.push_str(&text);
        let Some((_, next)) = text.split_once("offset ") else {
            break;
        };
        offset = next.trim_end_matches(')').parse().expect("a number");
    }
    assert!(seen.contains("line 1\n") && seen.contains("line 200\n") && seen.contains("(lines "));
}

#[tokio::test]
pub(super) async fn pictures_are_shown() {
    let (mut world, files) = World::fake();
    files.write(&path("/r/a.png"), crate::images::tests::png());
    files.write(&path("/r/cut.png"), &crate::images::tests::png()[..40]);
    files.write(&path("/r/b.png"), b"no picture");
    let answer = world.call("read", json!({ "path": "a.png" })).await;
    assert!(
        matches!(&answer.content[1], PartContent::Image { media_type, .. } if media_type == "image/png")
    );
    let answer = world.call("read", json!({ "path": "b.png" })).await;
    assert_says(&answer, CallOutcome::UnexpectedEnvironment, "not a PNG");
    let answer = world.call("read", json!({ "path": "cut.png" })).await;
    assert_says(
        &answer,
        CallOutcome::UnexpectedEnvironment,
        "ends before the picture does",
    );
    world.context.profile = Arc::new(Profile {
        vision: Some(false),
        ..Profile::harmless()
    });
    let answer = world.call("read", json!({ "path": "a.png" })).await;
    assert_says(
        &answer,
        CallOutcome::UnexpectedEnvironment,
        "does not see pictures",
    );
}

#[tokio::test]
pub(super) async fn every_way_of_reading_to_fail_says_what_to_do() {
    use CallOutcome::{InvalidArguments, UnexpectedEnvironment};
    let (world, files) = World::fake();
    world.write("src/main.rs", "x\n");
    world.write("empty", "");
    files.write(&path("/r/binary"), b"\0\x01\x02\0\0\xff\0");
    files.write(&path("/out/secret"), "s");
    files.link(&path("/r/away"), "/out");
    files.link(&path("/r/broken"), "/r/nothing");
    files.link(&path("/r/circle"), "/r/circle");
    files.pipe(&path("/r/pipe"));
    let cases = [
        ("read", json!({}), InvalidArguments, "`path` is missing"),
        ("read", json!("text"), InvalidArguments, "one JSON object"),
        (
            "read",
            json!({ "path": 3 }),
            InvalidArguments,
            "must be a string",
        ),
        (
            "read",
            json!({ "path": "a\0b" }),
            InvalidArguments,
            "is not a path",
        ),
        (
            "read",
            json!({ "path": "empty", "offset": "x" }),
            InvalidArguments,
            "whole number",
        ),
        (
            "read",
            json!({ "path": "empty", "limit": 0 }),
            InvalidArguments,
            "1 or more",
        ),
        (
            "read",
            json!({ "path": "src/main.rs", "offset": 9 }),
            InvalidArguments,
            "only 1 lines",
        ),
        (
            "read",
            json!({ "path": "src/man.rs" }),
            UnexpectedEnvironment,
            "Did you mean src/main.rs?",
        ),
        (
            "read",
            json!({ "path": "nowhere/x" }),
            UnexpectedEnvironment,
            "no file nowhere/x",
        ),
        (
            "read",
            json!({ "path": "src" }),
            UnexpectedEnvironment,
            "use list",
        ),
        (
            "read",
            json!({ "path": "binary" }),
            UnexpectedEnvironment,
            "binary data",
        ),
        (
            "read",
            json!({ "path": "away/secret" }),
            UnexpectedEnvironment,
            "leads out of the project",
        ),
        (
            "read",
            json!({ "path": "broken" }),
            UnexpectedEnvironment,
            "there is no such file",
        ),
        (
            "read",
            json!({ "path": "circle" }),
            UnexpectedEnvironment,
            "circle",
        ),
        (
            "read",
            json!({ "path": "pipe" }),
            UnexpectedEnvironment,
            "pipe",
        ),
        (
            "read",
            json!({ "path": "out-7" }),
            UnexpectedEnvironment,
            "no output out-7",
        ),
        (
            "list",
            json!({ "path": "src/main.rs" }),
            UnexpectedEnvironment,
            "use read",
        ),
        (
            "list",
            json!({ "path": "srk" }),
            UnexpectedEnvironment,
            "Did you mean src?",
        ),
        (
            "list",
            json!({ "depth": [] }),
            InvalidArguments,
            "whole number",
        ),
        (
            "list",
            json!({ "path": "away" }),
            UnexpectedEnvironment,
            "leads out",
        ),
        ("glob", json!({}), InvalidArguments, "`pattern` is missing"),
        (
            "glob",
            json!({ "pattern": " " }),
            InvalidArguments,
            "is empty",
        ),
        (
            "glob",
            json!({ "pattern": "{a" }),
            InvalidArguments,
            "cannot read the glob",
        ),
        (
            "glob",
            json!({ "pattern": "*", "path": "src/main.rs" }),
            UnexpectedEnvironment,
            "not a folder",
        ),
        (
            "glob",
            json!({ "pattern": "*", "path": "srk" }),
            UnexpectedEnvironment,
            "Did you mean",
        ),
        (
            "glob",
            json!({ "pattern": "*", "ignored": 1 }),
            InvalidArguments,
            "true or false",
        ),
        ("grep", json!({}), InvalidArguments, "`pattern` is missing"),
        (
            "grep",
            json!({ "pattern": "" }),
            InvalidArguments,
            "is empty",
        ),
        (
            "grep",
            json!({ "pattern": "(" }),
            InvalidArguments,
            "invalid pattern",
        ),
        (
            "grep",
            json!({ "pattern": "x", "include": "{a" }),
            InvalidArguments,
            "cannot read the glob",
        ),
        (
            "grep",
            json!({ "pattern": "x", "include": 1 }),
            InvalidArguments,
            "list of strings",
        ),
        (
            "grep",
            json!({ "pattern": "x", "path": "no" }),
            UnexpectedEnvironment,
            "There is no file no",
        ),
        (
            "grep",
            json!({ "pattern": "x", "path": "pipe" }),
            UnexpectedEnvironment,
            "neither",
        ),
        (
            "grep",
            json!({ "pattern": "x", "context": -1 }),
            InvalidArguments,
            "whole number",
        ),
    ];
    for (tool, input, outcome, says) in cases {
        let answer = world.call(tool, input.clone()).await;
        assert!(
            answer.outcome == outcome && answer.text().contains(says),
            "{tool} {input}: {answer:?}"
        );
    }
    for (operation, tool) in [
        (FakeOperation::Read, "read"),
        (FakeOperation::Look, "list"),
        (FakeOperation::Look, "grep"),
    ] {
        files.fail_always(operation, ErrorReason::Device);
        let input = match tool {
            "read" => json!({ "path": "src/main.rs" }),
            _ => json!({ "pattern": "x", "path": "src" }),
        };
        let answer = world.call(tool, input).await;
        assert_says(&answer, UnexpectedEnvironment, "disk");
        files.heal();
    }
}

#[tokio::test]
pub(super) async fn folders_are_listed() {
    let (world, files) = World::fake();
    world.write("src/deep/a.rs", "");
    world.write("README.md", "");
    files.link(&path("/r/link"), "/r/README.md");
    let answer = world.call("list", json!({})).await;
    assert_eq!(answer.text(), "README.md\nlink (a link)\nsrc/\n");
    let answer = world.call("list", json!({ "path": ".", "depth": 3 })).await;
    assert_eq!(
        answer.text(),
        "README.md\nlink (a link)\nsrc/\n  deep/\n    a.rs\n"
    );
    let access = world
        .access("list", json!({ "path": "./src/" }))
        .expect("a place");
    assert_eq!(access.reads, [LockScope::Path("src".to_owned())]);
    files.folder(&path("/r/none"));
    assert_eq!(
        world.call("list", json!({ "path": "none" })).await.text(),
        "(none is empty)"
    );
}

#[tokio::test]
pub(super) async fn files_are_found_by_name_and_content() {
    for world in [World::fake().0, World::real()] {
        world.write("src/a.rs", "fn one() {}\nfn two() {}\n");
        world.write("src/b.txt", "fn one\n");
        world.write(".ignore", "ignored.rs\n");
        world.write("ignored.rs", "fn one() {}\n");
        let text = async |tool: &str, input| world.call(tool, input).await.text();
        assert_eq!(
            text("glob", json!({ "pattern": "*.rs" })).await,
            "src/a.rs\n"
        );
        assert_eq!(
            text("glob", json!({ "pattern": "src/**/*.txt" })).await,
            "src/b.txt\n"
        );
        assert_eq!(
            text("glob", json!({ "pattern": "*.rs", "path": "src" })).await,
            "src/a.rs\n"
        );
        assert!(
            text("glob", json!({ "pattern": "*.py" }))
                .await
                .contains("No file")
        );
        let both = text("glob", json!({ "pattern": "*.rs", "ignored": true })).await;
        assert_eq!(both, "ignored.rs\nsrc/a.rs\n");
        let found = text("grep", json!({ "pattern": r"fn \w+", "path": "." })).await;
        assert_eq!(
            found,
            "src/a.rs:1:fn one() {}\nsrc/a.rs:2:fn two() {}\nsrc/b.txt:1:fn one\n"
        );
        let found = text(
            "grep",
            json!({ "pattern": "fn", "include": "*.rs", "files_only": true }),
        )
        .await;
        assert_eq!(found, "src/a.rs\n");
        let found = text(
            "grep",
            json!({ "pattern": "two() {", "literal": true, "context": 1, "path": "src/a.rs" }),
        )
        .await;
        assert_eq!(
            found,
            "src/a.rs-1-fn one() {}\nsrc/a.rs:2:fn two() {}\n--\n"
        );
        let found = text(
            "grep",
            json!({ "pattern": "ONE", "ignore_case": true, "limit": 1, "path": "src/a.rs" }),
        )
        .await;
        assert!(found.starts_with("src/a.rs:1:"), "{found}");
        let found = text("grep", json!({ "pattern": "three" })).await;
        assert!(found.contains("No match for three"), "{found}");
    }
}
