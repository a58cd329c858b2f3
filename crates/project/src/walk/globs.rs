//! Applies the globs of a walk to single paths.

use std::path::{Path, PathBuf};

use base::AbsPath;
use ignore::overrides::Override;

use super::{BadGlob, WalkOptions, overrides};

/// The compiled globs of `WalkOptions`, to be applied to files that were found without a walk.
#[derive(Clone)]
pub(crate) struct Globs {
    root: AbsPath,
    overrides: Override,
    /// The last folder checked and its result: files arrive folder by folder.
    last: Option<(PathBuf, bool)>,
}

impl Globs {
    /// Compiles the include and exclude globs of the options, relative to `root`.
    pub(crate) fn new(root: &AbsPath, options: &WalkOptions) -> Result<Self, BadGlob> {
        Ok(Self {
            root: root.clone(),
            overrides: overrides(root, options)?,
            last: None,
        })
    }

    /// Returns whether the globs include this file: neither it nor a folder above it is excluded,
    /// and it matches an include glob if there are any.
    pub(crate) fn includes(&mut self, path: &AbsPath) -> bool {
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

    /// Whether no folder from `folder` up to the root, the root not included, is excluded.
    fn enters(&self, folder: &Path) -> bool {
        let above = folder
            .ancestors()
            .take_while(|folder| *folder != self.root.as_path());
        let mut above = above.map(|folder| self.overrides.matched(folder, true));
        above.all(|matched| !matched.is_ignore())
    }
}
