//! The file of a view, and the access to it.

use std::sync::Arc;

use base::AbsPath;
use host::Files;

/// The file of a view, and the access to it.
#[derive(Clone)]
pub struct PreviewSource {
    /// The files.
    pub files: Arc<dyn Files>,
    /// The path of the file.
    pub path: AbsPath,
    /// The open folder, outside of which a document loads nothing.
    pub root: Option<AbsPath>,
}

impl PreviewSource {
    /// Returns the folder from which nothing is loaded that lies outside: the open one if the file is in it, else the
    /// folder of the file.
    pub(crate) fn boundary(&self) -> Option<AbsPath> {
        let root = self.root.clone().filter(|root| self.path.is_within(root));
        root.or_else(|| self.path.parent())
    }
}
