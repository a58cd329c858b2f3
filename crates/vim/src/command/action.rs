//! Reads commands that are neither motions nor text objects.

use super::reader::{KeyReader, Read, Stop};
use super::{
    Action, CommandLineKind, FoldAction, InsertPlace, Operator, PutStyle, ScrollPlace, VisualShape,
    motion, surround,
};
use crate::effect::{LookUpKind, NavigationTarget, WindowCommand};
use crate::key::Key;

const LOWER: Operator = Operator::LowerCase;
const UPPER: Operator = Operator::UpperCase;

fn put(before: bool, caret_behind: bool, reindents: bool) -> Action {
    Action::Put(PutStyle {
        before,
        caret_behind,
        reindents,
    })
}

fn add(sign: i64, is_progressive: bool) -> Action {
    Action::Add {
        sign,
        is_progressive,
    }
}

/// Reads a command of normal mode; `None` if the key starts a motion.
// tidy: table
pub(super) fn normal(reader: &mut KeyReader, key: Key) -> Read<Option<Action>> {
    let action = match key {
        Key::Char('i') | Key::Insert => Action::Insert(InsertPlace::Here),
        Key::Char('a') => Action::Insert(InsertPlace::Behind),
        Key::Char('I') => Action::Insert(InsertPlace::FirstNonBlank),
        Key::Char('A') => Action::Insert(InsertPlace::LineEnd),
        Key::Char('o') => Action::Insert(InsertPlace::NewLineBelow),
        Key::Char('O') => Action::Insert(InsertPlace::NewLineAbove),
        Key::Char('R') => Action::Replace { is_virtual: false },
        Key::Char('d') => Action::Operate(Operator::Delete),
        Key::Char('c') => Action::Operate(Operator::Change),
        Key::Char('y') => Action::Operate(Operator::Yank),
        Key::Char('>') => Action::Operate(Operator::Indent),
        Key::Char('<') => Action::Operate(Operator::Outdent),
        Key::Char('=') => Action::Operate(Operator::Reindent),
        Key::Char('!') => Action::Operate(Operator::Filter),
        Key::Char('~') if reader.context.tilde_operator => Action::Operate(Operator::SwapCase),
        Key::Char('~') => Action::SwapCaseChar,
        Key::Char('x') | Key::Delete => Action::DeleteChar,
        Key::Char('X') => Action::DeleteCharBefore,
        Key::Char('D') => Action::DeleteToEnd,
        Key::Char('C') => Action::ChangeToEnd,
        Key::Char('s') => Action::Substitute,
        Key::Char('S') => Action::SubstituteLines,
        Key::Char('Y') => Action::YankLine,
        Key::Char('J') => Action::Join { with_spaces: true },
        Key::Char('p') => put(false, false, false),
        Key::Char('P') => put(true, false, false),
        Key::Char('r') => Action::ReplaceChar {
            char: reader.char()?,
        },
        Key::Char('u') => Action::Undo,
        Key::Char('U') => Action::UndoLine,
        Key::Ctrl('r') => Action::Redo,
        Key::Char('.') => Action::Repeat,
        Key::Char('&') => Action::RepeatSubstitute { everywhere: false },
        Key::Char('q') if reader.context.is_recording => Action::StopRecording,
        Key::Char('q') => Action::Record(name(reader)?),
        Key::Char('@') => match name(reader)? {
            '@' => Action::RepeatPlay,
            register => Action::Play(register),
        },
        Key::Char('Q') => Action::PlayRecorded,
        Key::Char('m') => Action::SetMark(name(reader)?),
        Key::Char('v') => Action::Visual(VisualShape::Chars),
        Key::Char('V') => Action::Visual(VisualShape::Lines),
        Key::Ctrl('v' | 'q') => Action::Visual(VisualShape::Block),
        Key::Char(':') => Action::Prompt(CommandLineKind::Ex),
        Key::Char('/') => Action::Prompt(CommandLineKind::SearchForward),
        Key::Char('?') => Action::Prompt(CommandLineKind::SearchBackward),
        Key::Char('K') => Action::LookUp(LookUpKind::Documentation),
        Key::Ctrl('a') => add(1, false),
        Key::Ctrl('x') => add(-1, false),
        Key::Ctrl('o') => Action::JumpOlder,
        Key::Tab => Action::JumpNewer,
        Key::Ctrl('e') => Action::ScrollLines { down: true },
        Key::Ctrl('y') => Action::ScrollLines { down: false },
        Key::Ctrl('g') => Action::ShowPosition,
        Key::Ctrl('l') => Action::Redraw,
        Key::Ctrl('^' | '6') => Action::Alternate,
        Key::Ctrl(']') => Action::Navigate(NavigationTarget::Definition),
        Key::Ctrl('w') => window(reader)?,
        Key::Escape | Key::Ctrl('c') => Action::Escape,
        Key::Char('Z') => match name(reader)? {
            'Z' => Action::WriteQuit,
            'Q' => Action::QuitForced,
            _ => return Err(Stop::Invalid),
        },
        Key::Char('g') => return after_g(reader),
        Key::Char('z') => return after_z(reader),
        Key::Char('[') => return after_bracket(reader, false),
        Key::Char(']') => return after_bracket(reader, true),
        _ => return Ok(None),
    };
    Ok(Some(action))
}

/// Reads the name of a register or a mark.
fn name(reader: &mut KeyReader) -> Read<char> {
    match reader.next()? {
        Key::Char(char) => Ok(char),
        _ => Err(Stop::Invalid),
    }
}

// tidy: table
fn after_g(reader: &mut KeyReader) -> Read<Option<Action>> {
    let key = reader.next()?;
    let action = match key {
        Key::Char('~') => Action::Operate(Operator::SwapCase),
        Key::Char('u') => Action::Operate(LOWER),
        Key::Char('U') => Action::Operate(UPPER),
        Key::Char('?') => Action::Operate(Operator::Rot13),
        Key::Char('q') => Action::Operate(Operator::Format { keeps_caret: false }),
        Key::Char('w') => Action::Operate(Operator::Format { keeps_caret: true }),
        Key::Char('c') => Action::Operate(Operator::Comment),
        Key::Char('J') => Action::Join { with_spaces: false },
        Key::Char('p') => put(false, true, false),
        Key::Char('P') => put(true, true, false),
        Key::Char('i') => Action::Insert(InsertPlace::LastInsertion),
        Key::Char('I') => Action::Insert(InsertPlace::LineStart),
        Key::Char('R') => Action::Replace { is_virtual: true },
        Key::Char('v') => Action::Reselect,
        Key::Char('h') => Action::Select(VisualShape::Chars),
        Key::Char('H') => Action::Select(VisualShape::Lines),
        Key::Char('n') => match_object(true),
        Key::Char('N') => match_object(false),
        Key::Char('-') => Action::OlderState,
        Key::Char('+') => Action::NewerState,
        Key::Char('&') => Action::RepeatSubstitute { everywhere: true },
        Key::Char(';') => Action::ChangeOlder,
        Key::Char(',') => Action::ChangeNewer,
        Key::Char('d') => Action::Navigate(NavigationTarget::Definition),
        Key::Char('D') => Action::Navigate(NavigationTarget::Declaration),
        Key::Char('y') => Action::Navigate(NavigationTarget::TypeDefinition),
        Key::Char('f' | 'F') => Action::Navigate(NavigationTarget::File),
        Key::Char('x') => Action::Navigate(NavigationTarget::Link),
        Key::Char('O') => Action::Navigate(NavigationTarget::Symbols),
        Key::Char('r') => return after_gr(reader),
        Key::Char('t') => Action::Window(WindowCommand::NextTab(1)),
        Key::Char('T') => Action::Window(WindowCommand::PreviousTab(1)),
        Key::Char('b') => Action::AddCaret { is_forward: true },
        Key::Char('B') => Action::AddCaret { is_forward: false },
        Key::Char('a' | '8') => Action::ShowChar,
        Key::Ctrl('g') => Action::ShowPosition,
        Key::Ctrl('a') => add(1, true),
        Key::Ctrl('x') => add(-1, true),
        Key::Backspace => Action::Select(VisualShape::Block),
        _ => {
            let motion = motion::g_motion(reader, key)?.ok_or(Stop::Invalid)?;
            Action::Motion(motion)
        }
    };
    Ok(Some(action))
}

fn match_object(is_forward: bool) -> Action {
    Action::Object {
        kind: super::ObjectKind::Match { is_forward },
        is_around: false,
    }
}

/// Reads the commands behind `gr`: those of the language, or a replacement by a register.
fn after_gr(reader: &mut KeyReader) -> Read<Option<Action>> {
    if reader.context.replace_with_register {
        return Ok(Some(Action::Operate(Operator::ReplaceWithRegister)));
    }
    Ok(Some(match reader.next()? {
        Key::Char('r') => Action::Navigate(NavigationTarget::References),
        Key::Char('i') => Action::Navigate(NavigationTarget::Implementation),
        Key::Char('t') => Action::Navigate(NavigationTarget::TypeDefinition),
        Key::Char('n') => Action::LookUp(LookUpKind::Rename),
        Key::Char('a') => Action::LookUp(LookUpKind::Actions),
        Key::Char(char) => Action::ReplaceChar { char },
        _ => return Err(Stop::Invalid),
    }))
}

// tidy: table
fn after_z(reader: &mut KeyReader) -> Read<Option<Action>> {
    let key = reader.next()?;
    let scroll = |place, to_text| Action::ScrollTo { place, to_text };
    let cells = |left, half| Action::ScrollCells { left, half };
    let action = match key {
        Key::Char('t') => scroll(ScrollPlace::Top, false),
        Key::Enter => scroll(ScrollPlace::Top, true),
        Key::Char('z') => scroll(ScrollPlace::Middle, false),
        Key::Char('.') => scroll(ScrollPlace::Middle, true),
        Key::Char('b') => scroll(ScrollPlace::Bottom, false),
        Key::Char('-') => scroll(ScrollPlace::Bottom, true),
        Key::Char('+') => scroll(ScrollPlace::NextPage, true),
        Key::Char('^') => scroll(ScrollPlace::PreviousPage, true),
        Key::Char('s') => scroll(ScrollPlace::CaretLeft, false),
        Key::Char('e') => scroll(ScrollPlace::CaretRight, false),
        Key::Char('h') | Key::Left => cells(true, false),
        Key::Char('l') | Key::Right => cells(false, false),
        Key::Char('H') => cells(true, true),
        Key::Char('L') => cells(false, true),
        Key::Char('a') => Action::Fold(FoldAction::Toggle),
        Key::Char('A') => Action::Fold(FoldAction::ToggleDeep),
        Key::Char('o') if reader.context.visual.is_some() => {
            Action::Operate(Operator::FoldOpen { deep: false })
        }
        Key::Char('O') if reader.context.visual.is_some() => {
            Action::Operate(Operator::FoldOpen { deep: true })
        }
        Key::Char('c') if reader.context.visual.is_some() => {
            Action::Operate(Operator::FoldClose { deep: false })
        }
        Key::Char('C') if reader.context.visual.is_some() => {
            Action::Operate(Operator::FoldClose { deep: true })
        }
        Key::Char('o') => Action::Fold(FoldAction::Open),
        Key::Char('O') => Action::Fold(FoldAction::OpenDeep),
        Key::Char('c') => Action::Fold(FoldAction::Close),
        Key::Char('C') => Action::Fold(FoldAction::CloseDeep),
        Key::Char('R' | 'n') => Action::Fold(FoldAction::OpenAll),
        Key::Char('M' | 'N') => Action::Fold(FoldAction::CloseAll),
        Key::Char('v') => Action::Fold(FoldAction::Reveal),
        Key::Char('r') => Action::Fold(FoldAction::More),
        Key::Char('m') => Action::Fold(FoldAction::Less),
        Key::Char('f') => Action::Operate(Operator::Fold),
        Key::Char('F') => Action::Fold(FoldAction::CreateLines),
        Key::Char('d' | 'D') => Action::Fold(FoldAction::Delete),
        Key::Char('j') => Action::Motion(crate::motion::Motion::NextFold),
        Key::Char('k') => Action::Motion(crate::motion::Motion::PreviousFold),
        _ => return Err(Stop::Invalid),
    };
    Ok(Some(action))
}

fn after_bracket(reader: &mut KeyReader, is_forward: bool) -> Read<Option<Action>> {
    let key = reader.next()?;
    let either = |forward, backward| Action::Navigate(if is_forward { forward } else { backward });
    let action = match key {
        Key::Char('p') => put(!is_forward, false, true),
        Key::Char('P') => put(true, false, true),
        Key::Char('d') => either(
            NavigationTarget::NextDiagnostic,
            NavigationTarget::PreviousDiagnostic,
        ),
        Key::Char('c') => either(
            NavigationTarget::NextChange,
            NavigationTarget::PreviousChange,
        ),
        Key::Char('q') => either(
            NavigationTarget::NextResult,
            NavigationTarget::PreviousResult,
        ),
        Key::Char('b') => Action::Window(if is_forward {
            WindowCommand::NextTab(1)
        } else {
            WindowCommand::PreviousTab(1)
        }),
        Key::Char(' ') => Action::BlankLine { above: !is_forward },
        _ => {
            let motion = motion::bracket_motion(key, is_forward).ok_or(Stop::Invalid)?;
            Action::Motion(motion)
        }
    };
    Ok(Some(action))
}

/// Reads the command behind `Ctrl-W`.
fn window(reader: &mut KeyReader) -> Read<Action> {
    let command = match reader.next()? {
        Key::Char('h') | Key::Left | Key::Backspace => WindowCommand::FocusLeft,
        Key::Char('j') | Key::Down | Key::Ctrl('j') => WindowCommand::FocusDown,
        Key::Char('k') | Key::Up | Key::Ctrl('k') => WindowCommand::FocusUp,
        Key::Char('l') | Key::Right | Key::Ctrl('l') => WindowCommand::FocusRight,
        Key::Char('w') | Key::Ctrl('w') => WindowCommand::FocusNext,
        Key::Char('W' | 'p') | Key::Ctrl('p') => WindowCommand::FocusPrevious,
        Key::Char('H') => WindowCommand::MoveLeft,
        Key::Char('J') => WindowCommand::MoveDown,
        Key::Char('K') => WindowCommand::MoveUp,
        Key::Char('L') => WindowCommand::MoveRight,
        Key::Char('s' | 'S') | Key::Ctrl('s') => WindowCommand::SplitBelow,
        Key::Char('v') | Key::Ctrl('v') => WindowCommand::SplitBeside,
        Key::Char('q' | 'c') | Key::Ctrl('q') => WindowCommand::Close,
        Key::Char('o') | Key::Ctrl('o') => WindowCommand::Only,
        Key::Char('=') => WindowCommand::Equalize,
        Key::Char('n') | Key::Ctrl('n') => WindowCommand::NewTab,
        Key::Char('g') => match reader.next()? {
            Key::Char('t') => WindowCommand::NextTab(1),
            Key::Char('T') => WindowCommand::PreviousTab(1),
            _ => return Err(Stop::Invalid),
        },
        _ => return Err(Stop::Invalid),
    };
    Ok(Action::Window(command))
}

/// Reads a command of visual mode; `None` if the key means the same as in normal mode.
// tidy: table
pub(super) fn visual(reader: &mut KeyReader, key: Key) -> Read<Option<Action>> {
    let is_block = reader.context.visual == Some(VisualShape::Block);
    let to_ends = |operator: Operator| {
        if is_block {
            Action::OperateToEnds(operator)
        } else {
            Action::OperateLines(operator)
        }
    };
    let lines_unless_block = |operator: Operator| {
        if is_block {
            Action::Operate(operator)
        } else {
            Action::OperateLines(operator)
        }
    };
    let action = match key {
        Key::Char('x') | Key::Delete => Action::Operate(Operator::Delete),
        Key::Char('X') => lines_unless_block(Operator::Delete),
        Key::Char('D') => to_ends(Operator::Delete),
        Key::Char('s') => Action::Operate(Operator::Change),
        Key::Char('S') => Action::Operate(Operator::Surround {
            pair: surround::pair(reader)?,
            on_lines: reader.context.visual == Some(VisualShape::Lines),
        }),
        Key::Char('C') => to_ends(Operator::Change),
        Key::Char('R') => Action::OperateLines(Operator::Change),
        Key::Char('Y') => lines_unless_block(Operator::Yank),
        Key::Char('u') => Action::Operate(LOWER),
        Key::Char('U') => Action::Operate(UPPER),
        Key::Char('~') => Action::Operate(Operator::SwapCase),
        Key::Char('r') => Action::ReplaceSelection {
            char: reader.char()?,
        },
        Key::Char('o') => Action::SwapEnds { same_line: false },
        Key::Char('O') => Action::SwapEnds { same_line: true },
        Key::Char('I') => Action::BlockInsert { at_end: false },
        Key::Char('A') => Action::BlockInsert { at_end: true },
        Key::Char('&') => return Err(Stop::Invalid),
        Key::Char('.') | Key::Ctrl('r' | 'o') => return Err(Stop::Invalid),
        Key::Ctrl('g') => Action::Select(reader.context.visual.unwrap_or(VisualShape::Chars)),
        _ => return Ok(None),
    };
    Ok(Some(action))
}
