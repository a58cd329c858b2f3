//! Globs applied to paths one by one, as the walk would have applied them.

use std::path::{Path, PathBuf};

use base::AbsPath;
use ignore::overrides::Override;

use super::{BadGlob, WalkOptions, overrides};

/// The globs of `WalkOptions`, for files that were not found by a walk with them.
#[derive(Clone)]
pub(crate) struct Globs {
    root: AbsPath,
    overrides: Override,
    /// The folder of the last question and its answer: files come folder by folder.
    last: Option<(PathBuf, bool)>,
}

impl Globs {
    pub(crate) fn new(root: &AbsPath, options: &WalkOptions) -> Result<Self, BadGlob> {
        Ok(Self {
            root: root.clone(),
            overrides: overrides(root, options)?,
            last: None,
        })
    }

    /// Whether globs take this file: it is not left out, nor any folder above it, and it is named where names
    /// are asked for.
    pub(crate) fn take(&mut self, path: &AbsPath) -> bool {
        if self.overrides.is_empty() {
            return true;
        }
        let Some(folder) = path.as_path().parent() else {
            return false;
        };
        let known = self.last.as_ref().filter(|(last, _)| last == folder);
        let enters = match known {
            Some((_, enters)) => *enters,
            None => {
                let enters = self.enters(folder);
                self.last = Some((folder.to_owned(), enters));
                enters
            }
        };
        enters && !self.overrides.matched(path.as_path(), false).is_ignore()
    }

    fn enters(&self, folder: &Path) -> bool {
        let above = folder
            .ancestors()
            .take_while(|folder| *folder != self.root.as_path());
        let mut above = above.map(|folder| self.overrides.matched(folder, true));
        above.all(|matched| !matched.is_ignore())
    }
}
