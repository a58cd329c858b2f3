//! OAuth tokens of MCP servers, in files that only this user can read.

use std::sync::Arc;

use base::AbsPath;
use connect::mcp::TokenStore;
use futures::future::BoxFuture;
use host::{ContentHash, Files};

/// The largest file of tokens that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// Stores tokens below a folder, one file for each server.
pub(crate) struct TokenFolder {
    files: Arc<dyn Files>,
    folder: AbsPath,
}

impl TokenFolder {
    /// Stores the tokens below `state`.
    pub(crate) fn new(files: Arc<dyn Files>, state: &AbsPath) -> Self {
        Self {
            files,
            folder: state.join("mcp/tokens"),
        }
    }

    fn path(&self, url: &str) -> AbsPath {
        let hash = ContentHash::of(url.as_bytes());
        self.folder.join(format!("{:032x}", hash.0))
    }
}

impl TokenStore for TokenFolder {
    fn load(&self, url: &str) -> BoxFuture<'static, Result<Option<String>, connect::Error>> {
        let (files, path) = (self.files.clone(), self.path(url));
        let first = format!("{url}\n");
        let read = tokio::task::spawn_blocking(move || {
            let bytes = match files.read(&path, LARGEST) {
                Ok(bytes) => bytes,
                Err(error) if error.is_not_found() => return Ok(None),
                Err(error) => return Err(connect::Error::Storage(error.to_string())),
            };
            let text = String::from_utf8(bytes)
                .map_err(|_| connect::Error::Storage(format!("{path} does not hold UTF-8 text")))?;
            // The file starts with its address, so that addresses with equal hashes differ.
            Ok(text.strip_prefix(&first).map(str::to_owned))
        });
        Box::pin(async move {
            let broke_off =
                |error| connect::Error::Storage(format!("the tokens were not read: {error}"));
            read.await.map_err(broke_off)?
        })
    }

    fn save(
        &self,
        url: &str,
        tokens: Option<String>,
    ) -> BoxFuture<'static, Result<(), connect::Error>> {
        let (files, path, folder) = (self.files.clone(), self.path(url), self.folder.clone());
        let url = url.to_owned();
        let saved = tokio::task::spawn_blocking(move || {
            let saved = match tokens {
                Some(tokens) => files.create_folder(&folder).and_then(|()| {
                    files.write_private(&path, format!("{url}\n{tokens}").as_bytes())
                }),
                None => match files.remove(&path) {
                    Err(error) if error.is_not_found() => Ok(()),
                    removed => removed,
                },
            };
            saved.map_err(|error| connect::Error::Storage(error.to_string()))
        });
        Box::pin(async move {
            let broke_off =
                |error| connect::Error::Storage(format!("the tokens were not stored: {error}"));
            saved.await.map_err(broke_off)?
        })
    }
}
