//! Edits applied to real files.
#![expect(clippy::disallowed_methods, reason = "these tests look at real files")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Parser;
use host::{RealFiles, TempFolder};
use serde_json::Value;

use super::*;

/// A folder to edit, beside one that must not change.
struct World {
    folder: TempFolder,
}

struct Answer {
    code: ExitCode,
    output: String,
    errors: String,
}

impl Answer {
    fn is_good(&self) -> bool {
        self.code == ExitCode::SUCCESS
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.output).expect("JSON")
    }
}

impl World {
    fn new() -> Self {
        let folder = TempFolder::new().expect("a temporary folder");
        let world = Self { folder };
        std::fs::create_dir(world.root()).expect("a folder");
        std::fs::create_dir(world.outside()).expect("a folder");
        world
    }

    fn root(&self) -> PathBuf {
        self.folder.path().as_path().join("root")
    }

    fn outside(&self) -> PathBuf {
        self.folder.path().as_path().join("outside")
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, content).expect("written");
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.root().join(path)).ok()
    }

    fn apply(&self, arguments: &[&str], edits: &str) -> Answer {
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let root = self.root();
        let line = [
            "burin-agent",
            "--root",
            root.to_str().expect("text"),
            "--format",
        ];
        let apply = Line::try_parse_from(line.into_iter().chain(arguments.iter().copied()));
        let dirs = Dirs::under(&self.folder.path().join("state"));
        let mut streams = Streams {
            input: &mut edits.as_bytes(),
            output: &mut output,
            errors: &mut errors,
        };
        let code = apply
            .expect("arguments")
            .apply
            .run(&RealFiles, &dirs, &mut streams);
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Answer {
            code: code.expect("written"),
            output: text(output),
            errors: text(errors),
        }
    }
}

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    apply: ApplyCommand,
}

fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    collect(folder, folder, &mut files);
    files
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        let name = path
            .strip_prefix(root)
            .expect("within")
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            // Records folders too, so that kept and removed empty folders are noticed.
            files.insert(format!("{name}/"), Vec::new());
            collect(root, &path, files);
        } else {
            files.insert(name, std::fs::read(&path).expect("readable"));
        }
    }
}

fn replace(path: &str, old: &str, new: &str) -> String {
    format!("{path}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n")
}

#[test]
fn the_shared_scenarios_end_as_expected() {
    let entries = std::fs::read_dir(test_support::data("apply-patch")).expect("the test data");
    let mut count = 0;
    for entry in entries {
        let folder = entry.expect("an entry").path();
        let Ok(patch) = std::fs::read_to_string(folder.join("patch.txt")) else {
            continue;
        };
        let name = folder
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let world = World::new();
        let input = tree(&folder.join("input"));
        for (path, content) in input.iter().filter(|(path, _)| !path.ends_with('/')) {
            world.write(path, content);
        }
        let answer = world.apply(&["apply-patch"], &patch);
        let fails = [
            "005", "006", "007", "008", "009", "010", "011", "012", "013", "015",
        ];
        let is_failure = fails.iter().any(|number| name.starts_with(number));
        assert_eq!(answer.is_good(), !is_failure, "{name}: {}", answer.output);
        // In these scenarios the first file stays after the second has failed (015), and moved or
        // added files replace others (010, 011). Burin applies all or nothing and never replaces a
        // file.
        let deviates = ["010", "011", "015"]
            .iter()
            .any(|number| name.starts_with(number));
        let expected = if deviates {
            input
        } else {
            files_alone(tree(&folder.join("expected")))
        };
        assert_eq!(
            files_alone(tree(&world.root())),
            files_alone(expected),
            "{name}"
        );
        count += 1;
    }
    assert_eq!(count, 23);
}

/// Drops folders, because the scenarios may leave empty ones behind.
fn files_alone(mut tree: BTreeMap<String, Vec<u8>>) -> BTreeMap<String, Vec<u8>> {
    tree.retain(|path, _| !path.ends_with('/'));
    tree
}

#[test]
fn a_set_is_applied_whole_or_not_at_all() {
    let world = World::new();
    world.write("a", "one\ntwo\n");
    world.write("b", "three\n");
    let edits = replace("a", "two\n", "2\n")
        + &replace("b", "four\n", "4\n")
        + &replace("new/c", "", "5\n");
    let answer = world.apply(&["search-replace", "--json"], &edits);
    assert!(!answer.is_good());
    assert_eq!(world.read("a").as_deref(), Some(&b"one\ntwo\n"[..]));
    assert!(!world.root().join("new").exists());
    let json = answer.json();
    assert_eq!(json["applied"], false);
    assert_eq!(json["hunks"][0]["outcome"], "exact");
    assert_eq!(
        (&json["hunks"][0]["line"], &json["hunks"][0]["path"]),
        (&2.into(), &"a".into())
    );
    assert_eq!(json["hunks"][1]["outcome"], "rejected");
    assert!(json["hunks"][1]["reason"].is_string() && json["hunks"][1]["nearest"].is_array());
    assert_eq!(json["files"].as_array().map(Vec::len), Some(0));

    let answer = world.apply(&["search-replace", "--json", "--partial"], &edits);
    assert!(!answer.is_good());
    assert_eq!(world.read("a").as_deref(), Some(&b"one\n2\n"[..]));
    assert_eq!(world.read("b").as_deref(), Some(&b"three\n"[..]));
    assert_eq!(world.read("new/c").as_deref(), Some(&b"5\n"[..]));
    assert_eq!(answer.json()["files"].as_array().map(Vec::len), Some(2));
}

#[test]
fn unparsable_edits_change_nothing() {
    let world = World::new();
    world.write("a", "one\n");
    let edits = replace("a", "one\n", "1\n") + "a\n```\n<<<<<<< SEARCH\none\n";
    let answer = world.apply(&["search-replace"], &edits);
    assert!(
        !answer.is_good() && answer.output.contains("line 13: the last block"),
        "{}",
        answer.output
    );
    assert!(
        answer.output.contains("nothing was changed"),
        "{}",
        answer.output
    );
    assert_eq!(world.read("a").as_deref(), Some(&b"one\n"[..]));
    assert!(
        !world
            .apply(&["search-replace", "--partial"], &edits)
            .is_good()
    );
    assert_eq!(world.read("a").as_deref(), Some(&b"1\n"[..]));
    assert!(!world.apply(&["search-replace"], "no edits").is_good());
}

#[test]
fn an_ambiguous_place_is_said_to_be() {
    let world = World::new();
    world.write("a", "x\ny\nx\n");
    let answer = world.apply(&["search-replace", "--json"], &replace("a", "x\n", "z\n"));
    let json = answer.json();
    assert_eq!(json["hunks"][0]["outcome"], "ambiguous");
    assert_eq!(
        json["hunks"][0]["nearest"].as_array().map(Vec::len),
        Some(2)
    );
}

#[test]
fn encodings_endings_and_modes_stay() {
    let world = World::new();
    world.write("bom", b"\xef\xbb\xbfone\r\ntwo\r\n");
    world.write("latin", b"caf\xe9 one\n");
    world.write("wide", b"\xff\xfeo\0n\0e\0\n\0");
    world.write("bare", "one\ntwo");
    world.write("run.sh", "one\n");
    let script = world.root().join("run.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).expect("a mode");
    let edits: String = ["wide", "run.sh"]
        .map(|path| replace(path, "one\n", "1\n"))
        .concat()
        + &replace("bom", "two\n", "2\n3\n")
        + &replace("latin", "café one\n", "café 1\n")
        + &replace("bare", "two\n", "2\n");
    let answer = world.apply(&["search-replace"], &edits);
    assert!(answer.is_good(), "{}{}", answer.output, answer.errors);
    assert_eq!(
        world.read("bom").as_deref(),
        Some(&b"\xef\xbb\xbfone\r\n2\r\n3\r\n"[..])
    );
    assert_eq!(world.read("latin").as_deref(), Some(&b"caf\xe9 1\n"[..]));
    assert_eq!(world.read("wide").as_deref(), Some(&b"\xff\xfe1\0\n\0"[..]));
    assert_eq!(world.read("bare").as_deref(), Some(&b"one\n2"[..]));
    let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&script), 0o750);

    let patch = "*** Begin Patch\n*** Update File: run.sh\n*** Move to: bin/run\n@@\n-1\n+2\n*** End Patch\n";
    let answer = world.apply(&["apply-patch"], patch);
    assert!(answer.is_good(), "{}{}", answer.output, answer.errors);
    assert_eq!(mode(&world.root().join("bin/run")), 0o750);
    assert!(!script.exists());
}

#[test]
fn nothing_outside_is_touched() {
    let world = World::new();
    std::fs::write(world.outside().join("secret"), "one\n").expect("written");
    std::os::unix::fs::symlink(world.outside(), world.root().join("way")).expect("a link");
    std::os::unix::fs::symlink(world.outside().join("secret"), world.root().join("file"))
        .expect("a link");
    std::os::unix::fs::symlink(world.outside().join("new"), world.root().join("nowhere"))
        .expect("a link");
    let before = tree(&world.outside());
    let absolute = world.outside().join("secret");
    let paths = [
        "way/secret",
        "file",
        "../outside/secret",
        absolute.to_str().expect("text"),
    ];
    for path in paths {
        assert!(
            !world
                .apply(&["search-replace"], &replace(path, "one\n", "1\n"))
                .is_good(),
            "{path}"
        );
        let patch = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n");
        assert!(!world.apply(&["apply-patch"], &patch).is_good(), "{path}");
    }
    for path in ["way/new", "nowhere", "../outside/new"] {
        let whole = format!("*** Write File: {path}\nx\n*** End of File\n");
        assert!(!world.apply(&["whole"], &whole).is_good(), "{path}");
    }
    assert_eq!(tree(&world.outside()), before);
}

#[test]
fn every_format_changes_files() {
    let text = "one\ntwo\nthree\n";
    let anchor = format!("2#{}", patch::anchor::line_hash("two"));
    let edits = [
        ("search-replace", replace("a", "two\n", "2\n")),
        (
            "apply-patch",
            "*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n*** End Patch\n".to_owned(),
        ),
        (
            "udiff",
            "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n".to_owned(),
        ),
        ("whole", "a\n```\none\n2\nthree\n```\n".to_owned()),
        ("anchors", format!("*** File: a\nreplace {anchor}\n+2\n")),
    ];
    for (format, edits) in edits {
        let world = World::new();
        world.write("a", text);
        let answer = world.apply(&[format], &edits);
        assert!(
            answer.is_good(),
            "{format}: {}{}",
            answer.output,
            answer.errors
        );
        assert_eq!(
            world.read("a").as_deref(),
            Some(&b"one\n2\nthree\n"[..]),
            "{format}"
        );
    }
}

#[test]
fn nothing_is_written_over_a_file() {
    let world = World::new();
    world.write("a", "one\n");
    world.write("b", "two\n");
    world.write("empty", "");
    for body in [
        "*** Add File: a\n+x\n",
        "*** Update File: b\n*** Move to: a\n@@\n-two\n+2\n",
        "*** Update File: b\n*** Move to: a\n",
    ] {
        let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
        let answer = world.apply(&["apply-patch"], &patch);
        assert!(!answer.is_good(), "{body}");
        assert!(answer.output.contains("already"), "{}", answer.output);
    }
    assert_eq!(world.read("a").as_deref(), Some(&b"one\n"[..]));
    assert_eq!(world.read("b").as_deref(), Some(&b"two\n"[..]));
    let answer = world.apply(&["search-replace"], &replace("empty", "", "x\n"));
    assert!(answer.is_good(), "{}", answer.output);
    assert_eq!(world.read("empty").as_deref(), Some(&b"x\n"[..]));
}

#[test]
fn truncated_or_mismatched_diff_changes_nothing() {
    let world = World::new();
    world.write("a", "one\ntwo\n");
    for diff in [
        "--- a/a\n+++ b/a\n@@ -2 +2,2 @@\n two\n+thr",
        "--- a/a\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-2\n",
        "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\r\n-two\r\n+one\n+two\n",
    ] {
        assert!(!world.apply(&["udiff"], diff).is_good(), "{diff:?}");
        assert_eq!(world.read("a").as_deref(), Some(&b"one\ntwo\n"[..]));
    }
    let crlf = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-one\n-two\n+one\r\n+two\r\n";
    assert!(world.apply(&["udiff"], crlf).is_good());
    assert_eq!(world.read("a").as_deref(), Some(&b"one\r\ntwo\r\n"[..]));
}

#[test]
fn separators_of_records_are_text() {
    let world = World::new();
    world.write("a", "x\u{1c}y\n");
    let answer = world.apply(
        &["search-replace"],
        &replace("a", "x\u{1c}y\n", "x\u{1c}z\n"),
    );
    assert!(answer.is_good(), "{}", answer.output);
    assert_eq!(world.read("a").as_deref(), Some(&b"x\x1cz\n"[..]));
}

#[test]
fn missing_folder_is_a_usage_error() {
    let world = World::new();
    std::fs::remove_dir(world.root()).expect("removed");
    let answer = world.apply(&["whole"], "");
    assert_eq!(answer.code, ExitCode::from(2));
    assert!(
        answer.errors.starts_with("burin-agent: "),
        "{}",
        answer.errors
    );
}

#[test]
fn model_cannot_write_files_that_run_programs() {
    for path in [
        ".git/hooks/pre-commit",
        ".git/config",
        ".git/info/attributes",
        ".GIT/config",
        "sub/.git/hooks/post-checkout",
        "sub/.git",
        ".vscode/tasks.json",
        "sub/.vscode/tasks.json",
        ".envrc",
        ".mcp.json",
        ".claude/settings.json",
        "hooks/pre-commit",
        "scripts/lint",
        "shared/tasks.json",
        "link/hooks/pre-commit",
    ] {
        let world = World::new();
        for folder in [".git/hooks", ".vscode", "hooks", "scripts", "shared"] {
            std::fs::create_dir_all(world.root().join(folder)).expect("a folder");
        }
        for (name, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/config", "[core]\n hooksPath = hooks\n"),
            ("hooks/pre-commit", "#!/bin/sh\nscripts/lint\n"),
            ("shared/tasks.json", "{}\n"),
            ("scripts/lint", "#!/bin/sh\n"),
        ] {
            world.write(name, text);
        }
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.root().join("scripts/lint"), mode).expect("a mode");
        for (target, name) in [
            ("../shared/tasks.json", ".vscode/tasks.json"),
            (".git", "link"),
        ] {
            std::os::unix::fs::symlink(target, world.root().join(name)).expect("a link");
        }
        let before = tree(&world.root());
        let edits = format!("ok.txt\n```\nfine\n```\n{path}\n```\nplanted\n```\n");
        let answer = world.apply(&["whole"], &edits);
        assert!(!answer.is_good(), "{path}: {}", answer.output);
        assert!(
            answer.output.contains("only the user may change it"),
            "{path}: {}",
            answer.output
        );
        assert_eq!(tree(&world.root()), before, "{path}");
        let answer = world.apply(&["whole", "--partial"], &edits);
        assert!(!answer.is_good(), "{path}: {}", answer.output);
        assert_eq!(tree(&world.root()), before, "{path}");
    }
    let world = World::new();
    let edits = "AGENTS.md\n```\nfine\n```\n.github/workflows/ci.yml\n```\nfine\n```\nhooks/x\n```\nfine\n```\n";
    let answer = world.apply(&["whole"], edits);
    assert!(answer.is_good(), "{}{}", answer.output, answer.errors);
}

#[test]
fn model_cannot_delete_or_overwrite_protected_names() {
    let world = World::new();
    world.write(".vscode/tasks.json", "{}\n");
    world.write("a.txt", "a\n");
    let before = tree(&world.root());
    for patch in [
        "*** Begin Patch\n*** Delete File: .vscode/tasks.json\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: a.txt\n*** Move to: .git/hooks/pre-commit\n@@\n-a\n+b\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: .vscode/tasks.json\n*** Move to: b.json\n@@\n-{}\n+{ }\n*** End Patch\n",
    ] {
        let answer = world.apply(&["apply-patch"], patch);
        assert!(
            answer.output.contains("only the user may change it"),
            "{patch}: {}",
            answer.output
        );
        assert_eq!(tree(&world.root()), before, "{patch}");
    }
}
