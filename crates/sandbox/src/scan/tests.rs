//! Tests of scans of real folders.
#![expect(
    clippy::disallowed_methods,
    reason = "tests plant files of every kind, and real git makes real repositories"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use base::AbsPath;
use host::RealFiles;

use super::{FindingChange, Quarantine, ScanBaseline};
use crate::names::NameClass;

mod planted;

struct Scene {
    _folder: tempfile::TempDir,
    root: AbsPath,
}

fn scene() -> Scene {
    let folder = tempfile::tempdir().expect("a folder");
    let root = AbsPath::new(folder.path().join("work")).expect("absolute");
    fs::create_dir(&root).expect("a workspace");
    fs::create_dir(root.join("src")).expect("a folder");
    fs::write(root.join("src/main.rs"), "fn main() {}").expect("written");
    Scene {
        _folder: folder,
        root,
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git");
    assert!(done.status.success(), "{arguments:?}: {done:?}");
}

fn put(root: &AbsPath, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("written");
}

/// Returns the entries that make git treat a folder as a bare repository.
fn bare(root: &AbsPath) {
    put(root, "HEAD", "ref: refs/heads/main");
    put(root, "objects/x", "");
    put(root, "refs/x", "");
}

/// Formats findings as `kind path change`, sorted.
fn found(baseline: &ScanBaseline, root: &AbsPath) -> Vec<String> {
    let line = |finding: &super::Finding| {
        let path = finding
            .path
            .relative_to(root)
            .unwrap_or(finding.path.as_path());
        let change = match finding.change {
            FindingChange::New => "new",
            FindingChange::Changed => "changed",
            FindingChange::Gone => "gone",
        };
        format!("{} {} {change}", finding.kind(), path.display())
    };
    let mut lines: Vec<String> = baseline.changes().iter().map(line).collect();
    lines.sort();
    lines
}

fn check(before: impl FnOnce(&AbsPath), act: impl FnOnce(&AbsPath), expected: &[&str]) {
    let scene = scene();
    before(&scene.root);
    let baseline = ScanBaseline::of(&scene.root, &[]);
    assert_eq!(found(&baseline, &scene.root), Vec::<String>::new());
    act(&scene.root);
    assert_eq!(found(&baseline, &scene.root), expected);
}

#[test]
fn ordinary_work_yields_no_findings() {
    check(
        |root| {
            git(root.as_path(), &["init", "-q"]);
            put(root, ".gitattributes", "*.txt text\n");
        },
        |root| {
            put(root, "src/main.rs", "fn main() { }");
            put(root, "Makefile", "all:");
            put(root, "build/node_modules/x/index.js", "1");
            put(root, ".gitattributes", "*.txt text eol=lf\n");
            put(root, ".gitignore", "build");
            put(root, "config", "x");
            put(root, "hooks/pre-commit", "x");
            symlink("main.rs", root.join("src/link")).expect("a link");
            git(root.as_path(), &["add", "."]);
            git(root.as_path(), &["commit", "-qm", "x"]);
            git(root.as_path(), &["checkout", "-qb", "other"]);
        },
        &[],
    );
}

#[test]
fn sensitive_names_are_found_at_any_depth() {
    check(
        |root| put(root, ".vscode/settings.json", "{}"),
        |root| {
            put(root, ".vscode/settings.json", "{ }");
            put(root, ".vscode/tasks.json", "{}");
            put(root, "src/deep/.ENVRC", "x");
            put(root, "target/debug/.cUrSoR/mcp.json", "x");
            put(root, "AGENTS.md", "x");
            put(root, ".cargo/config.toml", "x");
            put(root, ".npmrc", "x");
            put(root, ".github/workflows/ci.yml", "x");
            put(root, "sub/.gitattributes", "*.c filter=evil diff=x\n");
        },
        &[
            "agent AGENTS.md new",
            "agent target/debug/.cUrSoR/mcp.json new",
            "drivers sub/.gitattributes new",
            "editor .vscode/settings.json changed",
            "editor .vscode/tasks.json new",
            "elsewhere .github/workflows/ci.yml new",
            "packages .cargo/config.toml new",
            "packages .npmrc new",
            "shell src/deep/.ENVRC new",
        ],
    );
}

#[test]
fn git_control_files_are_compared_by_content() {
    check(
        |root| git(root.as_path(), &["init", "-q"]),
        |root| {
            put(root, ".git/config.worktree", "[core]\n fsmonitor = x\n");
            put(root, ".git/hooks/pre-commit", "x");
            put(root, ".git/hooks/post-commit.sample", "x");
            put(root, ".git/info/attributes", "* filter=evil\n");
            put(root, ".git/commondir", "../elsewhere");
            put(root, ".git/objects/info/alternates", "/x");
            put(root, ".git/modules/a/b/config", "x");
            put(root, ".git/worktrees/w/gitdir", "x");
            put(
                root,
                ".git/rebase-merge/git-rebase-todo",
                "pick a\nexec evil\n",
            );
            fs::write(root.join(".git/config"), "[core]\n").expect("written");
        },
        &[
            "config .git/config changed",
            "config .git/config.worktree new",
            "config .git/modules/a/b/config new",
            "drivers .git/info/attributes new",
            "hook .git/hooks/pre-commit new",
            "layout .git/commondir new",
            "layout .git/objects/info/alternates new",
            "layout .git/worktrees/w/gitdir new",
            "rebase .git/rebase-merge/git-rebase-todo new",
        ],
    );
}

#[test]
fn each_nested_repository_is_one_finding() {
    check(
        |root| {
            git(root.as_path(), &["init", "-q"]);
            bare(&root.join("fixtures/old.git"));
        },
        |root| {
            fs::create_dir(root.join("sub")).expect("a folder");
            git(&root.as_path().join("sub"), &["init", "-q"]);
            put(root, "sub/x", "");
            git(&root.as_path().join("sub"), &["add", "."]);
            git(&root.as_path().join("sub"), &["commit", "-qm", "x"]);
            git(root.as_path(), &["add", "sub"]);
            bare(&root.join("look"));
            put(root, "look/config", "[core]\n fsmonitor = x\n");
            put(root, "tree/HEAD", "ref: refs/heads/main");
            put(root, "tree/commondir", "../look");
            put(root, "pointed/.git", "gitdir: ../look\n");
            symlink("../look", root.join("src/.GIT")).expect("a link");
            put(root, "fixtures/old.git/config", "x");
            put(root, "node_modules/p/.git/config", "x");
        },
        &[
            "config fixtures/old.git/config new",
            "gitlink sub new",
            "pointer pointed/.git new",
            "pointer src/.GIT new",
            "repository look new",
            "repository node_modules/p/.git new",
            "repository sub/.git new",
            "repository tree new",
        ],
    );
}

#[test]
fn a_workspace_turned_repository_is_restored_in_place() {
    let scene = scene();
    let baseline = ScanBaseline::of(&scene.root, &[]);
    bare(&scene.root);
    let findings = baseline.changes();
    assert_eq!(found(&baseline, &scene.root), ["repository HEAD new"]);
    let folder = scene.root.parent().expect("a folder").join("aside");
    Quarantine::isolate(&findings, &scene.root, &folder, &RealFiles).expect("put aside");
    assert!(scene.root.join("src/main.rs").as_path().exists());
    assert_eq!(baseline.changes(), []);
}

#[test]
fn a_removed_pointer_is_reported() {
    check(
        |root| put(root, ".git", "gitdir: /elsewhere\n"),
        |root| {
            fs::rename(root.join(".git"), root.join("was")).expect("moved");
            fs::create_dir(root.join(".git")).expect("a folder");
        },
        &["repository .git changed"],
    );
    check(
        |root| put(root, ".git", "gitdir: /elsewhere\n"),
        |root| fs::remove_file(root.join(".git")).expect("removed"),
        &["pointer .git gone"],
    );
}

#[test]
fn outward_links_are_reported_and_never_followed() {
    check(
        |_| {},
        |root| {
            symlink("/etc", root.join("out")).expect("a link");
            symlink("../../x", root.join("src/up")).expect("a link");
            symlink("../src", root.join("src/in")).expect("a link");
            symlink(root.as_path().join("src"), root.join("own")).expect("a link");
            symlink("/etc", root.join(".vscode")).expect("a link");
            symlink("loop", root.join("loop")).expect("a link");
        },
        &["editor .vscode new", "link out new", "link src/up new"],
    );
}

#[test]
fn unreadable_paths_are_reported() {
    let deep = "d/".repeat(230);
    check(
        |_| {},
        |root| {
            put(root, &format!("{deep}.envrc"), "x");
            put(root, ".git/index", "not an index");
        },
        &[
            "repository .git new",
            &format!("unseen {} new", "d/".repeat(201).trim_end_matches('/')),
        ],
    );
}

#[test]
fn external_git_folders_are_scanned() {
    let scene = scene();
    let folder = tempfile::tempdir().expect("a folder");
    let elsewhere = AbsPath::new(folder.path().join("git")).expect("absolute");
    put(&elsewhere, "config", "[core]\n");
    let baseline = ScanBaseline::of(&scene.root, std::slice::from_ref(&elsewhere));
    put(&elsewhere, "hooks/post-checkout", "x");
    put(&elsewhere, "objects/ab/cd", "x");
    assert_eq!(
        found(&baseline, &elsewhere),
        ["hook hooks/post-checkout new"]
    );
}

#[test]
fn an_index_of_any_version_is_read() {
    for version in ["2", "3", "4"] {
        let scene = scene();
        let root = scene.root.as_path();
        git(root, &["init", "-q"]);
        put(&scene.root, "a/long/path/to/a/file", "");
        put(&scene.root, "a/long/path/to/another", "");
        fs::create_dir(root.join("sub")).expect("a folder");
        git(&root.join("sub"), &["init", "-q"]);
        git(
            &root.join("sub"),
            &["commit", "-q", "--allow-empty", "-m", "x"],
        );
        git(root, &["add", "--intent-to-add", "a/long"]);
        git(
            root,
            &["update-index", &format!("--index-version={version}")],
        );
        let baseline = ScanBaseline::of(&scene.root, &[]);
        git(root, &["add", "sub"]);
        assert_eq!(
            found(&baseline, &scene.root),
            ["gitlink sub new"],
            "{version}"
        );
    }
}

#[test]
fn findings_are_quarantined_and_restored() {
    let scene = scene();
    put(&scene.root, ".vscode/settings.json", "old");
    let mut baseline = ScanBaseline::of(&scene.root, &[]);
    put(&scene.root, ".vscode/settings.json", "new");
    put(&scene.root, "sub/.git/config", "evil");
    symlink("/etc", scene.root.join("out")).expect("a link");
    let folder = scene.root.parent().expect("a folder").join("aside");
    let findings = baseline.changes();
    assert_eq!(findings.len(), 3);
    Quarantine::isolate(&findings, &scene.root, &folder, &RealFiles).expect("put aside");
    let text = |path: &str| fs::read_to_string(scene.root.join(path)).ok();
    assert_eq!(text(".vscode/settings.json").as_deref(), Some("old"));
    assert!(!scene.root.join("sub/.git").as_path().exists());
    assert!(scene.root.join("out").as_path().symlink_metadata().is_err());
    assert_eq!(baseline.changes(), []);
    let quarantine = Quarantine::open(&folder, &RealFiles).expect("a quarantine");
    assert_eq!(quarantine.items().count(), 3);
    quarantine.restore(&RealFiles).expect("brought back");
    assert_eq!(text(".vscode/settings.json").as_deref(), Some("new"));
    assert_eq!(text("sub/.git/config").as_deref(), Some("evil"));
    assert_eq!(baseline.advance().len(), 3);
    assert_eq!(baseline.changes(), []);
}

#[test]
fn findings_are_classified_as_closed_or_watched() {
    let scene = scene();
    let baseline = ScanBaseline::of(&scene.root, &[]);
    put(&scene.root, "CLAUDE.md", "x");
    put(&scene.root, ".envrc", "x");
    let findings = baseline.changes();
    let told: Vec<(NameClass, String)> = findings
        .iter()
        .map(|finding| (finding.class(), finding.to_string()))
        .collect();
    let root = &scene.root;
    assert_eq!(
        told,
        [
            (
                NameClass::Closed,
                format!("{root}/.envrc is new; it is run by a shell that enters this folder")
            ),
            (
                NameClass::Watched,
                format!("{root}/CLAUDE.md is new; it steers the next agent that reads it")
            ),
        ]
    );
}

#[test]
fn a_repository_is_armed_by_its_content() {
    let check = |act: &dyn Fn(&AbsPath), expected: bool| {
        let scene = scene();
        fs::create_dir(scene.root.join("sub")).expect("a folder");
        let baseline = ScanBaseline::of(&scene.root, &[]);
        git(&scene.root.as_path().join("sub"), &["init", "-q"]);
        act(&scene.root);
        let findings = baseline.changes();
        let armed = findings.iter().any(super::Finding::is_armed);
        assert_eq!(armed, expected, "{findings:?}");
    };
    check(&|_| {}, false);
    check(
        &|root| put(root, "sub/.git/objects/info/alternates", "/x"),
        false,
    );
    check(
        &|root| put(root, "sub/.git/hooks/post-commit.sample", "x"),
        false,
    );
    check(&|root| put(root, "sub/.git/hooks/post-commit", "x"), true);
    check(
        &|root| put(root, "sub/.git/config", "[core]\n fsmonitor = x\n"),
        true,
    );
    check(
        &|root| put(root, "sub/.git/config.worktree", "[x]\n y = z\n"),
        true,
    );
    check(&|root| put(root, "sub/.git/commondir", "../x"), true);
    check(
        &|root| put(root, "sub/.git/modules/a/config", "[alias]\n x = !y\n"),
        true,
    );
    check(
        &|root| put(root, "other/.git", "gitdir: ../sub/.git\n"),
        true,
    );
    check(&|root| put(root, ".vscode/tasks.json", "{}"), true);
    check(&|root| put(root, "AGENTS.md", "x"), false);
}

/// Scans a large tree twice; the second time only changed folders are read.
#[test]
fn a_repeated_scan_finds_the_one_change() {
    let scene = scene();
    for folder in 0..100 {
        let path = scene.root.join(format!("d{folder}"));
        fs::create_dir(&path).expect("a folder");
        for file in 0..50 {
            fs::write(path.join(format!("f{file}")), "").expect("written");
        }
    }
    // Lets the clock advance beyond the last change of a folder.
    std::thread::sleep(std::time::Duration::from_millis(250));
    let baseline = ScanBaseline::of(&scene.root, &[]);
    assert_eq!(baseline.changes(), []);
    put(&scene.root, "d57/deep/.git/config", "x");
    put(&scene.root, "d58/.envrc", "x");
    assert_eq!(
        found(&baseline, &scene.root),
        ["repository d57/deep/.git new", "shell d58/.envrc new"]
    );
}
