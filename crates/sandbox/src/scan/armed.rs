//! What makes a host's tools run something as it is, told from what merely could.
//!
//! A repository that an agent makes for its own tests is work. It turns into a trap by what it says: a hook, or a
//! configuration that names a program. Configurations are held against a list of what is harmless, so that whatever git
//! learns to run later counts as armed here.

use std::ops::Bound;
use std::path::Path;

use super::{Mark, Marks, State, Way};
use crate::names::Guard;

/// What in a configuration runs nothing, whatever its value. Sections with a name in quotes are written with `*`. What
/// has git fetch by itself is not among them.
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

/// The same, where the value names nothing but a place.
const ADDRESSES: &[&str] = &["remote.*.url", "remote.*.pushurl"];

/// In a git folder: where more objects lie, which run nothing.
const OBJECTS: &[&str] = &[
    "objects/info/alternates",
    "objects/info/http-alternates",
    "info/grafts",
    "shallow",
];

/// Whether a mark makes a tool run something, with all that lies beneath it.
pub(super) fn is_armed(path: &Path, mark: &Mark, marks: &Marks) -> bool {
    match mark.way {
        Way::Name(name) => name.guard == Guard::Closed,
        Way::Hook | Way::Pointer | Way::Program | Way::Irregular => true,
        Way::Config => match &mark.state {
            State::File(content) => !is_plain(&content.bytes),
            State::There | State::Holds(_) | State::Link(_) | State::Is(_) => true,
        },
        Way::Layout => !OBJECTS.iter().any(|end| path.ends_with(end)),
        // A workspace that looks like a git folder is one, and nobody meant it to be.
        Way::Repository if path == Path::new("HEAD") => true,
        Way::Repository => beneath(path, marks).any(|(path, mark)| is_armed(path, mark, marks)),
        Way::Drivers | Way::Package | Way::Gitlink | Way::Rebase | Way::LinkOut | Way::Unseen => {
            false
        }
    }
}

fn beneath<'a>(
    path: &'a Path,
    marks: &'a Marks,
) -> impl Iterator<Item = (&'a std::path::PathBuf, &'a Mark)> {
    let range = (Bound::Excluded(path), Bound::Unbounded);
    let rest = marks.range::<Path, _>(range);
    rest.take_while(move |(inner, _)| inner.starts_with(path))
}

/// Whether a configuration runs nothing. What is not understood does.
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

/// `remote.*.` of `remote "origin"`, `core.` of `core`; `None` where it is written in any other way.
fn name(header: &str) -> Option<String> {
    let (section, more) = match header.split_once(' ') {
        None => (header, "."),
        Some((section, quoted)) => {
            let inner = quoted.trim().strip_prefix('"')?.strip_suffix('"')?;
            // An escape, or a quote that ends early.
            if inner.contains(['"', '\\', ']', '[']) {
                return None;
            }
            (section, ".*.")
        }
    };
    is_word(section).then(|| section.to_ascii_lowercase() + more)
}

fn is_word(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !text.is_empty() && text.bytes().all(is_letter)
}

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
    // `ext::` and its like name programs, and so does what looks like an option.
    ADDRESSES.contains(&whole.as_str()) && !value.starts_with('-') && !value.contains("::")
}

#[cfg(test)]
mod tests;
