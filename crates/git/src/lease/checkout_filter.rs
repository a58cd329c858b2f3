//! Converts blobs to the content of a checkout: line endings as attributes and config demand,
//! nothing else.
//!
//! Runs no program: content with a filter driver stays as committed.

use std::path::{Path, PathBuf};

use base::AbsPath;
use git2::{AttrCheckFlags, AttrValue, Index, Oid, Repository};

use super::main_repo::{MainRepo, as_path};
use super::{CommitContents, CommitFile, Error};

/// Reads the files of one tree. Use one per thread.
pub struct BlobReader {
    repository: Repository,
    path: PathBuf,
    /// If `false`, attributes are not looked up.
    changes_line_ends: bool,
    /// Line ending of files marked as text without an explicit `eol`.
    config: EolStyle,
    /// Whether files without attributes are converted (`core.autocrlf`).
    is_auto: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EolStyle {
    Lf,
    Crlf,
}

impl BlobReader {
    /// Opens a reader for the files of `tree` in the repository that contains `main_repo`.
    pub fn open(main_repo: &AbsPath, tree: &str) -> Result<Self, Error> {
        let main_repo = MainRepo::open(main_repo)?;
        let path = main_repo.workdir().as_path().to_path_buf();
        let failed = |error: git2::Error| Error::new("read", &path, &error);
        let id = Oid::from_str(tree).map_err(failed)?;
        let repository = main_repo.repository;
        // Attributes come from the tree itself, not from the files that are checked out at the
        // moment.
        let mut index = Index::new().map_err(failed)?;
        let mut has_attributes = repository.commondir().join("info/attributes").exists();
        {
            let tree = repository.find_tree(id).map_err(failed)?;
            index.read_tree(&tree).map_err(failed)?;
            has_attributes |= index
                .iter()
                .any(|entry| entry.path.ends_with(b".gitattributes"));
        }
        let config = repository.config().map_err(failed)?;
        let autocrlf = config.get_string("core.autocrlf").unwrap_or_default();
        let eol = config.get_string("core.eol").unwrap_or_default();
        let is_auto_crlf = autocrlf.eq_ignore_ascii_case("true");
        has_attributes |= config.get_string("core.attributesfile").is_ok();
        drop(config);
        repository.set_index(&mut index).map_err(failed)?;
        Ok(Self {
            repository,
            changes_line_ends: has_attributes || is_auto_crlf,
            config: if is_auto_crlf || (eol.eq_ignore_ascii_case("crlf") && autocrlf != "input") {
                EolStyle::Crlf
            } else {
                EolStyle::Lf
            },
            is_auto: is_auto_crlf,
            path,
        })
    }

    /// Returns whether the line endings of any file may differ from the committed ones.
    pub fn changes_line_ends(&self) -> bool {
        self.changes_line_ends
    }

    /// Returns a comparable description of everything that affects conversion: if it is equal,
    /// equal blobs yield equal files.
    pub fn fingerprint(&self, contents: &CommitContents) -> String {
        if !self.changes_line_ends {
            return "as committed".to_owned();
        }
        let ends = match self.config {
            EolStyle::Lf => "lf",
            EolStyle::Crlf => "crlf",
        };
        let mut words = format!("{ends} {}", self.is_auto);
        let attributes = contents.files.iter();
        for file in attributes.filter(|file| file.path.ends_with(b".gitattributes")) {
            words.push_str(&format!(
                " {}:{}",
                String::from_utf8_lossy(&file.path),
                file.id
            ));
        }
        words
    }

    /// Returns the content of a file as checked out; for a symlink, its target.
    pub fn read(&self, file: &CommitFile) -> Result<Vec<u8>, Error> {
        let name = || String::from_utf8_lossy(&file.path).into_owned();
        let id = Oid::from_str(&file.id).map_err(|error| Error::new("read", &self.path, &error))?;
        let blob = self.repository.find_blob(id).map_err(|error| {
            if error.code() == git2::ErrorCode::NotFound {
                Error::Missing(name())
            } else {
                Error::new("read a file of", &self.path, &error)
            }
        })?;
        let content = blob.content().to_vec();
        if !self.changes_line_ends || file.mode == 0o120000 {
            return Ok(content);
        }
        Ok(self.convert_line_endings(as_path(&file.path), content))
    }

    fn convert_line_endings(&self, path: &Path, content: Vec<u8>) -> Vec<u8> {
        let text = self.attribute(path, "text");
        let crlf = self.attribute(path, "crlf");
        let eol = self.attribute(path, "eol");
        let (is_text, is_guess) = match (
            AttributeState::of(&text),
            AttributeState::of(&crlf),
            eol.as_deref(),
        ) {
            (AttributeState::No, _, _) => (false, false),
            (AttributeState::Yes, _, _) | (AttributeState::Unspecified, _, Some("crlf" | "lf")) => {
                (true, false)
            }
            (AttributeState::Auto, _, _) => (true, true),
            (AttributeState::Unspecified, AttributeState::No, _) => (false, false),
            (AttributeState::Unspecified, AttributeState::Yes, _) => (true, false),
            (
                AttributeState::Unspecified,
                AttributeState::Auto | AttributeState::Unspecified,
                _,
            ) => (self.is_auto, true),
        };
        let ends = match eol.as_deref() {
            Some("crlf") => EolStyle::Crlf,
            Some("lf") => EolStyle::Lf,
            _ => self.config,
        };
        // Automatic conversion must be certain: like git, leave text alone that already contains a
        // carriage return.
        let is_sure = !is_guess || !(content.contains(&b'\r') || looks_binary(&content));
        if is_text && ends == EolStyle::Crlf && is_sure {
            with_crlf(&content)
        } else {
            content
        }
    }

    /// Returns the value of an attribute by the `.gitattributes` files in the index; a set one is
    /// `true`, an unset one `false`. `None` if it is unspecified, not UTF-8 or unreadable.
    fn attribute(&self, path: &Path, name: &str) -> Option<String> {
        let value = self
            .repository
            .get_attr(path, name, AttrCheckFlags::INDEX_ONLY)
            .ok()?;
        match AttrValue::from_string(value) {
            AttrValue::True => Some("true".to_owned()),
            AttrValue::False => Some("false".to_owned()),
            AttrValue::String(text) => Some(text.to_owned()),
            _ => None,
        }
    }
}

enum AttributeState {
    Yes,
    No,
    Auto,
    Unspecified,
}

impl AttributeState {
    fn of(value: &Option<String>) -> Self {
        match value.as_deref() {
            Some("true") => Self::Yes,
            Some("false") => Self::No,
            Some("auto" | "input") => Self::Auto,
            _ => Self::Unspecified,
        }
    }
}

/// Returns whether content contains NUL, or control characters other than line feed, tab,
/// backspace, escape and form feed in more than one of 128 bytes.
pub(super) fn looks_binary(content: &[u8]) -> bool {
    let odd = content
        .iter()
        .filter(|byte| **byte < 32 && !matches!(**byte, b'\n' | b'\t' | 8 | 27 | 12))
        .count();
    content.contains(&0) || odd * 128 > content.len()
}

pub(super) fn with_crlf(content: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(content.len() + content.len() / 32);
    let mut before = 0;
    for byte in content {
        if *byte == b'\n' && before != b'\r' {
            text.push(b'\r');
        }
        text.push(*byte);
        before = *byte;
    }
    text
}
