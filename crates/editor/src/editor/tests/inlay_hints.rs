//! Tests inlay hints in views with a scripted source.

use base::{Bias, ByteOffset, Row, Span};
use display::DisplayRow;
use gpui_kit::{App, Modifiers, Task, TestAppContext, point};
use lsp::{InlayHint, InlayHintKind};
use settings::SoftWrap;
use text::{Author, Edit, Snapshot};

use super::scripted::{Scene, Scripted, scene};
use super::suggesting::{offer_at_caret, screen};
use crate::model::InlayHintSource;
use crate::{DocumentModel, Editor, ToggleInlayHints};

type Source = Scripted<Span, Option<Vec<InlayHint>>>;

impl InlayHintSource for Source {
    fn request(&self, _: &Snapshot, span: Span, cx: &mut App) -> Task<Option<Vec<InlayHint>>> {
        let answer = self.ask(span);
        cx.spawn(async move |_| answer.recv().await.ok().flatten())
    }
}

fn open<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let mut scene = open_without_hints(marked, cx);
    scene.cx.dispatch_action(ToggleInlayHints);
    scene.rest(0);
    scene
}

fn open_without_hints<'a>(marked: &str, cx: &'a mut TestAppContext) -> Scene<'a, Source> {
    let mut scene: Scene<'_, Source> = scene("/a.rs", marked, cx);
    let source = scene.source.clone();
    scene.update_model(|model, _| model.set_inlay_hint_source(Some(source)));
    scene.rest(1_000);
    scene
}

impl Scene<'_, Source> {
    /// Answers the latest request and returns its span.
    fn answer(&mut self, hints: &[(usize, &str)]) -> (usize, usize) {
        assert!(!self.source.is_cancelled());
        let hints = hints.iter().map(|(at, label)| hint(*at, label));
        let span = self.reply(Some(hints.collect()));
        (span.start.0, span.end.0)
    }

    /// Returns the rows on screen, with `‹›` around hints.
    fn screen(&mut self) -> String {
        screen(&self.editor, self.cx).join("\n")
    }
}

/// Returns a hint: a name with a colon is that of a parameter, a colon with a name a type.
fn hint(at: usize, label: &str) -> InlayHint {
    let is_parameter = label.ends_with(':');
    InlayHint {
        at: ByteOffset(at),
        label: label.to_owned(),
        kind: Some(if is_parameter {
            InlayHintKind::Parameter
        } else {
            InlayHintKind::Type
        }),
        padding_before: false,
        padding_after: is_parameter,
        tooltip: None,
    }
}

/// Opens a text with hints, presses keys, and compares the screen.
fn check(before: &str, hints: &[(usize, &str)], keys: &str, after: &str, cx: &mut TestAppContext) {
    let mut scene = open(before, cx);
    scene.answer(hints);
    scene.press(keys);
    assert_eq!(scene.screen(), after, "{before:?} {hints:?} {keys}");
}

#[gpui_kit::test]
fn hints_are_off_until_they_are_wanted(cx: &mut TestAppContext) {
    let mut scene = open_without_hints("ˇlet a = f(1);", cx);
    assert_eq!(scene.requests(), 0);
    scene.cx.dispatch_action(ToggleInlayHints);
    assert_eq!(scene.answer(&[(5, ": u8"), (10, "x:")]), (0, 13));
    assert_eq!(scene.screen(), "let a‹: u8› = f(‹x: ›1);");
    scene.cx.dispatch_action(ToggleInlayHints);
    assert_eq!(scene.screen(), "let a = f(1);");
    scene.cx.dispatch_action(ToggleInlayHints);
    assert_eq!(scene.screen(), "let a‹: u8› = f(‹x: ›1);");
    assert_eq!(scene.requests(), 0, "the hints are known");
}

#[gpui_kit::test]
fn held_keys_show_hints_until_they_are_released(cx: &mut TestAppContext) {
    let mut scene = open_without_hints("ˇlet a = 1;", cx);
    let held = Modifiers {
        control: true,
        alt: true,
        ..Modifiers::default()
    };
    scene.cx.simulate_modifiers_change(held);
    scene.rest(399);
    assert_eq!(scene.requests(), 0, "it may become a shortcut");
    scene.rest(1);
    scene.answer(&[(5, ": u8")]);
    assert_eq!(scene.screen(), "let a‹: u8› = 1;");
    scene.cx.simulate_modifiers_change(Modifiers::default());
    scene.rest(0);
    assert_eq!(scene.screen(), "let a = 1;");
    scene.cx.simulate_modifiers_change(held);
    scene.cx.simulate_modifiers_change(Modifiers::default());
    scene.rest(1_000);
    assert_eq!(scene.screen(), "let a = 1;", "they were not held");
    scene.cx.dispatch_action(ToggleInlayHints);
    scene.cx.simulate_modifiers_change(held);
    scene.rest(400);
    assert_eq!(scene.screen(), "let a = 1;", "they hide what is shown");
}

#[gpui_kit::test]
fn the_setting_turns_hints_on(cx: &mut TestAppContext) {
    let mut scene = open_without_hints("ˇlet a = 1;", cx);
    scene.editor.update(scene.cx, |editor, cx| {
        editor.settings.inlay_hints = true;
        cx.notify();
    });
    scene.cx.run_until_parked();
    scene.rest(50);
    scene.answer(&[(5, ": u8")]);
    assert_eq!(scene.screen(), "let a‹: u8› = 1;");
}

#[gpui_kit::test]
fn typed_text_stays_on_its_side_of_a_hint(cx: &mut TestAppContext) {
    let text = "let aˇ = f(1);";
    let hints = &[(5, ": u8"), (10, "x:")];
    check(text, hints, "_b", "let ab‹: u8› = f(‹x: ›1);", cx);
    check(text, hints, "backspace", "let ‹: u8› = f(‹x: ›1);", cx);
    let text = "let a = f(ˇ1);";
    check(text, hints, "_2", "let a‹: u8› = f(‹x: ›21);", cx);
    check(text, hints, "delete", "let a‹: u8› = f(‹x: ›);", cx);
    let text = "ˇlet a = f(1);";
    check(text, hints, "_mmm", "mmmlet a‹: u8› = f(‹x: ›1);", cx);
}

#[gpui_kit::test]
fn hints_in_deleted_text_and_at_a_broken_row_go(cx: &mut TestAppContext) {
    let hints = &[(5, ": u8"), (10, "x:")];
    let text = "let«ˇ a = f(»1);";
    check(text, hints, "delete", "let‹x: ›1);", cx);
    let text = "let aˇ = f(1);";
    check(text, hints, "enter", "let a\n= f(‹x: ›1);", cx);
    check(text, hints, "enter ctrl-z", "let a = f(‹x: ›1);", cx);
}

#[gpui_kit::test]
fn carets_and_clicks_count_the_cells_of_hints(cx: &mut TestAppContext) {
    let mut scene = open("let a = f(1);ˇ", cx);
    scene.answer(&[(5, ": u8"), (10, "x:")]);
    scene.editor.update(scene.cx, |editor, cx| {
        let display = editor.display(cx).clone();
        let cell = |offset: usize| display.to_display(ByteOffset(offset), Bias::Left).cell;
        assert_eq!((cell(4), cell(5), cell(6)), (4, 5, 10));
        assert_eq!((cell(10), cell(11), cell(13)), (14, 18, 20));
        let geometry = editor.geometry.clone().expect("a layout");
        let y = geometry.y_of(0.5);
        let mut clicked = |cell: u32| {
            let position = point(geometry.x_of(cell), y);
            editor.offset_at(position, cx).map(|offset| offset.0)
        };
        // Within a hint, the nearest offset is that of the hint.
        let offsets = [4, 5, 7, 10, 14, 16, 18].map(|cell| clicked(cell).expect("text"));
        assert_eq!(offsets, [4, 5, 5, 6, 10, 10, 11]);
    });
    // One key passes a hint.
    scene.press("left left left left _y");
    assert_eq!(scene.text(), "let a = fyˇ(1);");
}

#[gpui_kit::test]
fn soft_wrap_counts_the_cells_of_hints(cx: &mut TestAppContext) {
    let mut scene = open("ˇaaaaaaaa bbbbbbbb ccc", cx);
    scene.editor.update(scene.cx, |editor, cx| {
        editor.overrides.soft_wrap = Some(SoftWrap::Column);
        editor.settings.wrap_column = 20;
        cx.notify();
    });
    assert_eq!(scene.screen(), "aaaaaaaa bbbbbbbb \nccc");
    scene.answer(&[(8, ": usize")]);
    assert_eq!(scene.screen(), "aaaaaaaa‹: usize› \nbbbbbbbb ccc");
}

#[gpui_kit::test]
fn regression_24_hints_are_not_doubled_by_new_answers(cx: &mut TestAppContext) {
    let mut scene = open("let a = 1;\nlet b = 2;ˇ\n", cx);
    scene.answer(&[(5, ": u8"), (16, ": u8")]);
    scene.press("_x");
    assert_eq!(scene.requests(), 0, "the text is being edited");
    scene.rest(300);
    scene.answer(&[(5, ": u8"), (16, ": u16")]);
    assert_eq!(scene.screen(), "let a‹: u8› = 1;\nlet b‹: u16› = 2;x\n");
    let ids = |scene: &mut Scene<'_, Source>| {
        scene.model.read_with(scene.cx, |model, _| {
            let hints = model.inlay_hints_in(model.snapshot().full_span());
            hints.iter().map(|hint| hint.id).collect::<Vec<_>>()
        })
    };
    let before = ids(&mut scene);
    scene.press("_y");
    scene.rest(300);
    scene.answer(&[(5, ": u8"), (16, ": u8")]);
    let after = ids(&mut scene);
    assert_eq!(before[0], after[0], "an equal hint is the same");
    assert_ne!(before[1], after[1]);
    assert_eq!(scene.screen(), "let a‹: u8› = 1;\nlet b‹: u8› = 2;xy\n");
}

#[gpui_kit::test]
fn a_late_answer_is_carried_over_the_edits_since(cx: &mut TestAppContext) {
    let mut scene = open("ˇ\nlet a = 1;\nlet b = 2;\n", cx);
    scene.press("_abc");
    let (_, last) = scene.answer(&[(6, ": u8"), (17, ": u8")]);
    assert_eq!(last, 23);
    let shown = "abc\nlet a‹: u8› = 1;\nlet b‹: u8› = 2;\n";
    assert_eq!(scene.screen(), shown);
    assert_eq!(scene.requests(), 0, "the text is being edited");
    scene.rest(300);
    assert_eq!(scene.answer(&[(9, ": u8")]), (0, 26));
    assert_eq!(scene.screen(), "abc\nlet a‹: u8› = 1;\nlet b = 2;\n");
}

#[gpui_kit::test]
fn scrolling_asks_for_the_rows_in_sight(cx: &mut TestAppContext) {
    let text = format!("ˇ{}", "let a = 1;\n".repeat(2_000));
    let mut scene = open(&text, cx);
    let (first, last) = scene.answer(&[(5, ": u8")]);
    assert_eq!(first, 0);
    assert!(last < 11 * 300, "the request is bounded: {last}");
    scene.editor.update(scene.cx, |editor, cx| {
        editor.set_scroll_top(1_000.0, cx);
    });
    scene.cx.run_until_parked();
    assert_eq!(scene.requests(), 0);
    scene.rest(50);
    let (first, last) = scene.answer(&[(11_005, ": u8"), (5, ": u16")]);
    assert!(first > 0 && first < 11_000 && 11_000 < last);
    let row = |scene: &mut Scene<'_, Source>, row: u32| {
        scene.editor.update(scene.cx, |editor, cx| {
            let display = editor.display(cx);
            display.line(DisplayRow(row)).text.to_string()
        })
    };
    assert_eq!(row(&mut scene, 1_000), "let a: u8 = 1;");
    assert_eq!(
        row(&mut scene, 0),
        "let a = 1;",
        "only the window has inlays"
    );
    scene
        .editor
        .update(scene.cx, |editor, cx| editor.set_scroll_top(0.0, cx));
    scene.cx.run_until_parked();
    scene.rest(50);
    assert_eq!(scene.requests(), 0, "the hints are known");
    assert_eq!(row(&mut scene, 0), "let a: u8 = 1;");
}

#[gpui_kit::test]
fn a_refresh_asks_again_and_a_ready_source_is_retried(cx: &mut TestAppContext) {
    let mut scene = open("ˇlet a = 1;", cx);
    scene.reply(None);
    assert_eq!(scene.requests(), 0);
    scene.update_model(DocumentModel::retry_inlay_hints);
    scene.answer(&[(5, ": u8")]);
    scene.update_model(DocumentModel::retry_inlay_hints);
    assert_eq!(scene.requests(), 0, "the hints are known");
    scene.update_model(DocumentModel::refresh_inlay_hints);
    assert_eq!(scene.screen(), "let a‹: u8› = 1;");
    scene.answer(&[(5, ": u16")]);
    assert_eq!(scene.screen(), "let a‹: u16› = 1;");
    scene.update_model(DocumentModel::forget_inlay_hints);
    assert_eq!(scene.screen(), "let a = 1;");
    assert_eq!(scene.requests(), 1);
}

#[gpui_kit::test]
fn views_of_a_text_share_its_hints(cx: &mut TestAppContext) {
    let mut scene = open("ˇlet a = 1;", cx);
    scene.answer(&[(5, ": u8")]);
    let model = scene.model.clone();
    let (second, second_cx) = scene
        .cx
        .add_window_view(|window, cx| Editor::new(model, window, cx));
    second_cx.run_until_parked();
    second.update_in(second_cx, |editor, window, cx| {
        crate::editor::inlay_hints::toggle_inlay_hints(editor, window, cx);
    });
    second_cx.run_until_parked();
    assert_eq!(screen(&second, second_cx).join("\n"), "let a‹: u8› = 1;");
    assert_eq!(scene.source.waiting(), 0);
    scene.model.update(second_cx, |model, cx| {
        let edit = Edit::new(Span::at(ByteOffset(0)), "\n");
        model.edit(&[edit], Author::Disk, cx);
    });
    assert_eq!(screen(&second, second_cx).join("\n"), "\nlet a‹: u8› = 1;");
    assert_eq!(
        screen(&scene.editor, second_cx).join("\n"),
        "\nlet a‹: u8› = 1;"
    );
}

#[gpui_kit::test]
fn a_suggestion_and_hints_do_not_disturb_each_other(cx: &mut TestAppContext) {
    let mut scene = open("let a = f(1);ˇ\nlet b = 2;", cx);
    scene.answer(&[(5, ": u8"), (19, ": u8")]);
    offer_at_caret(&scene.editor, " // one", scene.cx);
    let shown = "let a‹: u8› = f(1);‹ // one›\nlet b‹: u8› = 2;";
    assert_eq!(scene.screen(), shown);
    scene.press("tab");
    let shown = "let a‹: u8› = f(1); // one\nlet b‹: u8› = 2;";
    assert_eq!(scene.screen(), shown);
}

#[gpui_kit::test]
fn long_and_unprintable_hints_are_cut_and_escaped(cx: &mut TestAppContext) {
    let long = format!(": {}", "x".repeat(100));
    let mut scene = open("ˇlet a = 1;", cx);
    scene.answer(&[(5, &long)]);
    let shown = scene.screen();
    assert_eq!(
        shown.chars().count(),
        "let a = 1;".len() + 2 + 61,
        "{shown}"
    );
    let row = scene.editor.update(scene.cx, |editor, cx| {
        let snapshot = editor.display(cx).clone();
        snapshot.buffer_row(DisplayRow(0)).0
    });
    assert_eq!(row, Row(0));
}
