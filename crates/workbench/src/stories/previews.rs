//! Previews in a window: Markdown beside its text, images, tables and bytes; the menu of ways to open a file.

use gpui_kit::TestAppContext;
use host::FakeFiles;
use preview_view::PreviewTab;
use preview_view::actions::{Open, OpenBytes, OpenText, OpenToTheSide, OpenWith};

use super::{Story, open_with, path, project, start};
use crate::actions::{app, pane, project_tree, view};
use crate::item::TabItem;
use crate::windows::OpenRequest;

/// A Markdown document with many sections.
fn guide() -> String {
    let sections = (0..60).map(|number| format!("# Section {number}\n\nSome words.\n\n"));
    sections.collect()
}

fn png() -> Vec<u8> {
    let image = image::RgbImage::from_pixel(6, 4, image::Rgb([200, 30, 30]));
    let mut bytes = std::io::Cursor::new(Vec::new());
    image
        .write_to(&mut bytes, image::ImageFormat::Png)
        .expect("encoded");
    bytes.into_inner()
}

fn files() -> FakeFiles {
    let files = project();
    files.write(&path("/p/guide.md"), guide());
    files.write(&path("/p/picture.png"), png());
    files.write(&path("/p/table.csv"), "a,b\n1,2\n");
    files.write(&path("/p/data.bin"), [0, 159, 146, 150, 0, 1]);
    files
}

fn preview(story: &mut Story) -> Option<PreviewTab> {
    story.read(|workbench, _| workbench.active_item().and_then(TabItem::preview).cloned())
}

/// Returns the texts of the status bar about the active preview.
fn status(story: &mut Story) -> Vec<String> {
    let tab = preview(story).expect("a preview");
    story.read(|_, cx| {
        tab.status(cx)
            .iter()
            .map(|it| it.text.to_string())
            .collect()
    })
}

#[gpui_kit::test]
fn markdown_opens_beside_its_text_and_scrolls_in_step(cx: &mut TestAppContext) {
    let mut story = open_with(files(), cx);
    story.open_file("guide.md").keys("ctrl-k v").settle();
    assert_eq!(story.tabs(), "[guide.md] | [Preview guide.md]");
    let editor = story
        .read(|workbench, _| workbench.active_item().and_then(TabItem::editor).cloned())
        .expect("the text keeps the keyboard");
    story.act(pane::FocusRight);
    let Some(PreviewTab::Markdown(view)) = preview(&mut story) else {
        panic!("a preview of Markdown");
    };
    // Section 30 begins in row 120 of the text.
    story
        .cx
        .update(|_, cx| editor.update(cx, |it, cx| it.set_scroll_top(120.0, cx)));
    story.settle();
    let top = story.read(|_, cx| view.read(cx).top_row());
    assert!((top - 120.0).abs() < 1.0, "the preview followed to {top}");
    story.keys("pagedown").settle();
    let preview_top = story.read(|_, cx| view.read(cx).top_row());
    assert!(preview_top > 121.0, "a key scrolled to {preview_top}");
    let top = story
        .cx
        .update(|_, cx| editor.update(cx, |it, cx| it.scroll_top(cx)));
    assert!(
        (top - preview_top).abs() < 1.5,
        "the text followed to {top}"
    );
}

#[gpui_kit::test]
fn typing_changes_the_preview_and_closing_asks_once(cx: &mut TestAppContext) {
    let mut story = open_with(files(), cx);
    story
        .open_file("README")
        .act(OpenToTheSide)
        .input("# New\n\n");
    assert_eq!(story.tabs(), "[README.md*] | [Preview README.md*]");
    story.keys("ctrl-w").settle();
    assert!(!story.is_asking(), "the preview still has the text");
    story.keys("ctrl-w").settle();
    assert!(story.is_asking(), "the last view of an unsaved text");
}

#[gpui_kit::test]
fn an_image_opens_as_image_and_as_text(cx: &mut TestAppContext) {
    let mut story = open_with(files(), cx);
    story.open_file("picture.png");
    assert_eq!(story.tabs(), "[picture.png]");
    assert_eq!(status(&mut story)[..2], ["6\u{d7}4", "PNG"]);
    story.act(OpenText);
    assert!(preview(&mut story).is_none(), "{}", story.tabs());
    assert!(story.text().contains("PNG"));
}

#[gpui_kit::test]
fn a_binary_file_offers_its_bytes(cx: &mut TestAppContext) {
    let mut story = open_with(files(), cx);
    story.open_file("data.bin");
    assert!(matches!(
        story.read(|workbench, _| workbench.active_item().cloned()),
        Some(TabItem::Refused(_))
    ));
    story.act(OpenBytes);
    assert!(matches!(preview(&mut story), Some(PreviewTab::Hex(_))));
    assert_eq!(status(&mut story), ["0x0", "6 B"]);
}

#[gpui_kit::test]
fn the_menu_opens_a_table_from_palette_and_tree(cx: &mut TestAppContext) {
    let mut story = open_with(files(), cx);
    story.open_file("table.csv");
    assert!(preview(&mut story).is_none(), "a table is text first");
    story.act(OpenWith).input("table").keys("enter").settle();
    assert_eq!(status(&mut story)[0], "1 row");
    story.act(pane::CloseAllTabs).act(view::FocusProjectTree);
    story.keys("end").act(project_tree::OpenWith);
    assert!(story.is_asking());
    story.input("hex").keys("enter").settle();
    assert!(matches!(preview(&mut story), Some(PreviewTab::Hex(_))));
}

#[gpui_kit::test]
fn a_file_without_preview_says_what_to_do(cx: &mut TestAppContext) {
    let mut story = open_with(files(), cx);
    story.open_file("main.rs").act(Open);
    assert!(story.reports()[0].contains("Open with"));
    assert_eq!(story.tabs(), "[main.rs]");
}

#[gpui_kit::test]
async fn previews_come_back_at_the_next_start(cx: &mut TestAppContext) {
    let files = files();
    let mut story = open_with(files.clone(), cx);
    story.open_file("guide.md").act(Open);
    story.open_file("picture.png");
    story.open_file("table.csv").act(Open);
    story.open_file("data.bin").act(OpenBytes);
    story.act(pane::SplitRight);
    let before = story.tabs();
    story.act(app::Quit);
    let mut again = cx.new_app();
    let mut stories = start(&files, OpenRequest::default(), &mut again);
    let mut story = stories.pop().expect("the window");
    story.settle();
    let without_refusal = before.replace("data.bin [", "[");
    assert_eq!(story.tabs(), without_refusal);
    let kinds = story.read(|workbench, _| {
        let items = workbench.layout().items().into_iter();
        let previews = items.filter_map(|item| workbench.item(item)?.preview()?.kind());
        previews.map(|kind| kind.name()).collect::<Vec<_>>()
    });
    assert_eq!(kinds, ["Markdown Preview", "Image", "Table", "Hex"]);
}
