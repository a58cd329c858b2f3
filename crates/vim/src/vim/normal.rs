//! Dispatch of commands of normal mode, and of those that mean the same in visual mode.
//!
//! Start at `run`.

use super::exec::Exec;
use super::{
    case, delete, inserting, join, listing, marking, moving, number, operate, prompt, put, repeat,
    scrolling, surround, undoing, visual,
};
use crate::command::{Action, FoldAction, NormalCommand, Operator};
use crate::effect::{
    BufferCommand, Effect, LookUpKind, NavigationTarget, WindowCommand, WriteCondition,
};
use crate::error::{Done, Error};
use crate::lines::Pos;
use crate::motion::Motion;

/// Runs a command, and keeps it for `.` if it changes the text.
pub(super) fn run(exec: &mut Exec, command: &NormalCommand) -> Done {
    let repeat = repeat::of(exec, command);
    let was_inserting = exec.is_inserting();
    let done = if exec.is_visual() {
        visual::run(exec, command)
    } else {
        normal(exec, command)
    };
    // Vim keeps these commands before it tries them.
    let is_kept_anyway = matches!(command.action, Action::Put(_) | Action::Add { .. });
    let is_kept = (done.is_ok() || is_kept_anyway) && !exec.is_repeating;
    if let Some(repeat) = repeat.filter(|_| is_kept) {
        if exec.is_inserting() && !was_inserting {
            inserting::set_origin(exec, repeat);
        } else {
            exec.globals.repeat = Some(repeat);
        }
    }
    done
}

/// Runs a command of normal mode.
fn normal(exec: &mut Exec, command: &NormalCommand) -> Done {
    if let Some(operator) = &command.operator {
        if let Action::Prompt(kind) = command.action {
            prompt::open_for_motion(exec, kind, command);
            return Ok(());
        }
        return exec.each_caret(|exec| operate::operator(exec, command, operator));
    }
    match editing(exec, command) {
        Some(done) => done,
        None => other(exec, command),
    }
}

/// Runs an operator over a motion from the caret.
fn over_motion(
    exec: &mut Exec,
    command: &NormalCommand,
    operator: Operator,
    motion: Motion,
) -> Done {
    let command = NormalCommand {
        operator: Some(operator.clone()),
        action: Action::Motion(motion),
        ..command.clone()
    };
    exec.each_caret(|exec| operate::operator(exec, &command, &operator))
}

fn over_lines(exec: &mut Exec, command: &NormalCommand, operator: Operator) -> Done {
    let command = NormalCommand {
        operator: Some(operator.clone()),
        action: Action::WholeLines,
        ..command.clone()
    };
    exec.each_caret(|exec| operate::operator(exec, &command, &operator))
}

/// Runs a command that edits at each caret; `None` for others.
// tidy: table
fn editing(exec: &mut Exec, command: &NormalCommand) -> Option<Done> {
    let count = command.count_or_one();
    Some(match &command.action {
        Action::DeleteChar => over_motion(
            exec,
            command,
            Operator::Delete,
            Motion::Right { wraps: false },
        ),
        Action::DeleteCharBefore => over_motion(
            exec,
            command,
            Operator::Delete,
            Motion::Left { wraps: false },
        ),
        Action::DeleteToEnd => over_motion(exec, command, Operator::Delete, Motion::LineEnd),
        Action::ChangeToEnd => over_motion(exec, command, Operator::Change, Motion::LineEnd),
        Action::Substitute => over_motion(
            exec,
            command,
            Operator::Change,
            Motion::Right { wraps: false },
        ),
        Action::SubstituteLines => over_lines(exec, command, Operator::Change),
        Action::YankLine if exec.globals.options.yank_to_end => {
            over_motion(exec, command, Operator::Yank, Motion::LineEnd)
        }
        Action::YankLine => over_lines(exec, command, Operator::Yank),
        Action::Join { with_spaces } => {
            let with_spaces = *with_spaces;
            exec.each_caret(|exec| join::join(exec, exec.pos().row, count, with_spaces))
        }
        Action::Put(style) => {
            let style = *style;
            exec.each_caret(|exec| put::put(exec, command, style))
        }
        Action::ReplaceChar { char } => {
            let char = *char;
            exec.each_caret(|exec| case::replace_here(exec, char, count))
        }
        Action::SwapCaseChar => exec.each_caret(|exec| case::swap_here(exec, count)),
        Action::Add {
            sign,
            is_progressive: false,
        } => {
            let by = sign * i64::from(count);
            exec.each_caret(|exec| number::add_here(exec, by))
        }
        Action::BlankLine { above } => {
            let above = *above;
            exec.each_caret(|exec| blank_lines(exec, above, count))
        }
        Action::DeleteSurround(target) => {
            let target = *target;
            exec.each_caret(|exec| surround::remove(exec, target, count))
        }
        Action::ChangeSurround(target, pair) => {
            let target = *target;
            exec.each_caret(|exec| surround::replace(exec, target, pair, count))
        }
        Action::Insert(place) => inserting::start(exec, *place, count),
        Action::Replace { is_virtual } => {
            inserting::start_replacing(exec, *is_virtual, count);
            Ok(())
        }
        _ => return None,
    })
}

/// Maximum number of lines that one command inserts.
const MAX_BLANK_LINES: u32 = 1_000_000;

/// Adds empty lines above or below, and stays on the line.
fn blank_lines(exec: &mut Exec, above: bool, count: u32) -> Done {
    if count > MAX_BLANK_LINES {
        let sentence = "the count of lines is too large";
        return Err(Error::Unsupported(sentence.to_owned()));
    }
    let at = exec.pos();
    let lines = vec![""; count as usize].join("\n");
    let row = if above { at.row } else { at.row + 1 };
    put::insert_rows(exec, row, &lines)?;
    let down = if above { count } else { 0 };
    exec.set_pos(Pos::new(at.row + down, at.col));
    Ok(())
}

/// Runs a command that is neither an operator nor an edit at the carets.
// tidy: table
pub(super) fn other(exec: &mut Exec, command: &NormalCommand) -> Done {
    let count = command.count_or_one();
    match &command.action {
        Action::Motion(motion) => move_carets(exec, motion, command.count),
        Action::Object { kind, is_around } => {
            let (kind, is_around) = (*kind, *is_around);
            exec.each_caret(|exec| operate::select_object(exec, kind, is_around, count))
        }
        Action::Prompt(kind) => {
            prompt::open(exec, *kind, command.count);
            Ok(())
        }
        Action::Undo => undoing::undo(exec, count),
        Action::Redo => undoing::redo(exec, count),
        Action::UndoLine => undoing::undo_line(exec),
        Action::OlderState => undoing::travel_states(exec, -i64::from(count)),
        Action::NewerState => undoing::travel_states(exec, i64::from(count)),
        Action::Repeat => repeat::repeat(exec, command.count),
        Action::RepeatSubstitute { everywhere } => {
            let line = if *everywhere { "%s//~/&" } else { "&&" };
            super::ex::run_line(exec, line)
        }
        Action::Record(register) => exec.start_recording(*register),
        Action::StopRecording => {
            exec.stop_recording();
            Ok(())
        }
        Action::Play(register) => play(exec, *register, count),
        Action::RepeatPlay => {
            let register = exec.globals.last_played.ok_or(Error::Beep)?;
            play(exec, register, count)
        }
        Action::PlayRecorded => {
            let register = exec.globals.last_recorded.ok_or(Error::Beep)?;
            play(exec, register, count)
        }
        Action::SetMark(name) => marking::set(exec, *name),
        Action::Visual(shape) => visual::enter(exec, *shape, command.count),
        Action::Select(shape) => visual::enter_select(exec, *shape),
        Action::Reselect => visual::reselect(exec),
        Action::JumpOlder => marking::travel_jumps(exec, -i64::from(count)),
        Action::JumpNewer => marking::travel_jumps(exec, i64::from(count)),
        Action::ChangeOlder => marking::travel_changes(exec, -i64::from(count)),
        Action::ChangeNewer => marking::travel_changes(exec, i64::from(count)),
        Action::ScrollLines { down } => scrolling::lines(exec, *down, count),
        Action::ScrollTo { place, to_text } => {
            scrolling::caret_line(exec, *place, *to_text, command.count)
        }
        Action::ScrollCells { left, half } => {
            scroll_cells(exec, *left, *half, count);
            Ok(())
        }
        Action::Fold(fold) => {
            run_fold(exec, *fold, count);
            Ok(())
        }
        Action::Escape => escape(exec),
        Action::ClearExchange => {
            exec.vim.exchange = None;
            Ok(())
        }
        Action::AddCaret { is_forward } => visual::add_caret(exec, *is_forward),
        Action::ShowChar => listing::show_char(exec),
        Action::ShowPosition => {
            listing::show_position(exec);
            Ok(())
        }
        Action::Redraw => {
            exec.globals.search.is_highlighted = false;
            exec.effect(Effect::HighlightSearch(None));
            Ok(())
        }
        action => host_command(exec, action, command.count),
    }
}

/// Runs a command that the host carries out.
fn host_command(exec: &mut Exec, action: &Action, count: Option<u32>) -> Done {
    let effect = match action {
        Action::Window(window) => Effect::Window(counted(*window, count)),
        Action::Navigate(target) => return navigate(exec, *target, count),
        Action::LookUp(kind) => look_up(exec, *kind),
        Action::Alternate => Effect::Buffer(BufferCommand::Alternate),
        Action::WriteQuit => {
            exec.effect(Effect::Write {
                path: None,
                condition: WriteCondition::IfChanged,
            });
            Effect::Quit { is_forced: false }
        }
        Action::QuitForced => Effect::Quit { is_forced: true },
        _ => return Err(Error::Beep),
    };
    exec.effect(effect);
    Ok(())
}

fn look_up(exec: &Exec, kind: LookUpKind) -> Effect {
    Effect::LookUp {
        kind,
        at: exec.lines.offset(exec.pos()),
    }
}

fn navigate(exec: &mut Exec, target: NavigationTarget, count: Option<u32>) -> Done {
    exec.note_jump();
    exec.effect(Effect::Navigate {
        target,
        count: count.unwrap_or(1),
    });
    Ok(())
}

/// The command of tabs with its count: `3gt` goes to the third tab, `3gT` three back.
fn counted(window: WindowCommand, count: Option<u32>) -> WindowCommand {
    match (window, count) {
        (WindowCommand::NextTab(_), Some(count)) => WindowCommand::GoToTab(count),
        (WindowCommand::PreviousTab(_), Some(count)) => WindowCommand::PreviousTab(count),
        (window, _) => window,
    }
}

fn move_carets(exec: &mut Exec, motion: &Motion, count: Option<u32>) -> Done {
    exec.each_caret(|exec| moving::move_caret(exec, motion, count))
}

/// Ends extra carets, or the highlight of an exchange; with neither, there is nothing to end.
fn escape(exec: &mut Exec) -> Done {
    if exec.vim.drop_other_carets() {
        return Ok(());
    }
    Err(Error::Beep)
}

/// Plays a macro: its keys are carried out next.
fn play(exec: &mut Exec, register: char, count: u32) -> Done {
    if register == ':' {
        return super::ex::repeat_line(exec, count);
    }
    let text = exec.read_register(Some(register))?;
    exec.globals.last_played = Some(register);
    exec.queue_macro(&text.flat(), count);
    Ok(())
}

fn scroll_cells(exec: &mut Exec, left: bool, half: bool, count: u32) {
    // The host knows the width of the view: half of it is a large number of cells there.
    let cells = if half { 40 } else { 1 };
    let by = cells * count.min(10_000) as i32;
    let by = if left { -by } else { by };
    exec.effect(Effect::Scroll(crate::effect::ScrollCommand::Cells(by)));
}

fn run_fold(exec: &mut Exec, fold: FoldAction, count: u32) {
    let rows = match (fold, exec.visual_shape()) {
        (_, Some(_)) => {
            let (start, end) = super::region::ends(exec.caret());
            start.row..end.row + 1
        }
        (FoldAction::CreateLines, None) => {
            let row = exec.pos().row;
            row..row.saturating_add(count).min(exec.lines.count())
        }
        (_, None) => exec.pos().row..exec.pos().row + 1,
    };
    exec.effect(Effect::Fold(fold.command(rows)));
}

/// Deletes rows into a register, as `:d` does.
pub(super) fn delete_rows(exec: &mut Exec, register: Option<char>, first: u32, last: u32) -> Done {
    let region = super::region::Region::lines(first, last);
    delete::delete(exec, register, &region)
}
