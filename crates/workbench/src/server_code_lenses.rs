//! Code lenses of language servers.
//!
//! Invariant: a lens is shown only if a server or the window executes its command.
//! Start at `ServerCodeLenses`.

use std::sync::Arc;

use base::Span;
use editor::{
    AnnotationAnswer, AnnotationExtent, AnnotationQuery, AnnotationSet, AnnotationSource,
    DocumentModel,
};
use futures::future::join_all;
use gpui_kit::{App, AppContext as _, Task, WeakEntity};
use lsp::{CodeLens, LanguageServer, LensCommand, Request, ServerCommand};
use text::Snapshot;

use crate::folder::OpenFolder;

/// Maximum number of lenses whose commands are asked for at once.
const MAX_RESOLVED: usize = 60;

/// Asks all language servers of a text.
pub(crate) struct ServerCodeLenses {
    model: WeakEntity<DocumentModel>,
}

/// The lenses of one server that have a command, and whether others have none yet.
struct KnownLenses {
    commands: Vec<(Span, Arc<ServerCommand>)>,
    is_complete: bool,
}

impl ServerCodeLenses {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl AnnotationSource<Arc<ServerCommand>> for ServerCodeLenses {
    fn request(
        &self,
        snapshot: &Snapshot,
        query: AnnotationQuery,
        cx: &mut App,
    ) -> Task<Option<AnnotationAnswer<Arc<ServerCommand>>>> {
        let revision = snapshot.revision();
        let requests = OpenFolder::after_update(&self.model, revision, cx, |servers, path| {
            let requests = servers.iter().filter_map(|server| {
                let request = server.connection.code_lenses(path)?;
                Some((server.connection.clone(), request))
            });
            Some(requests.collect::<Vec<_>>())
        });
        cx.background_spawn(async move {
            let requests = requests.await?.into_iter();
            let answers =
                requests.map(|(server, request)| known_lenses(server, request, query.window));
            let answers = join_all(answers).await.into_iter().flatten();
            let answers: Vec<KnownLenses> = answers.collect();
            let is_complete = answers.iter().all(|answer| answer.is_complete);
            let has_answer = !answers.is_empty();
            let commands = answers.into_iter().flat_map(|answer| answer.commands);
            has_answer.then(|| AnnotationAnswer {
                revision,
                set: AnnotationSet::new(commands),
                extent: if is_complete {
                    AnnotationExtent::Whole
                } else {
                    AnnotationExtent::WindowOnly
                },
            })
        })
    }
}

/// Waits for the lenses of a server and for the commands of those in a window; `None` if it has no answer.
async fn known_lenses(
    server: LanguageServer,
    request: Request<Vec<CodeLens>>,
    window: Span,
) -> Option<KnownLenses> {
    let lenses = request.await.ok()?;
    let mut known = KnownLenses {
        commands: Vec::new(),
        is_complete: true,
    };
    let mut resolving = Vec::new();
    for lens in lenses {
        // A lens belongs to the row in which its part begins.
        let at = Span::at(lens.span.start);
        match lens.command {
            LensCommand::Known(command) => known.commands.push((at, Arc::new(command))),
            LensCommand::Unresolved(lens) => {
                known.is_complete = false;
                let is_wanted = window.covers(at) && resolving.len() < MAX_RESOLVED;
                let request = is_wanted.then(|| server.resolve_lens(&lens)).flatten();
                resolving.extend(request.map(|request| async move {
                    let command = request.await.ok().flatten()?;
                    Some((at, Arc::new(command)))
                }));
            }
        }
    }
    let resolved = join_all(resolving).await;
    known.commands.extend(resolved.into_iter().flatten());
    known
        .commands
        .retain(|(_, command)| is_shown(&server, command));
    Some(known)
}

/// Returns whether a click on a lens with this command can have an effect.
fn is_shown(server: &LanguageServer, command: &ServerCommand) -> bool {
    let is_executed = server.executes(command) || server.shown_locations(command).is_some();
    is_executed && !command.title.trim().is_empty()
}
