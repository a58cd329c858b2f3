//! Visual and select mode.
//!
//! Start at `run`.

use base::Span;

use super::block;
use super::exec::Exec;
use super::inserting::{self, BlockInsertion, InsertStart};
use super::region::{self, BlockCells, Region, RegionShape};
use super::{Caret, State, Vim, VisualMemory, Want};
use super::{case, join, moving, normal, number, operate, prompt, put, searching};
use crate::command::{Action, NormalCommand, Operator, VisualShape};
use crate::error::{Done, Error};
use crate::key::Key;
use crate::lines::Pos;
use crate::motion::Motion;
use crate::search::{self, SearchWay};

impl Vim {
    /// Keeps the selection of the primary caret for `gv`.
    pub(super) fn remember_visual(&mut self, shape: VisualShape) {
        let caret = self.carets[self.active];
        if self.active == self.primary {
            self.visual = Some(VisualMemory {
                shape,
                anchor: caret.anchor,
                head: caret.pos,
                want: caret.want,
            });
        }
    }
}

/// Begins a selection, changes its shape, or ends it.
pub(super) fn enter(exec: &mut Exec, shape: VisualShape, count: Option<u32>) -> Done {
    if let Some(current) = exec.visual_shape() {
        if current == shape {
            leave(exec);
        } else {
            exec.vim.state = State::Visual(shape);
        }
        return Ok(());
    }
    exec.vim.state = State::Visual(shape);
    for caret in &mut exec.vim.carets {
        caret.anchor = caret.pos;
    }
    match (count, exec.globals.visual_size) {
        (Some(count), Some(size)) => {
            exec.vim.state = State::Visual(size.shape);
            super::repeat::extend_to_size(exec, size, count);
        }
        (Some(count), None) if count > 1 => {
            let motion = Motion::Right { wraps: false };
            let done = moving::move_caret(exec, &motion, Some(count - 1));
            done.or(Ok(()))?;
        }
        _ => {}
    }
    Ok(())
}

/// Begins select mode, or turns a visual selection into one and back.
pub(super) fn enter_select(exec: &mut Exec, shape: VisualShape) -> Done {
    match exec.vim.state {
        State::Visual(shape) => exec.vim.state = State::Select(shape),
        State::Select(shape) => exec.vim.state = State::Visual(shape),
        _ => {
            enter(exec, shape, None)?;
            exec.vim.state = State::Select(shape);
        }
    }
    Ok(())
}

/// Ends visual mode, and keeps the selection for `gv`.
pub(super) fn leave(exec: &mut Exec) {
    if let Some(shape) = exec.visual_shape() {
        exec.vim.active = exec.vim.primary;
        exec.vim.remember_visual(shape);
        leave_keeping_carets(exec);
        exec.clamp_carets();
    }
}

/// Ends visual mode without moving carets.
pub(super) fn leave_keeping_carets(exec: &mut Exec) {
    // The state ends with the last caret: others still need the shape of their selections.
    if exec.vim.active + 1 >= exec.vim.carets.len() || exec.vim.carets.len() == 1 {
        exec.vim.state = State::Normal;
    }
}

/// Selects the last selection again, or swaps it with the current one.
pub(super) fn reselect(exec: &mut Exec) -> Done {
    let memory = exec.vim.visual.ok_or(Error::Beep)?;
    exec.vim.drop_other_carets();
    if let Some(shape) = exec.visual_shape() {
        exec.vim.remember_visual(shape);
    }
    exec.vim.state = State::Visual(memory.shape);
    let clamp = |pos| exec.lines.clamp(pos, true);
    let caret = Caret {
        pos: clamp(memory.head),
        anchor: clamp(memory.anchor),
        want: memory.want,
    };
    *exec.caret_mut() = caret;
    Ok(())
}

/// Runs a command of visual mode.
pub(super) fn run(exec: &mut Exec, command: &NormalCommand) -> Done {
    let Some(shape) = exec.visual_shape() else {
        return Err(Error::Beep);
    };
    let count = command.count_or_one();
    match &command.action {
        Action::Operate(operator) => operate(exec, command, operator),
        Action::OperateLines(operator) => {
            let operator = operator.clone();
            each_selection(exec, |exec| over_lines(exec, command, &operator, shape))
        }
        Action::OperateToEnds(operator) => {
            for caret in &mut exec.vim.carets {
                caret.want = Want::LineEnd;
            }
            operate(exec, command, operator)
        }
        Action::SwapEnds { same_line } => {
            swap_ends(exec, *same_line && shape == VisualShape::Block);
            Ok(())
        }
        Action::BlockInsert { at_end } => insert(exec, command, shape, *at_end),
        Action::ReplaceSelection { char } => {
            let char = *char;
            each_selection(exec, |exec| {
                let region = Region::of_visual(exec, shape, false);
                finish_selection(exec, shape, &region);
                case::replace_region(exec, char, &region)
            })
        }
        Action::Join { with_spaces } => {
            let with_spaces = *with_spaces;
            each_selection(exec, |exec| {
                let (start, end) = region::ends(exec.caret());
                let region = Region::of_visual(exec, shape, true);
                finish_selection(exec, shape, &region);
                join::join(
                    exec,
                    start.row,
                    (end.row - start.row + 1).max(2),
                    with_spaces,
                )
            })
        }
        Action::Put(style) => {
            let style = *style;
            each_selection(exec, |exec| put::put_over(exec, command, style))
        }
        Action::Add {
            sign,
            is_progressive,
        } => {
            let by = sign * i64::from(count);
            let is_progressive = *is_progressive;
            each_selection(exec, |exec| {
                let region = Region::of_visual(exec, shape, true);
                finish_selection(exec, shape, &region);
                number::add_in(exec, &region, by, is_progressive)
            })
        }
        Action::Motion(Motion::WordSearch { is_forward, .. }) => {
            search_selection(exec, *is_forward, count)
        }
        Action::Escape => {
            leave(exec);
            Ok(())
        }
        Action::Prompt(crate::command::CommandLineKind::Ex) => {
            prompt::open_for_selection(exec);
            Ok(())
        }
        Action::Play(register) if shape == VisualShape::Lines => play_on_lines(exec, *register),
        Action::Insert(_) | Action::Replace { .. } | Action::BlankLine { .. } => Err(Error::Beep),
        _ => normal::other(exec, command),
    }
}

fn operate(exec: &mut Exec, command: &NormalCommand, operator: &Operator) -> Done {
    let operator = operator.clone();
    each_selection(exec, |exec| {
        operate::over_selection(exec, command, &operator)
    })
}

/// Runs a command for each selection in one state, and ends visual mode.
fn each_selection(exec: &mut Exec, mut run: impl FnMut(&mut Exec) -> Done) -> Done {
    exec.globals.visual_size = super::repeat::size_of(exec);
    let state = exec.vim.state;
    let count = exec.vim.carets.len();
    let done = exec.each_caret(|exec| {
        if count > 1 {
            exec.vim.state = state;
        }
        run(exec)
    });
    if exec.is_visual() {
        exec.vim.state = State::Normal;
    }
    done
}

/// Ends the selection of the active caret before an edit that is no operator.
fn finish_selection(exec: &mut Exec, shape: VisualShape, region: &Region) {
    exec.vim.remember_visual(shape);
    leave_keeping_carets(exec);
    exec.set_pos(region.caret);
}

fn over_lines(
    exec: &mut Exec,
    command: &NormalCommand,
    operator: &Operator,
    shape: VisualShape,
) -> Done {
    exec.vim.remember_visual(shape);
    let memory = exec.vim.visual;
    exec.vim.state = State::Visual(VisualShape::Lines);
    operate::over_selection(exec, command, operator)?;
    // `gv` selects the original shape.
    if let (Some(now), Some(before)) = (&mut exec.vim.visual, memory) {
        now.shape = before.shape;
    }
    Ok(())
}

/// Goes to the other end; in a block with `same_line`, to the other corner of the line.
fn swap_ends(exec: &mut Exec, same_line: bool) {
    for ix in 0..exec.vim.carets.len() {
        let caret = exec.vim.carets[ix];
        let (mut anchor, mut pos) = (caret.pos, caret.anchor);
        if same_line {
            let (own, other) = (
                exec.lines.cells(caret.pos).0,
                exec.lines.cells(caret.anchor).0,
            );
            let col = |row: u32, cell: u32| exec.lines.col_at_cell(row, cell);
            anchor = Pos::new(caret.anchor.row, col(caret.anchor.row, own));
            pos = Pos::new(caret.pos.row, col(caret.pos.row, other));
        }
        exec.vim.carets[ix] = Caret {
            pos,
            anchor,
            want: Want::Here,
        };
    }
}

/// Inserts before or behind a selection; in a block, on each line.
fn insert(exec: &mut Exec, command: &NormalCommand, shape: VisualShape, at_end: bool) -> Done {
    exec.globals.visual_size = super::repeat::size_of(exec);
    let region = Region::of_visual(exec, shape, true);
    exec.vim.active = exec.vim.primary;
    exec.vim.remember_visual(shape);
    exec.vim.drop_other_carets();
    exec.vim.state = State::Insert;
    match region.shape {
        RegionShape::Block(cells) => block_insert(exec, &region, cells, at_end)?,
        _ if at_end => {
            // Behind the character of the later end.
            let memory = memory_of(exec);
            let end = memory.pos.max(Pos::new(memory.anchor.row, 0));
            let end = exec
                .lines
                .clamp(end.max(Pos::new(region.end.row, 0)), false);
            let is_first = exec.lines.cells(end).1 <= 1;
            let stays = is_first || memory_of(exec).want == Want::LineEnd;
            let at = if stays { end } else { exec.lines.behind(end) };
            exec.set_pos(at);
            inserting::begin(exec, InsertStart::Typed(command.count_or_one()));
        }
        _ => {
            exec.set_pos(line_start_of(&memory_of(exec)));
            inserting::begin(exec, InsertStart::Typed(command.count_or_one()));
        }
    }
    Ok(())
}

/// The start of a selection taken by lines: the start of the line, unless the caret is there.
fn line_start_of(caret: &Caret) -> Pos {
    caret.pos.min(Pos::new(caret.anchor.row, 0))
}

/// The remembered selection as a caret.
fn memory_of(exec: &Exec) -> Caret {
    let caret = *exec.caret();
    exec.vim.visual.map_or(caret, |visual| Caret {
        pos: visual.head,
        anchor: visual.anchor,
        want: visual.want,
    })
}

fn block_insert(exec: &mut Exec, region: &Region, cells: BlockCells, at_end: bool) -> Done {
    let (first, last) = (region.start.row, region.end.row);
    exec.open_step();
    let to_ends = at_end && cells.to_ends;
    let cell = if at_end { cells.right + 1 } else { cells.left };
    let col = if to_ends {
        exec.lines.len(first)
    } else {
        split_at(exec, first, cell, at_end)?
    };
    exec.set_pos(Pos::new(first, col));
    let left = exec.lines.col_at_cell(first, cells.left);
    inserting::begin(exec, InsertStart::Typed(1));
    inserting::replicate(
        exec,
        BlockInsertion {
            rows: (first + 1..=last).collect(),
            cell,
            to_ends,
            pads: at_end,
            caret: Some(Pos::new(first, left)),
        },
    );
    Ok(())
}

/// Makes a cell of a line the border of a character: splits a tab into blanks there, and appends
/// blanks to a line that is too short if `pads` is set. Returns the column.
pub(super) fn split_at(exec: &mut Exec, row: u32, cell: u32, pads: bool) -> Done<usize> {
    let line = exec.lines.line(row).into_owned();
    let tab_width = exec.lines.tab_width();
    let col = exec.lines.col_at_cell(row, cell);
    let (start, end) = crate::lines::cells_of(&line, col, tab_width);
    if col >= line.len() {
        let missing = cell.saturating_sub(start);
        if pads && missing > 0 {
            let end = Pos::new(row, line.len());
            exec.insert_at(end, &" ".repeat(missing as usize))?;
            return Ok(line.len() + missing as usize);
        }
        return Ok(line.len());
    }
    let is_split = start < cell && line[col..].starts_with('\t');
    if is_split {
        let blanks = " ".repeat((end - start) as usize);
        exec.replace(Pos::new(row, col), Pos::new(row, col + 1), &blanks)?;
        return Ok(col + (cell - start) as usize);
    }
    Ok(block::column(&exec.lines, row, cell))
}

/// Searches for the selected text (`*` in visual mode).
fn search_selection(exec: &mut Exec, is_forward: bool, count: u32) -> Done {
    let Some(shape) = exec.visual_shape() else {
        return Err(Error::Beep);
    };
    let region = Region::of_visual(exec, shape, true);
    let span: Span = region.span(&exec.lines);
    let text = exec.lines.text().text(span).replace("\r\n", "\n");
    let source = format!("\\V{}", text.replace('\\', "\\\\").replace('\n', "\\n"));
    let from = exec.pos();
    leave(exec);
    exec.note_jump();
    let start = if is_forward { from } else { region.start };
    let moved = searching::search_for(exec, &source, start, is_forward, count)?;
    exec.set_pos(moved.to);
    Ok(())
}

/// Plays a macro on each selected line.
fn play_on_lines(exec: &mut Exec, register: char) -> Done {
    let (start, end) = region::ends(exec.caret());
    leave(exec);
    let line = format!("{},{}normal! @{register}", start.row + 1, end.row + 1);
    super::ex::run_line(exec, &line)
}

/// A key of select mode: text replaces the selection.
pub(super) fn select_key(exec: &mut Exec, key: Key) -> Done {
    let Some(shape) = exec.visual_shape() else {
        return Err(Error::Beep);
    };
    match key {
        Key::Ctrl('g') => {
            exec.vim.state = State::Visual(shape);
            Ok(())
        }
        Key::Escape | Key::Ctrl('c') => {
            leave(exec);
            Ok(())
        }
        Key::Char(_) | Key::Enter | Key::Tab | Key::Backspace | Key::Delete => {
            let change = NormalCommand::new(Action::Operate(Operator::Change));
            let change = NormalCommand {
                register: Some('_'),
                ..change
            };
            exec.vim.state = State::Visual(shape);
            normal::run(exec, &change)?;
            if matches!(key, Key::Backspace | Key::Delete) {
                return Ok(());
            }
            inserting::key(exec, key)
        }
        Key::Left | Key::Right | Key::Up | Key::Down | Key::Home | Key::End => {
            leave(exec);
            exec.command_key(key)
        }
        _ => Err(Error::Beep),
    }
}

/// Adds a selection at the next or previous match of the word or the selection.
pub(super) fn add_caret(exec: &mut Exec, is_forward: bool) -> Done {
    if !exec.is_visual() {
        let (start, text, _) = searching::word_at(&exec.lines, exec.pos()).ok_or(Error::NoWord)?;
        exec.vim.state = State::Visual(VisualShape::Chars);
        let end = Pos::new(start.row, start.col + text.len());
        let last = exec.lines.line(start.row);
        let last = crate::lines::prev_grapheme(&last, end.col);
        exec.set_pos(Pos::new(start.row, last));
        exec.caret_mut().anchor = start;
        return Ok(());
    }
    exec.vim.active = exec.vim.primary;
    let region = Region::of_visual(exec, VisualShape::Chars, true);
    let span = region.span(&exec.lines);
    let text = exec.lines.text().text(span).replace("\r\n", "\n");
    if text.is_empty() {
        return Err(Error::Beep);
    }
    let source = format!("\\C\\V{}", text.replace('\\', "\\\\").replace('\n', "\\n"));
    let pattern = searching::compile(exec, &source, false)?;
    let carets = exec.vim.carets.iter();
    let from = if is_forward {
        carets.map(|caret| caret.pos.max(caret.anchor)).max()
    } else {
        carets.map(|caret| caret.pos.min(caret.anchor)).min()
    };
    let way = SearchWay {
        is_forward,
        wraps: true,
        by_end: false,
        accepts_here: false,
    };
    let from = from.unwrap_or(exec.pos());
    let found = search::find(&exec.lines, &pattern, from, way, &source)?.span;
    let anchor = exec.lines.pos(found.start);
    let mut last = crate::lines::Walker::new(&exec.lines, exec.lines.pos(found.end));
    last.backward();
    let caret = Caret {
        pos: last.pos,
        anchor,
        want: Want::Here,
    };
    exec.vim.carets.push(caret);
    exec.vim.merge_carets(caret);
    Ok(())
}
