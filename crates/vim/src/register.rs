//! Registers: named, numbered, the small one, and those that mirror other state.
//!
//! A register holds one text for each caret that wrote it. With as many carets, each reads its own; otherwise the texts
//! are joined. Start at `Registers`.

use std::collections::BTreeMap;

/// The shape of a register's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegisterShape {
    /// Part of a line, or of several.
    Chars,
    /// Whole lines.
    Lines,
    /// A block, as wide as a number of cells.
    Block(u32),
}

/// A text with its shape. Lines are separated by line feeds; whole lines end without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegisterText {
    pub(crate) text: String,
    pub(crate) shape: RegisterShape,
}

impl RegisterText {
    pub(crate) fn new(text: impl Into<String>, shape: RegisterShape) -> Self {
        Self {
            text: text.into(),
            shape,
        }
    }

    /// The text of a clipboard: whole lines if it ends with a line end.
    pub(crate) fn from_clipboard(text: &str) -> Self {
        let text = text.replace("\r\n", "\n");
        match text.strip_suffix('\n') {
            Some(lines) => Self::new(lines, RegisterShape::Lines),
            None => Self::new(text, RegisterShape::Chars),
        }
    }

    /// The text for a clipboard, a prompt or a macro: whole lines end with a line feed.
    pub(crate) fn flat(&self) -> String {
        match self.shape {
            RegisterShape::Lines => format!("{}\n", self.text),
            RegisterShape::Chars | RegisterShape::Block(_) => self.text.clone(),
        }
    }

    /// Appends a text as `"A` does: lines turn the whole into lines.
    fn append(&mut self, other: &RegisterText) {
        if other.shape == RegisterShape::Lines {
            self.shape = RegisterShape::Lines;
        }
        if self.shape != RegisterShape::Chars {
            self.text.push('\n');
        }
        self.text.push_str(&other.text);
    }
}

/// The caret that reads or writes a register, among all carets of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CaretSlot {
    pub(crate) ix: usize,
    pub(crate) count: usize,
}

/// The texts of one register.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Register {
    slots: Vec<RegisterText>,
}

impl Register {
    fn write(&mut self, slot: CaretSlot, text: RegisterText) {
        if slot.ix == 0 {
            self.slots.clear();
        }
        self.slots.push(text);
    }

    fn append(&mut self, slot: CaretSlot, text: RegisterText) {
        match self.slots.get_mut(slot.ix) {
            Some(own) => own.append(&text),
            None => self.slots.push(text),
        }
    }

    fn read(&self, slot: CaretSlot) -> Option<RegisterText> {
        if self.slots.len() == slot.count {
            return self.slots.get(slot.ix).cloned();
        }
        let mut slots = self.slots.iter();
        let mut joined = slots.next()?.clone();
        for other in slots {
            if other.shape == RegisterShape::Lines {
                joined.shape = RegisterShape::Lines;
            }
            joined.text.push('\n');
            joined.text.push_str(&other.text);
        }
        Some(joined)
    }
}

/// A use of a register that the host's clipboards back.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mirrored {
    /// The text as the clipboard got it; another one there replaces the register.
    flat: String,
    register: Register,
}

/// All registers except those of the clipboards' owners, the file names and expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    /// By name: `a` to `z`, `0` to `9`, `-`.
    texts: BTreeMap<char, Register>,
    /// The register that the unnamed one means.
    unnamed: Option<char>,
    mirrored: BTreeMap<char, Mirrored>,
    /// The last inserted text, `.`.
    pub(crate) inserted: String,
    /// The last command line, `:`.
    pub(crate) command: String,
}

/// Whether a register can be written by a yank or a deletion.
pub(crate) fn is_writable(name: char) -> bool {
    name.is_ascii_alphanumeric() || matches!(name, '"' | '-' | '_' | '*' | '+')
}

/// Whether a name is that of a register.
pub(crate) fn is_register(name: char) -> bool {
    is_writable(name) || matches!(name, '.' | ':' | '%' | '#' | '/' | '=')
}

impl Registers {
    /// Writes a register, appending for an upper-case name, and makes it the unnamed one.
    pub(crate) fn write(&mut self, name: char, slot: CaretSlot, text: RegisterText) {
        let lower = name.to_ascii_lowercase();
        let register = self.texts.entry(lower).or_default();
        if name.is_ascii_uppercase() {
            register.append(slot, text);
        } else {
            register.write(slot, text);
        }
        self.unnamed = Some(lower);
    }

    /// Writes a register without making it the unnamed one, as recording a macro does.
    pub(crate) fn write_aside(&mut self, name: char, text: RegisterText) {
        let unnamed = self.unnamed;
        self.write(name, CaretSlot { ix: 0, count: 1 }, text);
        self.unnamed = unnamed;
    }

    /// Writes deleted text to the register 1; the first caret moves its content to 2, and so on.
    pub(crate) fn write_numbered(&mut self, slot: CaretSlot, text: RegisterText) {
        if slot.ix == 0 {
            for number in ('1'..='8').rev() {
                let next = char::from(number as u8 + 1);
                if let Some(register) = self.texts.remove(&number) {
                    self.texts.insert(next, register);
                }
            }
        }
        self.write('1', slot, text);
    }

    /// Reads a register that holds a text.
    pub(crate) fn read(&self, name: char, slot: CaretSlot) -> Option<RegisterText> {
        let name = match name {
            '"' => self.unnamed?,
            _ => name.to_ascii_lowercase(),
        };
        match self.mirrored.get(&name) {
            Some(mirrored) => mirrored.register.read(slot),
            None => self.texts.get(&name)?.read(slot),
        }
    }

    /// Reads a register of a clipboard, whose text is now `flat`.
    pub(crate) fn read_mirrored(&self, name: char, slot: CaretSlot, flat: &str) -> RegisterText {
        let own = self.mirrored.get(&name).filter(|own| own.flat == flat);
        own.and_then(|own| own.register.read(slot))
            .unwrap_or_else(|| RegisterText::from_clipboard(flat))
    }

    /// Writes a register of a clipboard, and returns the text for the clipboard.
    pub(crate) fn write_mirrored(
        &mut self,
        name: char,
        slot: CaretSlot,
        text: RegisterText,
    ) -> String {
        let empty = Mirrored {
            flat: String::new(),
            register: Register::default(),
        };
        let mirrored = self.mirrored.entry(name).or_insert(empty);
        mirrored.register.write(slot, text);
        let all = CaretSlot { ix: 0, count: 0 };
        let joined = mirrored.register.read(all);
        mirrored.flat = joined.map(|text| text.flat()).unwrap_or_default();
        self.unnamed = Some(name);
        self.mirrored[&name].flat.clone()
    }

    /// Makes the unnamed register mean another.
    pub(crate) fn point_unnamed(&mut self, name: char) {
        self.unnamed = Some(name);
    }

    /// The register that the unnamed one means.
    pub(crate) fn unnamed(&self) -> Option<char> {
        self.unnamed
    }

    /// All registers with a text, by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (char, RegisterText)> + '_ {
        let all = CaretSlot { ix: 0, count: 1 };
        let texts = self.texts.iter();
        texts.filter_map(move |(name, register)| Some((*name, register.read(all)?)))
    }
}

#[cfg(test)]
mod tests;
