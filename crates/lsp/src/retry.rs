//! The repetition of requests for which a server is not ready.

use std::time::Duration;

use serde_json::Value;

use crate::error::{CONTENT_MODIFIED, SERVER_CANCELLED};
use crate::message::ResponseError;
use crate::pending::ResponseResult;

/// Methods of the requests that are repeated once, after 250 ms, if the server is not ready, as rust-analyzer is while
/// it loads a project. None of these changes a text.
pub(crate) const REPEATABLE: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/typeDefinition",
    "textDocument/implementation",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/selectionRange",
    "textDocument/inlayHint",
    "textDocument/signatureHelp",
    "textDocument/prepareRename",
    "textDocument/prepareCallHierarchy",
    "textDocument/prepareTypeHierarchy",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/full/delta",
    "textDocument/semanticTokens/range",
    "textDocument/documentLink",
    "textDocument/documentColor",
    "textDocument/codeLens",
    "workspace/symbol",
];

/// Time before a request is repeated.
pub(crate) const RETRY_DELAY: Duration = Duration::from_millis(250);

/// Returns whether the server asks for a repetition. The text may have changed meanwhile as well.
pub(crate) fn is_retriable(answer: Option<&ResponseResult>) -> bool {
    let Some(Ok(Err(ResponseError { code, data, .. }))) = answer else {
        return false;
    };
    let data: Value = data.parse().unwrap_or_default();
    match *code {
        SERVER_CANCELLED => data.get("retriggerRequest") != Some(&Value::Bool(false)),
        CONTENT_MODIFIED => true,
        _ => false,
    }
}
