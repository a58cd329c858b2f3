//! Repeating the last change (`.`).
//!
//! Start at `repeat`.

use super::exec::Exec;
use super::keys::MAX_DEPTH;
use super::{State, Want, inserting, normal, region};
use crate::command::{Action, NormalCommand, VisualShape};
use crate::error::{Done, Error};
use crate::globals::{Repeat, VisualSize};
use crate::key::Key;
use crate::lines::Pos;

/// Whether `.` repeats a command.
fn is_repeatable(command: &NormalCommand) -> bool {
    if let Some(operator) = &command.operator {
        // A prompt of a search is repeated once its pattern is known.
        return operator.is_change() && !matches!(command.action, Action::Prompt(_));
    }
    match &command.action {
        Action::Operate(operator)
        | Action::OperateLines(operator)
        | Action::OperateToEnds(operator) => operator.is_change(),
        Action::DeleteChar
        | Action::DeleteCharBefore
        | Action::DeleteToEnd
        | Action::ChangeToEnd
        | Action::Substitute
        | Action::SubstituteLines
        | Action::Join { .. }
        | Action::Put(_)
        | Action::ReplaceChar { .. }
        | Action::ReplaceSelection { .. }
        | Action::SwapCaseChar
        | Action::Add { .. }
        | Action::BlankLine { .. }
        | Action::DeleteSurround(_)
        | Action::ChangeSurround(..)
        | Action::Insert(_)
        | Action::BlockInsert { .. }
        | Action::Replace { .. } => true,
        _ => false,
    }
}

/// Returns the command for `.`, with the size of the selection that it takes.
pub(super) fn of(exec: &Exec, command: &NormalCommand) -> Option<Repeat> {
    is_repeatable(command).then(|| Repeat {
        command: command.clone(),
        visual: size_of(exec),
        inserted: Vec::new(),
    })
}

/// The size of the visual selection; `None` in normal mode.
pub(super) fn size_of(exec: &Exec) -> Option<VisualSize> {
    let shape = exec.visual_shape()?;
    let caret = exec.vim.carets[exec.vim.primary];
    let (start, end) = region::ends(&caret);
    let rows = end.row - start.row + 1;
    let (first, last) = (exec.lines.cells(start), exec.lines.cells(end));
    let last_cell = |(from, to): (u32, u32)| from.max(to.saturating_sub(1));
    let cells = match shape {
        VisualShape::Block => {
            let cells = region::BlockCells::between(&exec.lines, start, end);
            cells.width()
        }
        _ if rows == 1 => last_cell(last).saturating_sub(first.0) + 1,
        _ => last_cell(last),
    };
    Some(VisualSize {
        shape,
        rows,
        cells,
        to_ends: caret.want == Want::LineEnd,
    })
}

/// Extends the selection from the caret to a size, some times over.
pub(super) fn extend_to_size(exec: &mut Exec, size: VisualSize, times: u32) {
    let at = exec.pos();
    exec.caret_mut().anchor = at;
    let rows = size.rows.saturating_mul(times);
    let row = at.row.saturating_add(rows - 1).min(exec.lines.last());
    let start = exec.lines.cells(at).0;
    let cells = size.cells.saturating_mul(times);
    let want = match size.shape {
        _ if size.to_ends => Want::LineEnd,
        VisualShape::Lines => Want::Cell(start),
        VisualShape::Chars if size.rows > 1 => Want::Cell(size.cells),
        _ => Want::Cell(start.saturating_add(cells - 1)),
    };
    let mut pos = exec.pos_in_row(row, want);
    if size.shape == VisualShape::Chars {
        pos = exec.lines.clamp(pos, false);
    }
    let caret = exec.caret_mut();
    caret.pos = pos;
    caret.want = match want {
        Want::LineEnd => Want::LineEnd,
        _ => Want::Here,
    };
}

/// Repeats the last change; a count replaces that of the change.
pub(super) fn repeat(exec: &mut Exec, count: Option<u32>) -> Done {
    let mut repeat = exec.globals.repeat.clone().ok_or(Error::Beep)?;
    if exec.depth >= MAX_DEPTH {
        return Err(Error::TooDeep);
    }
    if let Some(count) = count {
        repeat.command.count = Some(count);
    }
    if let Some(register @ '1'..='8') = repeat.command.register {
        repeat.command.register = Some(char::from(register as u8 + 1));
    }
    exec.globals.repeat = Some(repeat.clone());
    let was_repeating = std::mem::replace(&mut exec.is_repeating, true);
    exec.depth += 1;
    let done = run(exec, &repeat);
    exec.depth -= 1;
    exec.is_repeating = was_repeating;
    done
}

fn run(exec: &mut Exec, repeat: &Repeat) -> Done {
    if let Some(size) = repeat.visual {
        exec.vim.drop_other_carets();
        exec.vim.state = State::Visual(size.shape);
        extend_to_size(exec, size, 1);
        if size.shape == VisualShape::Block && !size.to_ends {
            let at = exec.caret().anchor;
            let start = exec.lines.cells(at).0;
            exec.caret_mut().want = Want::Cell(start + size.cells - 1);
            widen_block(exec, size);
        }
    }
    normal::run(exec, &repeat.command)?;
    if exec.is_inserting() {
        for key in &repeat.inserted {
            inserting::replay(exec, key)?;
        }
        inserting::key(exec, Key::Escape)?;
    }
    Ok(())
}

/// Gives a repeated block its width although its last line may be shorter.
fn widen_block(exec: &mut Exec, size: VisualSize) {
    let at = exec.caret().anchor;
    let right = exec.lines.cells(at).0 + size.cells - 1;
    let row = exec.pos().row;
    if exec.lines.col_at_cell(row, right) < exec.lines.len(row) {
        return;
    }
    // The corner that reaches the right edge may be in the first line instead.
    let first = exec.lines.col_at_cell(at.row, right);
    if first < exec.lines.len(at.row) && row != at.row {
        let low = exec.lines.col_at_cell(row, exec.lines.cells(at).0);
        let caret = exec.caret_mut();
        caret.anchor = Pos::new(at.row, first);
        caret.pos = Pos::new(row, low);
    }
}
