//! Detects the language of a file by its name, its extension, or its first line.
//!
//! Must not know: the disk. The caller passes the first line.

use std::path::Path;
use std::sync::LazyLock;

use crate::definitions::{DEFINITIONS, HIDDEN};
use crate::language::{Language, LanguageEntry};

/// Every language: those of `DEFINITIONS`, then the hidden ones.
static ENTRIES: LazyLock<Vec<LanguageEntry>> = LazyLock::new(|| {
    let definitions = DEFINITIONS.iter().chain(HIDDEN);
    definitions.map(|it| LanguageEntry::new(it)).collect()
});

/// Returns all languages a user can choose, the most common first.
pub fn languages() -> &'static [Language] {
    static LANGUAGES: LazyLock<Vec<Language>> = LazyLock::new(|| {
        let entries = ENTRIES.iter().take(DEFINITIONS.len());
        entries.map(LanguageEntry::language).collect()
    });
    &LANGUAGES
}

/// Returns the language with this name, ignoring case, or with this alias or file extension: `rs`,
/// `c++`. Returns `None` if no language has this name. Hidden languages are left out.
pub fn language_named(name: &str) -> Option<Language> {
    let name = name.trim().to_ascii_lowercase();
    find(|language| {
        let definition = language.definition();
        definition.name.eq_ignore_ascii_case(&name) || definition.aliases.contains(&&*name)
    })
    .or_else(|| find(|language| language.definition().extensions.contains(&&*name)))
}

/// Returns the language of a file: by its name, its extension, or its first line, in this order.
///
/// `first_line` may be empty. `None` means plain text.
pub fn language_for(path: &Path, first_line: &str) -> Option<Language> {
    let name = path.file_name()?.to_string_lossy();
    by_file_name(&name)
        .or_else(|| by_extension(&name))
        .or_else(|| by_first_line(first_line))
}

/// Returns the language named by the label of embedded text, such as the info string of a fence:
/// `markdown_inline`, `rust,ignore`. Hidden languages are included. Returns `None` if the language
/// is unknown.
pub(crate) fn language_embedded(name: &str) -> Option<Language> {
    let name = name.trim().trim_start_matches(['{', '.']);
    let end = name
        .find(|c: char| c.is_whitespace() || ",:;{}".contains(c))
        .unwrap_or(name.len());
    let name = name.get(..end)?;
    if name.is_empty() {
        return None;
    }
    language_named(name).or_else(|| {
        let hidden = ENTRIES.iter().skip(DEFINITIONS.len());
        let mut hidden = hidden.map(LanguageEntry::language);
        hidden.find(|it| it.definition().aliases.contains(&name))
    })
}

/// Returns the first language for which `matches` holds; `None` if there is none. Hidden languages
/// are left out.
fn find(matches: impl Fn(&Language) -> bool) -> Option<Language> {
    languages().iter().copied().find(matches)
}

/// Returns the language of a file with exactly this name, or of a makefile with any extension;
/// `None` for other names.
fn by_file_name(name: &str) -> Option<Language> {
    find(|language| language.definition().files.contains(&name)).or_else(|| {
        // `Makefile.local`, `Dockerfile`-like names: the stem names the language.
        let stem = name.split('.').next()?;
        matches!(stem, "Makefile" | "GNUmakefile" | "makefile").then(|| language_named("make"))?
    })
}

/// Returns the language of the longest known extension of a file name, ignoring case; `None` if
/// none is known.
fn by_extension(name: &str) -> Option<Language> {
    // Extensions of several parts are tried first, as in `jest.config.json5`; then shorter ones.
    let lower = name.to_ascii_lowercase();
    let mut rest = lower.as_str();
    while let Some((_, extension)) = rest.split_once('.') {
        if let Some(found) = find(|language| language.definition().extensions.contains(&extension))
        {
            return Some(found);
        }
        rest = extension;
    }
    None
}

/// Returns the language that the first line indicates: an interpreter after `#!`, the beginning of
/// a document or diff, or a line for editors. Returns `None` if it indicates no known language.
fn by_first_line(line: &str) -> Option<Language> {
    let line = line.trim_start_matches('\u{feff}').trim_end();
    if let Some(command) = line.strip_prefix("#!") {
        return by_interpreter(command);
    }
    let starts =
        |start: &str| line.len() >= start.len() && line[..].to_ascii_lowercase().starts_with(start);
    if starts("<!doctype html") || starts("<html") || starts("<?xml") {
        return language_named("html");
    }
    if line.starts_with("diff --git ") || line.starts_with("--- a/") {
        return language_named("diff");
    }
    by_editor_line(line)
}

/// `/usr/bin/env -S python3.11 -u` names python.
fn by_interpreter(command: &str) -> Option<Language> {
    let mut words = command.split_whitespace();
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words
            .find(|word| !word.starts_with('-') && !word.contains('='))?
            .rsplit('/')
            .next()?;
    }
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    find(|language| {
        let known = language.definition().interpreters;
        known.contains(&program) || known.contains(&bare)
    })
}

/// `-*- mode: ruby -*-` and `vim: ft=ruby`.
fn by_editor_line(line: &str) -> Option<Language> {
    let after = |key: &str| line.split_once(key).map(|(_, rest)| rest.trim_start());
    let value = if line.contains("-*-") {
        after("mode:").or_else(|| after("-*-"))?
    } else if line.contains("vim:") || line.contains("vi:") {
        after("ft=").or_else(|| after("filetype="))?
    } else {
        return None;
    };
    let end = value
        .find(|c: char| c.is_whitespace() || c == ';' || c == ':')
        .unwrap_or(value.len());
    language_named(&value[..end])
}

#[cfg(test)]
mod tests;
