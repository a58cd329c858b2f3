//! Operators: the text they take, and their dispatch.
//!
//! Start at `operator`.

use super::exec::Exec;
use super::moving::{self, MotionCall};
use super::region::{self, Region, RegionShape};
use super::{
    State, VisualMemory, Want, case, change, comment, delete, exchange, format, indent, put,
    searching, surround, visual, yank,
};
use crate::command::{Action, NormalCommand, ObjectKind, Operator, VisualShape};
use crate::effect::{Effect, FoldCommand};
use crate::error::{Done, Error};
use crate::lines::Pos;
use crate::motion::{Aim, Extent, Motion, Moved};
use crate::object::{ObjectRequest, Selected, TextObject};

/// Runs an operator over a motion, an object or lines, at the active caret.
pub(super) fn operator(exec: &mut Exec, command: &NormalCommand, operator: &Operator) -> Done {
    let want_before = exec.wanted_cell();
    let mut want = want_before;
    let mut region = region_of(exec, command, operator, &mut want)?;
    if *operator == Operator::Delete {
        region = delete::as_lines(exec, &region);
    }
    if *operator == Operator::Delete || region.shape == RegionShape::Lines {
        // The column from before the motion.
        want = want_before;
    }
    let before = exec.pos();
    exec.set_pos(region.caret);
    apply(exec, command, operator, &region, before)?;
    keep_column(exec, operator, &region, want);
    Ok(())
}

/// Returns to the column from before an operator that removes or moves whole lines, unless the
/// option says that the caret goes to the first character.
fn keep_column(exec: &mut Exec, operator: &Operator, region: &Region, want: Want) {
    let moves = matches!(
        operator,
        Operator::Delete | Operator::Indent | Operator::Outdent
    );
    let is_lines = region.shape == RegionShape::Lines;
    let is_shift = *operator != Operator::Delete && !matches!(region.shape, RegionShape::Block(_));
    let is_kept = is_lines && !region.is_adjusted || is_shift;
    if moves && is_kept && !exec.globals.options.start_of_line {
        let to = exec.pos_in_row(exec.pos().row, want);
        exec.set_pos(to);
        if *operator != Operator::Delete {
            exec.caret_mut().want = want;
        }
    }
}

/// The text that an operator takes at the active caret. A motion that sets the aimed column sets `want`.
fn region_of(
    exec: &mut Exec,
    command: &NormalCommand,
    operator: &Operator,
    want: &mut Want,
) -> Done<Region> {
    match &command.action {
        Action::WholeLines => whole_lines(exec, command, operator),
        Action::Motion(Motion::LineText) if command.force.is_none() => {
            whole_lines(exec, command, operator)
        }
        Action::Motion(motion) => {
            let call = MotionCall {
                motion,
                count: command.count,
                operator: Some(operator),
            };
            let from = exec.pos();
            let moved = moving::run(exec, &call)?;
            if moved.is_jump {
                exec.note_jump();
            }
            match moved.aim {
                Aim::LineEnd => *want = Want::LineEnd,
                Aim::Cell(cell) => *want = Want::Cell(cell),
                Aim::Here | Aim::Same => {}
            }
            let region = Region::of_motion(exec, from, &moved, command.force);
            remember_block(exec, &region, from, moved.to);
            Ok(region)
        }
        Action::Object { kind, is_around } => {
            let selected = object(exec, *kind, *is_around, command.count_or_one(), None)?;
            if matches!(kind, ObjectKind::Match { .. }) {
                // Vim selects the match, so that `gv` does.
                exec.vim.visual = Some(VisualMemory {
                    shape: VisualShape::Chars,
                    anchor: selected.anchor,
                    head: selected.head,
                    want: Want::Here,
                });
            }
            let moved = Moved {
                extent: selected.extent,
                ..Moved::exclusive(selected.head)
            };
            let region = Region::of_motion(exec, selected.anchor, &moved, command.force);
            remember_block(exec, &region, selected.anchor, selected.head);
            Ok(region)
        }
        _ => Err(Error::Beep),
    }
}

/// Remembers a forced block as the last selection, so that `gv` selects it.
fn remember_block(exec: &mut Exec, region: &Region, anchor: Pos, head: Pos) {
    if let RegionShape::Block(_) = region.shape {
        exec.vim.visual = Some(VisualMemory {
            shape: VisualShape::Block,
            anchor,
            head,
            want: Want::Here,
        });
    }
}

/// Lines from the caret on; with characters forced (`yss`), the text of the line.
fn whole_lines(exec: &Exec, command: &NormalCommand, operator: &Operator) -> Done<Region> {
    let first = exec.pos().row;
    let is_surround = matches!(operator, Operator::Surround { .. });
    if command.force == Some(VisualShape::Chars) && is_surround {
        let start = Pos::new(first, exec.lines.first_non_blank(first));
        let line = exec.lines.line(first);
        let end = Pos::new(
            first,
            line.trim_end_matches([' ', '\t']).len().max(start.col),
        );
        return Ok(Region::chars(&exec.lines, start, end));
    }
    let last = match command.count_or_one() {
        1 => first,
        count => moving::row_away(exec, first, i64::from(count) - 1)?,
    };
    // Most operators go to the first character of the last line before they begin.
    let keeps_column = match operator {
        Operator::Yank => true,
        Operator::Delete | Operator::Indent | Operator::Outdent => {
            !exec.globals.options.start_of_line
        }
        _ => false,
    };
    let reached = if keeps_column {
        exec.pos_in_row(last, exec.wanted_cell())
    } else {
        Pos::new(last, exec.lines.first_non_blank(last))
    };
    if command.force.is_some() {
        let moved = Moved::lines(reached);
        return Ok(Region::of_motion(exec, exec.pos(), &moved, command.force));
    }
    Ok(Region {
        caret: exec.pos().min(reached),
        ..Region::whole_lines(exec, first, last)
    })
}

/// The object at the active caret. `anchor` is the fixed end of a visual selection.
pub(super) fn object(
    exec: &mut Exec,
    kind: ObjectKind,
    is_around: bool,
    count: u32,
    anchor: Option<Pos>,
) -> Done<Selected> {
    match kind {
        ObjectKind::Text(object) => {
            let request = ObjectRequest {
                anchor,
                head: exec.pos(),
                is_lines: exec.visual_shape() == Some(VisualShape::Lines),
                count,
                is_around,
            };
            match object.select(&exec.lines, &request) {
                Ok(selected) => Ok(selected),
                Err(reached) => {
                    let past_end = exec.may_pass_end();
                    let reached = exec.lines.clamp(reached, past_end);
                    exec.set_pos(reached);
                    Err(Error::Beep)
                }
            }
        }
        ObjectKind::Syntax(kind) => syntax_object(exec, kind, is_around, count, anchor),
        ObjectKind::CommentLines => comment::lines_at(exec).ok_or(Error::Beep),
        ObjectKind::Match { is_forward } => searching::match_object(exec, is_forward),
    }
}

fn syntax_object(
    exec: &Exec,
    kind: crate::host::SyntaxObject,
    is_around: bool,
    count: u32,
    anchor: Option<Pos>,
) -> Done<Selected> {
    let extent = if is_around {
        crate::host::ObjectExtent::Around
    } else {
        crate::host::ObjectExtent::Inner
    };
    let at = exec.lines.offset(exec.pos());
    let mut span = match anchor {
        Some(anchor) if anchor != exec.pos() => {
            let (low, high) = (anchor.min(exec.pos()), anchor.max(exec.pos()));
            exec.lines.span(low, exec.lines.behind(high))
        }
        _ => base::Span::at(at),
    };
    for _ in 0..count {
        span = exec
            .host
            .syntax_object(kind, extent, span)
            .ok_or(Error::Beep)?;
    }
    let start = exec.lines.pos(span.start);
    let mut end = crate::lines::Walker::new(&exec.lines, exec.lines.pos(span.end));
    let is_whole = exec.lines.is_in_indent(start) && end.pos.col == end.line().len();
    if !span.is_empty() {
        end.backward();
    }
    let extent = if is_whole && start.row < end.pos.row {
        Extent::Lines
    } else {
        Extent::Inclusive
    };
    Ok(Selected::new(start, end.pos, extent))
}

/// Runs an operator over the visual selection of the active caret.
pub(super) fn over_selection(
    exec: &mut Exec,
    command: &NormalCommand,
    operator: &Operator,
) -> Done {
    let Some(shape) = exec.visual_shape() else {
        return Err(Error::Beep);
    };
    let region = Region::of_visual(exec, shape, region::is_by_lines(operator));
    let before = exec.pos();
    let want = exec.wanted_cell();
    exec.vim.remember_visual(shape);
    visual::leave_keeping_carets(exec);
    exec.set_pos(region.caret);
    apply(exec, command, operator, &region, before)?;
    keep_column(exec, operator, &region, want);
    Ok(())
}

/// Runs an operator over a text. `before` is the caret from before.
// tidy: table
pub(super) fn apply(
    exec: &mut Exec,
    command: &NormalCommand,
    operator: &Operator,
    region: &Region,
    before: Pos,
) -> Done {
    let register = command.register;
    let count = i64::from(command.count_or_one());
    let levels = if region.is_visual { count } else { 1 };
    match operator {
        Operator::Delete => delete::delete(exec, register, region),
        Operator::Change => change::change(exec, register, region),
        Operator::Yank => yank::yank(exec, register, region),
        Operator::Indent => indent::shift(exec, region, levels),
        Operator::Outdent => indent::shift(exec, region, -levels),
        Operator::Reindent => indent::reindent(exec, region),
        Operator::SwapCase | Operator::LowerCase | Operator::UpperCase | Operator::Rot13 => {
            case::change(exec, operator, region)
        }
        Operator::Format { keeps_caret } => {
            let caret = keeps_caret.then_some(before);
            format::format(exec, region, caret)
        }
        Operator::Comment => comment::toggle(exec, region),
        Operator::Exchange => exchange::exchange(exec, region),
        Operator::ReplaceWithRegister => put::replace_region(exec, command, region),
        Operator::Surround { pair, on_lines } => surround::add(exec, region, pair, *on_lines),
        Operator::Filter => {
            super::prompt::open_filter(exec, region);
            Ok(())
        }
        Operator::Fold => {
            fold(exec, region, FoldCommand::Create);
            exec.set_pos_aiming(before, Aim::Same);
            Ok(())
        }
        Operator::FoldOpen { deep } => {
            fold(
                exec,
                region,
                if *deep {
                    FoldCommand::OpenDeep
                } else {
                    FoldCommand::Open
                },
            );
            Ok(())
        }
        Operator::FoldClose { deep } => {
            fold(
                exec,
                region,
                if *deep {
                    FoldCommand::CloseDeep
                } else {
                    FoldCommand::Close
                },
            );
            Ok(())
        }
    }
}

fn fold(exec: &mut Exec, region: &Region, command: impl Fn(std::ops::Range<u32>) -> FoldCommand) {
    exec.effect(Effect::Fold(command(region.start.row..region.end.row + 1)));
}

/// Whether an object extends a block instead of making it characters.
fn keeps_block(kind: ObjectKind) -> bool {
    matches!(
        kind,
        ObjectKind::Text(TextObject::Word { .. } | TextObject::Quote(_))
    )
}

/// Selects an object in visual mode.
pub(super) fn select_object(
    exec: &mut Exec,
    kind: ObjectKind,
    is_around: bool,
    count: u32,
) -> Done {
    let is_match = matches!(kind, ObjectKind::Match { .. });
    let was_visual = exec.is_visual();
    let caret = *exec.caret();
    exec.caret_mut().want = Want::Here;
    let selected = object(exec, kind, is_around, count, Some(caret.anchor))?;
    if !was_visual {
        exec.vim.state = State::Visual(VisualShape::Chars);
    }
    let shape = match (exec.visual_shape(), selected.extent) {
        (_, Extent::Lines) => VisualShape::Lines,
        (Some(shape), _) if is_match || selected.keeps_shape => shape,
        (Some(VisualShape::Block), _) if keeps_block(kind) => VisualShape::Block,
        (Some(_), _) => VisualShape::Chars,
        (None, _) => VisualShape::Chars,
    };
    exec.vim.state = State::Visual(shape);
    let keeps_anchor = is_match && was_visual && caret.anchor != caret.pos;
    let (anchor, head) = if let (true, ObjectKind::Match { is_forward }) = (keeps_anchor, kind) {
        let head = if is_forward {
            selected.head
        } else {
            selected.anchor
        };
        (caret.anchor, head)
    } else if kind == (ObjectKind::Match { is_forward: false }) {
        (selected.head, selected.anchor)
    } else {
        (selected.anchor, selected.head)
    };
    exec.set_pos(head);
    exec.caret_mut().anchor = anchor;
    Ok(())
}
