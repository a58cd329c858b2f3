//! Line endings between the working tree and the objects, by git's rules.

use std::path::Path;

use crate::attributes::Attribute;
use crate::repository::Repository;

/// The condition under which git stores `\n` for `\r\n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineConversion {
    /// The path is binary, or no setting asks for a conversion.
    Never,
    /// Attributes mark the path as text.
    Always,
    /// The content decides.
    IfText,
}

/// Counts of the bytes that decide whether a content is text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextStats {
    /// Occurrences of `\r\n`.
    pub(super) crlf: usize,
    lone_cr: usize,
    nul: usize,
    printable: usize,
    unprintable: usize,
}

impl TextStats {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut stats = Self::default();
        let mut bytes = bytes.iter().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\r' if bytes.next_if_eq(&&b'\n').is_some() => stats.crlf += 1,
                b'\r' => stats.lone_cr += 1,
                b'\n' => {}
                0 => {
                    stats.nul += 1;
                    stats.unprintable += 1;
                }
                // An end-of-file mark of DOS counts for nothing.
                0x1a if bytes.peek().is_none() => {}
                // Backspace, tab, form feed and escape occur in texts.
                8 | b'\t' | 12 | 27 => stats.printable += 1,
                _ if *byte < 32 || *byte == 127 => stats.unprintable += 1,
                _ => stats.printable += 1,
            }
        }
        stats
    }

    /// Returns whether git converts no line endings of such a content on its own.
    pub(super) fn is_binary(&self) -> bool {
        self.lone_cr > 0 || self.nul > 0 || self.printable / 128 < self.unprintable
    }
}

/// Returns whether a content is text with `\r\n`.
pub(super) fn is_crlf_text(bytes: &[u8]) -> bool {
    let stats = TextStats::of(bytes);
    stats.crlf > 0 && !stats.is_binary()
}

/// Returns the text with `\n` for `\r\n`.
pub(super) fn without_cr(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut bytes = bytes.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\r' || bytes.peek() != Some(&b'\n') {
            text.push(byte);
        }
    }
    text
}

/// Returns how git converts the line endings of a path when it stores the file.
pub(super) fn conversion(repository: &Repository, relative: &Path) -> LineConversion {
    let by_attribute = |name| match repository.attribute(relative, name) {
        Attribute::True => Some(LineConversion::Always),
        Attribute::False => Some(LineConversion::Never),
        Attribute::Named(value) if value == "auto" => Some(LineConversion::IfText),
        Attribute::Named(value) if value == "input" => Some(LineConversion::Always),
        Attribute::Named(_) | Attribute::Unspecified => None,
    };
    if let Some(conversion) = by_attribute("text").or_else(|| by_attribute("crlf")) {
        return conversion;
    }
    match repository.attribute(relative, "eol") {
        Attribute::Named(eol) if eol == "lf" || eol == "crlf" => LineConversion::Always,
        _ if converts_by_setting(repository) => LineConversion::IfText,
        _ => LineConversion::Never,
    }
}

/// Returns whether `core.autocrlf` is `true` or `input`.
fn converts_by_setting(repository: &Repository) -> bool {
    let Ok(config) = repository.inner.config() else {
        return false;
    };
    let is_input = config
        .get_string("core.autocrlf")
        .is_ok_and(|value| value.eq_ignore_ascii_case("input"));
    is_input || config.get_bool("core.autocrlf").unwrap_or(false)
}

/// Returns whether git refuses to store a file whose line endings a checkout would not restore
/// (`core.safecrlf`).
pub(super) fn refuses_unsafe(repository: &Repository) -> bool {
    let config = repository.inner.config();
    config.is_ok_and(|config| config.get_bool("core.safecrlf").unwrap_or(false))
}
