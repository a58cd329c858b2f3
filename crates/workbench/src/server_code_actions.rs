//! Whether language servers offer code actions for a selection, for the light bulb.

use base::Span;
use editor::{CodeActionSource, DocumentModel, Editor};
use futures::stream::{FuturesUnordered, StreamExt as _};
use gpui_kit::{AppContext as _, Context, Task, WeakEntity};
use lsp::CodeAction;
use text::Snapshot;

use crate::folder::OpenFolder;

/// Kind of the actions that fix a problem.
const FIX: &str = "quickfix";
/// Kind of the actions that change the structure of the code.
const REFACTORING: &str = "refactor";

/// Asks the language servers of a text.
pub(crate) struct ServerCodeActions {
    model: WeakEntity<DocumentModel>,
}

impl ServerCodeActions {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl CodeActionSource for ServerCodeActions {
    fn has_actions(&self, _: &Snapshot, span: Span, cx: &mut Context<Editor>) -> Task<bool> {
        let model = self.model.upgrade();
        let Some((servers, path)) = model.and_then(|model| OpenFolder::servers_of(&model, cx))
        else {
            return Task::ready(false);
        };
        let servers = servers.read(cx).servers_of(&path);
        let kinds: &'static [&'static str] = if span.is_empty() {
            &[FIX]
        } else {
            &[FIX, REFACTORING]
        };
        let requests = servers.iter().filter_map(|server| {
            let connection = &server.connection;
            connection.automatic_code_actions(&path, span, kinds)
        });
        let answers = requests.map(|request| async move {
            // A server that cannot answer now has no actions.
            let actions = request.await.unwrap_or_default();
            actions.iter().any(|action| is_offered(action, kinds))
        });
        cx.background_spawn(is_any(answers.collect()))
    }
}

/// Returns whether any answer is true, at the first one that is: a server may take long.
async fn is_any(mut answers: FuturesUnordered<impl Future<Output = bool>>) -> bool {
    while let Some(answer) = answers.next().await {
        if answer {
            return true;
        }
    }
    false
}

/// Returns whether an action can be applied and is of one of these kinds. Some servers ignore the kinds
/// of a request, and bare commands have none.
fn is_offered(action: &CodeAction, kinds: &[&str]) -> bool {
    let is_of = |kind: &str, wanted: &str| {
        let rest = kind.strip_prefix(wanted);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let kind = action.kind.as_deref();
    let is_wanted = kind.is_none_or(|kind| kinds.iter().any(|wanted| is_of(kind, wanted)));
    is_wanted && action.disabled_reason.is_none()
}

#[cfg(test)]
mod tests {
    use futures::future::{BoxFuture, FutureExt as _, pending, ready};

    use super::is_any;

    fn check(answers: Vec<BoxFuture<'static, bool>>, expected: Option<bool>) {
        assert_eq!(
            is_any(answers.into_iter().collect()).now_or_never(),
            expected
        );
    }

    #[test]
    fn the_first_action_is_enough() {
        check(Vec::new(), Some(false));
        check(vec![ready(false).boxed(), ready(true).boxed()], Some(true));
        check(vec![pending().boxed(), ready(true).boxed()], Some(true));
        check(vec![pending().boxed(), ready(false).boxed()], None);
        check(
            vec![ready(false).boxed(), ready(false).boxed()],
            Some(false),
        );
    }
}
