//! Tests that changes under review follow the text, and that the caret finds them.

use base::{Row, Span};
use gpui_kit::{Entity, IntoElement as _, TestAppContext, VisualTestContext};
use text::RowSpan;

use super::open;
use crate::editor::changed_words::words_in;
use crate::{
    BlockView, Editor, ReviewMark, reviewed_rows, scroll_position, scroll_to, show_changed_words,
    show_moved_rows, show_removed_rows,
};

const TEXT: &str = "ˇone\ntwo\nthree\nfour\nfive\n";

fn show(rows: &[(u32, u32)], editor: &Entity<Editor>, cx: &mut VisualTestContext) {
    let marks = rows.iter().map(|(start, end)| ReviewMark {
        rows: RowSpan {
            start: Row(*start),
            end: Row(*end),
        },
        height: 2.0,
        view: BlockView::new(|_, _, _| gpui_kit::div().into_any_element()),
        sides: None,
    });
    let marks = marks.collect();
    editor.update(cx, |editor, cx| editor.set_review(marks, cx));
    cx.run_until_parked();
}

/// Returns the change that the caret finds in each row.
fn found(editor: &Entity<Editor>, cx: &mut VisualTestContext) -> Vec<Option<usize>> {
    let rows = editor.update(cx, |editor, cx| editor.display(cx).buffer().row_count());
    (0..rows)
        .map(|row| {
            editor.update(cx, |editor, cx| {
                {
                    let at = editor
                        .model()
                        .read(cx)
                        .snapshot()
                        .offset_at(base::Point::new(row, 0));
                    editor.go_to(at, crate::Reveal::Nearest, cx)
                };
                editor.reviewed_at_caret(cx)
            })
        })
        .collect()
}

#[gpui_kit::test]
fn the_caret_finds_the_change_around_it_or_the_next(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", TEXT, cx);
    show(&[(1, 2), (3, 3)], &editor, cx);
    let [first, second] = [Some(0), Some(1)];
    assert_eq!(
        found(&editor, cx),
        [first, first, second, second, second, second]
    );
    show(&[], &editor, cx);
    assert_eq!(found(&editor, cx)[0], None);
}

#[gpui_kit::test]
fn changes_move_along_with_what_is_written_above_them(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", TEXT, cx);
    show(&[(1, 3)], &editor, cx);
    let height = |cx: &mut VisualTestContext| {
        editor.update(cx, |editor, cx| editor.display(cx).total_height())
    };
    let before = height(cx);
    cx.simulate_keystrokes("enter enter");
    cx.run_until_parked();
    assert_eq!(height(cx), before + 2.0, "two rows more, the room stays");
    let at = editor.update(cx, |editor, cx| {
        editor.go_to_reviewed(0, cx);
        editor.caret_point(cx)
    });
    assert_eq!(at, base::Point::new(3, 0));
    // A new scan of the board replaces all shown changes.
    show(&[], &editor, cx);
    assert_eq!(height(cx), before + 2.0 - 2.0);
}

#[gpui_kit::test]
fn changed_words_follow_the_text_until_the_next_review(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", TEXT, cx);
    show(&[(1, 2)], &editor, cx);
    let words = |cx: &mut VisualTestContext| {
        editor.read_with(cx, |editor, _| {
            words_in(editor, editor.snapshot.full_span())
        })
    };
    editor.update(cx, |editor, cx| {
        show_changed_words(editor, &[Span::from(4..7)], cx);
    });
    cx.simulate_keystrokes("enter");
    cx.run_until_parked();
    assert_eq!(words(cx), [Span::from(5..8)]);
    show(&[(1, 2)], &editor, cx);
    assert!(words(cx).is_empty());
}

#[gpui_kit::test]
fn rows_of_changes_follow_the_text(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", TEXT, cx);
    show(&[(1, 2), (3, 3)], &editor, cx);
    let rows = |cx: &mut VisualTestContext| {
        let rows = editor.update(cx, reviewed_rows);
        let rows = rows.iter().map(|rows| (rows.start.0, rows.end.0));
        rows.collect::<Vec<_>>()
    };
    assert_eq!(rows(cx), [(1, 2), (3, 3)]);
    cx.simulate_keystrokes("enter");
    cx.run_until_parked();
    assert_eq!(rows(cx), [(2, 3), (4, 4)]);
}

fn rows(start: u32, end: u32) -> RowSpan {
    RowSpan {
        start: Row(start),
        end: Row(end),
    }
}

#[gpui_kit::test]
fn removed_rows_are_no_review_but_have_keys_of_their_own(cx: &mut TestAppContext) {
    let (editor, cx) = open("/a.txt", TEXT, cx);
    let has = |flag: &str, cx: &mut VisualTestContext| {
        editor.update(cx, |editor, cx| editor.key_context(cx).contains(flag))
    };
    editor.update(cx, |editor, cx| {
        show_removed_rows(editor, &[rows(1, 2)], cx);
        show_moved_rows(editor, &[rows(1, 2)], cx);
        assert_eq!(editor.review.grounds, [Span::from(4..8)]);
        assert_eq!(editor.review.moved, [Span::from(4..8)]);
    });
    assert!(has("base_of_diff", cx) && !has("under_review", cx));
    show(&[(0, 1)], &editor, cx);
    assert!(!has("base_of_diff", cx) && has("under_review", cx));
    editor.update(cx, |editor, _| assert!(editor.review.moved.is_empty()));
}

#[gpui_kit::test]
fn a_view_scrolls_to_the_position_of_another(cx: &mut TestAppContext) {
    let text = format!("\u{2c7}{}", "row\n".repeat(400));
    let (editor, cx) = open("/a.txt", &text, cx);
    editor.update(cx, |editor, cx| {
        editor.set_scroll_top(120.5, cx);
        let position = scroll_position(editor, cx);
        assert_eq!((position.top, position.left), (120.5, 0.0));
        editor.set_scroll_top(0.0, cx);
        assert!(!scroll_position(editor, cx).is_at(position));
        scroll_to(editor, position, cx);
        assert!(scroll_position(editor, cx).is_at(position));
    });
}
