//! Tests of protected names, in all spellings that reach them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{NAMES, NameClass, folded, is_git, of};

fn check(path: &str, expected: Option<(&str, NameClass)>) {
    let found = of(Path::new(path)).map(|name| (name.path, name.class));
    assert_eq!(found, expected, "{path:?}");
}

#[test]
fn a_path_matches_the_outermost_name() {
    check(".vscode/tasks.json", Some((".vscode", NameClass::Closed)));
    check("sub/deep/.vscode", Some((".vscode", NameClass::Closed)));
    check(
        ".cargo/config.toml",
        Some((".cargo/config.toml", NameClass::Watched)),
    );
    check(".cargo/registry/x", None);
    check("AGENTS.md", Some(("AGENTS.md", NameClass::Watched)));
    check("docs/agents.md", Some(("AGENTS.md", NameClass::Watched)));
    check("src/main.rs", None);
    check("vscode", None);
    check(".vscode2", None);
    check("", None);
    // The outermost name wins.
    check(".claude/CLAUDE.md", Some((".claude", NameClass::Closed)));
}

#[test]
fn equivalent_file_system_spellings_match() {
    for path in [
        ".cUrSoR/mcp.json",
        ".CURSOR",
        ".cur\u{17f}or",
        ".cur\u{200c}sor",
        "\u{feff}.cursor",
    ] {
        check(path, Some((".cursor", NameClass::Closed)));
    }
    check(".\u{212a}iro", Some((".kiro", NameClass::Closed)));
    // An accented letter is another letter.
    check(".cursor\u{301}", None);
}

#[test]
fn disguised_git_names_are_recognized() {
    for name in [
        ".git",
        ".GIT",
        ".Git",
        "git~1",
        "GIT~1",
        ".git ",
        ".git.",
        ".git . ",
        ".g\u{200c}it",
        ".git::$INDEX_ALLOCATION",
        ".git:x",
    ] {
        assert!(is_git(OsStr::new(name)), "{name:?}");
    }
    for name in [".gitignore", "git", ".git2", "x.git", ".gitt", "..git"] {
        assert!(!is_git(OsStr::new(name)), "{name:?}");
    }
    assert!(!is_git(OsStr::from_bytes(b".gi\xff")));
}

#[test]
fn every_name_is_unique_and_matches_itself() {
    for name in NAMES {
        check(name.path, Some((name.path, name.class)));
        assert!(!name.why.is_empty());
        let twins = NAMES.iter().filter(|other| other.path == name.path);
        assert_eq!(twins.count(), 1, "{}", name.path);
    }
}

#[test]
fn folding_is_idempotent() {
    for name in [
        ".Git",
        "STRA\u{df}E",
        "\u{130}",
        "\u{17f}",
        "\u{212a}",
        "a\u{feff}b",
    ] {
        let once = folded(OsStr::new(name));
        assert_eq!(folded(OsStr::new(&once)), once);
    }
}
