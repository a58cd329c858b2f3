//! Links, colours and code lenses of language servers, from the key to the message at the server.

use base::Row;
use display::{DisplayRow, SegmentKind};
use editor::Editor;
use gpui_kit::{
    Bounds, Entity, EntityInputHandler as _, Modifiers, MouseButton, Pixels, TestAppContext, point,
    px,
};
use serde_json::{Value, json};

use super::Story;
use super::served::{ServedFolder, ServedStory};
use crate::TabItem;

const LINKS: &str = "textDocument/documentLink";
const COLORS: &str = "textDocument/documentColor";
const LENSES: &str = "textDocument/codeLens";
const EXECUTE: &str = "workspace/executeCommand";

/// Returns the range of some characters of a row as JSON.
fn range(row: u32, start: u32, end: u32) -> Value {
    json!({
        "start": { "line": row, "character": start },
        "end": { "line": row, "character": end },
    })
}

fn color(row: u32, start: u32, end: u32) -> Value {
    let red = json!({ "red": 1, "green": 0, "blue": 0, "alpha": 1 });
    json!({ "range": range(row, start, end), "color": red })
}

/// Returns the lens of a row, whose command has the name of its server as argument.
fn lens(row: u32, server: &str) -> Value {
    json!({ "range": range(row, 0, 1), "command": command(server) })
}

fn command(server: &str) -> Value {
    json!({ "title": "Run", "command": "run", "arguments": [server] })
}

fn view(story: &mut Story) -> Entity<Editor> {
    story.read(|workbench, _| {
        let editor = workbench.active_item().and_then(TabItem::editor);
        editor.cloned().expect("a text")
    })
}

/// Returns the rows of the text as they are displayed, with `‹›` around inlays.
fn screen(story: &mut Story) -> String {
    let editor = view(story);
    let rows = story.cx.update(|_, cx| {
        editor.update(cx, |editor, cx| {
            let display = editor.display(cx).clone();
            let rows = (0..display.row_count()).map(|row| display.line(DisplayRow(row)));
            let shown = rows.map(|line| {
                let parts = line.segments.iter().map(|segment| {
                    let text = &line.text[segment.text.clone()];
                    match segment.kind {
                        SegmentKind::Inlay(_) => format!("\u{2039}{text}\u{203a}"),
                        _ => text.to_owned(),
                    }
                });
                parts.collect::<String>()
            });
            shown.collect::<Vec<_>>()
        })
    });
    rows.join("\n")
}

/// Returns the rows that have a line of lenses above them.
fn rows_with_lenses(story: &mut Story) -> Vec<Row> {
    let editor = view(story);
    story.cx.update(|_, cx| {
        editor.update(cx, |editor, cx| {
            let display = editor.display(cx).clone();
            let blocks = display.blocks_in(0.0..display.total_height());
            let rows = blocks
                .iter()
                .map(|block| display.buffer_row(block.before).0);
            rows.collect()
        })
    })
}

/// Returns the bounds of a character of an ASCII text.
fn bounds_of(story: &mut Story, byte: usize) -> Bounds<Pixels> {
    let editor = view(story);
    let bounds = story.cx.update(|window, cx| {
        editor.update(cx, |editor, cx| {
            editor.bounds_for_range(byte..byte + 1, Bounds::default(), window, cx)
        })
    });
    bounds.expect("a layout")
}

/// Moves the pointer to a character while the key is held that follows links, and clicks.
fn follow(story: &mut Story, byte: usize) {
    let held = story.cx.update(|_, cx| Modifiers::secondary_key(cx));
    click(story, byte, held);
}

fn click(story: &mut Story, byte: usize, held: Modifiers) {
    let position = bounds_of(story, byte).center();
    story
        .cx
        .simulate_mouse_move(position, None::<MouseButton>, held);
    story.settle();
    story.cx.simulate_click(position, held);
    story.settle();
}

/// Runs the lens of the row of the caret by the palette.
fn run_lens(story: &mut Story) {
    story
        .keys("ctrl-shift-p")
        .input("run code lens")
        .keys("enter");
    story.settle();
}

#[gpui_kit::test]
fn links_open_files_and_web_pages_but_no_other_scheme(cx: &mut TestAppContext) {
    let folder = ServedFolder::new(&["one"]);
    folder.write("a.css", "file run web\n");
    folder.write("b.css", "x\ny\n");
    let to_file = json!({ "range": range(0, 0, 4), "target": folder.uri("b.css") + "#L2" });
    let refused = json!({ "range": range(0, 5, 8), "target": "command:run" });
    let unresolved = json!({ "range": range(0, 9, 12), "data": 7 });
    folder.answer("one", LINKS, &json!([to_file, refused, unresolved]));
    let resolved = json!({ "range": range(0, 9, 12), "target": "https://example.com/" });
    folder.answer("one", "documentLink/resolve", &resolved);
    let provider = json!({ "resolveProvider": true });
    folder.start("one", &json!({ "documentLinkProvider": provider }));
    let mut served = folder.open("a.css", cx);
    served.until_running(1);

    click(&mut served.story, 1, Modifiers::none());
    assert_eq!(served.story.tabs(), "[a.css]");
    served.until("an open file", |story| {
        // Before the links are known, a click asks for a definition.
        follow(story, 1);
        story.tabs() == "a.css [b.css]"
    });
    let editor = view(&mut served.story);
    let row = |_: &mut gpui_kit::Window, cx: &mut gpui_kit::App| {
        editor.update(cx, |editor, cx| editor.caret_point(cx).row)
    };
    assert_eq!(served.story.cx.update(row), Row(1));

    served.story.keys("ctrl-w").settle();
    follow(&mut served.story, 6);
    let report = served.story.reports().first().cloned();
    let sentence = "Links with the scheme \"command:\" are not opened";
    assert_eq!(report.as_deref(), Some(sentence));
    assert_eq!(served.story.cx.opened_url(), None);
    follow(&mut served.story, 10);
    served.until("an open page", |story| {
        story.cx.opened_url().as_deref() == Some("https://example.com/")
    });
    let sent = served.received("one", "documentLink/resolve");
    assert_eq!(sent, [unresolved]);
    assert_eq!(served.story.tabs(), "[a.css]");
    let a = served.folder().uri("a.css");
    let asked = served.received("one", LINKS);
    let about_a = asked.iter().filter(|it| it["textDocument"]["uri"] == *a);
    assert_eq!(about_a.count(), 1, "known links are not asked for again");
}

#[gpui_kit::test]
fn swatches_follow_an_edit_and_are_asked_for_again(cx: &mut TestAppContext) {
    let folder = ServedFolder::new(&["one"]);
    folder.write("a.css", "a { color: #f00 }\n");
    folder.answer("one", COLORS, &json!([color(0, 11, 15)]));
    folder.start("one", &json!({ "colorProvider": true }));
    let mut served = folder.open("a.css", cx);
    let before = "a { color: \u{2039}  \u{203a}#f00 }\n";
    served.until("a swatch", |story| screen(story) == before);

    let both = json!([color(0, 0, 2), color(0, 12, 16)]);
    served.folder().answer("one", COLORS, &both);
    served.story.keys("ctrl-home").at_once("x");
    let moved = format!("x{before}");
    assert_eq!(screen(&mut served.story), moved);
    let after = format!("\u{2039}  \u{203a}{moved}");
    served.until("the swatches of the new text", |story| {
        screen(story) == after
    });
    assert_eq!(served.received("one", COLORS).len(), 2);

    let off = json!({ "editor": { "document_colors": false } });
    served.folder().configure(&off);
    served.until("no swatches", |story| {
        screen(story) == "xa { color: #f00 }\n"
    });
}

fn set_lenses(served: &ServedStory, is_on: bool) {
    let settings = json!({ "editor": { "code_lens": is_on } });
    served.folder().configure(&settings);
}

#[gpui_kit::test]
fn lenses_run_at_the_server_from_which_they_came(cx: &mut TestAppContext) {
    let folder = ServedFolder::new(&["one", "two"]);
    folder.write("a.css", "a {}\nb {}\nc {}\n");
    folder.answer("one", LENSES, &json!([lens(1, "one")]));
    folder.answer(
        "two",
        LENSES,
        &json!([{ "range": range(2, 0, 1), "data": 7 }]),
    );
    folder.answer("two", "codeLens/resolve", &lens(2, "two"));
    let capabilities = json!({
        "codeLensProvider": { "resolveProvider": true },
        "executeCommandProvider": { "commands": ["run"] },
    });
    folder.start("one", &capabilities);
    folder.start("two", &capabilities);
    let mut served = folder.open("a.css", cx);
    served.until_running(2);
    set_lenses(&served, true);
    let both = [Row(1), Row(2)];
    served.until("both lenses", |story| rows_with_lenses(story) == both);

    let arguments = |served: &ServedStory, server: &str| {
        let sent = served.received(server, EXECUTE);
        let sent = sent.iter().map(|params| params["arguments"].clone());
        sent.collect::<Vec<_>>()
    };
    served.story.keys("ctrl-home down down");
    run_lens(&mut served.story);
    served.until_received("two", EXECUTE, 1);
    assert_eq!(arguments(&served, "two"), [json!(["two"])]);
    // The lenses are in the line above the first character of their row.
    let first = bounds_of(&mut served.story, 5);
    let above = point(
        first.left() + px(4.0),
        first.top() - first.size.height / 2.0,
    );
    served.story.cx.simulate_click(above, Modifiers::none());
    served.until_received("one", EXECUTE, 1);
    assert_eq!(arguments(&served, "one"), [json!(["one"])]);
    assert_eq!(arguments(&served, "two").len(), 1);
    assert_eq!(served.story.reports(), [""; 0]);

    set_lenses(&served, false);
    served.until("no lenses", |story| rows_with_lenses(story).is_empty());
    run_lens(&mut served.story);
    let report = served.story.reports().first().cloned();
    assert_eq!(report.as_deref(), Some("No code lens belongs to this line"));
}

#[gpui_kit::test]
fn lenses_are_not_asked_for_unless_the_settings_say_so(cx: &mut TestAppContext) {
    let folder = ServedFolder::new(&["one"]);
    folder.write("a.css", "a { color: #f00 }\n");
    folder.answer("one", LENSES, &json!([lens(0, "one")]));
    folder.answer("one", COLORS, &json!([color(0, 11, 15)]));
    let capabilities = json!({ "codeLensProvider": {}, "colorProvider": true });
    folder.start("one", &capabilities);
    let mut served = folder.open("a.css", cx);
    served.until_received("one", COLORS, 1);
    served.story.keys("ctrl-home").input("x");
    // The server handles messages in order, so a request for lenses would have come before this one.
    served.until_received("one", COLORS, 2);
    assert!(served.received("one", LENSES).is_empty());
    set_lenses(&served, true);
    served.until_received("one", LENSES, 1);
}

#[gpui_kit::test]
fn colors_of_a_server_that_starts_later_are_added(cx: &mut TestAppContext) {
    let folder = ServedFolder::new(&["one", "two"]);
    folder.write("a.css", "a { color: #f00 }\n");
    folder.answer("one", COLORS, &json!([color(0, 11, 15)]));
    folder.answer("two", COLORS, &json!([color(0, 0, 1)]));
    folder.start("one", &json!({ "colorProvider": true }));
    let mut served = folder.open("a.css", cx);
    let one = "a { color: \u{2039}  \u{203a}#f00 }\n";
    served.until("the swatch of one server", |story| screen(story) == one);
    let capabilities = json!({ "colorProvider": true });
    served.folder().start("two", &capabilities);
    let both = format!("\u{2039}  \u{203a}{one}");
    served.until("the swatches of both servers", |story| {
        screen(story) == both
    });
}
