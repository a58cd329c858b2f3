//! Converts the bytes of the working tree to those that git stores, as `git add` does: encoding,
//! line endings and `$Id$`.
//!
//! libgit2's own filters are not used: they know no `working-tree-encoding`, replace only the first
//! `$Id$` and treat a lone carriage return in the index as `\r\n`.
//! Invariant: a file whose filter is a program is refused, never stored unfiltered.

mod encoding;
mod line_ends;

use std::borrow::Cow;

use crate::attributes::Attribute;
use crate::capabilities::GitFeature;
use crate::merge::TreePath;
use crate::repository::Repository;
use line_ends::{LineConversion, TextStats, without_cr};

/// The bytes that git stores for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cleaned {
    /// The bytes to store.
    pub(crate) bytes: Vec<u8>,
    /// Whether `\r\n` of the working tree became `\n`.
    pub(crate) drops_cr: bool,
}

/// Reason why a file cannot be converted in process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CleanError {
    /// The conversion needs the git program.
    Program(GitFeature),
    /// The bytes are not valid in the encoding that the attribute names.
    Undecodable(String),
}

impl Repository {
    /// Converts the content of the file at `path` to the bytes that git stores. `in_index` returns
    /// the blob that the index holds for it: a text with `\r\n` there keeps it, unless attributes
    /// mark it as text.
    pub(crate) fn clean(
        &self,
        path: &TreePath,
        raw: &[u8],
        in_index: &dyn Fn() -> Option<Vec<u8>>,
    ) -> Result<Cleaned, CleanError> {
        let relative = path.to_path();
        if let Some(filter) = self.filter_of(&relative) {
            return Err(CleanError::Program(GitFeature::FilterProgram(filter)));
        }
        let mut bytes = Cow::Borrowed(raw);
        if let Attribute::Named(name) = self.attribute(&relative, "working-tree-encoding") {
            bytes = encoding::to_utf8(&name, raw)?;
        }
        let drops_cr = drops_cr(self, path, &bytes, in_index)?;
        if drops_cr {
            bytes = Cow::Owned(without_cr(&bytes));
        }
        if self.attribute(&relative, "ident") == Attribute::True
            && let Some(text) = without_ident(&bytes)
        {
            bytes = Cow::Owned(text);
        }
        Ok(Cleaned {
            bytes: bytes.into_owned(),
            drops_cr,
        })
    }
}

/// Returns whether git stores `\n` for the `\r\n` in these bytes.
fn drops_cr(
    repository: &Repository,
    path: &TreePath,
    bytes: &[u8],
    in_index: &dyn Fn() -> Option<Vec<u8>>,
) -> Result<bool, CleanError> {
    let conversion = line_ends::conversion(repository, &path.to_path());
    if conversion == LineConversion::Never || bytes.is_empty() {
        return Ok(false);
    }
    let stats = TextStats::of(bytes);
    if conversion == LineConversion::IfText && stats.is_binary() {
        return Ok(false);
    }
    if line_ends::refuses_unsafe(repository) {
        return Err(CleanError::Program(GitFeature::SafeLineEnds));
    }
    if stats.crlf == 0 {
        return Ok(false);
    }
    if conversion == LineConversion::IfText
        && in_index().is_some_and(|blob| line_ends::is_crlf_text(&blob))
    {
        return Ok(false);
    }
    Ok(true)
}

/// Returns the text with `$Id: …$` replaced by `$Id$`; `None` if there is none.
fn without_ident(bytes: &[u8]) -> Option<Vec<u8>> {
    const OPENING: &[u8] = b"Id:";
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    let mut is_changed = false;
    let dollar = |bytes: &[u8]| bytes.iter().position(|byte| *byte == b'$');
    while let Some(at) = dollar(rest) {
        text.extend_from_slice(&rest[..=at]);
        rest = &rest[at + 1..];
        let Some(value) = rest.strip_prefix(OPENING) else {
            continue;
        };
        let Some(end) = dollar(value) else {
            break;
        };
        // A keyword does not span lines.
        if !value[..end].contains(&b'\n') {
            text.extend_from_slice(b"Id$");
            rest = &value[end + 1..];
            is_changed = true;
        }
    }
    text.extend_from_slice(rest);
    is_changed.then_some(text)
}

#[cfg(test)]
mod tests;
