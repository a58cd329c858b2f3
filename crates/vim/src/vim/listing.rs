//! Information about the caret, registers, marks and lists.

use super::exec::Exec;
use crate::effect::Effect;
use crate::error::{Done, Error};
use crate::lines::Pos;
use crate::register::{RegisterShape, RegisterText};

/// Longest text of a line in a list, in characters.
const MAX_SHOWN: usize = 60;

/// Shows the code of the character at the caret (`ga`).
pub(super) fn show_char(exec: &mut Exec) -> Done {
    let char = exec.lines.char_at(exec.pos()).ok_or(Error::Beep)?;
    let code = char as u32;
    let mut bytes = [0; 4];
    let bytes = char
        .encode_utf8(&mut bytes)
        .bytes()
        .map(|byte| format!("{byte:02x}"));
    let bytes: Vec<String> = bytes.collect();
    let shown = printable(&char.to_string());
    exec.message(format!(
        "<{shown}> {code}, U+{code:04X}, bytes {}",
        bytes.join(" ")
    ));
    Ok(())
}

/// Shows the place of the caret in the text (`Ctrl-G`).
pub(super) fn show_position(exec: &mut Exec) {
    let at = exec.pos();
    let count = exec.lines.count();
    let percent = u64::from(at.row + 1) * 100 / u64::from(count);
    let name = exec.host.file_name(crate::host::FileName::Current);
    let name = name.unwrap_or_else(|| "[no name]".to_owned());
    let (line, column) = (at.row + 1, at.col + 1);
    exec.message(format!(
        "{name}: line {line} of {count} ({percent} %), column {column}"
    ));
}

/// Characters of a text as a list shows them: control characters as `^A`, one line, not too long.
fn printable(text: &str) -> String {
    let mut shown = String::new();
    for char in text.chars().take(MAX_SHOWN) {
        match char {
            '\0'..='\u{1f}' => {
                shown.push('^');
                shown.push(char::from(char as u8 + b'@'));
            }
            _ => shown.push(char),
        }
    }
    shown
}

/// Lists registers with a text (`:registers`).
pub(super) fn registers(exec: &mut Exec, names: &str) {
    let wanted = |name: char| names.is_empty() || names.contains(name);
    let mut lines = vec!["Type Name Content".to_owned()];
    let row = |name: char, text: &RegisterText| {
        let kind = match text.shape {
            RegisterShape::Chars => 'c',
            RegisterShape::Lines => 'l',
            RegisterShape::Block(_) => 'b',
        };
        format!("  {kind}  \"{name}   {}", printable(&text.flat()))
    };
    let unnamed = exec.globals.registers.unnamed();
    let mut rows = Vec::new();
    for (name, text) in exec.globals.registers.all() {
        if Some(name) == unnamed && wanted('"') {
            rows.push(row('"', &text));
        }
        if wanted(name) {
            rows.push(row(name, &text));
        }
    }
    for name in ['.', ':', '/', '%', '#', '+', '*']
        .into_iter()
        .filter(|name| wanted(*name))
    {
        if let Ok(text) = exec.read_register(Some(name)) {
            rows.push(row(name, &text));
        }
    }
    lines.extend(rows);
    exec.effect(Effect::Listing(lines));
}

/// Lists marks (`:marks`).
pub(super) fn marks(exec: &mut Exec) {
    let mut lines = vec!["mark line  col text".to_owned()];
    let named: Vec<char> = exec.vim.marks.named.keys().copied().collect();
    for name in ['\'']
        .into_iter()
        .chain(named)
        .chain(['[', ']', '<', '>', '.', '^'])
    {
        if let Ok(pos) = super::marking::place(exec, name) {
            lines.push(place_row(exec, name, pos));
        }
    }
    for (name, mark) in &exec.globals.marks {
        let path = mark.path.as_deref().unwrap_or("[no name]");
        lines.push(format!(
            " {name} {:6} {:4} {path}",
            mark.pos.row + 1,
            mark.pos.col
        ));
    }
    exec.effect(Effect::Listing(lines));
}

fn place_row(exec: &Exec, name: char, pos: Pos) -> String {
    let text = printable(exec.lines.line(pos.row).trim_start());
    format!(" {name} {:6} {:4} {text}", pos.row + 1, pos.col)
}

/// Lists the places before jumps (`:jumps`).
pub(super) fn jumps(exec: &mut Exec) {
    let entries: Vec<(i64, Pos)> = exec.vim.marks.jumps.listed().collect();
    places(exec, "jump line  col text", &entries);
}

/// Lists the places of changes (`:changes`).
pub(super) fn changes(exec: &mut Exec) {
    let entries: Vec<(i64, Pos)> = exec.vim.marks.changes.listed().collect();
    places(exec, "change line  col text", &entries);
}

fn places(exec: &mut Exec, heading: &str, entries: &[(i64, Pos)]) {
    let mut lines = vec![heading.to_owned()];
    for (distance, pos) in entries {
        let text = printable(exec.lines.line(pos.row).trim_start());
        let (line, column) = (pos.row + 1, pos.col);
        lines.push(format!("{:4} {line:5} {column:4} {text}", distance.abs()));
    }
    lines.push(">".to_owned());
    exec.effect(Effect::Listing(lines));
}
