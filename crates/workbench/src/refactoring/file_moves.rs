//! Keeps references right when a file or folder is moved: language servers edit them before the move.

use std::time::Duration;

use base::AbsPath;
use futures::future::{Either, join_all, select};
use gpui_kit::{App, AppContext as _, Entity, Task};
use host::FileKind;
use lsp::{FileRename, LanguageServer, WorkspaceEdit};
use text::Author;

use super::plan::prepare;
use super::transaction::{CommitOptions, commit};
use crate::error::Error;
use crate::folder::OpenFolder;
use crate::services::Services;

/// Time for the answers of all servers; the file is moved all the same afterwards.
const MAX_TIME: Duration = Duration::from_secs(3);

/// The move of a file or folder of which language servers are informed.
pub(crate) struct AnnouncedMove {
    rename: FileRename,
    servers: Vec<LanguageServer>,
}

/// The move, to be announced when it is done, and the size of the edit before it: changed places and files.
pub(crate) type ReferencesUpdate = Task<(AnnouncedMove, Result<(usize, usize), Error>)>;

/// Edits the references to a file or folder that is about to be moved. `None` if no server
/// runs.
pub(crate) fn update_references(
    folder: &Entity<OpenFolder>,
    from: &AbsPath,
    to: &AbsPath,
    cx: &mut App,
) -> Option<ReferencesUpdate> {
    let root = folder.read(cx).root().clone();
    let servers = folder.read(cx).language_servers().read(cx).connections();
    if servers.is_empty() {
        return None;
    }
    let files = Services::of(cx).files;
    let (from, to) = (from.clone(), to.clone());
    Some(cx.spawn(async move |cx| {
        let moved = from.clone();
        let stat = cx.background_spawn(async move { files.stat(&moved) });
        let is_folder = stat.await.is_ok_and(|stat| stat.kind == FileKind::Folder);
        let announced = AnnouncedMove {
            rename: FileRename {
                from,
                to,
                is_folder,
            },
            servers,
        };
        let requests = announced.servers.iter();
        let requests = requests.filter_map(|server| server.will_rename_file(&announced.rename));
        let answers = join_all(requests.collect::<Vec<_>>());
        let timer = cx.background_executor().timer(MAX_TIME);
        let answers = match select(Box::pin(answers), Box::pin(timer)).await {
            Either::Left((answers, _)) => answers,
            Either::Right(_) => Vec::new(),
        };
        let mut edit = WorkspaceEdit::default();
        for answer in answers {
            match answer {
                Ok(found) => edit.operations.extend(found.operations),
                Err(error) => return (announced, Err(error.into())),
            }
        }
        let preparing = cx.update(|cx| prepare(edit, cx));
        let plan = match preparing.await {
            Ok(plan) => plan,
            Err(error) => return (announced, Err(error)),
        };
        // What needs a confirmation is left to the user.
        if plan.needs_confirmation || !plan.is_within(&root) {
            return (announced, Ok((0, 0)));
        }
        let counts = plan.counts();
        let options = CommitOptions {
            author: Author::User,
            saves: true,
        };
        let committing = cx.update(|cx| commit(plan, options, cx));
        let done = committing.await.map(|_| counts);
        (announced, done)
    }))
}

impl AnnouncedMove {
    /// Tells the servers that the move is done.
    pub(crate) fn announce(&self) {
        for server in &self.servers {
            server.did_rename_file(&self.rename);
        }
    }
}
