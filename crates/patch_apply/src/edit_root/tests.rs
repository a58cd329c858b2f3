//! Paths that leave the root, and files as edits see them.

use host::FakeFiles;

use super::*;

fn path(path: &str) -> AbsPath {
    AbsPath::new(path).expect("absolute")
}

fn world() -> FakeFiles {
    let files = FakeFiles::new();
    files.write(&path("/r/a"), "a\n");
    files.write(&path("/r/in/b"), "b\n");
    files.write(&path("/out/secret"), "s\n");
    files.link(&path("/r/away"), "/out");
    files.link(&path("/r/file-away"), "/out/secret");
    files.link(&path("/r/nowhere"), "/out/new");
    files.link(&path("/r/inside"), "/r/in/b");
    files.link(&path("/link"), "/r");
    files
}

#[test]
fn paths_cannot_leave_the_root() {
    let files = world();
    for name in ["/r", "/link"] {
        let root = EditRoot::new(&files, &path(name)).expect("a folder");
        for good in ["a", "./a", "in/b", "new/deep/file", "inside"] {
            let real = root.resolve(good).expect(good);
            assert!(real.is_within(&path("/r")), "{good}");
        }
        for bad in [
            "",
            " ",
            ".",
            "..",
            "../out/secret",
            "in/../../out/secret",
            "/out/secret",
            "away/secret",
            "away/new",
            "file-away",
            "nowhere",
            "a\0b",
            "/r/a",
        ] {
            let error = root.resolve(bad).expect_err(bad);
            assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn symlink_is_not_removed_as_its_target() {
    let files = world();
    let root = EditRoot::new(&files, &path("/r")).expect("a folder");
    assert_eq!(root.resolve_own("in/b"), Ok(path("/r/in/b")));
    assert!(root.resolve_own("inside").is_err());
}

#[test]
fn files_keep_encoding_and_line_endings() {
    let files = world();
    files.write(&path("/r/bom"), b"\xef\xbb\xbfx\r\n");
    files.write(&path("/r/binary"), b"\0\x01\x02\0\0\xff");
    let root = EditRoot::new(&files, &path("/r")).expect("a folder");
    assert!(matches!(root.find("binary"), FileLookup::Refused(_)));
    assert!(matches!(root.find("away/secret"), FileLookup::Refused(_)));
    assert_eq!(root.find("new"), FileLookup::Missing);
    assert_eq!(root.find("bom"), FileLookup::Text("x\r\n".into()));
    let plan = |path: &str, text: &str| FilePlan {
        path: path.to_owned(),
        effect: FileEffect::Create {
            text: text.to_owned(),
            moved_from: Some("bom".to_owned()),
        },
    };
    let changes = root.changes(&[plan("to", "y\r\n")]).expect("encodable");
    let [
        PlannedChange {
            action: CommitAction::Write { content, .. },
            ..
        },
    ] = changes.as_slice()
    else {
        panic!("one file is written: {changes:?}");
    };
    assert_eq!(content, b"\xef\xbb\xbfy\r\n");
    let twice = [plan("in/b", "1"), plan("inside", "2")];
    assert!(
        root.changes(&twice)
            .expect_err("refused")
            .to_string()
            .contains("one file")
    );
}

#[test]
fn spellings_of_one_file_are_one_file() {
    let plan = |path: &str| FilePlan {
        path: path.to_owned(),
        effect: FileEffect::Create {
            text: "x\n".to_owned(),
            moved_from: None,
        },
    };
    let pairs = [
        ("src/strasse", "SRC/Stra\u{df}e"),
        ("new/caf\u{e9}", "New/CAFE\u{301}"),
    ];
    for (rules, are_same) in [(NameRules::FOLDING, true), (NameRules::EXACT, false)] {
        let files = FakeFiles::with_names(rules);
        files.write(&path("/r/Src/Strasse"), "a\n");
        let root = EditRoot::new(&files, &path("/r")).expect("a folder");
        for (one, other) in pairs {
            let changes = root.changes(&[plan(one), plan(other)]);
            let is_refused = changes.is_err_and(|error| error.to_string().contains("one file"));
            assert_eq!(is_refused, are_same, "{rules:?}: {one} and {other}");
        }
        if are_same {
            let stored = path("/r/Src/Strasse");
            assert_eq!(root.resolve_own("src/STRASSE"), Ok(stored));
        }
    }
}
