//! Converts line endings between working tree and repository, as attributes and settings demand.
//!
//! Limitations: filter programs named by attributes are not run, and `working-tree-encoding` is not
//! supported; such files pass through unchanged.

use std::borrow::Cow;

use git2::AttrValue;

use crate::merge::{TreePath, is_binary};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextAttribute {
    No,
    Yes,
    /// Convert if the content looks like text.
    Auto,
}

/// Line ending conversion of one file.
struct EolConversion {
    text: TextAttribute,
    /// Whether the working tree uses `\r\n`.
    is_crlf_outside: bool,
}

/// Converts working-tree bytes to repository bytes. A file that already has `\r\n` in the
/// repository keeps it, unless attributes mark it as text.
pub(crate) fn to_git<'b>(
    repository: &git2::Repository,
    path: &TreePath,
    bytes: &'b [u8],
    is_crlf_in_git: &dyn Fn() -> bool,
) -> Cow<'b, [u8]> {
    if !has_crlf(bytes) {
        return Cow::Borrowed(bytes);
    }
    let is_changed = match endings(repository, path).text {
        TextAttribute::No => false,
        TextAttribute::Yes => true,
        TextAttribute::Auto => !is_binary(bytes) && !is_crlf_in_git(),
    };
    if is_changed {
        Cow::Owned(without_cr(bytes))
    } else {
        Cow::Borrowed(bytes)
    }
}

/// Converts repository bytes to working-tree bytes.
pub(crate) fn to_worktree<'b>(
    repository: &git2::Repository,
    path: &TreePath,
    bytes: &'b [u8],
) -> Cow<'b, [u8]> {
    let endings = endings(repository, path);
    let is_changed = match endings.text {
        TextAttribute::No => false,
        TextAttribute::Yes => true,
        TextAttribute::Auto => !is_binary(bytes) && !bytes.contains(&b'\r'),
    };
    if !endings.is_crlf_outside || !is_changed {
        return Cow::Borrowed(bytes);
    }
    let mut whole = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    for byte in bytes {
        if *byte == b'\n' && whole.last() != Some(&b'\r') {
            whole.push(b'\r');
        }
        whole.push(*byte);
    }
    Cow::Owned(whole)
}

/// Returns whether a carriage return with a line feed after it occurs.
pub(crate) fn has_crlf(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|two| two == b"\r\n")
}

fn without_cr(bytes: &[u8]) -> Vec<u8> {
    let is_kept = |ix: &usize| bytes[*ix] != b'\r' || bytes.get(ix + 1) != Some(&b'\n');
    (0..bytes.len())
        .filter(is_kept)
        .map(|ix| bytes[ix])
        .collect()
}

fn endings(repository: &git2::Repository, path: &TreePath) -> EolConversion {
    let path = path.to_path();
    let flags = git2::AttrCheckFlags::FILE_THEN_INDEX;
    // libgit2 distinguishes `text` and `-text` by the value's address, so it must not be copied.
    let attribute = |name| repository.get_attr_bytes(&path, name, flags).ok().flatten();
    let (text, eol) = (attribute("text"), attribute("eol"));
    let setting = |name: &str| {
        let config = repository.config().ok()?;
        config.get_string(name).ok().map(|it| it.to_lowercase())
    };
    let autocrlf = setting("core.autocrlf").unwrap_or_default();
    let eol = match AttrValue::from_bytes(eol) {
        AttrValue::String(eol) => Some(eol.to_owned()),
        _ => None,
    };
    let text = match AttrValue::from_bytes(text) {
        AttrValue::True => TextAttribute::Yes,
        AttrValue::False => TextAttribute::No,
        AttrValue::String("auto") => TextAttribute::Auto,
        _ if eol.is_some() => TextAttribute::Yes,
        _ if is_true(&autocrlf) || autocrlf == "input" => TextAttribute::Auto,
        _ => TextAttribute::No,
    };
    let by_setting = || {
        let is_crlf = setting("core.eol").as_deref() == Some("crlf");
        is_true(&autocrlf) || is_crlf && autocrlf != "input"
    };
    EolConversion {
        text,
        is_crlf_outside: eol.map_or_else(by_setting, |eol| eol == "crlf"),
    }
}

/// Returns whether a config value, in lower case, means true.
fn is_true(text: &str) -> bool {
    matches!(text, "true" | "yes" | "on" | "1")
}
