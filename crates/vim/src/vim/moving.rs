//! Motions with the state that they depend on: counts, the aimed column, the view, marks, searches.
//!
//! Start at `motion`.

use super::exec::Exec;
use super::{Want, marking, scrolling, searching};
use crate::command::Operator;
use crate::error::{Done, Error};
use crate::host::DisplayMotion;
use crate::lines::{Pos, indent_len, next_grapheme, prev_grapheme};
use crate::motion::{Aim, CharFind, Motion, Moved, brackets, find, paragraphs, sentences, words};

/// A motion that runs, with its count and the operator that waits for it.
pub(super) struct MotionCall<'a> {
    pub(super) motion: &'a Motion,
    pub(super) count: Option<u32>,
    pub(super) operator: Option<&'a Operator>,
}

impl MotionCall<'_> {
    pub(super) fn count_or_one(&self) -> u32 {
        self.count.unwrap_or(1)
    }
}

/// Moves the caret of a command without an operator, in normal or visual mode.
pub(super) fn move_caret(exec: &mut Exec, motion: &Motion, count: Option<u32>) -> Done {
    let call = MotionCall {
        motion,
        count,
        operator: None,
    };
    let from = exec.pos();
    let moved = run(exec, &call)?;
    if moved.is_jump {
        note_jump_from(exec, from);
    }
    let past_end = exec.may_pass_end();
    let to = exec.lines.clamp(moved.to, past_end);
    exec.set_pos_aiming(to, moved.aim);
    if moved.is_short {
        return Err(Error::Beep);
    }
    Ok(())
}

/// Adds a place that a motion left to the jump list.
pub(super) fn note_jump_from(exec: &mut Exec, from: Pos) {
    let to = exec.pos();
    exec.caret_mut().pos = from;
    exec.note_jump();
    exec.caret_mut().pos = to;
}

/// Returns the place of a motion from the caret. The caret stays.
// tidy: table
pub(super) fn run(exec: &mut Exec, call: &MotionCall) -> Done<Moved> {
    let at = exec.pos();
    let count = call.count_or_one();
    let has_operator = call.operator.is_some();
    match call.motion {
        Motion::Left { wraps } => left(exec, call, *wraps),
        Motion::Right { wraps } => right(exec, call, *wraps),
        Motion::Up => vertical(exec, -i64::from(count)),
        Motion::Down => vertical(exec, i64::from(count)),
        Motion::DownToText => to_text(exec, i64::from(count)),
        Motion::UpToText => to_text(exec, -i64::from(count)),
        Motion::LineText => to_text(exec, i64::from(count) - 1),
        Motion::LineStart => Ok(Moved::exclusive(Pos::new(at.row, 0))),
        Motion::FirstNonBlank => {
            let col = exec.lines.first_non_blank(at.row);
            Ok(Moved::exclusive(Pos::new(at.row, col)))
        }
        Motion::LineEnd => {
            let moved = line_end(exec, count);
            aim_at_end(exec, moved)
        }
        Motion::LastNonBlank => {
            let moved = last_non_blank(exec, count);
            let moved = aim_at_end(exec, moved)?;
            // The column is aimed at by an operator alone.
            let aim = if has_operator { moved.aim } else { Aim::Here };
            Ok(moved.aiming(aim))
        }
        Motion::Cell => Ok(to_cell(exec, call.count)),
        Motion::LineMiddle => Ok(line_middle(exec, call.count)),
        Motion::ToLine => Ok(to_line(exec, call.count.unwrap_or(exec.lines.count()))),
        Motion::ToFirstLine => Ok(to_line(exec, count)),
        Motion::ToLastEnd => {
            let row = call
                .count
                .unwrap_or(exec.lines.count())
                .min(exec.lines.count())
                - 1;
            let to = Pos::new(row, exec.lines.last_col(row));
            Ok(Moved::inclusive(to).aiming(Aim::LineEnd).as_jump())
        }
        Motion::ToByte => {
            let to = exec.lines.pos(base::ByteOffset(count as usize - 1));
            Ok(Moved::exclusive(exec.lines.clamp(to, false)).as_jump())
        }
        Motion::Find(find) => {
            exec.globals.last_find = Some(*find);
            find_char(exec, *find, count, false)
        }
        Motion::RepeatFind { is_reversed } => {
            let find = exec.globals.last_find.ok_or(Error::Beep)?;
            let find = CharFind {
                is_forward: find.is_forward != *is_reversed,
                ..find
            };
            find_char(exec, find, count, true)
        }
        Motion::Word { is_big } => word(exec, call, *is_big),
        Motion::WordEnd { is_big } => {
            let (to, ok) = words::end(&exec.lines, at, count, *is_big, false, false);
            checked_word(exec, to, ok, has_operator, true)
        }
        Motion::WordBack { is_big } => {
            let (to, ok) = words::backward(&exec.lines, at, count, *is_big, false);
            back_word(exec, Moved::exclusive(to), ok, has_operator)
        }
        Motion::WordBackEnd { is_big } => {
            let (to, ok) = words::backward_end(&exec.lines, at, count, *is_big, false);
            back_word(exec, Moved::inclusive(to), ok, has_operator)
        }
        Motion::Sentence { is_forward } => {
            let to = sentences::travel(&exec.lines, at, count, *is_forward).ok_or(Error::Beep)?;
            Ok(off_end(exec, Moved::exclusive(to))
                .to_first_register()
                .as_jump())
        }
        Motion::Paragraph { is_forward } => paragraph(exec, count, *is_forward, None, false),
        Motion::Section { is_forward, to_end } => {
            let (section, closing) = if *to_end {
                ('}', false)
            } else {
                ('{', has_operator && *is_forward)
            };
            let moved = paragraph(exec, count, *is_forward, Some(section), closing)?;
            let to = if has_operator {
                moved.to
            } else {
                Pos::new(moved.to.row, exec.lines.first_non_blank(moved.to.row))
            };
            Ok(Moved { to, ..moved })
        }
        Motion::Matching => matching(exec, call.count),
        Motion::Unmatched {
            bracket,
            is_forward,
        } => unmatched(exec, count, *bracket, *is_forward),
        Motion::Comment { is_forward } => comment(exec, count, *is_forward),
        Motion::Search(search) => searching::typed(exec, search, count),
        Motion::RepeatSearch { is_reversed } => searching::repeated(exec, *is_reversed, count),
        Motion::WordSearch {
            is_forward,
            is_whole,
        } => searching::word(exec, *is_forward, *is_whole, count),
        Motion::Mark {
            name,
            to_line,
            keeps_jumps,
        } => marking::motion(exec, *name, *to_line, *keeps_jumps),
        Motion::ScreenTop | Motion::ScreenMiddle | Motion::ScreenBottom => {
            Ok(scrolling::screen_row(exec, call))
        }
        Motion::Scroll(scroll) => scrolling::pages(exec, *scroll, call.count),
        Motion::DisplayDown => display(exec, DisplayMotion::Down(count), i64::from(count)),
        Motion::DisplayUp => display(exec, DisplayMotion::Up(count), -i64::from(count)),
        Motion::DisplayStart => display_edge(exec, DisplayMotion::Start),
        Motion::DisplayFirstNonBlank => display_edge(exec, DisplayMotion::FirstNonBlank),
        Motion::DisplayEnd => display_edge(exec, DisplayMotion::End),
        Motion::DisplayMiddle => display_edge(exec, DisplayMotion::Middle),
        Motion::FoldStart => fold(exec, count, false, true),
        Motion::FoldEnd => fold(exec, count, true, true),
        Motion::NextFold => fold(exec, count, true, false),
        Motion::PreviousFold => fold(exec, count, false, false),
    }
}

fn left(exec: &Exec, call: &MotionCall, wraps: bool) -> Done<Moved> {
    let mut pos = exec.pos();
    let is_removal = matches!(call.operator, Some(Operator::Delete | Operator::Change));
    let mut adjusts_end = true;
    let mut is_short = false;
    let count = call.count_or_one();
    for left in (1..=count).rev() {
        let line = exec.lines.line(pos.row);
        if pos.col > 0 {
            pos.col = prev_grapheme(&line, pos.col);
        } else if wraps && pos.row > 0 {
            pos.row -= 1;
            let above = exec.lines.line(pos.row);
            pos.col = if exec.may_pass_end() {
                above.len()
            } else {
                prev_grapheme(&above, above.len())
            };
            if is_removal && !above.is_empty() {
                pos.col = next_grapheme(&above, pos.col);
                adjusts_end = false;
            }
        } else {
            is_short = call.operator.is_none() && left + 1 == count;
            break;
        }
    }
    Ok(Moved {
        adjusts_end,
        is_short,
        ..Moved::exclusive(pos)
    })
}

fn right(exec: &Exec, call: &MotionCall, wraps: bool) -> Done<Moved> {
    let mut pos = exec.pos();
    let past_end = exec.may_pass_end();
    let mut is_inclusive = false;
    for left in (0..call.count_or_one()).rev() {
        let line = exec.lines.line(pos.row);
        let next = next_grapheme(&line, pos.col);
        let is_stuck = if past_end {
            pos.col >= line.len()
        } else {
            next >= line.len()
        };
        if !is_stuck {
            pos.col = next;
            continue;
        }
        if wraps && pos.row < exec.lines.last() {
            if call.operator.is_some() && !is_inclusive && pos.col < line.len() {
                is_inclusive = true;
            } else {
                pos = Pos::new(pos.row + 1, 0);
                is_inclusive = false;
            }
            continue;
        }
        match call.operator {
            None if left + 1 == call.count_or_one() => return Err(Error::Beep),
            None => {}
            Some(_) => is_inclusive |= !line.is_empty(),
        }
        break;
    }
    Ok(if is_inclusive {
        Moved::inclusive(pos)
    } else {
        Moved::exclusive(pos)
    })
}

/// The row a number of lines away; a closed fold is one line. Fails if there is none.
pub(super) fn row_away(exec: &Exec, from: u32, by: i64) -> Done<u32> {
    let mut row = from;
    let fold_of = |row: u32| exec.host.closed_fold(row);
    let last = exec.lines.last();
    for step in 0..by.unsigned_abs() {
        let next = if by > 0 {
            let behind = fold_of(row).map_or(row + 1, |rows| rows.end);
            Some(behind).filter(|row| *row <= last)
        } else {
            let first = fold_of(row).map_or(row, |rows| rows.start);
            first
                .checked_sub(1)
                .map(|row| fold_of(row).map_or(row, |rows| rows.start))
        };
        match next {
            Some(next) => row = next,
            None if step == 0 => return Err(Error::Beep),
            None => break,
        }
    }
    Ok(row)
}

fn vertical(exec: &Exec, by: i64) -> Done<Moved> {
    let row = row_away(exec, exec.pos().row, by)?;
    let to = exec.pos_in_row(row, exec.wanted_cell());
    Ok(Moved::lines(to).aiming(Aim::Same))
}

fn to_text(exec: &Exec, by: i64) -> Done<Moved> {
    let row = match by {
        0 => exec.pos().row,
        _ => row_away(exec, exec.pos().row, by)?,
    };
    let col = exec.lines.first_non_blank(row);
    Ok(Moved::lines(Pos::new(row, col)))
}

fn line_end(exec: &Exec, count: u32) -> Done<Moved> {
    let row = match count {
        1 => exec.pos().row,
        _ => row_away(exec, exec.pos().row, i64::from(count) - 1)?,
    };
    let col = if exec.may_pass_end() {
        exec.lines.len(row)
    } else {
        exec.lines.last_col(row)
    };
    Ok(Moved::inclusive(Pos::new(row, col)).aiming(Aim::LineEnd))
}

/// Lets vertical motions aim at the ends of lines even after a motion to an end that failed.
fn aim_at_end(exec: &mut Exec, moved: Done<Moved>) -> Done<Moved> {
    if moved.is_err() {
        exec.caret_mut().want = Want::LineEnd;
    }
    moved
}

fn last_non_blank(exec: &Exec, count: u32) -> Done<Moved> {
    let row = match count {
        1 => exec.pos().row,
        _ => row_away(exec, exec.pos().row, i64::from(count) - 1)?,
    };
    let line = exec.lines.line(row);
    let text = line.trim_end_matches([' ', '\t']);
    let to = Pos::new(row, prev_grapheme(text, text.len()));
    Ok(Moved::inclusive(to).aiming(Aim::LineEnd))
}

fn to_cell(exec: &Exec, count: Option<u32>) -> Moved {
    let row = exec.pos().row;
    let cell = count.map_or(0, |count| count - 1);
    let to = exec.pos_in_row(row, Want::Cell(cell));
    Moved::exclusive(to).aiming(Aim::Cell(cell))
}

/// The middle of the text of a line, or a percentage of it.
fn line_middle(exec: &Exec, count: Option<u32>) -> Moved {
    let row = exec.pos().row;
    let width = exec.lines.cells(Pos::new(row, exec.lines.len(row))).1;
    let cell = match count {
        Some(percent) if percent <= 100 => width * percent / 100,
        _ => width / 2,
    };
    Moved::exclusive(exec.pos_in_row(row, Want::Cell(cell)))
}

/// A line by its number, counted from 1; the column stays unless an option says otherwise.
fn to_line(exec: &Exec, number: u32) -> Moved {
    let row = number.clamp(1, exec.lines.count()) - 1;
    row_keeping_column(exec, row).as_jump()
}

/// A place in a row for a motion over many lines.
pub(super) fn row_keeping_column(exec: &Exec, row: u32) -> Moved {
    if exec.globals.options.start_of_line {
        return Moved::lines(Pos::new(row, exec.lines.first_non_blank(row)));
    }
    let to = exec.pos_in_row(row, exec.wanted_cell());
    Moved::lines(to).aiming(Aim::Same)
}

fn find_char(exec: &Exec, find: CharFind, count: u32, is_repeated: bool) -> Done<Moved> {
    let to = find::find(&exec.lines, exec.pos(), find, count, is_repeated).ok_or(Error::Beep)?;
    Ok(if find.is_forward {
        Moved::inclusive(to)
    } else {
        Moved::exclusive(to)
    })
}

fn word(exec: &Exec, call: &MotionCall, is_big: bool) -> Done<Moved> {
    let at = exec.pos();
    let has_operator = call.operator.is_some();
    let char = exec.lines.char_at(at);
    // `cw` on a word changes up to its end.
    let to_end = call.operator == Some(&Operator::Change)
        && char.is_some_and(|char| !crate::chars::is_blank(char));
    if to_end {
        let (to, ok) = words::end(&exec.lines, at, call.count_or_one(), is_big, true, false);
        return checked_word(exec, to, ok, has_operator, true);
    }
    let (to, ok) = words::forward(&exec.lines, at, call.count_or_one(), is_big, has_operator);
    checked_word(exec, to, ok, has_operator, false)
}

/// A word motion that failed still moves for an operator.
fn checked_word(
    exec: &Exec,
    to: Pos,
    ok: bool,
    has_operator: bool,
    is_inclusive: bool,
) -> Done<Moved> {
    let moved = if is_inclusive {
        Moved::inclusive(to)
    } else {
        Moved::exclusive(to)
    };
    let moved = if to > exec.pos() {
        off_end(exec, moved)
    } else {
        moved
    };
    if !ok && !has_operator {
        return short_of(exec, moved, true);
    }
    Ok(moved)
}

/// A motion back by words: with too large a count it fails for an operator.
fn back_word(exec: &mut Exec, moved: Moved, ok: bool, has_operator: bool) -> Done<Moved> {
    if !ok && has_operator {
        exec.set_pos(moved.to);
        return Err(Error::Beep);
    }
    short_of(exec, moved, !ok)
}

/// A motion that may have ended too early: it fails unless it moved.
fn short_of(exec: &Exec, moved: Moved, is_short: bool) -> Done<Moved> {
    if is_short && moved.to == exec.pos() {
        return Err(Error::Beep);
    }
    Ok(Moved { is_short, ..moved })
}

/// Moves the end of a motion off the end of its line, and takes the last character in.
fn off_end(exec: &Exec, moved: Moved) -> Moved {
    let line = exec.lines.line(moved.to.row);
    if moved.to.col == 0 || moved.to.col < line.len() || exec.is_visual() {
        return moved;
    }
    Moved {
        to: Pos::new(moved.to.row, prev_grapheme(&line, line.len())),
        extent: crate::motion::Extent::Inclusive,
        ..moved
    }
}

fn paragraph(
    exec: &Exec,
    count: u32,
    is_forward: bool,
    section: Option<char>,
    closing: bool,
) -> Done<Moved> {
    let end = paragraphs::travel(&exec.lines, exec.pos(), count, is_forward, section, closing);
    let end = end.ok_or(Error::Beep)?;
    let moved = if end.is_inclusive {
        Moved::inclusive(end.pos)
    } else {
        Moved::exclusive(end.pos)
    };
    Ok(moved.to_first_register().as_jump())
}

fn matching(exec: &Exec, count: Option<u32>) -> Done<Moved> {
    let Some(percent) = count else {
        let to = brackets::matching(&exec.lines, exec.pos()).ok_or(Error::Beep)?;
        return Ok(Moved::inclusive(to).to_first_register().as_jump());
    };
    if percent > 100 {
        return Err(Error::Beep);
    }
    let lines = u64::from(exec.lines.count());
    let number = (lines * u64::from(percent)).div_ceil(100).max(1);
    Ok(to_line(exec, number as u32))
}

fn unmatched(exec: &Exec, count: u32, bracket: char, is_forward: bool) -> Done<Moved> {
    let (mate, _) = brackets::mate_of(bracket).ok_or(Error::Beep)?;
    let mut at = exec.pos();
    let mut found = None;
    for _ in 0..count {
        match brackets::unmatched(&exec.lines, at, (bracket, mate), !is_forward, true) {
            Some(pos) => {
                at = pos;
                found = Some(pos);
            }
            None => break,
        }
    }
    let to = found.ok_or(Error::Beep)?;
    Ok(Moved::exclusive(to).as_jump())
}

fn comment(exec: &Exec, count: u32, is_forward: bool) -> Done<Moved> {
    let mut at = exec.pos();
    for _ in 0..count {
        at = brackets::comment_edge(&exec.lines, at, is_forward).ok_or(Error::Beep)?;
    }
    Ok(Moved::exclusive(at).as_jump())
}

fn display(exec: &Exec, motion: DisplayMotion, by: i64) -> Done<Moved> {
    let from = exec.lines.offset(exec.pos());
    let Some(to) = exec.host.display_motion(from, motion) else {
        let moved = vertical(exec, by)?;
        return Ok(Moved {
            extent: crate::motion::Extent::Exclusive,
            ..moved
        });
    };
    Ok(Moved::exclusive(exec.lines.pos(to)).aiming(Aim::Same))
}

fn display_edge(exec: &Exec, motion: DisplayMotion) -> Done<Moved> {
    let from = exec.lines.offset(exec.pos());
    if let Some(to) = exec.host.display_motion(from, motion) {
        let to = exec.lines.pos(to);
        return Ok(match motion {
            DisplayMotion::End => Moved::inclusive(to),
            _ => Moved::exclusive(to),
        });
    }
    let row = exec.pos().row;
    match motion {
        DisplayMotion::Start => Ok(Moved::exclusive(Pos::new(row, 0))),
        DisplayMotion::End => line_end(exec, 1).map(|moved| moved.aiming(Aim::LineEnd)),
        DisplayMotion::Middle => Ok(line_middle(exec, None)),
        _ => {
            let line = exec.lines.line(row);
            let col = indent_len(&line).min(prev_grapheme(&line, line.len()));
            Ok(Moved::exclusive(Pos::new(row, col)))
        }
    }
}

/// Goes to folds: to the edges of the one at the caret, or to the next or previous one.
fn fold(exec: &Exec, count: u32, is_forward: bool, stays_inside: bool) -> Done<Moved> {
    let folds = exec.host.folds();
    let mut row = exec.pos().row;
    for _ in 0..count {
        let at = row;
        let next = match (is_forward, stays_inside) {
            (true, false) => folds
                .iter()
                .map(|fold| fold.start)
                .filter(|it| *it > at)
                .min(),
            (false, false) => folds
                .iter()
                .map(|fold| fold.end - 1)
                .filter(|it| *it < at)
                .max(),
            (true, true) => {
                let inside = folds
                    .iter()
                    .filter(|fold| fold.contains(&at) && fold.end - 1 > at);
                inside.map(|fold| fold.end - 1).min()
            }
            (false, true) => {
                let inside = folds
                    .iter()
                    .filter(|fold| fold.contains(&at) && fold.start < at);
                inside.map(|fold| fold.start).max()
            }
        };
        row = next.ok_or(Error::Beep)?;
    }
    let to = exec.pos_in_row(row, exec.wanted_cell());
    Ok(Moved::lines(to).aiming(Aim::Same))
}
