//! Registers with what backs them: clipboards, file names, the last search.

use super::exec::Exec;
use super::region::{Region, RegionShape};
use crate::error::{Done, Error};
use crate::host::{ClipboardKind, FileName};
use crate::register::{self, RegisterShape, RegisterText};

fn clipboard_of(name: char) -> Option<ClipboardKind> {
    match name {
        '+' => Some(ClipboardKind::Clipboard),
        '*' => Some(ClipboardKind::Primary),
        _ => None,
    }
}

impl Exec<'_> {
    /// The register of a command: the typed one, or the clipboard if the option says so.
    fn register_or_default(&self, name: Option<char>) -> Option<char> {
        let default = self.globals.options.unnamed_clipboard.then_some('+');
        match name {
            Some('"') | None => name.filter(|_| default.is_none()).or(default),
            named => named,
        }
    }

    /// Reads a register. Fails for an empty one.
    pub(super) fn read_register(&mut self, name: Option<char>) -> Done<RegisterText> {
        let name = self.register_or_default(name).unwrap_or('"');
        let slot = self.slot();
        if let Some(kind) = clipboard_of(name) {
            let flat = self
                .host
                .clipboard(kind)
                .ok_or(Error::EmptyRegister(name))?;
            return Ok(self.globals.registers.read_mirrored(name, slot, &flat));
        }
        let chars = |text: String| RegisterText::new(text, RegisterShape::Chars);
        let read_only = match name {
            '.' => Some(self.globals.registers.inserted.clone()),
            ':' => Some(self.globals.registers.command.clone()),
            '/' => self.globals.search.pattern.clone(),
            '%' => self.host.file_name(FileName::Current),
            '#' => self.host.file_name(FileName::Alternate),
            '=' => {
                return Err(Error::Unsupported(
                    "the register = is not supported".to_owned(),
                ));
            }
            _ => {
                let found = self.globals.registers.read(name, slot);
                return found.ok_or(Error::EmptyRegister(name));
            }
        };
        let text = read_only.filter(|text| !text.is_empty());
        text.map(chars).ok_or(Error::EmptyRegister(name))
    }

    /// Stores yanked text.
    pub(super) fn store_yanked(&mut self, name: Option<char>, text: RegisterText) -> Done {
        match self.checked_register(name)? {
            Some('_') => {}
            Some(name) => self.write_register(name, text),
            None => {
                let slot = self.slot();
                self.globals.registers.write('0', slot, text);
            }
        }
        Ok(())
    }

    /// Stores deleted text: in the register, and in the numbered ones or the small one.
    pub(super) fn store_deleted(
        &mut self,
        name: Option<char>,
        region: &Region,
        text: RegisterText,
    ) -> Done {
        let name = self.checked_register(name)?;
        if name == Some('_') {
            return Ok(());
        }
        let slot = self.slot();
        let is_lines = region.shape == RegionShape::Lines;
        let is_long = is_lines || region.rows() > 1;
        if let Some(name) = name {
            self.write_register(name, text.clone());
        }
        if is_long || region.uses_first_register {
            self.globals.registers.write_numbered(slot, text.clone());
            if let Some(name) = name.filter(char::is_ascii_uppercase) {
                self.globals
                    .registers
                    .point_unnamed(name.to_ascii_lowercase());
            }
        }
        if name.is_none() && !is_long {
            self.globals.registers.write('-', slot, text);
        }
        Ok(())
    }

    fn checked_register(&self, name: Option<char>) -> Done<Option<char>> {
        let name = self.register_or_default(name).filter(|name| *name != '"');
        match name {
            Some(name) if !register::is_writable(name) => Err(Error::InvalidRegister(name)),
            name => Ok(name),
        }
    }

    fn write_register(&mut self, name: char, text: RegisterText) {
        let slot = self.slot();
        match clipboard_of(name) {
            Some(kind) => {
                let flat = self.globals.registers.write_mirrored(name, slot, text);
                self.host.set_clipboard(kind, &flat);
            }
            None => self.globals.registers.write(name, slot, text),
        }
    }
}
