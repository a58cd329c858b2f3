//! Tests that suggestions are shown, typed through and accepted with the default keys.

mod random;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use autocomplete::{SuggestedEdit, Suggestion, SuggestionId, SuggestionSource};
use base::{AbsPath, ByteOffset, Platform, Revision, Row, Span};
use display::{DisplayRow, SegmentKind};
use gpui_kit::test::TestInput;
use gpui_kit::{
    ElementInputHandler, Entity, Modifiers, MouseButton, Subscription, TestAppContext,
    VisualTestContext,
};
use settings::KeymapBase;
use settings::builtin::keymap;

use super::{open, state};
use crate::editor::{folding, options};
use crate::{
    CycleDirection, Editor, EditorEvent, SuggestionBlocker, SuggestionEvent, SuggestionMode,
    SuggestionPlace,
};

pub(super) type Heard = Rc<RefCell<Vec<SuggestionEvent>>>;

/// Opens a view with the default keys; returns it with the events of its suggestions.
pub(super) fn open_with_keys<'a>(
    path: &str,
    marked: &str,
    cx: &'a mut TestAppContext,
) -> (
    Entity<Editor>,
    Heard,
    Subscription,
    &'a mut VisualTestContext,
) {
    let (editor, cx) = open(path, marked, cx);
    let heard = Heard::default();
    let subscription = cx.update(|_, cx| {
        let (file, text) = keymap(KeymapBase::VsCode, Platform::Linux);
        // Actions of the panels above are not known here; those of the editor must be.
        let problems = ui::install_keymaps(&[settings::parse_keymap(file, text).0], cx);
        let ours = problems
            .iter()
            .filter(|problem| problem.message.contains("editor::"));
        assert_eq!(ours.count(), 0, "{problems:?}");
        let heard = heard.clone();
        cx.subscribe(&editor, move |_, event: &EditorEvent, _| {
            if let EditorEvent::Suggestion(event) = event {
                heard.borrow_mut().push(event.clone());
            }
        })
    });
    cx.run_until_parked();
    (editor, heard, subscription, cx)
}

/// Returns a suggestion for the current text. `edits` are spans and their replacements.
fn suggestion(
    editor: &Entity<Editor>,
    edits: &[(Span, &str)],
    cx: &mut VisualTestContext,
) -> Suggestion {
    let snapshot = editor.update(cx, |editor, cx| editor.model.read(cx).snapshot());
    let edits = edits.iter().map(|(span, new)| SuggestedEdit {
        span: *span,
        old: Arc::from(snapshot.text(*span).as_ref()),
        new: Arc::from(*new),
    });
    Suggestion {
        id: SuggestionId(7),
        file: None,
        revision: snapshot.revision(),
        edits: edits.collect(),
        source: SuggestionSource::Continuation,
        confidence: 0.5,
    }
}

fn offer(editor: &Entity<Editor>, edits: &[(Span, &str)], cx: &mut VisualTestContext) {
    let suggestion = suggestion(editor, edits, cx);
    editor.update(cx, |editor, cx| editor.set_suggestion(Some(suggestion), cx));
    cx.run_until_parked();
}

/// Suggests an insertion at the newest caret.
pub(super) fn offer_at_caret(editor: &Entity<Editor>, new: &str, cx: &mut VisualTestContext) {
    let head = editor.update(cx, |editor, cx| editor.selections(cx).primary().head);
    offer(editor, &[(Span::at(head), new)], cx);
}

/// Returns the shown rows, with `‹›` around inserted text.
pub(super) fn screen(editor: &Entity<Editor>, cx: &mut VisualTestContext) -> Vec<String> {
    cx.run_until_parked();
    editor.update(cx, |editor, cx| {
        let display = editor.display(cx).clone();
        let rows = (0..display.row_count()).map(|row| display.line(DisplayRow(row)));
        rows.map(|line| {
            let parts = line.segments.iter().map(|segment| {
                let text = &line.text[segment.text.clone()];
                match segment.kind {
                    SegmentKind::Inlay(_) if !text.is_empty() => format!("‹{text}›"),
                    _ => text.to_owned(),
                }
            });
            parts.collect()
        })
        .collect()
    })
}

fn taken_revision(editor: &Editor) -> Option<Revision> {
    editor.last_taken().map(|(revision, _)| revision)
}

#[gpui_kit::test]
fn tab_takes_text_that_stands_back_at_the_caret(cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.rs", "let ˇ;\nend", cx);
    offer_at_caret(&editor, "x = f(1)", cx);
    assert_eq!(screen(&editor, cx), ["let ‹x = f(1)›;", "end"]);
    // Observers of the change can tell that a suggestion was accepted.
    let told = Rc::new(RefCell::new(Vec::new()));
    let (model, view) = editor.update(cx, |editor, cx| (editor.model.clone(), cx.entity()));
    let note = told.clone();
    let _edits = cx.update(|_, cx| {
        cx.subscribe(&model, move |_, event: &crate::ModelEvent, cx| {
            if let crate::ModelEvent::Edited(change) = event {
                note.borrow_mut()
                    .push(taken_revision(view.read(cx)) == Some(change.after));
            }
        })
    });
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx), "let x = f(1)ˇ;\nend");
    assert_eq!(screen(&editor, cx), ["let x = f(1);", "end"]);
    let taken = editor.update(cx, |editor, _| taken_revision(editor));
    let change = heard.borrow().iter().find_map(|event| match event {
        SuggestionEvent::Taken { change, .. } => Some(change.after),
        _ => None,
    });
    assert_eq!((heard.borrow().len(), change), (1, taken));
    // One undo step removes all of it.
    cx.simulate_keystrokes("ctrl-z");
    assert_eq!(state(&editor, cx), "let ˇ;\nend");
    assert_eq!(*told.borrow(), [true, false]);
}

#[gpui_kit::test]
fn tab_accepts_after_entering_from_another_file(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.rs", "fn a() {\n    ˇinfo(1);\n}\n", cx);
    offer(&editor, &[(Span::from(13..17), "warn")], cx);
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx), "fn a() {\n        ˇinfo(1);\n}\n");
    cx.simulate_keystrokes("ctrl-z");
    offer(&editor, &[(Span::from(13..17), "warn")], cx);
    editor.update(cx, |editor, cx| editor.note_entered(cx));
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx), "fn a() {\n    warnˇ(1);\n}\n");
}

#[gpui_kit::test]
fn several_lines_push_the_rest_of_the_row_down(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.rs", "  f(ˇ);\nend", cx);
    offer_at_caret(&editor, "a,\n    b,\n  ", cx);
    assert_eq!(
        screen(&editor, cx),
        ["  f(‹a,›", "‹    b,›", "‹  ›);", "end"]
    );
    // The caret cannot enter inserted rows; it moves past them.
    cx.simulate_keystrokes("down");
    assert_eq!(state(&editor, cx), "  f();ˇ\nend");
    cx.simulate_keystrokes("up");
    assert_eq!(state(&editor, cx), "  f(ˇ);\nend");
    // A click on inserted text counts as a click at its offset.
    let position = editor.update(cx, |editor, _| {
        let geometry = editor.geometry.as_ref().unwrap();
        let y = geometry.y_of(editor.display.y_of(DisplayRow(1))) + geometry.line_height / 2.0;
        gpui_kit::point(geometry.x_of(5), y)
    });
    cx.simulate_click(position, Modifiers::default());
    assert_eq!(state(&editor, cx), "  f(ˇ);\nend");
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx), "  f(a,\n    b,\n  ˇ);\nend");
}

#[gpui_kit::test]
fn nothing_moves_under_a_pressed_button(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.txt", "oneˇ\ntwo\nthree\nfour", cx);
    offer_at_caret(&editor, "\n1\n2", cx);
    let mut position = editor.update(cx, |editor, _| {
        let geometry = editor.geometry.as_ref().unwrap();
        let y = geometry.y_of(editor.display.y_of(DisplayRow(4))) + geometry.line_height / 2.0;
        gpui_kit::point(geometry.x_of(2), y)
    });
    let modifiers = Modifiers::default();
    cx.simulate_mouse_move(position, None, modifiers);
    cx.simulate_mouse_down(position, MouseButton::Left, modifiers);
    // The engine must not show this suggestion elsewhere.
    editor.update(cx, |editor, cx| editor.set_suggestion(None, cx));
    position.x += gpui_kit::px(1.0);
    cx.simulate_mouse_move(position, MouseButton::Left, modifiers);
    assert_eq!(screen(&editor, cx).len(), 6, "the rows stay where they are");
    editor.update(cx, |editor, cx| assert!(!editor.tab_takes_suggestion(cx)));
    cx.simulate_mouse_up(position, MouseButton::Left, modifiers);
    assert_eq!(screen(&editor, cx), ["one", "two", "three", "four"]);
    assert_eq!(state(&editor, cx), "one\ntwo\nthˇree\nfour");
}

#[gpui_kit::test]
fn typing_consumes_it_and_typing_otherwise_takes_it_away(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.txt", "ˇ.", cx);
    offer_at_caret(&editor, "one two", cx);
    cx.simulate_input("on");
    assert_eq!(screen(&editor, cx), ["on‹e two›."]);
    cx.simulate_input("x");
    assert_eq!(screen(&editor, cx), ["onx."]);
    editor.update(cx, |editor, _| assert_eq!(editor.suggestion(), None));
    // The suggestion is shown in the frame of the key: nothing else runs between the edit and this
    // check.
    offer_at_caret(&editor, "y", cx);
    editor.update_in(cx, |editor, window, cx| {
        editor.run(&caret::Command::Insert("z".to_owned()), window, cx);
        assert!(!editor.shows_suggestion());
        assert_eq!(editor.display.line(DisplayRow(0)).text, "onxz.");
    });
}

#[gpui_kit::test]
fn words_and_lines_are_taken_by_their_keys(cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", "let ˇ", cx);
    offer_at_caret(&editor, "one = two\nthree", cx);
    cx.simulate_keystrokes("ctrl-right");
    assert_eq!(screen(&editor, cx), ["let one‹ = two›", "‹three›"]);
    cx.simulate_keystrokes("ctrl-down");
    assert_eq!(screen(&editor, cx), ["let one = two", "‹three›"]);
    assert_eq!(state(&editor, cx), "let one = twoˇ");
    assert_eq!(heard.borrow().len(), 2);
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx), "let one = two\nthreeˇ");
    // Without a suggestion, the keys keep their usual meaning.
    cx.simulate_keystrokes("home ctrl-right");
    assert_eq!(state(&editor, cx), "let one = two\nthreeˇ");
}

#[gpui_kit::test]
fn escape_puts_it_away_before_anything_else(cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", "aˇ\nbˇ", cx);
    offer_at_caret(&editor, "x", cx);
    cx.simulate_keystrokes("escape");
    assert_eq!(screen(&editor, cx), ["a", "b"]);
    assert_eq!(state(&editor, cx), "aˇ\nbˇ");
    assert_eq!(
        *heard.borrow(),
        [SuggestionEvent::Dismissed(SuggestionId(7))]
    );
    cx.simulate_keystrokes("escape");
    assert_eq!(state(&editor, cx), "a\nbˇ");
    assert_eq!(heard.borrow().len(), 1);
}

#[gpui_kit::test]
fn keys_ask_for_others(cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", "aˇ", cx);
    cx.simulate_keystrokes("alt-\\ alt-]");
    assert_eq!(*heard.borrow(), [SuggestionEvent::Requested]);
    offer_at_caret(&editor, "x", cx);
    cx.simulate_keystrokes("alt-] alt-[");
    let cycled = [CycleDirection::Next, CycleDirection::Previous].map(SuggestionEvent::Cycled);
    assert_eq!(heard.borrow()[1..], cycled);
}

#[gpui_kit::test]
fn tab_goes_on_indenting_where_indentation_is_due(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.rs", "fn f() {\nˇ\n}\n", cx);
    offer_at_caret(&editor, "    g();", cx);
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx), "fn f() {\n    ˇ\n}\n");
    // The typed blanks were the beginning of the suggestion; the rest is more than blanks, and the
    // row is deep enough.
    assert_eq!(screen(&editor, cx)[1], "    ‹g();›");
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx), "fn f() {\n    g();ˇ\n}\n");
}

#[gpui_kit::test]
fn another_key_takes_it_where_tab_indents(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.rs", "fn f() {\nˇ\n}\n", cx);
    offer_at_caret(&editor, "    g();", cx);
    cx.simulate_keystrokes("alt-l");
    assert_eq!(state(&editor, cx), "fn f() {\n    g();ˇ\n}\n");
}

#[gpui_kit::test]
fn a_selection_hides_it_and_tab_indents(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.txt", "oneˇ\ntwo", cx);
    offer_at_caret(&editor, " more", cx);
    cx.simulate_keystrokes("shift-left");
    assert_eq!(screen(&editor, cx), ["one", "two"]);
    let reason = editor.update_in(cx, |editor, window, cx| {
        editor.blocks_suggestions(window, cx)
    });
    assert_eq!(reason, Some(SuggestionBlocker::Selection));
    cx.simulate_keystrokes("ctrl-a tab");
    assert_eq!(
        state(&editor, cx).replace(['«', '»', 'ˇ'], ""),
        "    one\n    two"
    );
}

#[gpui_kit::test]
fn what_an_input_method_composes_hides_it(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.txt", "oneˇ", cx);
    offer_at_caret(&editor, "x y", cx);
    cx.update(|window, cx| {
        let bounds = editor.read(cx).geometry.as_ref().unwrap().text;
        let handler = ElementInputHandler::new(bounds, editor.clone());
        let mut input = TestInput::new(handler, window);
        input.compose_text(None, "x", Some(1..1), cx);
        assert!(!editor.read(cx).shows_suggestion());
        assert_eq!(editor.read(cx).map.inlay_offsets(), []);
        input.compose_text(None, "", None, cx);
    });
    offer_at_caret(&editor, "x y", cx);
    assert_eq!(screen(&editor, cx), ["one‹x y›"]);
}

#[gpui_kit::test]
fn a_change_is_shown_where_it_happens_and_taken_whole(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.txt", "one two\nthree\nfourˇ", cx);
    offer(
        &editor,
        &[(Span::from(4..7), "2"), (Span::from(8..14), "")],
        cx,
    );
    assert_eq!(screen(&editor, cx), ["one two‹2›", "three", "four"]);
    let shown = editor.update(cx, |editor, _| {
        editor.suggestion.in_text().cloned().unwrap()
    });
    assert_eq!(shown.struck, [Span::from(4..7)]);
    assert_eq!(shown.gone_rows, [(Row(1), Row(1))]);
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx).replace('ˇ', ""), "one 2\nfour");
}

#[gpui_kit::test]
fn tab_jumps_out_of_view_and_the_next_accepts(cx: &mut TestAppContext) {
    let rows: String = (0..400).map(|row| format!("row {row}\n")).collect();
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", &format!("xˇ\n{rows}"), cx);
    let at = ByteOffset(rows.find("row 300").unwrap() + 2 + 4);
    offer(&editor, &[(Span::new(at, at + 3), "three hundred")], cx);
    assert_eq!(screen(&editor, cx)[301], "row 300");
    cx.simulate_keystrokes("tab");
    assert_eq!(*heard.borrow(), [SuggestionEvent::Jumped(SuggestionId(7))]);
    assert!(
        state(&editor, cx).contains("row ˇ300"),
        "the text is the same"
    );
    assert_eq!(screen(&editor, cx)[301], "row 300‹three hundred›");
    let top = editor.update(cx, |editor, cx| editor.scroll_top(cx));
    assert!(top > 200.0, "{top}");
    cx.simulate_keystrokes("tab");
    assert!(state(&editor, cx).contains("row three hundredˇ\n"));
}

#[gpui_kit::test]
fn a_click_on_the_sign_follows_it(cx: &mut TestAppContext) {
    let rows: String = (0..400).map(|row| format!("row {row}\n")).collect();
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", &format!("xˇ\n{rows}"), cx);
    offer(&editor, &[(Span::from(2_000..2_001), "far")], cx);
    let position = editor.update(cx, |editor, _| {
        let text = editor.geometry.as_ref().unwrap().text;
        gpui_kit::point(text.center().x, text.bottom() - gpui_kit::px(20.0))
    });
    cx.simulate_click(position, Modifiers::default());
    assert_eq!(*heard.borrow(), [SuggestionEvent::Jumped(SuggestionId(7))]);
    let head = editor.update(cx, |editor, cx| editor.selections(cx).primary().head);
    assert_eq!(head, ByteOffset(2_000), "the click went no further");
}

#[gpui_kit::test]
fn what_a_fold_hides_is_a_place_out_of_sight(cx: &mut TestAppContext) {
    let text = "fn a() {\n    one();\n}\nˇend\n";
    let (editor, heard, _heard, cx) = open_with_keys("/a.rs", text, cx);
    editor.update(cx, |editor, cx| folding::toggle_fold_at(editor, Row(0), cx));
    offer(&editor, &[(Span::from(17..18), "x)")], cx);
    assert_eq!(screen(&editor, cx)[0], "fn a() {⋯}");
    cx.simulate_keystrokes("alt-l");
    assert_eq!(*heard.borrow(), [SuggestionEvent::Jumped(SuggestionId(7))]);
    assert_eq!(screen(&editor, cx)[1], "    one(‹x›);");
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx), "fn a() {\n    one(x)ˇ;\n}\nend\n");
}

#[gpui_kit::test]
fn what_the_edge_hides_is_a_place_out_of_sight(cx: &mut TestAppContext) {
    let text = format!("ˇ{}end", "x ".repeat(1_000));
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", &text, cx);
    offer(&editor, &[(Span::from(2_000..2_003), "far")], cx);
    cx.simulate_keystrokes("alt-l");
    assert_eq!(*heard.borrow(), [SuggestionEvent::Jumped(SuggestionId(7))]);
    cx.simulate_keystrokes("tab");
    assert!(state(&editor, cx).ends_with("x farˇ"));
}

#[gpui_kit::test]
fn after_a_jump_into_indentation_the_next_tab_accepts(cx: &mut TestAppContext) {
    let rows = "\n".repeat(400);
    let text = format!("xˇ\n{rows}fn f() {{\n\n}}\n");
    let (editor, _, _heard, cx) = open_with_keys("/a.rs", &text, cx);
    let at = ByteOffset(text.replace('ˇ', "").find("{\n").unwrap() + 2);
    offer(&editor, &[(Span::at(at), "    g();")], cx);
    cx.simulate_keystrokes("tab tab");
    assert!(state(&editor, cx).contains("{\n    g();ˇ\n}"));
}

#[gpui_kit::test]
fn what_does_not_stand_any_more_changes_nothing(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.txt", "one twoˇ", cx);
    let stale = suggestion(&editor, &[(Span::from(0..3), "1")], cx);
    let model = editor.update(cx, |editor, _| editor.model.clone());
    let edit = text::Edit::new(Span::from(1..2), "");
    cx.update(|_, cx| model.update(cx, |model, cx| model.edit(&[edit], text::Author::User, cx)));
    editor.update(cx, |editor, cx| {
        editor.set_suggestion(Some(stale.clone()), cx);
        assert_eq!(editor.suggestion(), None);
    });
    let mut wrong = suggestion(&editor, &[(Span::from(0..2), "1")], cx);
    wrong.edits[0].old = Arc::from("xx");
    editor.update_in(cx, |editor, window, cx| {
        editor.set_suggestion(Some(wrong), cx);
        assert!(!editor.accept(autocomplete::AcceptGranularity::All, window, cx));
    });
    assert_eq!(state(&editor, cx), "oe twoˇ");
}

#[gpui_kit::test]
fn one_for_an_older_text_is_taken_along(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.txt", "aˇ\nend", cx);
    let older = suggestion(&editor, &[(Span::at(ByteOffset(1)), "bcd")], cx);
    cx.simulate_input("b");
    editor.update(cx, |editor, cx| editor.set_suggestion(Some(older), cx));
    assert_eq!(screen(&editor, cx), ["ab‹cd›", "end"]);
}

#[gpui_kit::test]
fn another_file_is_entered_by_whoever_hears_of_it(cx: &mut TestAppContext) {
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", "oneˇ\ntwo", cx);
    let mut far = suggestion(&editor, &[(Span::from(0..3), "1")], cx);
    far.file = Some(AbsPath::new("/b.txt").unwrap());
    editor.update(cx, |editor, cx| {
        editor.set_suggestion(Some(far), cx);
        let place = SuggestionPlace {
            row: Some(Row(11)),
            preview: "x".into(),
        };
        editor.set_suggestion_place(Some(place), cx);
    });
    cx.run_until_parked();
    cx.simulate_keystrokes("tab");
    assert_eq!(*heard.borrow(), [SuggestionEvent::Entered(SuggestionId(7))]);
    assert_eq!(state(&editor, cx), "oneˇ\ntwo");
    // Typing on in this file does not show the suggestion of the other one.
    cx.simulate_input("x");
    editor.update(cx, |editor, _| assert!(!editor.shows_suggestion()));
}

#[gpui_kit::test]
fn the_sign_of_another_file_hides_no_letters(cx: &mut TestAppContext) {
    let rows = "x\n".repeat(100);
    let text = format!("{rows}ˇ{}\n{rows}", "long ".repeat(200));
    let (editor, heard, _heard, cx) = open_with_keys("/a.txt", &text, cx);
    // `between` is the number of rows between the caret and the nearer edge.
    for (is_caret_low, between) in [(false, 3.0), (true, 5.0)] {
        let mut far = suggestion(&editor, &[(Span::from(0..1), "1")], cx);
        far.file = Some(AbsPath::new("/b.txt").unwrap());
        editor.update(cx, |editor, cx| {
            let geometry = editor.geometry.as_ref().unwrap();
            let rows = f64::from(geometry.text.size.height / geometry.line_height);
            let above = if is_caret_low {
                rows - between
            } else {
                between
            };
            editor.set_scroll_top(100.0 - above, cx);
            editor.set_suggestion(Some(far), cx);
        });
        cx.run_until_parked();
        let position = editor.update(cx, |editor, _| {
            let text = editor.geometry.as_ref().unwrap().text;
            let y = if is_caret_low {
                text.top() + gpui_kit::px(20.0)
            } else {
                text.bottom() - gpui_kit::px(20.0)
            };
            gpui_kit::point(text.center().x, y)
        });
        cx.simulate_click(position, Modifiers::default());
        let entered = [SuggestionEvent::Entered(SuggestionId(7))];
        let heard = std::mem::take(&mut *heard.borrow_mut());
        assert_eq!(heard, entered, "at the other edge, low: {is_caret_low}");
    }
}

#[gpui_kit::test]
fn subtle_ones_are_seen_while_alt_is_held(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.txt", "oneˇ", cx);
    editor.update(cx, |editor, cx| {
        editor.set_suggestion_mode(SuggestionMode::Subtle, cx)
    });
    offer_at_caret(&editor, "x", cx);
    assert_eq!(screen(&editor, cx), ["one"]);
    cx.simulate_modifiers_change(Modifiers::alt());
    assert_eq!(screen(&editor, cx), ["one‹x›"]);
    cx.simulate_modifiers_change(Modifiers::default());
    assert_eq!(screen(&editor, cx), ["one"]);
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx), "one ˇ", "what is not seen is not taken");
}

#[gpui_kit::test]
fn carets_with_the_same_around_them_get_the_same(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.txt", "foˇ;\nbaˇ;\nfoˇ;", cx);
    offer_at_caret(&editor, "o()", cx);
    assert_eq!(screen(&editor, cx), ["fo‹o()›;", "ba;", "fo‹o()›;"]);
    cx.simulate_keystrokes("tab");
    assert_eq!(state(&editor, cx), "foo()ˇ;\nbaˇ;\nfoo()ˇ;");
}

#[gpui_kit::test]
fn folds_and_wraps_leave_it_at_its_place(cx: &mut TestAppContext) {
    let text = "fn a() {\n    one();\n}\nfn b() {\n    twoˇ\n}\n";
    let (editor, _, _heard, cx) = open_with_keys("/a.rs", text, cx);
    editor.update_in(cx, |editor, window, cx| {
        options::toggle_soft_wrap(editor, window, cx);
        folding::toggle_fold_at(editor, Row(0), cx);
    });
    offer_at_caret(&editor, "();\n    three();", cx);
    let rows = screen(&editor, cx);
    assert_eq!(rows[1..4], ["fn b() {", "    two‹();›", "‹    three();›"]);
    editor.update_in(cx, |editor, window, cx| {
        options::toggle_soft_wrap(editor, window, cx)
    });
    assert_eq!(screen(&editor, cx), rows);
    cx.simulate_keystrokes("tab");
    assert!(state(&editor, cx).ends_with("    two();\n    three();ˇ\n}\n"));
}

#[gpui_kit::test]
fn the_scene_tells_what_is_around_the_caret(cx: &mut TestAppContext) {
    let (editor, _, _heard, cx) = open_with_keys("/a.rs", "fn f() {\n    ˇ\n}\n", cx);
    let scene = editor.update(cx, |editor, cx| editor.scene(cx));
    assert_eq!(
        (scene.caret, scene.indent.as_str()),
        (ByteOffset(13), "    ")
    );
    assert_eq!(scene.rows, (Row(0), Row(4)));
    assert_eq!(scene.language.map(|language| language.name()), Some("Rust"));
    assert_eq!(
        scene.syntax.map(|syntax| syntax.revision()),
        Some(scene.snapshot.revision())
    );
}
