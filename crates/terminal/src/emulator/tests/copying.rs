//! Copy mode.

use super::*;

fn copy_to(emulator: &mut Emulator, motions: &[CopyMotion]) -> (u64, u16) {
    for motion in motions {
        emulator.move_copy_cursor(*motion, CopyStep::Move);
    }
    let cursor = emulator.copy_cursor().expect("copy mode");
    (cursor.line.0, cursor.column)
}

#[test]
fn copy_mode_starts_at_the_cursor_or_in_view() {
    let mut emulator = fed(20, 3, "1\r\n2\r\n3\r\n4\r\nfive");
    assert_eq!(emulator.copy_cursor(), None);
    emulator.start_copy_mode();
    assert_eq!(emulator.copy_cursor(), Some(at(4, 4)));
    let snapshot = emulator.snapshot();
    assert!(snapshot.is_copying);
    assert_eq!(snapshot.cursor.map(|cursor| cursor.row), Some(2));
    emulator.end_copy_mode();
    emulator.scroll(ScrollTarget::Top);
    emulator.start_copy_mode();
    assert_eq!(emulator.copy_cursor(), Some(at(0, 0)));
    emulator.end_copy_mode();
    assert_eq!(emulator.snapshot().scroll.offset, 0);
}

#[test]
fn motions_of_copy_mode_stay_in_the_text() {
    let mut emulator = fed(10, 3, "a\r\nbb\r\n\r\nabcdefghijklm\r\nlast\r\n");
    emulator.start_copy_mode();
    assert_eq!(copy_to(&mut emulator, &[CopyMotion::Top]), (0, 0));
    assert_eq!(copy_to(&mut emulator, &[CopyMotion::Up; 3]), (0, 0));
    assert_eq!(copy_to(&mut emulator, &[CopyMotion::Left; 3]), (0, 0));
    let down = [CopyMotion::ParagraphDown, CopyMotion::Down];
    assert_eq!(copy_to(&mut emulator, &down), (3, 0));
    assert_eq!(copy_to(&mut emulator, &[CopyMotion::Right; 11]), (4, 1));
    assert_eq!(copy_to(&mut emulator, &[CopyMotion::LineEnd]), (4, 2));
    assert_eq!(copy_to(&mut emulator, &[CopyMotion::Bottom]), (6, 0));
    assert_eq!(copy_to(&mut emulator, &[CopyMotion::Down; 9]), (6, 0));
    assert_eq!(copy_to(&mut emulator, &[CopyMotion::PageUp]), (3, 0));
    assert_eq!(copy_to(&mut emulator, &[CopyMotion::PageUp; 9]), (0, 0));
}

#[test]
fn the_cursor_of_copy_mode_follows_its_text_through_reflow() {
    let mut emulator = fed(20, 4, "first\r\n0123456789 target\r\nthird");
    emulator.start_copy_mode();
    emulator.place_copy_cursor(at(1, 11));
    emulator.toggle_copy_selection(SelectionKind::Cells);
    emulator.move_copy_cursor(CopyMotion::WordEnd, CopyStep::Move);
    assert_eq!(emulator.selected_text().as_deref(), Some("target"));
    for columns in [6, 30, 20] {
        emulator.resize(size(columns, 4));
        let cursor = emulator.copy_cursor().expect("copy mode");
        let line = emulator.logical_line(cursor.line).expect("a line");
        let byte = line.byte_at(cursor).expect("a character");
        assert_eq!((byte, &line.text[byte..]), (16, "t"), "{columns} columns");
    }
    assert_eq!(emulator.selected_text().as_deref(), Some("target"));
}

#[test]
fn output_moves_no_view_in_copy_mode() {
    let mut emulator = fed(20, 3, "1\r\n2\r\n3");
    emulator.start_copy_mode();
    for ix in 4..1_100 {
        feed(&mut emulator, format!("\r\n{ix}"));
        if ix < 900 {
            assert_eq!(rows(&mut emulator), ["1", "2", "3"], "{ix}");
        }
    }
    // The oldest lines were dropped, and the cursor is on one that is left.
    let cursor = emulator.copy_cursor().expect("copy mode");
    assert_eq!(cursor.line, emulator.snapshot().first_line);
    emulator.end_copy_mode();
    assert_eq!(rows(&mut emulator), ["1097", "1098", "1099"]);
}
