//! Copy mode: the keys move a cursor through the text and select it, with the motions of the editor and of Vim. No key
//! reaches the program, and output does not move the view.

use gpui_kit::{
    ClipboardItem, Context, InteractiveElement as _, IntoElement, Keystroke, Modifiers,
    ParentElement as _, Role, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _,
    Window, div,
};
use terminal::{CellPosition, CopyMotion, CopyStep, Emulator, SelectionKind, TerminalDirection};
use ui::{ActiveTheme as _, dp};

use super::TerminalView;
use super::search;
use crate::actions::{Find, ToggleCopyMode};
use crate::program::read_emulator;

/// The search of copy mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopySearch {
    /// The direction of the last search.
    direction: TerminalDirection,
    /// The place at which the pattern that is being typed is searched from.
    origin: Option<CellPosition>,
}

impl Default for CopySearch {
    fn default() -> Self {
        Self {
            direction: TerminalDirection::Down,
            origin: None,
        }
    }
}

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyKey {
    Move(CopyMotion, CopyStep),
    /// Starts, changes or ends a selection that plain motions extend.
    Select(SelectionKind),
    /// Copies the selection, or the line, and ends copy mode.
    Copy,
    End,
    /// Opens the search in a direction.
    Search(TerminalDirection),
    /// Goes to the next match: in the direction of the search, or against it.
    Next {
        is_reversed: bool,
    },
}

impl TerminalView {
    /// Returns whether copy mode is on.
    pub(super) fn is_copying(&self) -> bool {
        self.contents.snapshot.is_copying
    }
}

/// Handler of an action: starts or ends copy mode.
pub(super) fn toggle_copy_mode(
    view: &mut TerminalView,
    _: &ToggleCopyMode,
    window: &mut Window,
    cx: &mut Context<TerminalView>,
) {
    view.refresh(cx);
    if view.is_copying() {
        return end_copy_mode(view, cx);
    }
    view.copy_search = CopySearch::default();
    view.preedit = None;
    view.change_emulator(cx, Emulator::start_copy_mode);
    view.refresh(cx);
    window.focus(&view.focus, cx);
    view.blink.stop();
}

/// Ends copy mode, if it is on: removes the selection and follows the output again.
pub(super) fn end_copy_mode(view: &mut TerminalView, cx: &mut Context<TerminalView>) {
    if view.is_copying() {
        view.change_emulator(cx, Emulator::end_copy_mode);
        view.refresh(cx);
        view.show_cursor(cx);
    }
}

/// Handles a key of copy mode. Returns false for keys with modifiers that have another meaning, such as the keys of
/// the window; all others are used up.
pub(super) fn press_in_copy_mode(
    view: &mut TerminalView,
    stroke: &Keystroke,
    window: &mut Window,
    cx: &mut Context<TerminalView>,
) -> bool {
    let Modifiers {
        control,
        alt,
        platform,
        function,
        ..
    } = stroke.modifiers;
    let Some(key) = copy_key(stroke) else {
        let is_command = control || alt || platform || function;
        return !(is_command || is_function_key(&stroke.key));
    };
    match key {
        CopyKey::Move(motion, step) => {
            view.change_emulator(cx, |emulator| emulator.move_copy_cursor(motion, step));
        }
        CopyKey::Select(kind) => {
            view.change_emulator(cx, |emulator| emulator.toggle_copy_selection(kind));
        }
        CopyKey::Copy => copy_and_end(view, cx),
        CopyKey::End => end_copy_mode(view, cx),
        CopyKey::Search(direction) => {
            view.copy_search = CopySearch {
                direction,
                origin: copy_cursor(view),
            };
            search::find(view, &Find, window, cx);
        }
        CopyKey::Next { is_reversed } => go_to_next_match(view, is_reversed, cx),
    }
    true
}

fn copy_cursor(view: &TerminalView) -> Option<CellPosition> {
    let program = view.program()?;
    read_emulator(&**program, |emulator| emulator.copy_cursor()).flatten()
}

/// Copies the selection, or the line of the cursor, and ends copy mode.
fn copy_and_end(view: &mut TerminalView, cx: &mut Context<TerminalView>) {
    if view.selected_text().is_none() {
        view.change_emulator(cx, |emulator| {
            emulator.toggle_copy_selection(SelectionKind::Lines);
        });
    }
    if let Some(text) = view.selected_text() {
        cx.write_to_clipboard(ClipboardItem::new_string(text));
    }
    end_copy_mode(view, cx);
}

fn go_to_next_match(view: &mut TerminalView, is_reversed: bool, cx: &mut Context<TerminalView>) {
    let searched = view.copy_search.direction;
    let opposite = match searched {
        TerminalDirection::Down => TerminalDirection::Up,
        TerminalDirection::Up => TerminalDirection::Down,
    };
    let direction = if is_reversed { opposite } else { searched };
    if let Some(from) = copy_cursor(view) {
        search::search_from(view, from, direction, cx);
    }
}

/// Returns the place and the direction of a search for a pattern that is being typed; `None` outside of copy mode.
pub(super) fn copy_search_start(view: &TerminalView) -> Option<(CellPosition, TerminalDirection)> {
    let origin = view.copy_search.origin.filter(|_| view.is_copying())?;
    Some((origin, view.copy_search.direction))
}

/// Forgets the place of a search whose pattern was typed.
pub(super) fn forget_copy_search(view: &mut TerminalView) {
    view.copy_search.origin = None;
}

/// Renders the badge of copy mode.
pub(super) fn render_copy_badge(
    view: &TerminalView,
    cx: &Context<TerminalView>,
) -> Option<impl IntoElement + use<>> {
    let colors = cx.theme().colors;
    view.is_copying().then(|| {
        div()
            .id("terminal-copy-mode")
            .role(Role::Status)
            .aria_label("Copy mode")
            .test_support()
            .absolute()
            .top(dp(4.0))
            .right(dp(16.0))
            .px(dp(6.0))
            .bg(colors.raised)
            .border_1()
            .border_color(colors.border)
            .text_color(colors.text)
            .text_size(dp(11.0))
            .child("COPY")
    })
}

/// Returns the effect of a key; `None` if it has none in copy mode.
fn copy_key(stroke: &Keystroke) -> Option<CopyKey> {
    let Modifiers {
        control,
        alt,
        shift,
        platform,
        function,
    } = stroke.modifiers;
    let step = if shift {
        CopyStep::Extend
    } else {
        CopyStep::Move
    };
    if let Some(motion) = named_motion(&stroke.key, control || alt, platform) {
        return Some(CopyKey::Move(motion, step));
    }
    if control && stroke.key == "v" && !(alt || shift || platform) {
        return Some(CopyKey::Select(SelectionKind::Block));
    }
    let is_plain = !(control || alt || platform || function);
    match stroke.key.as_str() {
        _ if !is_plain => None,
        "escape" => Some(CopyKey::End),
        "enter" => Some(CopyKey::Copy),
        _ => letter_key(typed_letter(stroke)?),
    }
}

/// Returns the motion of a key with a name, as in the editor.
fn named_motion(key: &str, is_by_word: bool, is_platform: bool) -> Option<CopyMotion> {
    if is_platform {
        platform_motion(key)
    } else if is_by_word {
        word_motion(key)
    } else {
        plain_motion(key)
    }
}

fn plain_motion(key: &str) -> Option<CopyMotion> {
    Some(match key {
        "left" => CopyMotion::Left,
        "right" => CopyMotion::Right,
        "up" => CopyMotion::Up,
        "down" => CopyMotion::Down,
        "home" => CopyMotion::LineStart,
        "end" => CopyMotion::LineEnd,
        "pageup" => CopyMotion::PageUp,
        "pagedown" => CopyMotion::PageDown,
        _ => return None,
    })
}

fn word_motion(key: &str) -> Option<CopyMotion> {
    Some(match key {
        "left" => CopyMotion::WordLeft,
        "right" => CopyMotion::WordRight,
        "home" => CopyMotion::Top,
        "end" => CopyMotion::Bottom,
        _ => return None,
    })
}

fn platform_motion(key: &str) -> Option<CopyMotion> {
    Some(match key {
        "left" => CopyMotion::LineStart,
        "right" => CopyMotion::LineEnd,
        "up" => CopyMotion::Top,
        "down" => CopyMotion::Bottom,
        _ => return None,
    })
}

/// Returns the effect of a letter, as in Vim.
fn letter_key(letter: char) -> Option<CopyKey> {
    let motion = match letter {
        'h' => CopyMotion::Left,
        'j' => CopyMotion::Down,
        'k' => CopyMotion::Up,
        'l' => CopyMotion::Right,
        'w' => CopyMotion::WordRight,
        'b' => CopyMotion::WordLeft,
        'e' => CopyMotion::WordEnd,
        '0' => CopyMotion::LineStart,
        '^' => CopyMotion::LineText,
        '$' => CopyMotion::LineEnd,
        'g' => CopyMotion::Top,
        'G' => CopyMotion::Bottom,
        '{' => CopyMotion::ParagraphUp,
        '}' => CopyMotion::ParagraphDown,
        'H' => CopyMotion::ViewTop,
        'M' => CopyMotion::ViewMiddle,
        'L' => CopyMotion::ViewBottom,
        _ => return command_key(letter),
    };
    Some(CopyKey::Move(motion, CopyStep::Move))
}

fn command_key(letter: char) -> Option<CopyKey> {
    Some(match letter {
        'v' => CopyKey::Select(SelectionKind::Cells),
        'V' => CopyKey::Select(SelectionKind::Lines),
        'y' => CopyKey::Copy,
        'q' => CopyKey::End,
        '/' => CopyKey::Search(TerminalDirection::Down),
        '?' => CopyKey::Search(TerminalDirection::Up),
        'n' => CopyKey::Next { is_reversed: false },
        'N' => CopyKey::Next { is_reversed: true },
        _ => return None,
    })
}

/// Returns the letter that a key types.
fn typed_letter(stroke: &Keystroke) -> Option<char> {
    let single = |text: &str| {
        let mut letters = text.chars();
        let letter = letters.next()?;
        letters.next().is_none().then_some(letter)
    };
    let typed = stroke.key_char.as_deref().and_then(single);
    typed.or_else(|| {
        let letter = single(&stroke.key)?;
        Some(if stroke.modifiers.shift {
            letter.to_ascii_uppercase()
        } else {
            letter
        })
    })
}

/// Returns whether a key is F1 to F35, which the window may use.
fn is_function_key(key: &str) -> bool {
    let number = key.strip_prefix('f').and_then(|it| it.parse::<u8>().ok());
    number.is_some()
}
