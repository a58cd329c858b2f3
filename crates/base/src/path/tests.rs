//! Normal form of absolute paths.

use super::AbsPath;

#[test]
fn paths_are_normalized_by_name() {
    let check = |path: &str, expect: Option<&str>| {
        assert_eq!(
            AbsPath::new(path).map(|p| p.to_string()).as_deref(),
            expect,
            "{path}"
        );
    };
    check("/a/./b/../c", Some("/a/c"));
    check("/..", Some("/"));
    check("/", Some("/"));
    check("/a//b/", Some("/a/b"));
    check("//a/.", Some("/a"));
    check("/..a/.b/c.", Some("/..a/.b/c."));
    check("a/b", None);
    check("", None);
}

#[test]
fn paths_compare_with_ancestors() {
    let root = AbsPath::new("/repo").expect("absolute");
    let file = root.join("src/../lib.rs");
    assert_eq!(file.to_string(), "/repo/lib.rs");
    assert_eq!(file.name(), "lib.rs");
    assert!(file.is_within(&root) && !root.is_within(&file));
    assert_eq!(
        file.relative_to(&root)
            .map(|p| p.display().to_string())
            .as_deref(),
        Some("lib.rs")
    );
    assert_eq!(file.parent(), Some(root));
}

#[test]
fn displayed_names_fit_one_line_and_keep_bytes() {
    let folder = AbsPath::new("/p").expect("absolute");
    let file = folder.join("a\u{202e}b\n");
    assert_eq!(file.file_name(), "a\u{202e}b\n");
    assert_eq!(file.printable_name(), "a<U+202E>b\u{240a}");
    assert_eq!(file.printable(), "/p/a<U+202E>b\u{240a}");
    assert_eq!(folder.join(file.file_name()), file);
}
