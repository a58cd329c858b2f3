//! Prints saved rows into the core: characters and styles, no control sequences.

use alacritty_terminal::Term;
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::vte::ansi::{Attr, Color, Handler, NamedColor, Rgb};

use super::SavedTerminal;
use crate::cells::{CellStyle, CellWidth, TerminalCell, TerminalColor, TerminalRow, Underline};
use crate::performer::{Listener, Performer, PerformerState};

/// Prints the rows, faint, and a line with `notice`.
pub(super) fn print(
    term: &mut Term<Listener>,
    state: &mut PerformerState,
    saved: &SavedTerminal,
    notice: &str,
) {
    let now = std::time::Duration::ZERO;
    let mut performer = Performer { term, state, now };
    let mut rows = saved.rows.iter().peekable();
    while let Some(row) = rows.next() {
        print_row(&mut performer, row);
        let is_joined = row.is_wrapped && rows.peek().is_some();
        if is_joined {
            // Blank cells at the end of a wrapped row are part of the line.
            let blanks = usize::from(saved.columns).saturating_sub(row.cells.len());
            (0..blanks).for_each(|_| performer.input(' '));
        } else {
            end_line(&mut performer);
        }
    }
    performer.terminal_attribute(Attr::Reset);
    performer.terminal_attribute(Attr::Dim);
    for letter in notice.chars().filter(|letter| !letter.is_control()) {
        performer.input(letter);
    }
    end_line(&mut performer);
}

fn end_line(performer: &mut Performer) {
    performer.terminal_attribute(Attr::Reset);
    performer.carriage_return();
    performer.linefeed();
}

fn print_row(performer: &mut Performer, row: &TerminalRow) {
    for run in &row.runs {
        set_style(performer, &run.style);
        let cells = usize::from(run.columns.start)..usize::from(run.columns.end);
        for cell in row.cells.get(cells).unwrap_or_default() {
            print_cell(performer, cell);
        }
    }
    performer.terminal_attribute(Attr::Reset);
}

fn print_cell(performer: &mut Performer, cell: &TerminalCell) {
    let is_printed = cell.width != CellWidth::Spacer && !cell.character.is_control();
    if is_printed {
        performer.input(cell.character);
        let combining = cell.combining.as_deref().unwrap_or_default();
        let combining = combining.chars().filter(|letter| !letter.is_control());
        combining.for_each(|letter| performer.input(letter));
    }
}

fn set_style(performer: &mut Performer, style: &CellStyle) {
    performer.terminal_attribute(Attr::Reset);
    let foreground = color(style.foreground, NamedColor::Foreground);
    let background = color(style.background, NamedColor::Background);
    performer.terminal_attribute(Attr::Foreground(foreground));
    performer.terminal_attribute(Attr::Background(background));
    let underline_color = style
        .underline_color
        .map(|own| color(own, NamedColor::Foreground));
    performer.terminal_attribute(Attr::UnderlineColor(underline_color));
    let template = &mut performer.term.grid_mut().cursor.template;
    let underline = match style.underline {
        Underline::None => Flags::empty(),
        Underline::Single => Flags::UNDERLINE,
        Underline::Double => Flags::DOUBLE_UNDERLINE,
        Underline::Curly => Flags::UNDERCURL,
        Underline::Dotted => Flags::DOTTED_UNDERLINE,
        Underline::Dashed => Flags::DASHED_UNDERLINE,
    };
    template.flags = underline | Flags::DIM;
    template.flags.set(Flags::BOLD, style.is_bold);
    template.flags.set(Flags::ITALIC, style.is_italic);
    template.flags.set(Flags::INVERSE, style.is_inverse);
    template.flags.set(Flags::HIDDEN, style.is_hidden);
    template.flags.set(Flags::STRIKEOUT, style.is_struck);
}

fn color(color: TerminalColor, default: NamedColor) -> Color {
    match color {
        TerminalColor::Default => Color::Named(default),
        TerminalColor::Palette(index) => Color::Indexed(index),
        TerminalColor::Rgb(r, g, b) => Color::Spec(Rgb { r, g, b }),
    }
}
