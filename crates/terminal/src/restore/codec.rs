//! The bytes of a saved terminal. Numbers are little-endian; texts are UTF-8 behind their length in bytes.
//!
//! ```text
//! "BTRM"  version u16  columns u16  folder text  title text
//! rows u32, then for each: flags u8, cells u16, runs u16, cells, runs
//! commands u32, then for each: row u32, flags u8, exit i32, line text
//! ```
//!
//! The cells of a plain row are one text of its characters. Those of another row have a byte for their width and for
//! combining characters each, the character, and the combining text. A run has its length u16 and its style.

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use base::AbsPath;

use super::{MAX_SAVED_BYTES, RestoreError, SavedCommand, SavedTerminal};
use crate::cells::{
    CellStyle, CellWidth, StyleRun, TerminalCell, TerminalColor, TerminalRow, Underline,
};
use crate::scanner::clean;

const MAGIC: &[u8] = b"BTRM";
const VERSION: u16 = 1;
/// Columns of a row, at most.
const MAX_CELLS: usize = 4_096;
/// Characters of a title, at most.
const MAX_TITLE: usize = 200;

const ROW_WRAPPED: u8 = 1;
const ROW_PLAIN: u8 = 2;
const COMMAND_RAN: u8 = 1;
const COMMAND_HAS_EXIT: u8 = 2;
const COMMAND_HAS_LINE: u8 = 4;
const CELL_COMBINING: u8 = 4;

/// Returns the number of bytes besides rows and commands.
pub(super) fn fixed_size(title: Option<&str>, folder: Option<&AbsPath>) -> usize {
    let folder = folder.map_or(0, |folder| folder.as_path().as_os_str().len());
    MAGIC.len() + 2 + 2 + 4 + folder + 4 + title.map_or(0, str::len) + 4 + 4
}

/// Returns the number of bytes of a saved terminal.
pub(super) fn size(saved: &SavedTerminal) -> usize {
    let rows: usize = saved.rows.iter().map(row_size).sum();
    let commands: usize = saved.commands.iter().map(command_size).sum();
    fixed_size(saved.title.as_deref(), saved.folder.as_ref()) + rows + commands
}

/// Returns the number of bytes of a row.
pub(super) fn row_size(row: &TerminalRow) -> usize {
    let mut bytes = Vec::new();
    put_row(&mut bytes, row);
    bytes.len()
}

/// Returns the number of bytes of a command.
pub(super) fn command_size(command: &SavedCommand) -> usize {
    4 + 1 + 4 + 4 + command.line.as_ref().map_or(0, String::len)
}

/// Joins adjacent runs of one style, whose links were removed.
pub(super) fn join_runs(runs: &mut Vec<StyleRun>) {
    runs.dedup_by(|run, before| {
        let is_same = run.style == before.style && run.link == before.link;
        if is_same {
            before.columns.end = run.columns.end;
        }
        is_same
    });
}

pub(super) fn encode(saved: &SavedTerminal) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(saved.columns.to_le_bytes());
    let folder = saved
        .folder
        .as_ref()
        .map(|folder| folder.as_path().as_os_str().as_bytes());
    put_text(&mut bytes, folder.unwrap_or_default());
    put_text(
        &mut bytes,
        saved.title.as_deref().unwrap_or_default().as_bytes(),
    );
    put_count(&mut bytes, saved.rows.len());
    for row in &saved.rows {
        put_row(&mut bytes, row);
    }
    put_count(&mut bytes, saved.commands.len());
    for command in &saved.commands {
        put_command(&mut bytes, command);
    }
    bytes
}

fn put_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend((count as u32).to_le_bytes());
}

fn put_text(bytes: &mut Vec<u8>, text: &[u8]) {
    put_count(bytes, text.len());
    bytes.extend_from_slice(text);
}

fn put_row(bytes: &mut Vec<u8>, row: &TerminalRow) {
    let is_plain = row
        .cells
        .iter()
        .all(|cell| cell.width == CellWidth::Single && cell.combining.is_none());
    let wrapped = if row.is_wrapped { ROW_WRAPPED } else { 0 };
    let plain = if is_plain { ROW_PLAIN } else { 0 };
    bytes.push(wrapped | plain);
    bytes.extend((row.cells.len() as u16).to_le_bytes());
    bytes.extend((row.runs.len() as u16).to_le_bytes());
    let mut letter = [0; 4];
    for cell in &row.cells {
        if !is_plain {
            let width = match cell.width {
                CellWidth::Single => 0,
                CellWidth::Wide => 1,
                CellWidth::Spacer => 2,
            };
            let combining = if cell.combining.is_some() {
                CELL_COMBINING
            } else {
                0
            };
            bytes.push(width | combining);
        }
        bytes.extend_from_slice(cell.character.encode_utf8(&mut letter).as_bytes());
        if let Some(combining) = &cell.combining {
            put_text(bytes, combining.as_bytes());
        }
    }
    for run in &row.runs {
        bytes.extend((run.columns.end - run.columns.start).to_le_bytes());
        put_style(bytes, &run.style);
    }
}

/// Puts the flags, the underline, a mask of the colours that are not the default, and these colours.
fn put_style(bytes: &mut Vec<u8>, style: &CellStyle) {
    let flags = [
        style.is_bold,
        style.is_dim,
        style.is_italic,
        style.is_inverse,
        style.is_hidden,
        style.is_struck,
        style.underline_color.is_some(),
    ];
    let flags = flags
        .iter()
        .enumerate()
        .map(|(bit, is_set)| u8::from(*is_set) << bit);
    bytes.push(flags.sum());
    bytes.push(match style.underline {
        Underline::None => 0,
        Underline::Single => 1,
        Underline::Double => 2,
        Underline::Curly => 3,
        Underline::Dotted => 4,
        Underline::Dashed => 5,
    });
    let colors = [
        Some(style.foreground),
        Some(style.background),
        style.underline_color,
    ];
    for color in colors.into_iter().flatten() {
        match color {
            TerminalColor::Default => bytes.push(0),
            TerminalColor::Palette(index) => bytes.extend([1, index]),
            TerminalColor::Rgb(red, green, blue) => bytes.extend([2, red, green, blue]),
        }
    }
}

fn put_command(bytes: &mut Vec<u8>, command: &SavedCommand) {
    bytes.extend(command.row.to_le_bytes());
    let flags = [
        (command.was_running, COMMAND_RAN),
        (command.exit.is_some(), COMMAND_HAS_EXIT),
        (command.line.is_some(), COMMAND_HAS_LINE),
    ];
    let set = flags.iter().filter(|(is_set, _)| *is_set);
    bytes.push(set.fold(0, |all, (_, flag)| all | flag));
    bytes.extend(command.exit.unwrap_or_default().to_le_bytes());
    put_text(
        bytes,
        command.line.as_deref().unwrap_or_default().as_bytes(),
    );
}

pub(super) fn decode(bytes: &[u8]) -> Result<SavedTerminal, RestoreError> {
    if bytes.len() > MAX_SAVED_BYTES {
        return Err(RestoreError::TooLarge);
    }
    let mut reader = SavedReader { bytes, at: 0 };
    if reader.take(MAGIC.len()).ok() != Some(MAGIC) {
        return Err(RestoreError::NotATerminal);
    }
    let version = reader.u16()?;
    if version != VERSION {
        return Err(RestoreError::UnknownVersion(version));
    }
    let columns = reader.u16()?;
    let folder = reader.folder()?;
    let title = clean(reader.text()?, MAX_TITLE);
    // Memory is reserved as rows are read, not by a count that may be wrong.
    let mut rows = Vec::new();
    for _ in 0..reader.u32()? {
        rows.push(reader.row()?);
    }
    let mut commands: Vec<SavedCommand> = Vec::new();
    for _ in 0..reader.u32()? {
        let command = reader.command(rows.len())?;
        if commands.last().is_some_and(|last| last.row > command.row) {
            return Err(reader.damaged());
        }
        commands.push(command);
    }
    if reader.at != bytes.len() {
        return Err(reader.damaged());
    }
    Ok(SavedTerminal {
        rows,
        columns,
        folder,
        title: Some(title).filter(|title| !title.is_empty()),
        commands,
    })
}

/// Reads values from bytes.
struct SavedReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> SavedReader<'a> {
    fn damaged(&self) -> RestoreError {
        RestoreError::Damaged(self.at)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], RestoreError> {
        let end = self.at.checked_add(count).ok_or_else(|| self.damaged())?;
        let taken = self.bytes.get(self.at..end).ok_or_else(|| self.damaged())?;
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RestoreError> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| self.damaged())
    }

    fn u8(&mut self) -> Result<u8, RestoreError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    fn u16(&mut self) -> Result<u16, RestoreError> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, RestoreError> {
        self.array().map(u32::from_le_bytes)
    }

    fn text(&mut self) -> Result<&'a str, RestoreError> {
        let length = self.u32()? as usize;
        let bytes = self.take(length)?;
        str::from_utf8(bytes).map_err(|_| self.damaged())
    }

    fn folder(&mut self) -> Result<Option<AbsPath>, RestoreError> {
        let length = self.u32()? as usize;
        let bytes = self.take(length)?.to_vec();
        if bytes.is_empty() {
            return Ok(None);
        }
        let is_plain = !bytes.iter().any(u8::is_ascii_control);
        let folder = AbsPath::new(std::ffi::OsString::from_vec(bytes)).filter(|_| is_plain);
        folder.map(Some).ok_or_else(|| self.damaged())
    }

    /// Reads a printable character.
    fn character(&mut self) -> Result<char, RestoreError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let rest = &rest[..rest.len().min(4)];
        let valid = match str::from_utf8(rest) {
            Ok(text) => text,
            Err(error) => str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default(),
        };
        let character = valid
            .chars()
            .next()
            .filter(|character| !character.is_control());
        let character = character.ok_or_else(|| self.damaged())?;
        self.at += character.len_utf8();
        Ok(character)
    }

    fn row(&mut self) -> Result<TerminalRow, RestoreError> {
        let flags = self.u8()?;
        let count = usize::from(self.u16()?);
        let runs = self.u16()?;
        if count > MAX_CELLS || flags > (ROW_WRAPPED | ROW_PLAIN) {
            return Err(self.damaged());
        }
        let mut row = TerminalRow {
            is_wrapped: flags & ROW_WRAPPED != 0,
            ..TerminalRow::default()
        };
        for _ in 0..count {
            row.cells.push(match flags & ROW_PLAIN {
                0 => self.cell()?,
                _ => TerminalCell::single(self.character()?),
            });
        }
        let mut column = 0_u16;
        for _ in 0..runs {
            let length = self.u16()?;
            let end = column.checked_add(length).filter(|end| *end > column);
            let end = end.ok_or_else(|| self.damaged())?;
            row.runs.push(StyleRun {
                columns: column..end,
                style: self.style()?,
                link: None,
            });
            column = end;
        }
        if usize::from(column) != count {
            return Err(self.damaged());
        }
        Ok(row)
    }

    fn cell(&mut self) -> Result<TerminalCell, RestoreError> {
        let flags = self.u8()?;
        let width = match flags & !CELL_COMBINING {
            0 => CellWidth::Single,
            1 => CellWidth::Wide,
            2 => CellWidth::Spacer,
            _ => return Err(self.damaged()),
        };
        let character = self.character()?;
        let combining = match flags & CELL_COMBINING {
            0 => None,
            _ => Some(self.text()?),
        };
        if combining.is_some_and(|text| text.is_empty() || text.chars().any(char::is_control)) {
            return Err(self.damaged());
        }
        Ok(TerminalCell {
            character,
            combining: combining.map(Into::into),
            width,
        })
    }

    fn style(&mut self) -> Result<CellStyle, RestoreError> {
        let flags = self.u8()?;
        let has = |bit: u8| flags & (1 << bit) != 0;
        let underline = match self.u8()? {
            0 => Underline::None,
            1 => Underline::Single,
            2 => Underline::Double,
            3 => Underline::Curly,
            4 => Underline::Dotted,
            5 => Underline::Dashed,
            _ => return Err(self.damaged()),
        };
        if has(7) {
            return Err(self.damaged());
        }
        Ok(CellStyle {
            foreground: self.color()?,
            background: self.color()?,
            underline,
            underline_color: if has(6) { Some(self.color()?) } else { None },
            is_bold: has(0),
            is_dim: has(1),
            is_italic: has(2),
            is_inverse: has(3),
            is_hidden: has(4),
            is_struck: has(5),
        })
    }

    fn color(&mut self) -> Result<TerminalColor, RestoreError> {
        match self.u8()? {
            0 => Ok(TerminalColor::Default),
            1 => self.u8().map(TerminalColor::Palette),
            2 => {
                let [red, green, blue] = self.array()?;
                Ok(TerminalColor::Rgb(red, green, blue))
            }
            _ => Err(self.damaged()),
        }
    }

    fn command(&mut self, rows: usize) -> Result<SavedCommand, RestoreError> {
        let row = self.u32()?;
        let flags = self.u8()?;
        let exit = i32::from_le_bytes(self.array()?);
        let line = self.text()?;
        let all = COMMAND_RAN | COMMAND_HAS_EXIT | COMMAND_HAS_LINE;
        if row as usize >= rows || flags > all {
            return Err(self.damaged());
        }
        let has = |flag: u8| flags & flag != 0;
        Ok(SavedCommand {
            row,
            line: has(COMMAND_HAS_LINE).then(|| line.to_owned()),
            exit: has(COMMAND_HAS_EXIT).then_some(exit),
            was_running: has(COMMAND_RAN),
        })
    }
}
