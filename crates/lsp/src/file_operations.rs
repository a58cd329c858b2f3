//! Renames of files and folders: the edit that keeps references right, and the announcement.

use base::AbsPath;
use serde_json::{Value, json};

use crate::message;
use crate::request::Request;
use crate::selector::PathPattern;
use crate::server::LanguageServer;
use crate::session::ServerSession;
use crate::uri::file_uri;
use crate::workspace_edit::{WorkspaceEdit, read_workspace_edit};

/// Name of the request before a rename.
const WILL_RENAME: &str = "workspace/willRenameFiles";
/// Name of the notification after a rename.
const DID_RENAME: &str = "workspace/didRenameFiles";
/// Maximum number of filters of a server.
const MAX_FILTERS: usize = 256;

/// A rename or move of a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRename {
    /// The path before.
    pub from: AbsPath,
    /// The path after.
    pub to: AbsPath,
    /// Whether it is a folder.
    pub is_folder: bool,
}

impl LanguageServer {
    /// Asks for the edit that keeps references right when a file or folder is renamed, which has not happened yet.
    /// `None` if the server does not want to know about it.
    pub fn will_rename_file(&self, rename: &FileRename) -> Option<Request<WorkspaceEdit>> {
        let texts = self.connection().with(|session| session.open_texts());
        let is_offered = |session: &ServerSession| is_wanted(session, WILL_RENAME, rename);
        let read = move |json: &str, _, _: &mut _| read_workspace_edit(json, &texts);
        self.ask_workspace(WILL_RENAME, params(rename), is_offered, read)
    }

    /// Announces that a file or folder was renamed, if the server wants to know.
    pub fn did_rename_file(&self, rename: &FileRename) {
        self.connection().with(|session| {
            if is_wanted(session, DID_RENAME, rename) {
                session.push(message::notification(DID_RENAME, &params(rename)));
            }
        });
    }
}

fn params(rename: &FileRename) -> Value {
    let (from, to) = (file_uri(&rename.from), file_uri(&rename.to));
    json!({ "files": [{ "oldUri": from, "newUri": to }] })
}

fn is_wanted(session: &ServerSession, method: &str, rename: &FileRename) -> bool {
    session.offers_workspace(method, |options| {
        let filters = options.get("filters").and_then(Value::as_array);
        let mut filters = filters.into_iter().flatten().take(MAX_FILTERS);
        filters.any(|filter| accepts(filter, rename))
    })
}

/// Returns whether a `FileOperationFilter` accepts the path before a rename. A malformed one accepts nothing.
fn accepts(filter: &Value, rename: &FileRename) -> bool {
    let scheme = filter.get("scheme").and_then(Value::as_str);
    let pattern = &filter["pattern"];
    let has_kind = match pattern.get("matches").and_then(Value::as_str) {
        Some("file") => !rename.is_folder,
        Some("folder") => rename.is_folder,
        _ => true,
    };
    let glob = PathPattern::of(&pattern["glob"]);
    scheme.is_none_or(|scheme| scheme == "file")
        && has_kind
        && glob.is_some_and(|glob| glob.matches(&rename.from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(filter: Value, path: &str, is_folder: bool, expected: bool) {
        let rename = FileRename {
            from: AbsPath::new(path).expect("absolute"),
            to: AbsPath::new("/w/new").expect("absolute"),
            is_folder,
        };
        assert_eq!(accepts(&filter, &rename), expected, "{filter} {path}");
    }

    #[test]
    fn filters_compare_path_kind_and_scheme() {
        let rust = json!({ "scheme": "file", "pattern": { "glob": "**/*.rs", "matches": "file" } });
        check(rust.clone(), "/w/src/a.rs", false, true);
        check(rust.clone(), "/w/src/a.rs", true, false);
        check(rust, "/w/src/a.py", false, false);
        let all = json!({ "pattern": { "glob": "**" } });
        check(all, "/w/src", true, true);
        let other = json!({ "scheme": "untitled", "pattern": { "glob": "**" } });
        check(other, "/w/a.rs", false, false);
        check(json!({ "pattern": {} }), "/w/a.rs", false, false);
        check(json!(7), "/w/a.rs", false, false);
    }
}
