//! The symbols of a text: from a language server, or from the syntax tree.

use base::Span;
use futures::FutureExt as _;
use futures::channel::oneshot;
use gpui_kit::TestAppContext;
use lsp::{DocumentSymbol, SymbolKind};
use ui::picker::Picker;

use super::{Story, open};
use crate::TabItem;
use crate::actions::go;
use crate::pickers::everything::EverythingPicker;
use crate::pickers::symbols::SymbolPicker;

fn symbol(name: &str, start: usize, end: usize, children: Vec<DocumentSymbol>) -> DocumentSymbol {
    DocumentSymbol {
        name: name.to_owned(),
        detail: None,
        kind: SymbolKind::Function,
        span: Span::from(start..end),
        selection_span: Span::from(start..start + 1),
        is_deprecated: false,
        children,
    }
}

/// Shows the symbols of the active text; its server answers through the sender.
fn show_symbols(story: &mut Story) -> oneshot::Sender<Vec<DocumentSymbol>> {
    let (sender, answer) = oneshot::channel();
    let answer = answer.map(Result::unwrap_or_default).boxed();
    let workbench = story.workbench.clone();
    story.cx.update(|window, cx| {
        workbench.update(cx, |workbench, cx| {
            let editor = workbench.active_item().and_then(TabItem::editor).cloned();
            let editor = editor.expect("a text");
            let picker = SymbolPicker::new(editor, Some(answer), cx.weak_entity(), cx);
            workbench.pick(picker, window, cx);
        });
    });
    sender
}

fn names(story: &mut Story) -> Vec<String> {
    story.read(|workbench, cx| {
        let modal = workbench.modal().read(cx);
        let picker = modal.active_view::<Picker<SymbolPicker>>();
        picker.map_or_else(Vec::new, |picker| picker.read(cx).delegate().names())
    })
}

fn caret_row(story: &mut Story) -> u32 {
    let editor = story.read(|workbench, _| {
        let item = workbench.active_item().and_then(TabItem::editor).cloned();
        item.expect("a text")
    });
    let point = |_: &mut gpui_kit::Window, cx: &mut gpui_kit::App| {
        editor.update(cx, |editor, cx| editor.caret_point(cx).row.0)
    };
    story.cx.update(point)
}

#[gpui_kit::test]
fn symbols_of_a_server_replace_the_outline_and_keep_the_selection(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs");
    let answer = show_symbols(&mut story);
    assert!(names(&mut story).is_empty(), "a server may answer soon");
    story.settle();
    let outline = ["one", "two", "three", "four", "five"];
    assert_eq!(names(&mut story), outline);
    story.keys("down");
    assert_eq!(caret_row(&mut story), 1, "the view follows");
    // The server names other symbols as well; the name `two` begins at byte 23.
    let inner = vec![symbol("two", 23, 30, Vec::new())];
    let symbols = vec![
        symbol("first", 0, 9, Vec::new()),
        symbol("part", 18, 50, inner),
    ];
    answer.send(symbols).expect("the list waits");
    story.settle();
    assert_eq!(names(&mut story), ["first", "part", " two"]);
    assert_eq!(caret_row(&mut story), 1);
    story.input("prt").settle();
    assert_eq!(names(&mut story), ["part"]);
    story.keys("escape").settle();
    assert_eq!(caret_row(&mut story), 0, "the caret returns");
}

#[gpui_kit::test]
fn the_outline_stays_if_the_server_has_no_symbols(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("main.rs");
    let answer = show_symbols(&mut story);
    answer.send(Vec::new()).expect("the list waits");
    story.settle();
    assert_eq!(names(&mut story), ["main", "old"]);
}

#[gpui_kit::test]
fn a_sign_in_the_search_lists_the_symbols_of_the_text(cx: &mut TestAppContext) {
    let mut story = open(cx);
    story.open_file("lib.rs").act(go::Search);
    story.input("@thr");
    assert_eq!(names(&mut story), ["three"]);
    story
        .keys("backspace backspace backspace backspace")
        .settle();
    let is_search = |story: &mut Story| {
        story.read(|workbench, cx| {
            let modal = workbench.modal().read(cx);
            modal.active_view::<Picker<EverythingPicker>>().is_some()
        })
    };
    assert!(is_search(&mut story));
    assert_eq!(caret_row(&mut story), 0);
    story.input("@fiv").keys("enter").settle();
    assert_eq!(caret_row(&mut story), 4);
}
