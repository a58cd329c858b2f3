//! Tests of dangerous and harmless paths.

use super::{NameDanger, TreePath};

#[test]
fn names_treated_as_dot_git_by_some_system() {
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
        "\u{200d}.g\u{206a}IT",
    ] {
        assert_eq!(
            TreePath::from(name).danger(),
            Some(NameDanger::GitFolder),
            "{name:?}"
        );
    }
    for name in ["..", "a/../b", "a//b", "./a", "a/"] {
        assert_eq!(
            TreePath::from(name).danger(),
            Some(NameDanger::Elsewhere),
            "{name:?}"
        );
    }
    for name in ["a\\b", "..\\x"] {
        assert_eq!(
            TreePath::from(name).danger(),
            Some(NameDanger::Unkeepable),
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
        ".g\u{131}t",
        "...",
        "digit~1",
        ".gitattributes",
    ] {
        assert_eq!(TreePath::from(name).danger(), None, "{name:?}");
    }
}

#[test]
fn symlinks_leaving_the_tree() {
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
    // A volume that folds names takes the long s for an s.
    check(".gitmodule\u{17f}", "b", true);
}

#[test]
fn parent_folders_nearest_first() {
    let folders: Vec<String> = TreePath::from("a/b/c")
        .folders()
        .map(|it| it.to_string())
        .collect();
    assert_eq!(folders, ["a/b", "a"]);
    assert_eq!(TreePath::from("a/b/c").folder(), b"a/b");
    assert_eq!(TreePath::from("c").folder(), b"");
    assert_eq!(TreePath::from("a/b/c").name(), b"c");
}
