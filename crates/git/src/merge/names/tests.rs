//! Names that are dangerous, and those that are not.

use super::{Danger, TreePath};

#[test]
fn names_that_some_system_takes_for_gits_own() {
    for name in [
        ".git",
        ".GIT",
        ".Git/config",
        "a/.git/hooks/x",
        ".git.",
        ".git ",
        ".git . .",
        "git~1",
        "GIT~1/config",
        ".git::$INDEX_ALLOCATION/config",
        ".g\u{200c}it",
        "\u{feff}.git",
        ".git:x",
    ] {
        assert_eq!(
            TreePath::from(name).danger(),
            Some(Danger::GitFolder),
            "{name:?}"
        );
    }
    for name in ["..", "a/../b", "a//b", "./a", "a/"] {
        assert_eq!(
            TreePath::from(name).danger(),
            Some(Danger::Elsewhere),
            "{name:?}"
        );
    }
    for name in ["a\\b", "..\\x"] {
        assert_eq!(
            TreePath::from(name).danger(),
            Some(Danger::Unkeepable),
            "{name:?}"
        );
    }
    for name in [
        ".gitignore",
        ".github/x",
        "git",
        "a.git",
        "git~",
        "git~x",
        "...",
        "digit~1",
        ".gitattributes",
    ] {
        assert_eq!(TreePath::from(name).danger(), None, "{name:?}");
    }
}

#[test]
fn links_that_lead_out() {
    let check = |path: &str, target: &str, is_refused: bool| {
        let danger = TreePath::from(path).link_danger(target.as_bytes());
        assert_eq!(
            danger.is_some(),
            is_refused,
            "{path} -> {target}: {danger:?}"
        );
    };
    check("a", "/etc/passwd", true);
    check("a", "..", true);
    check("a/b", "../c", false);
    check("a/b", "../../c", true);
    check("a/b", "x/../../../c", true);
    check("a/b/c", "../../d", false);
    check("a", ".git/config", true);
    check("a", "", true);
    check("a", "b/./c", false);
    check(".gitmodules", "b", true);
}

#[test]
fn folders_from_the_nearest() {
    let folders: Vec<String> = TreePath::from("a/b/c")
        .folders()
        .map(|it| it.to_string())
        .collect();
    assert_eq!(folders, ["a/b", "a"]);
    assert_eq!(TreePath::from("a/b/c").folder(), b"a/b");
    assert_eq!(TreePath::from("c").folder(), b"");
    assert_eq!(TreePath::from("a/b/c").name(), b"c");
}
