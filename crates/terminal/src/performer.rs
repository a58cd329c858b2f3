//! Carries out control sequences on the core: passes them on, bounds those that would use too much memory or time, and
//! handles those that the core does not know.

mod scrolled_marks;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use alacritty_terminal::Term;
use alacritty_terminal::event::{Event, EventListener};
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::Column;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, KeyboardModes,
    KeyboardModesApplyBehavior, LineClearMode, Mode, ModifyOtherKeys, NamedColor, NamedPrivateMode,
    PrivateMode, Rgb, ScpCharPath, ScpUpdateMode, StandardCharset, TabulationClearMode,
};
use base::AbsPath;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use unicode_width::UnicodeWidthChar;

use crate::commands::CommandLog;
use crate::event::{ClipboardKind, ClipboardQuery, ColorQuery, TerminalEvent};
use crate::event_queue::EventQueue;
use crate::grid_text::text_between;
use crate::lines::{LineTracker, is_alternate};
use crate::position::{CellPosition, LineNumber};
use crate::reported_folder::local_folder;
use crate::scanner::{OscSequence, clean};
use crate::scroll_region::{ScrollDirection, ScrollRegion};
use crate::snapshot::ColorSlot;

/// The letter of the clipboard in the OSC 52 that takes the place of a sequence of the scanner in the core's input. A
/// program cannot send it: the scanner drops such a string.
const SEQUENCE_LETTER: u8 = 0xff;

/// Characters of a title.
const MAX_TITLE: usize = 200;
/// Bytes of a hyperlink's target and of its id.
const MAX_LINK: usize = 2_083;
/// Bytes of the hyperlinks of a screen and its scrollback.
const MAX_LINKS: usize = 8 << 20;
/// Zero-width characters of a cell.
const MAX_COMBINING: usize = 16;
/// Entries of the stack of keyboard modes; the core's own limit is not safe to reach.
const MAX_KEYBOARD_MODES: usize = 256;
/// Bytes of a command line that is read from the screen.
const MAX_COMMAND_LINE: usize = 16 << 10;

/// Collects the answers and titles of the core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listener(Arc<Mutex<Vec<CoreEvent>>>);

#[derive(Debug)]
enum CoreEvent {
    Reply(String),
    Title(Option<String>),
}

impl EventListener for Listener {
    fn send_event(&self, event: Event) {
        let event = match event {
            Event::PtyWrite(text) => CoreEvent::Reply(text),
            Event::Title(title) => CoreEvent::Title(Some(title)),
            Event::ResetTitle => CoreEvent::Title(None),
            _ => return,
        };
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event);
    }
}

/// The clipboards that a program may use through OSC 52.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClipboardAccess {
    /// Neither writes nor reads: for terminals of agents.
    #[default]
    None,
    /// Writes are passed on.
    Write,
    /// Writes are passed on, and reads, which the caller must ask the user about.
    WriteAndRead,
}

/// The state of a terminal that the core does not have.
#[derive(Debug)]
pub(crate) struct PerformerState {
    pub(crate) listener: Listener,
    pub(crate) lines: LineTracker,
    pub(crate) log: CommandLog,
    pub(crate) events: EventQueue,
    /// Sequences of the scanner that the core has not reached.
    pub(crate) sequences: VecDeque<OscSequence>,
    pub(crate) title: Option<String>,
    pub(crate) folder: Option<AbsPath>,
    pub(crate) clipboard: ClipboardAccess,
    pub(crate) nonce: Option<String>,
    pub(crate) host_name: Option<String>,
    pub(crate) modify_other_keys: u8,
    /// The scroll region of the core.
    pub(crate) region: ScrollRegion,
    /// Width and height of a cell in pixels.
    pub(crate) cell_pixels: Option<(u16, u16)>,
    keyboard_modes: KeyboardDepth,
    links: LinkBudget,
}

/// Entries of the stacks of keyboard modes, of the screen that is shown and of the other one.
#[derive(Clone, Copy, Debug, Default)]
struct KeyboardDepth {
    shown: usize,
    other: usize,
}

/// Bytes of the hyperlinks since a line.
#[derive(Clone, Copy, Debug, Default)]
struct LinkBudget {
    since: LineNumber,
    bytes: usize,
}

impl PerformerState {
    pub(crate) fn new(lines: LineTracker) -> Self {
        Self {
            listener: Listener::default(),
            lines,
            log: CommandLog::default(),
            events: EventQueue::default(),
            sequences: VecDeque::new(),
            title: None,
            folder: None,
            clipboard: ClipboardAccess::None,
            nonce: None,
            host_name: None,
            modify_other_keys: 0,
            region: ScrollRegion::default(),
            cell_pixels: None,
            keyboard_modes: KeyboardDepth::default(),
            links: LinkBudget::default(),
        }
    }

    /// Moves the answers and titles of the core to the events.
    pub(crate) fn collect(&mut self) {
        let listened = self.listener.0.lock();
        let listened = std::mem::take(&mut *listened.unwrap_or_else(PoisonError::into_inner));
        for event in listened {
            match event {
                CoreEvent::Reply(text) => self.events.reply(text.as_bytes()),
                CoreEvent::Title(title) => {
                    self.title.clone_from(&title);
                    self.events.push(TerminalEvent::Title(title));
                }
            }
        }
    }
}

/// Returns the position of the cursor. Its column is the width of the grid if the next character wraps.
pub(crate) fn cursor<T>(term: &Term<T>, lines: &LineTracker) -> CellPosition {
    let cursor = &term.grid().cursor;
    let column = cursor.point.column.0 + usize::from(cursor.input_needs_wrap);
    CellPosition::new(lines.number(term, cursor.point.line), column as u16)
}

/// Carries out control sequences.
pub(crate) struct Performer<'a> {
    pub(crate) term: &'a mut Term<Listener>,
    pub(crate) state: &'a mut PerformerState,
    /// Time of the caller's clock.
    pub(crate) now: Duration,
}

/// Passes methods on to the core unchanged.
macro_rules! pass {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            #[inline]
            fn $name(&mut self, $($argument: $type),*) {
                Handler::$name(self.term, $($argument),*);
            }
        )*
    };
}

impl Handler for Performer<'_> {
    pass! {
        set_cursor_style(style: Option<CursorStyle>);
        set_cursor_shape(shape: CursorShape);
        goto(line: i32, column: usize);
        goto_line(line: i32);
        goto_col(column: usize);
        insert_blank(count: usize);
        move_up(count: usize);
        move_down(count: usize);
        identify_terminal(intermediate: Option<char>);
        device_status(status: usize);
        move_forward(count: usize);
        move_backward(count: usize);
        move_down_and_cr(count: usize);
        move_up_and_cr(count: usize);
        backspace();
        carriage_return();
        set_horizontal_tabstop();
        erase_chars(count: usize);
        delete_chars(count: usize);
        move_forward_tabs(count: u16);
        save_cursor_position();
        restore_cursor_position();
        clear_line(mode: LineClearMode);
        clear_tabs(mode: TabulationClearMode);
        set_tabs(interval: u16);
        terminal_attribute(attribute: Attr);
        set_mode(mode: Mode);
        unset_mode(mode: Mode);
        report_mode(mode: Mode);
        report_private_mode(mode: PrivateMode);
        set_keypad_application_mode();
        unset_keypad_application_mode();
        set_active_charset(index: CharsetIndex);
        configure_charset(index: CharsetIndex, charset: StandardCharset);
        set_color(index: usize, color: Rgb);
        reset_color(index: usize);
        decaln();
        push_title();
        pop_title();
        text_area_size_chars();
        report_keyboard_mode();
        set_keyboard_mode(mode: KeyboardModes, behavior: KeyboardModesApplyBehavior);
        set_scp(path: ScpCharPath, mode: ScpUpdateMode);
    }

    #[inline]
    fn input(&mut self, character: char) {
        // No character below has zero width.
        if character >= '\u{300}' && character.width() == Some(0) && self.is_cell_full() {
            return;
        }
        self.state.lines.spend(self.term, 1);
        if self.state.region.is_partial() {
            self.scroll_marks_of_wrap(character);
        }
        self.term.input(character);
    }

    #[inline]
    fn put_tab(&mut self, count: u16) {
        self.state.lines.spend(self.term, 1);
        if self.state.region.is_partial() {
            // A tab behind the last column wraps as a character does.
            self.scroll_marks_of_wrap(' ');
        }
        self.term.put_tab(count);
    }

    #[inline]
    fn linefeed(&mut self) {
        self.state.lines.spend(self.term, 1);
        if self.state.region.is_partial() {
            self.scroll_marks_at_end();
        }
        self.term.linefeed();
    }

    #[inline]
    fn newline(&mut self) {
        self.state.lines.spend(self.term, 1);
        if self.state.region.is_partial() {
            self.scroll_marks_at_end();
        }
        self.term.newline();
    }

    fn scroll_up(&mut self, count: usize) {
        self.spend_screen();
        self.scroll_region_marks(count, ScrollDirection::Up);
        Handler::scroll_up(self.term, count);
    }

    fn scroll_down(&mut self, count: usize) {
        self.scroll_region_marks(count, ScrollDirection::Down);
        Handler::scroll_down(self.term, count);
    }

    fn insert_blank_lines(&mut self, count: usize) {
        self.scroll_marks_below(count, ScrollDirection::Down);
        self.term.insert_blank_lines(count);
    }

    fn delete_lines(&mut self, count: usize) {
        self.spend_screen();
        self.scroll_marks_below(count, ScrollDirection::Up);
        self.term.delete_lines(count);
    }

    fn reverse_index(&mut self) {
        self.scroll_marks_at_start();
        self.term.reverse_index();
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        let screen = self.term.screen_lines();
        self.state.region.set(top, bottom, screen);
        self.term.set_scrolling_region(top, bottom);
    }

    fn move_backward_tabs(&mut self, count: u16) {
        // Without tab stops each of them would cost a whole row.
        let columns = self.term.columns().min(usize::from(u16::MAX)) as u16;
        self.term.move_backward_tabs(count.min(columns));
    }

    fn clear_screen(&mut self, mode: ClearMode) {
        self.spend_screen();
        let is_history = matches!(mode, ClearMode::Saved) && !is_alternate(self.term);
        let before = self.term.history_size();
        self.term.clear_screen(mode);
        if is_history {
            self.state.lines.history_cleared(before);
        }
    }

    fn reset_state(&mut self) {
        let history = self.state.lines.history(self.term);
        self.term.reset_state();
        self.state.lines.history_cleared(history);
        self.state.log.clear();
        self.state.region = ScrollRegion::default();
        self.state.modify_other_keys = 0;
        self.state.keyboard_modes = KeyboardDepth::default();
    }

    fn bell(&mut self) {
        self.state.events.push(TerminalEvent::Bell);
    }

    fn set_title(&mut self, title: Option<String>) {
        let title = title.map(|title| clean(&title, MAX_TITLE));
        self.term.set_title(title.filter(|title| !title.is_empty()));
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        if mode == NamedPrivateMode::SwapScreenAndSetRestoreCursor.into()
            && !is_alternate(self.term)
        {
            self.state.lines.park(self.term);
            self.state.keyboard_modes.swap();
        }
        self.note_column_mode(mode);
        self.term.set_private_mode(mode);
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        if mode == NamedPrivateMode::SwapScreenAndSetRestoreCursor.into() && is_alternate(self.term)
        {
            self.state.keyboard_modes.swap();
        }
        self.note_column_mode(mode);
        self.term.unset_private_mode(mode);
    }

    fn push_keyboard_mode(&mut self, mode: KeyboardModes) {
        if self.state.keyboard_modes.shown < MAX_KEYBOARD_MODES {
            self.state.keyboard_modes.shown += 1;
            self.term.push_keyboard_mode(mode);
        }
    }

    fn pop_keyboard_modes(&mut self, count: u16) {
        let shown = &mut self.state.keyboard_modes.shown;
        *shown = shown.saturating_sub(count.into());
        self.term.pop_keyboard_modes(count);
    }

    fn set_modify_other_keys(&mut self, mode: ModifyOtherKeys) {
        self.state.modify_other_keys = mode as u8;
    }

    fn report_modify_other_keys(&mut self) {
        let report = format!("\x1b[>4;{}m", self.state.modify_other_keys);
        self.reply(&report);
    }

    fn dynamic_color_sequence(&mut self, prefix: String, index: usize, terminator: &str) {
        let slot = match index {
            0..=255 => ColorSlot::Palette(index as u8),
            _ if index == NamedColor::Foreground as usize => ColorSlot::Foreground,
            _ if index == NamedColor::Background as usize => ColorSlot::Background,
            _ => ColorSlot::Cursor,
        };
        let query = ColorQuery {
            slot,
            prefix,
            terminator: owned_terminator(terminator),
        };
        match self.term.colors()[index] {
            Some(Rgb { r, g, b }) => {
                // Through the core, so that answers keep the order of their queries.
                let answer = query.answer(r, g, b);
                self.reply(&String::from_utf8_lossy(&answer));
            }
            None => self.state.events.push(TerminalEvent::ColorQuery(query)),
        }
    }

    fn clipboard_store(&mut self, letter: u8, base64: &[u8]) {
        if letter == SEQUENCE_LETTER {
            if let Some(sequence) = self.state.sequences.pop_front() {
                self.perform(sequence);
            }
            return;
        }
        let Some(clipboard) = clipboard_of(letter) else {
            return;
        };
        if self.state.clipboard == ClipboardAccess::None {
            return;
        }
        let bytes = STANDARD.decode(base64).ok();
        if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
            let event = TerminalEvent::ClipboardWrite { clipboard, text };
            self.state.events.push(event);
        }
    }

    fn clipboard_load(&mut self, letter: u8, terminator: &str) {
        let is_allowed = self.state.clipboard == ClipboardAccess::WriteAndRead;
        if let Some(clipboard) = clipboard_of(letter).filter(|_| is_allowed) {
            let query = ClipboardQuery {
                clipboard,
                letter: letter.into(),
                terminator: owned_terminator(terminator),
            };
            self.state.events.push(TerminalEvent::ClipboardRead(query));
        }
    }

    fn text_area_size_pixels(&mut self) {
        if let Some((width, height)) = self.state.cell_pixels {
            let width = self.term.columns() * usize::from(width);
            let height = self.term.screen_lines() * usize::from(height);
            self.reply(&format!("\x1b[4;{height};{width}t"));
        }
    }

    fn set_hyperlink(&mut self, link: Option<Hyperlink>) {
        let link = link.filter(|link| self.has_room_for(link));
        self.term.set_hyperlink(link);
    }
}

/// Returns the clipboard that a letter of OSC 52 names.
fn clipboard_of(letter: u8) -> Option<ClipboardKind> {
    match letter {
        b'c' => Some(ClipboardKind::Clipboard),
        b'p' | b's' => Some(ClipboardKind::Primary),
        _ => None,
    }
}

fn owned_terminator(terminator: &str) -> &'static str {
    match terminator {
        "\x07" => "\x07",
        _ => "\x1b\\",
    }
}

impl Performer<'_> {
    /// Answers a query, after the answers of the core before it.
    fn reply(&mut self, text: &str) {
        self.state
            .listener
            .send_event(Event::PtyWrite(text.to_owned()));
    }

    /// Notes that the core resets its scroll region if the mode is that of the number of columns (DECCOLM).
    fn note_column_mode(&mut self, mode: PrivateMode) {
        if mode == NamedPrivateMode::ColumnMode.into() {
            self.state.region = ScrollRegion::default();
        }
    }

    /// Prepares for an operation that scrolls by at most a screen.
    fn spend_screen(&mut self) {
        let rows = self.term.screen_lines();
        self.state.lines.spend(self.term, rows);
    }

    /// Returns whether the cell that a zero-width character joins has no room for it.
    fn is_cell_full(&self) -> bool {
        let cursor = &self.term.grid().cursor;
        let row = &self.term.grid()[cursor.point.line];
        let back = usize::from(!cursor.input_needs_wrap);
        let mut column = cursor.point.column.0.saturating_sub(back);
        if row[Column(column)].flags.contains(Flags::WIDE_CHAR_SPACER) {
            column = column.saturating_sub(1);
        }
        let combining = row[Column(column)].zerowidth();
        combining.is_some_and(|combining| combining.len() >= MAX_COMBINING)
    }

    /// Returns whether the terminal may store another hyperlink within its memory limits, and if so adds its bytes to the
    /// total.
    fn has_room_for(&mut self, link: &Hyperlink) -> bool {
        let bytes = link.uri.len() + link.id.as_ref().map_or(0, String::len);
        let bottom = self
            .state
            .lines
            .number(self.term, self.term.bottommost_line());
        let budget = &mut self.state.links;
        let reach = self.state.lines.core_history() + self.term.screen_lines();
        if bottom.0 > budget.since.0 + reach as u64 {
            // The links before are gone, or soon will be.
            *budget = LinkBudget {
                since: bottom,
                bytes: 0,
            };
        }
        let has_room = bytes <= MAX_LINK && budget.bytes + bytes <= MAX_LINKS;
        if has_room {
            budget.bytes += bytes;
        }
        has_room
    }

    /// Handles a sequence of the scanner at the cursor.
    fn perform(&mut self, sequence: OscSequence) {
        match sequence {
            OscSequence::Folder(folder) => {
                let folder = local_folder(&folder, self.state.host_name.as_deref());
                if let Some(folder) = folder {
                    self.state.folder = Some(folder.clone());
                    self.state.events.push(TerminalEvent::Folder(folder));
                }
            }
            OscSequence::Notification(notification) => {
                self.state
                    .events
                    .push(TerminalEvent::Notification(notification));
            }
            OscSequence::Progress(progress) => {
                self.state.events.push(TerminalEvent::Progress(progress));
            }
            // No shell draws prompts on the alternate screen.
            mark if !is_alternate(self.term) => self.mark(mark),
            _ => {}
        }
    }

    /// Handles a mark of the shell at the cursor.
    fn mark(&mut self, mark: OscSequence) {
        let position = cursor(self.term, &self.state.lines);
        let event = match mark {
            OscSequence::PromptStart => {
                let id = self.state.log.start_prompt(position, self.now);
                Some(TerminalEvent::PromptShown(id))
            }
            OscSequence::InputStart => {
                self.state.log.start_input(position);
                None
            }
            OscSequence::OutputStart => {
                let shown = self.shown_command_line(position);
                let folder = self.state.folder.clone();
                let id = self
                    .state
                    .log
                    .start_output(position, self.now, shown, folder);
                id.map(TerminalEvent::CommandStarted)
            }
            OscSequence::CommandEnd(code) => {
                let id = self.state.log.end(position, code, self.now);
                id.map(TerminalEvent::CommandEnded)
            }
            OscSequence::CommandLine { text, nonce } => {
                // Without the nonce, any output could forge a command line.
                if nonce.is_some() && nonce == self.state.nonce {
                    self.state.log.set_line(text);
                }
                None
            }
            _ => None,
        };
        self.state.log.trim(self.state.lines.oldest());
        if let Some(event) = event {
            self.state.events.push(event);
        }
    }

    /// Returns the text between the end of the prompt and `end`, as the screen shows it.
    fn shown_command_line(&self, end: CellPosition) -> Option<String> {
        let input = self.state.log.unreported_input()?;
        let lines = &self.state.lines;
        // The core still has some lines beyond the scrollback, depending on the lengths of reads.
        if input.line < lines.oldest_kept(self.term) {
            return None;
        }
        let shown = text_between(self.term, lines, input, end, MAX_COMMAND_LINE);
        let text = shown.text.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }
}

impl KeyboardDepth {
    fn swap(&mut self) {
        std::mem::swap(&mut self.shown, &mut self.other);
    }
}
