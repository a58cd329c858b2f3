//! Distinguishes paths that make a host's tools run code from those that merely could.
//!
//! A repository that an agent creates for its own tests is work. It becomes a trap through its
//! content: a hook, or a configuration that names a program. Configurations are compared with a
//! list of harmless keys, so that any key that git learns to run later counts as armed.

use std::ops::Bound;
use std::path::Path;

use super::{FindingKind, MarkState, Marks, ScanMark};
use crate::names::NameClass;

/// Configuration keys that run nothing, whatever their value. Subsection names are written as `*`.
/// Keys that make git fetch on its own are not included.
const HARMLESS: &[&str] = &[
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "core.abbrev",
    "core.quotepath",
    "core.compression",
    "core.longpaths",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "extensions.objectformat",
    "extensions.refstorage",
    "extensions.worktreeconfig",
    "init.defaultbranch",
    "user.name",
    "user.email",
    "branch.*.remote",
    "branch.*.merge",
    "branch.*.rebase",
    "branch.autosetuprebase",
    "branch.autosetupmerge",
    "remote.*.fetch",
    "remote.*.push",
    "remote.*.mirror",
    "remote.*.tagopt",
    "pull.rebase",
    "pull.ff",
    "push.default",
    "push.autosetupremote",
    "fetch.prune",
    "merge.conflictstyle",
    "diff.renames",
    "diff.algorithm",
    "rerere.enabled",
    "gc.auto",
    "gc.autodetach",
    "maintenance.auto",
    "index.version",
    "advice.*",
    "color.ui",
];

/// Keys that run nothing if their value is a plain location.
const ADDRESSES: &[&str] = &["remote.*.url", "remote.*.pushurl"];

/// Files of a git folder that locate further objects, and run nothing.
const OBJECTS: &[&str] = &[
    "objects/info/alternates",
    "objects/info/http-alternates",
    "info/grafts",
    "shallow",
];

/// Returns whether a mark, or one beneath it, makes a tool run code.
pub(super) fn is_armed(path: &Path, mark: &ScanMark, marks: &Marks) -> bool {
    match mark.kind {
        FindingKind::Name(name) => name.class == NameClass::Closed,
        FindingKind::Hook
        | FindingKind::Pointer
        | FindingKind::Program
        | FindingKind::Irregular => true,
        FindingKind::Config => match &mark.state {
            MarkState::File(content) => !is_plain(&content.bytes),
            MarkState::Present
            | MarkState::Bytes(_)
            | MarkState::Link(_)
            | MarkState::Identity(_) => true,
        },
        FindingKind::Layout => !OBJECTS.iter().any(|end| path.ends_with(end)),
        // A workspace that looks like a git folder is one, which is never intended.
        FindingKind::Repository if path == Path::new("HEAD") => true,
        FindingKind::Repository => {
            beneath(path, marks).any(|(path, mark)| is_armed(path, mark, marks))
        }
        FindingKind::Drivers
        | FindingKind::Package
        | FindingKind::Gitlink
        | FindingKind::Rebase
        | FindingKind::LinkOut
        | FindingKind::Unreadable => false,
    }
}

/// Returns the marks below a path, without that of the path itself.
fn beneath<'a>(
    path: &'a Path,
    marks: &'a Marks,
) -> impl Iterator<Item = (&'a std::path::PathBuf, &'a ScanMark)> {
    let range = (Bound::Excluded(path), Bound::Unbounded);
    let rest = marks.range::<Path, _>(range);
    rest.take_while(move |(inner, _)| inner.starts_with(path))
}

/// Returns whether a configuration runs nothing. Syntax that is not understood counts as armed.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let mut section = String::new();
    text.split('\n').all(|line| {
        let line = line.trim_matches([' ', '\t', '\r']);
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let named = rest.strip_suffix(']').and_then(name);
            section = named.unwrap_or_default();
            return !section.is_empty();
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        is_harmless(&section, key.trim_end(), value.trim_start())
    })
}

/// Converts a header to its prefix: `remote.*.` for `remote "origin"`, `core.` for `core`; returns
/// `None` for any other form.
fn name(header: &str) -> Option<String> {
    let (section, more) = match header.split_once(' ') {
        None => (header, "."),
        Some((section, quoted)) => {
            let inner = quoted.trim().strip_prefix('"')?.strip_suffix('"')?;
            // An escape, or an early closing quote.
            if inner.contains(['"', '\\', ']', '[']) {
                return None;
            }
            (section, ".*.")
        }
    };
    is_word(section).then(|| section.to_ascii_lowercase() + more)
}

/// Returns whether a text is not empty and consists of ASCII letters, digits and `-`.
fn is_word(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !text.is_empty() && text.bytes().all(is_letter)
}

/// Returns whether an assignment runs nothing. `section` is the prefix that `name` returns; an
/// empty one, an unknown key and a value with quotes or escapes give false.
fn is_harmless(section: &str, key: &str, value: &str) -> bool {
    if section.is_empty() || !is_word(key) || value.contains(['\\', '\0', '"', '\r']) {
        return false;
    }
    let key = key.to_ascii_lowercase();
    let whole = format!("{section}{key}");
    let is_known = |known: &&str| {
        let known = known
            .strip_suffix('*')
            .map(|start| whole.starts_with(start));
        known.unwrap_or(false)
    };
    if HARMLESS.contains(&whole.as_str()) || HARMLESS.iter().any(is_known) {
        return true;
    }
    // `ext::` and similar prefixes name programs, and a leading dash makes an option.
    ADDRESSES.contains(&whole.as_str()) && !value.starts_with('-') && !value.contains("::")
}

#[cfg(test)]
mod tests;
