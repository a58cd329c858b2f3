//! The documents and providers of client requests.

use base::AbsPath;
use serde_json::Value;

use crate::life::Phase;
use crate::position::PositionEncoding;
use crate::request_document::RequestDocument;
use crate::session::ServerSession;
use crate::workspace_edit::OpenTexts;

/// Maximum number of chars that trigger a request.
const MAX_TRIGGERS: usize = 1024;

impl ServerSession {
    /// Returns an open document, with the options of the first provider of `method` for it; `None`
    /// if the server does not offer the method for it now.
    pub(crate) fn question(&self, method: &'static str, path: &AbsPath) -> Option<RequestDocument> {
        let options = self.document_options(method, path).into_iter().next()?;
        let document = self.documents.get(path)?;
        Some(RequestDocument {
            text: document.text.clone(),
            version: document.version,
            encoding: self.capabilities.encoding(),
            options: options.clone(),
        })
    }

    /// Returns the options of every provider of `method` for an open document.
    pub(crate) fn document_options(&self, method: &'static str, path: &AbsPath) -> Vec<&Value> {
        let document = self.documents.get(path);
        match document {
            Some(document) if document.is_announced && self.phase == Phase::Running => {
                let options = self.capabilities.options(method, document.identity());
                options.collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether the server offers a `method` that concerns no document, and `accepts` the
    /// options of a provider.
    pub(crate) fn offers_workspace(&self, method: &str, accepts: impl Fn(&Value) -> bool) -> bool {
        self.is_running() && self.capabilities.workspace_options(method).any(accepts)
    }

    /// Returns whether requests may be sent.
    pub(crate) fn is_running(&self) -> bool {
        self.phase == Phase::Running
    }

    /// Returns the unit in which the server counts characters.
    pub(crate) fn encoding(&self) -> PositionEncoding {
        self.capabilities.encoding()
    }

    /// Returns whether the server's text of a document still has this version.
    pub(crate) fn is_current(&self, path: &AbsPath, version: i32) -> bool {
        let document = self.documents.get(path);
        document.is_some_and(|document| document.version == version)
    }

    /// Returns the chars in the lists `names` of every provider of `method` for a document; a single
    /// text counts as a list.
    pub(crate) fn trigger_characters(
        &self,
        method: &'static str,
        names: &[&str],
        path: &AbsPath,
    ) -> Vec<char> {
        let options = self.document_options(method, path);
        let lists = options.iter().flat_map(|options| {
            let lists = names.iter().filter_map(move |name| options.get(*name));
            lists.flat_map(|list| {
                list.as_array()
                    .map_or(std::slice::from_ref(list), Vec::as_slice)
            })
        });
        let mut chars: Vec<char> = lists
            .filter_map(|text| text.as_str()?.chars().next())
            .take(MAX_TRIGGERS)
            .collect();
        chars.sort_unstable();
        chars.dedup();
        chars
    }

    /// Returns the texts of all documents that the server knows.
    pub(crate) fn open_texts(&self) -> OpenTexts {
        let documents = self.documents.values().filter(|it| it.is_announced);
        OpenTexts {
            encoding: self.encoding(),
            texts: documents
                .map(|it| (it.path.clone(), (it.version, it.text.clone())))
                .collect(),
        }
    }
}
