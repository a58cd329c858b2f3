//! File names that are not plain text: blanks at the ends, line feeds, direction marks, bytes outside UTF-8.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use base::AbsPath;
use gpui_kit::TestAppContext;
use host::{FakeFiles, Files as _};

use super::{Story, open_with, path, start};
use crate::actions::{app, project_tree as act, view};
use crate::windows::OpenRequest;

const NAMES: [&[u8]; 8] = [
    b" lead.txt",
    b"trail.txt ",
    b"nl-end\n",
    b"two\nrows.txt",
    b"caf\xe9.txt",
    b"\xff\xfe",
    b"a\\x41b.txt",
    "exe\u{202e}txt.rs".as_bytes(),
];

fn named(name: &[u8]) -> AbsPath {
    path("/p").join(OsStr::from_bytes(name))
}

/// A project of one file, selected in the tree, which has the keyboard.
fn open_one(name: &[u8], cx: &mut TestAppContext) -> Story {
    let files = FakeFiles::new();
    files.write(&named(name), "text\n");
    let mut story = open_with(files, cx);
    story.act(view::FocusProjectTree).keys("end");
    story
}

fn names(files: &FakeFiles) -> Vec<Vec<u8>> {
    let listing = files.list(&path("/p")).expect("listed");
    let names = listing.entries.iter();
    names
        .map(|entry| entry.path.file_name().as_bytes().to_vec())
        .collect()
}

#[gpui_kit::test]
fn renaming_with_nothing_typed_changes_nothing(cx: &mut TestAppContext) {
    for name in NAMES {
        let mut app = cx.new_app();
        let mut story = open_one(name, &mut app);
        story.keys("f2").settle();
        let is_editing = |story: &mut Story| {
            story.read(|workbench, cx| workbench.tree().read(cx).state().editing.is_some())
        };
        assert!(is_editing(&mut story), "{name:?}");
        story.keys("enter").settle();
        assert!(!is_editing(&mut story), "{name:?}");
        assert_eq!(names(&story.files), [name]);
        assert_eq!(story.reports(), [""; 0]);
    }
}

#[gpui_kit::test]
fn renaming_keeps_the_bytes_that_were_not_edited(cx: &mut TestAppContext) {
    for name in NAMES {
        let mut app = cx.new_app();
        let mut story = open_one(name, &mut app);
        story.keys("f2").settle();
        story.keys("end").input("2").keys("enter").settle();
        assert_eq!(names(&story.files), [[name, b"2"].concat()]);
        story.keys("f2").settle();
        story.keys("home").input("1").keys("enter").settle();
        assert_eq!(names(&story.files), [[b"1", name, b"2"].concat()]);
    }
}

#[gpui_kit::test]
fn copies_moves_and_the_trash_keep_the_bytes(cx: &mut TestAppContext) {
    for name in NAMES {
        let mut app = cx.new_app();
        let mut story = open_one(name, &mut app);
        story.files.folder(&path("/p/folder"));
        story.settle();
        story.keys("end").act(act::Copy);
        story.keys("home").act(act::Paste);
        let copied = path("/p/folder").join(OsStr::from_bytes(name));
        assert!(story.files.exists(&copied), "{name:?}");
        story.files.delete(&copied);
        story.settle();
        story.keys("end").act(act::Cut);
        story.keys("home").act(act::Paste);
        assert!(story.files.exists(&copied), "{name:?}");
        assert!(!story.files.exists(&named(name)), "{name:?}");
        story.act(act::Undo);
        assert!(story.files.exists(&named(name)), "{name:?}");
        story.keys("end").act(act::Delete);
        story.keys("right enter").settle();
        assert_eq!(story.files.trashed(), [named(name)]);
    }
}

#[gpui_kit::test]
fn duplicates_keep_the_bytes(cx: &mut TestAppContext) {
    let mut story = open_one(b"caf\xe9\n.txt", cx);
    story.act(act::Duplicate);
    assert_eq!(
        names(&story.files),
        [&b"caf\xe9\n copy.txt"[..], b"caf\xe9\n.txt"]
    );
}

#[gpui_kit::test]
fn odd_names_open_from_the_finder_and_the_tree(cx: &mut TestAppContext) {
    for name in NAMES {
        let mut app = cx.new_app();
        let mut story = open_one(name, &mut app);
        story.keys("enter").settle();
        assert_eq!(story.text(), "text\n", "{name:?} from the tree");
        story.act(crate::actions::pane::CloseAllTabs);
        story.keys("ctrl-p").settle();
        story.keys("enter").settle();
        assert_eq!(story.text(), "text\n", "{name:?} from the finder");
        let shown = story.read(|workbench, cx| workbench.active_item()?.path(cx));
        assert_eq!(shown, Some(named(name)));
    }
}

#[gpui_kit::test]
fn odd_names_are_shown_on_one_line_without_direction_marks(cx: &mut TestAppContext) {
    for (name, shown) in [
        (&b"nl-end\n"[..], "nl-end\u{240a}"),
        (b"two\nrows.txt", "two\u{240a}rows.txt"),
        (b"caf\xe9.txt", "caf\u{fffd}.txt"),
        ("exe\u{202e}txt.rs".as_bytes(), "exe<U+202E>txt.rs"),
    ] {
        let mut app = cx.new_app();
        let mut story = open_one(name, &mut app);
        story.keys("enter").settle();
        assert_eq!(story.tabs(), format!("[{shown}]"));
        let display = story.read(|workbench, cx| workbench.display_path(&named(name), cx));
        assert_eq!(display, shown);
        story.act(view::FocusProjectTree).act(act::Delete);
        story.keys("right enter").settle();
        let reports = story.reports();
        assert!(reports[0].contains(shown), "{reports:?}");
    }
}

#[gpui_kit::test]
async fn odd_names_come_back_with_the_session(cx: &mut TestAppContext) {
    let files = FakeFiles::new();
    let root = path("/odd").join(OsStr::from_bytes(b"r\xe9\n"));
    for name in NAMES {
        files.write(&root.join(OsStr::from_bytes(name)), "text\n");
    }
    let request = OpenRequest {
        folders: vec![root.clone()],
        files: NAMES
            .iter()
            .map(|name| (root.join(OsStr::from_bytes(name)), None))
            .collect(),
    };
    let mut story = start(&files, request, cx).pop().expect("a window");
    story.settle();
    let before = story.tabs();
    let recent = story.read(|workbench, _| workbench.recent_files().to_vec());
    story.act(app::Quit);
    let mut again = cx.new_app();
    let mut story = start(&files, OpenRequest::default(), &mut again)
        .pop()
        .expect("the window");
    story.settle();
    assert_eq!(story.tabs(), before);
    assert_eq!(story.read(|workbench, cx| workbench.root(cx)), Some(root));
    assert_eq!(
        story.read(|workbench, _| workbench.recent_files().to_vec()),
        recent
    );
    assert_eq!(recent.len(), NAMES.len());
}
