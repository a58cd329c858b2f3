//! The project tree by keys: walking, making, renaming, deleting, filtering.

use gpui_kit::{TestAppContext, px, size};

use super::{Story, open, path};
use crate::actions::{project_tree as act, view};
use crate::tree_panel::state::{ShownRow, entry_path};

fn rows(story: &mut Story) -> Vec<String> {
    story.read(|workbench, cx| {
        let tree = workbench.tree().read(cx);
        let folder = workbench.folder().expect("a folder").read(cx);
        let name = |row: &ShownRow| {
            let Some(path) = entry_path(folder.tree(), row) else {
                return "<name>".to_owned();
            };
            let mark = if tree.state().selected.as_ref() == Some(path) {
                ">"
            } else {
                ""
            };
            format!("{mark}{}", path.name())
        };
        tree.visible_rows().iter().map(name).collect()
    })
}

#[gpui_kit::test]
fn the_tree_is_walked_and_filtered(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.act(view::FocusProjectTree);
    assert_eq!(
        rows(&mut story),
        ["src", "target", ".gitignore", "README.md"]
    );
    for key in ["down", "right", "right", "right"] {
        story.keys(key).settle();
    }
    assert_eq!(
        rows(&mut story),
        [
            "src",
            ">deep",
            "leaf.rs",
            "lib.rs",
            "main.rs",
            "target",
            ".gitignore",
            "README.md"
        ]
    );
    story.keys("left left");
    story.settle();
    assert_eq!(rows(&mut story)[0], ">src");
    story.input("lib");
    assert_eq!(rows(&mut story), ["src", ">lib.rs"]);
    story.keys("escape");
    assert_eq!(rows(&mut story).len(), 7);
    story.keys("enter");
    story.settle();
    assert_eq!(story.tabs(), "[lib.rs]");
}

#[gpui_kit::test]
fn files_are_made_renamed_and_trashed(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    story.act(act::NewFile);
    story.input("util/new.rs").keys("enter");
    story.settle();
    assert_eq!(story.on_disk("/p/src/util/new.rs"), "");
    assert_eq!(story.tabs(), "main.rs [new.rs]");
    story.act(view::FocusProjectTree).keys("f2").settle();
    let editing = story.read(|workbench, cx| workbench.tree().read(cx).state().editing.clone());
    assert!(editing.is_some(), "{:?}", rows(&mut story));
    story.keys("ctrl-a").input("better.rs").keys("enter");
    story.settle();
    assert!(
        story
            .files
            .content(&path("/p/src/util/better.rs"))
            .is_some(),
        "{:?}",
        rows(&mut story)
    );
    assert_eq!(
        story.tabs(),
        "main.rs [better.rs]",
        "the open text goes along"
    );
    story.keys("ctrl-z");
    story.settle();
    assert_eq!(
        story.tabs(),
        "main.rs [new.rs]",
        "undo takes the rename back"
    );
    story.keys("delete");
    assert!(story.is_asking());
    story.keys("right enter");
    story.settle();
    assert_eq!(story.files.trashed(), [path("/p/src/util/new.rs")]);
    let reports = story.reports();
    assert!(reports[0].contains("is in the trash"), "{reports:?}");
}

#[gpui_kit::test]
fn a_bad_name_is_refused_while_it_is_typed(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.act(act::NewFolder);
    story.input("..").keys("enter");
    story.settle();
    assert!(
        rows(&mut story).contains(&"<name>".to_owned()),
        "the field stays"
    );
    story.keys("escape");
    story.settle();
    assert!(!rows(&mut story).contains(&"<name>".to_owned()));
}

#[gpui_kit::test]
fn the_tree_follows_the_text_at_hand(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("leaf.rs");
    assert!(
        rows(&mut story).contains(&">leaf.rs".to_owned()),
        "{:?}",
        rows(&mut story)
    );
    story.open_file("README");
    assert!(
        rows(&mut story).contains(&">README.md".to_owned()),
        "{:?}",
        rows(&mut story)
    );
}

#[gpui_kit::test]
fn in_a_narrow_window_the_tree_hides_for_the_text(cx: &mut TestAppContext) {
    let mut story = open(cx);
    let is_visible = |story: &mut Story| {
        let workbench = story.workbench.clone();
        let cx = &mut story.cx;
        cx.update(|window, cx| workbench.read(cx).is_tree_visible(window, cx))
    };
    story.cx.simulate_resize(size(px(560.0), px(420.0)));
    story.settle();
    assert!(is_visible(&mut story), "nothing else is there");
    story.open_file("main.rs");
    assert!(!is_visible(&mut story), "the text is");
    for (key, expected) in [
        ("ctrl-b", true),
        ("ctrl-b", false),
        ("ctrl-shift-e", true),
        ("ctrl-shift-e", false),
        ("ctrl-b", true),
        ("escape", false),
        ("ctrl-b", true),
    ] {
        story.keys(key).settle();
        assert_eq!(is_visible(&mut story), expected, "after {key}");
    }
    story.act(view::FocusEditor).settle();
    assert!(!is_visible(&mut story));
    story.cx.simulate_resize(size(px(1200.0), px(800.0)));
    story.settle();
    assert!(is_visible(&mut story), "there is room beside the text");
    story.keys("ctrl-b").settle();
    assert!(!is_visible(&mut story));
}
