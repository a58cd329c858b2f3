//! Prepares a file for the index: its chunks, and the words and the vector of each.
//!
//! Pure. A chunk's embedding covers the path's words, the enclosing names, the symbol and the code;
//! its word counts cover the words of the code and, once more, those of the path.

mod counter;

use std::path::Path;

use crate::chunk::{CodeChunk, chunks};
use crate::embedding::{EmbeddingTable, MAX_WORDS, TokenList, Vector};
use crate::record::{Blob, RecordDraft};
use counter::Counter;

/// Prefix of a term that is a definition's name, in its original case.
pub(crate) const DEFINES: char = '\u{1}';
/// Prefix of a term that is the stem of the file's name, in lower case without `_`.
pub(crate) const STEM: char = '\u{2}';

/// Chunks and embeds a file and returns its encoded record, with chunk numbers yet to be set.
/// `blob` is the id of its content; `path` is relative, with `/`.
pub(crate) fn prepare(blob: Blob, path: &str, text: &str, table: &EmbeddingTable) -> Vec<u8> {
    let first_line = text.lines().next().unwrap_or_default();
    let language = syntax::language_for(Path::new(path), first_line);
    let chunks = chunks(text, language);
    let place = PathParts::of(path);
    let vocabulary = table.vocabulary();
    let mut words = Counter::new(vocabulary);
    let mut lengths = Vec::with_capacity(chunks.len());
    let mut vectors: Vec<Vector> = Vec::with_capacity(chunks.len());
    let mut head = String::new();
    for (ix, chunk) in chunks.iter().enumerate() {
        let code = text.get(chunk.span.clone()).unwrap_or_default();
        head.clear();
        put_head(&mut head, chunk, &place);
        let mut tokens = TokenList::default();
        let word_count = vocabulary.each_token(&head, MAX_WORDS, |token| tokens.push(token));
        let embedded = (&mut tokens, word_count);
        lengths.push(words.chunk(ix as u32, chunk, code, &place, embedded));
        vectors.push(table.encode_tokens(tokens));
    }
    RecordDraft {
        blob,
        path,
        text: text.len(),
        chunks: &chunks,
        vectors: &vectors,
        lengths: &lengths,
        hands_on: only_reexports(path, text),
        words: &words.finish(),
    }
    .encode()
}

/// The parts of a path that carry meaning for ranking: the stem of the file's name and the last
/// three folders.
pub(crate) struct PathParts<'a> {
    pub(crate) stem: &'a str,
    /// The last three folders, outermost first.
    pub(crate) folders: Vec<&'a str>,
}

impl<'a> PathParts<'a> {
    /// Splits a relative path with `/`. The stem is the part of the name before the first dot,
    /// ignoring a dot at the start of the name.
    pub(crate) fn of(path: &'a str) -> Self {
        let mut parts: Vec<&str> = path.split('/').collect();
        let name = parts.pop().unwrap_or_default();
        let stem = name
            .split('.')
            .find(|part| !part.is_empty())
            .unwrap_or(name);
        let folders = parts.split_off(parts.len().saturating_sub(3));
        Self { stem, folders }
    }

    /// Returns the names of the file and of its folder, without extensions: a `mod.rs` or the like
    /// is named after its folder. The folder's name is empty if there is no folder.
    pub(crate) fn names(&self) -> (&'a str, &'a str) {
        let mut folders = self.folders.iter().rev().copied();
        let mut next = || folders.next().unwrap_or_default();
        match self.stem {
            "mod" | "index" | "__init__" | "lib" | "main" if !self.folders.is_empty() => {
                (next(), next())
            }
            stem => (stem, next()),
        }
    }
}

/// Normalizes a name: without case, `_`, `-` and a plural ending.
pub(crate) fn plain_name(name: &str) -> String {
    let mut plain: String = name
        .chars()
        .filter(|letter| !matches!(letter, '_' | '-'))
        .flat_map(char::to_lowercase)
        .collect();
    if plain.len() > 3 && plain.ends_with('s') && !plain.ends_with("ss") {
        plain.pop();
    }
    plain
}

/// Appends the text that is embedded before a chunk's code.
fn put_head(into: &mut String, chunk: &CodeChunk, place: &PathParts<'_>) {
    let mut add = |text: &str| {
        into.push_str(text);
        into.push(' ');
    };
    place.folders.iter().for_each(|folder| add(folder));
    add(place.stem);
    chunk.around.iter().for_each(|name| add(name));
    if let Some(symbol) = &chunk.symbol {
        add(symbol);
    }
    add(&chunk.doc);
}

/// Returns whether a file only re-exports other definitions, as a pure `mod.rs` or `index.ts` does.
fn only_reexports(path: &str, text: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let starts: &[&str] = match name {
        "package-info.java" => return true,
        "mod.rs" | "lib.rs" => &["use ", "pub ", "mod ", "extern "],
        "index.ts" | "index.js" | "index.tsx" | "index.mjs" => &["export ", "import "],
        "__init__.py" => &["from ", "import ", "__all__", "__version__"],
        _ => return false,
    };
    let mut depth = 0_i32;
    let mut is_doc = false;
    for line in text.lines() {
        let trimmed = line.trim();
        let quotes = trimmed.matches("\"\"\"").count();
        let was_doc = is_doc || quotes > 0;
        is_doc ^= quotes % 2 == 1;
        let is_comment = ["//", "#", "/*", "*"]
            .iter()
            .any(|mark| trimmed.starts_with(mark));
        if was_doc || trimmed.is_empty() || is_comment {
            continue;
        }
        let is_known = starts.iter().any(|start| trimmed.starts_with(start));
        let defines = [
            "fn ",
            "struct ",
            "enum ",
            "trait ",
            "function ",
            "class ",
            "=>",
            "const fn",
        ]
        .iter()
        .any(|word| trimmed.contains(word));
        if depth == 0 && (!is_known || defines) {
            return false;
        }
        let opened = trimmed.matches(['{', '(', '[']).count() as i32;
        depth += opened - trimmed.matches(['}', ')', ']']).count() as i32;
    }
    true
}

#[cfg(test)]
mod tests;
