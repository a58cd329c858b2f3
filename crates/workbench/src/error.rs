//! The errors of a window's own work: files, names, settings, replacements.

use std::sync::Arc;

use base::AbsPath;

/// Reason an operation of the window failed. Its text is shown to the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file system refused.
    #[error(transparent)]
    Disk(#[from] host::Error),
    /// A file cannot be shown as text.
    #[error(transparent)]
    Load(#[from] project::LoadError),
    /// A document refused to be saved.
    #[error(transparent)]
    SaveRefused(#[from] project::SaveRefused),
    /// A document was not saved.
    #[error(transparent)]
    Save(#[from] project::SaveError),
    /// A configuration file cannot be changed.
    #[error(transparent)]
    SettingsEdit(#[from] settings::EditError),
    /// A configuration file is not UTF-8.
    #[error("cannot read {0}: it is not UTF-8; save it as UTF-8")]
    NotUtf8(AbsPath),
    /// The program ends before the result is known.
    #[error("the program is ending")]
    Ending,
    /// The window was closed before the result was known.
    #[error("nothing was changed: the window was closed")]
    WindowClosed,
    /// No model is available for Tab, for the given reason.
    #[error("{0}")]
    ModelUnavailable(String),
    /// A folder cannot be created over an existing path.
    #[error("cannot create {0}: path exists")]
    PathExists(AbsPath),
    /// A folder cannot be moved below itself.
    #[error("cannot move {0} into itself")]
    MoveIntoItself(AbsPath),
    /// A folder cannot be copied below itself.
    #[error("cannot copy {0} into itself")]
    CopyIntoItself(AbsPath),
    /// The trash of the desktop has no record of the path.
    #[error("cannot restore {0}: look for it in the trash of the desktop")]
    NotInTrash(AbsPath),
    /// The typed file name is empty.
    #[error("a name is needed")]
    NameMissing,
    /// The typed file name contains a NUL character.
    #[error("a name cannot hold the character NUL")]
    NameWithNul,
    /// A part of the typed file name is empty, `.` or `..`.
    #[error("\"{0}\" is not a name; write it without \".\" and \"..\"")]
    NotAName(String),
    /// A part of the typed file name exceeds the limit of file systems; holds its beginning.
    #[error("\"{0}…\" is longer than a name can be (255 bytes)")]
    NameTooLong(String),
    /// The text is not the one that was searched.
    #[error("nothing was replaced in {0}: it changed since it was searched; search again")]
    ChangedSinceSearch(AbsPath),
    /// The matches do not fit the text.
    #[error("nothing was replaced in {0}")]
    NotReplaced(AbsPath),
    /// The text is not the one that the replacement produced.
    #[error("{0} keeps what was replaced in it: it changed since")]
    ChangedSinceReplace(AbsPath),
    /// A file of an edit cannot be shown as text.
    #[error("nothing was changed: {0}")]
    NotLoaded(Arc<project::LoadError>),
    /// A text is not the one to which the edit of a language server refers.
    #[error("nothing was changed: {0} has changed since the language server read it; try again")]
    EditOutdated(AbsPath),
    /// The edit of a language server does not fit the text.
    #[error("nothing was changed: the language server's edit of {path} is wrong: {reason}")]
    EditMalformed {
        /// The file.
        path: AbsPath,
        /// A clause.
        reason: String,
    },
    /// An edit concerns a text that cannot be changed.
    #[error("nothing was changed: {0} is read-only")]
    EditOfReadOnly(AbsPath),
    /// An edit changes a text under a path that it has moved or deleted.
    #[error("nothing was changed: the language server edits {0}, which it has moved or deleted")]
    EditOfMovedFile(AbsPath),
    /// An edit deletes a folder that is not empty, without saying so.
    #[error("nothing was changed: {0} is not empty")]
    EditOfFolder(AbsPath),
    /// A document of an edit was not saved.
    #[error("{0}")]
    NotSaved(editor::SaveFailure),
    /// A language server did not answer.
    #[error(transparent)]
    Request(#[from] lsp::RequestError),
    /// An external formatter failed.
    #[error(transparent)]
    Formatter(#[from] language::Error),
    /// A formatter would leave an empty text.
    #[error("{0} was not formatted: the formatter would remove the whole text")]
    FormattingRemovesAll(AbsPath),
    /// An edit was reverted, because a part of it failed.
    #[error("{}", reverted(cause, kept))]
    EditReverted {
        /// The failure, a sentence.
        cause: String,
        /// Files that keep the edit.
        kept: Vec<AbsPath>,
    },
    /// The text is not the one that an edit produced.
    #[error("nothing was undone: {0} has changed since")]
    EditedSince(AbsPath),
    /// The open text is read-only.
    #[error("cannot replace in {0}: it is read-only")]
    ReadOnly(AbsPath),
    /// The file cannot be saved in its encoding.
    #[error("cannot replace in {0}: it cannot be written back")]
    NotWritable(AbsPath),
}

/// Returns the sentence about an edit that was reverted.
fn reverted(cause: &str, kept: &[AbsPath]) -> String {
    if kept.is_empty() {
        return format!("nothing was changed: {cause}");
    }
    let kept: Vec<String> = kept.iter().map(ToString::to_string).collect();
    format!(
        "the edit was undone, but not in {}: {cause}",
        kept.join(", ")
    )
}
