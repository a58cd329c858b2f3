//! The content of a file as a checkout holds it: line ends as attributes and config ask for, nothing else.
//!
//! No program is run: what a filter driver would make of a blob is left as it is committed.

use std::path::{Path, PathBuf};

use base::AbsPath;
use git2::{AttrCheckFlags, AttrValue, Index, Oid, Repository};

use super::hub::{Hub, as_path};
use super::{Contents, Error, TreeFile};

/// Reads files of one tree. One for each thread.
pub struct Reader {
    repository: Repository,
    path: PathBuf,
    /// Where line ends never change, nothing is looked up.
    changes_line_ends: bool,
    /// What the config makes of text files that say no more than that they are text.
    config: Ends,
    /// What the config makes of files that say nothing.
    is_auto: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Lf,
    Crlf,
}

impl Reader {
    /// A reader of the files of `tree` in the repository that holds `hub`.
    pub fn open(hub: &AbsPath, tree: &str) -> Result<Self, Error> {
        let hub = Hub::open(hub)?;
        let path = hub.workdir().as_path().to_path_buf();
        let failed = |error: git2::Error| Error::new("read", &path, &error);
        let id = Oid::from_str(tree).map_err(failed)?;
        let repository = hub.repository;
        // Attributes are those of the tree itself, not those that lie in the checkout just now.
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
            config: match is_auto_crlf || (eol.eq_ignore_ascii_case("crlf") && autocrlf != "input")
            {
                true => Ends::Crlf,
                false => Ends::Lf,
            },
            is_auto: is_auto_crlf,
            path,
        })
    }

    /// Whether some file's line ends may differ from what is committed.
    pub fn changes_line_ends(&self) -> bool {
        self.changes_line_ends
    }

    /// Everything that decides how files are written, in words that can be compared: where they are the same, the same
    /// blob makes the same file.
    pub fn words(&self, contents: &Contents) -> String {
        if !self.changes_line_ends {
            return "as committed".to_owned();
        }
        let ends = match self.config {
            Ends::Lf => "lf",
            Ends::Crlf => "crlf",
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

    /// The content of a file as a checkout holds it; of a link, where it leads.
    pub fn read(&self, file: &TreeFile) -> Result<Vec<u8>, Error> {
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
        Ok(self.fitted(as_path(&file.path), content))
    }

    fn fitted(&self, path: &Path, content: Vec<u8>) -> Vec<u8> {
        let text = self.attribute(path, "text");
        let crlf = self.attribute(path, "crlf");
        let eol = self.attribute(path, "eol");
        let (is_text, is_guess) = match (Asked::of(&text), Asked::of(&crlf), eol.as_deref()) {
            (Asked::No, _, _) => (false, false),
            (Asked::Yes, _, _) | (Asked::Unsaid, _, Some("crlf" | "lf")) => (true, false),
            (Asked::Auto, _, _) => (true, true),
            (Asked::Unsaid, Asked::No, _) => (false, false),
            (Asked::Unsaid, Asked::Yes, _) => (true, false),
            (Asked::Unsaid, Asked::Auto | Asked::Unsaid, _) => (self.is_auto, true),
        };
        let ends = match eol.as_deref() {
            Some("crlf") => Ends::Crlf,
            Some("lf") => Ends::Lf,
            _ => self.config,
        };
        // A guess must be certain: text that holds a carriage return already is left alone, as git does.
        let is_sure = !is_guess || !(content.contains(&b'\r') || looks_binary(&content));
        match is_text && ends == Ends::Crlf && is_sure {
            true => with_crlf(&content),
            false => content,
        }
    }

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

enum Asked {
    Yes,
    No,
    Auto,
    Unsaid,
}

impl Asked {
    fn of(value: &Option<String>) -> Self {
        match value.as_deref() {
            Some("true") => Self::Yes,
            Some("false") => Self::No,
            Some("auto" | "input") => Self::Auto,
            _ => Self::Unsaid,
        }
    }
}

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
