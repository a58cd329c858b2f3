//! Searching and replacing through the project.

use gpui_kit::{Entity, TestAppContext};

use super::open;
use crate::TabItem;
use crate::actions::project_search as act;
use crate::search_panel::results::ResultLine;
use crate::search_panel::{SearchField, SearchPanel};

fn found(story: &mut super::Story) -> Vec<String> {
    story.read(|workbench, cx| {
        let Some(TabItem::Search(panel)) = workbench.active_item() else {
            return Vec::new();
        };
        let results = panel.read(cx).results();
        let files = results.files();
        let line = |line: &ResultLine| match *line {
            ResultLine::File { file } => Some(format!("{}:", files[file].path.name())),
            ResultLine::Match { file, row } => Some(files[file].rows[row].text.trim().to_owned()),
            _ => None,
        };
        results.lines().iter().filter_map(line).collect()
    })
}

#[gpui_kit::test]
fn unsaved_text_is_searched_and_ignored_files_are_not(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs").input("// old too\n");
    story.act(act::Show).input("old");
    let expect = [
        "README.md:",
        "Some words about old things.",
        "leaf.rs:",
        "// old leaf",
        "lib.rs:",
        "// old too",
        "main.rs:",
        "old();",
        "fn old() {}",
    ];
    assert_eq!(found(&mut story), expect);
    story.act(act::ToggleWord).act(act::ToggleRegex);
    story.keys("ctrl-a").input("ol[d]\\(");
    assert_eq!(found(&mut story), ["main.rs:", "old();", "fn old() {}"]);
}

#[gpui_kit::test]
fn results_are_opened_and_dismissed_by_keys(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.act(act::Show).input("old").keys("enter");
    story.settle();
    story.act(act::SelectNext).act(act::Dismiss);
    assert_eq!(
        found(&mut story).len(),
        5,
        "the file without matches is gone too: {:?}",
        found(&mut story)
    );
    story
        .act(act::SelectNext)
        .act(act::SelectNext)
        .act(act::Open);
    assert_eq!(story.tabs(), "Search [main.rs]");
}

#[gpui_kit::test]
fn a_regex_replaces_across_open_and_closed_files(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").input("// edited\n");
    story.act(act::ShowReplace).act(act::ToggleRegex);
    let panel = story.read(|workbench, _| match workbench.active_item() {
        Some(TabItem::Search(panel)) => panel.clone(),
        _ => panic!("no search"),
    });
    story.at_once("o(ld)");
    story.cx.update(|window, cx| {
        panel.update(cx, |panel, cx| panel.set_replacement("b$1er", window, cx));
    });
    story.cx.dispatch_action(act::ReplaceAll);
    assert!(!story.is_asking(), "not everything is found yet");
    story.settle();
    assert!(story.is_asking());
    story.keys("right enter");
    story.settle();
    assert_eq!(
        story.on_disk("/p/README.md"),
        "# Title\n\nSome words about blder things.\n"
    );
    assert_eq!(story.on_disk("/p/src/deep/leaf.rs"), "// blder leaf\n");
    assert!(
        story.on_disk("/p/src/main.rs").contains("old"),
        "an open text changes in its tab"
    );
    assert!(found(&mut story).is_empty());
    let told = story.cx.update(|_, cx| panel.read(cx).status_words());
    assert_eq!(told, "None left of 4 matches");
    story.open_file("main.rs");
    assert_eq!(
        story.text(),
        "// edited\nfn main() {\n    blder();\n}\n\nfn blder() {}\n"
    );
    story.act(editor::Undo);
    assert!(
        story.text().contains("old();") && story.text().contains("// edited"),
        "one step back"
    );
    assert!(
        story.reports()[0].contains("Replaced 4 matches in 3 files"),
        "{:?}",
        story.reports()
    );
}

/// A search with a replacement, once everything is found.
fn replacing(story: &mut super::Story, pattern: &str, with: &str) -> Entity<SearchPanel> {
    story.act(act::ShowReplace).act(act::ToggleRegex);
    let panel = story.read(|workbench, _| match workbench.active_item() {
        Some(TabItem::Search(panel)) => panel.clone(),
        _ => panic!("no search"),
    });
    story.input(pattern);
    story.cx.update(|window, cx| {
        panel.update(cx, |panel, cx| panel.set_replacement(with, window, cx));
    });
    story.settle();
    panel
}

#[gpui_kit::test]
fn a_replacement_is_undone_in_open_and_closed_files(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs").input("// edited\n");
    replacing(&mut story, "o(ld)", "b$1er");
    story.act(act::ReplaceAll).keys("right enter");
    story.settle();
    assert_eq!(story.on_disk("/p/src/deep/leaf.rs"), "// blder leaf\n");
    story.act(act::UndoReplace);
    story.settle();
    assert_eq!(story.on_disk("/p/src/deep/leaf.rs"), "// old leaf\n");
    assert_eq!(
        story.on_disk("/p/README.md"),
        "# Title\n\nSome words about old things.\n"
    );
    assert!(
        story.reports()[0].contains("Undid the replacement in 3 files"),
        "{:?}",
        story.reports()
    );
    assert_eq!(found(&mut story).len(), 7, "they are found again");
    story.open_file("main.rs");
    assert!(
        story.text().contains("old();") && story.text().contains("// edited"),
        "{}",
        story.text()
    );
}

#[gpui_kit::test]
fn a_file_changed_since_the_search_is_reported_and_kept(cx: &mut TestAppContext) {
    let mut story = open(cx);
    replacing(&mut story, "old", "new");
    story
        .files
        .write(&super::path("/p/src/deep/leaf.rs"), "// an old leaf\n");
    story.act(act::ReplaceAll).keys("right enter");
    story.settle();
    assert_eq!(story.on_disk("/p/src/deep/leaf.rs"), "// an old leaf\n");
    assert!(story.on_disk("/p/README.md").contains("new things"));
    let reports = story.reports().join("\n");
    assert!(reports.contains("leaf.rs: it changed"), "{reports}");
    assert_eq!(found(&mut story)[0], "leaf.rs:", "it stays on the list");
}

#[gpui_kit::test]
fn rows_of_a_closed_file_are_replaced_one_by_one(cx: &mut TestAppContext) {
    let mut story = open(cx);
    replacing(&mut story, "old", "older\\n");
    story.keys("enter");
    for _ in 0..4 {
        story.act(act::Replace);
        story.settle();
    }
    assert!(found(&mut story).is_empty(), "{:?}", found(&mut story));
    assert_eq!(
        story.on_disk("/p/src/main.rs"),
        "fn main() {\n    older\n();\n}\n\nfn older\n() {}\n"
    );
}

#[gpui_kit::test]
fn an_error_in_a_filter_is_shown_under_its_field(cx: &mut TestAppContext) {
    const FIELDS: [SearchField; 3] = [
        SearchField::Pattern,
        SearchField::Include,
        SearchField::Exclude,
    ];
    let mut story = open(cx);
    story.act(act::Show).input("old");
    let panel = story.read(|workbench, _| match workbench.active_item() {
        Some(TabItem::Search(panel)) => panel.clone(),
        _ => panic!("no search"),
    });
    let wrong = |story: &mut super::Story| {
        let panel = panel.clone();
        story.read(move |_, cx| FIELDS.map(|field| panel.read(cx).error_of(field).is_some()))
    };
    story.act(act::ToggleFilters).input("*.{rs,md}");
    assert_eq!(wrong(&mut story), [false, false, false]);
    assert_eq!(found(&mut story).len(), 7);
    story.input(", a{b");
    assert_eq!(wrong(&mut story), [false, true, false]);
    story.input("}").keys("tab").input("x[");
    assert_eq!(wrong(&mut story), [false, false, true]);
    story.act(act::Show).act(act::ToggleRegex).input("(");
    assert_eq!(wrong(&mut story), [true, false, false]);
}

#[gpui_kit::test]
fn a_broken_pattern_is_a_sentence(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.act(act::Show).act(act::ToggleRegex).input("zq(");
    assert!(found(&mut story).is_empty());
    story.input(")x");
    assert!(found(&mut story).is_empty());
    assert!(!story.is_asking());
}
