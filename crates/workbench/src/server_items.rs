//! Completion items of language servers as a source of the completion list.
//!
//! Must not know: how items are matched and ranked.
//! Start at `ServerItems`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use base::{AbsPath, Revision};
use editor::{
    CompletionAnswer, CompletionId, CompletionInsertion, CompletionItem, CompletionQuery,
    CompletionSource, CompletionTrigger, DocumentModel, Documentation,
};
use futures::future::join_all;
use gpui_kit::{App, AppContext as _, SharedString, Task, WeakEntity};
use language::DocumentServer;
use lsp::{LanguageServer, MarkupText, Request};
use text::Edit;

use crate::folder::OpenFolder;

/// Offers the items of the language servers of a text.
pub(crate) struct ServerItems {
    model: WeakEntity<DocumentModel>,
    /// The items of the latest answer, as their servers gave them.
    answered: Rc<RefCell<HashMap<CompletionId, ServerItem>>>,
}

/// An item of a server.
#[derive(Clone)]
struct ServerItem {
    server: LanguageServer,
    item: lsp::CompletionItem,
}

impl ServerItems {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self {
            model,
            answered: Rc::default(),
        }
    }

    fn answered(&self, item: &CompletionItem) -> Option<ServerItem> {
        self.answered.borrow().get(&item.id).cloned()
    }
}

impl CompletionSource for ServerItems {
    fn triggers(&self, cx: &App) -> Vec<char> {
        let Some((path, servers)) = connected(&self.model, cx) else {
            return Vec::new();
        };
        let servers = servers.iter();
        servers
            .flat_map(|server| server.connection.completion_triggers(&path))
            .collect()
    }

    fn request(&self, query: CompletionQuery, cx: &mut App) -> Task<Option<CompletionAnswer>> {
        if connected(&self.model, cx).is_none() {
            return Task::ready(None);
        }
        let revision = query.snapshot.revision();
        let requests = OpenFolder::after_update(&self.model, revision, cx, move |servers, path| {
            Some(requests(servers, path, &query))
        });
        let joined = cx.background_spawn(async move { joined(requests.await, revision).await });
        let answered = self.answered.clone();
        cx.spawn(async move |_| {
            let (known, answer) = joined.await?;
            *answered.borrow_mut() = known;
            Some(answer)
        })
    }

    fn resolve(&self, item: &CompletionItem, cx: &mut App) -> Option<Task<Option<CompletionItem>>> {
        let ServerItem { server, item: raw } = self.answered(item)?;
        let request = server.resolve_completion(&raw)?;
        let resolved = cx.background_spawn(async move { request.await.ok() });
        let (id, answered) = (item.id, self.answered.clone());
        Some(cx.spawn(async move |_| {
            let item = resolved.await?;
            let result = converted(id, &item);
            if let Some(known) = answered.borrow_mut().get_mut(&id) {
                known.item = item;
            }
            Some(result)
        }))
    }

    fn accepted(&self, item: &CompletionItem, cx: &mut App) {
        let Some(ServerItem { server, item }) = self.answered(item) else {
            return;
        };
        let request = item
            .command
            .and_then(|command| server.execute_command(&command));
        if let Some(request) = request {
            // The server reports a failure in its log.
            let done = async move { drop(request.await) };
            cx.background_executor().spawn(done).detach();
        }
    }
}

/// Returns the connected servers of a text, and the path under which they know it.
fn connected(
    model: &WeakEntity<DocumentModel>,
    cx: &App,
) -> Option<(AbsPath, Vec<DocumentServer>)> {
    let (servers, path) = OpenFolder::servers_of(&model.upgrade()?, cx)?;
    let connected = servers.read(cx).servers_of(&path);
    Some((path, connected))
}

/// Sends a query to the servers that offer completions.
fn requests(
    servers: &[DocumentServer],
    path: &AbsPath,
    query: &CompletionQuery,
) -> Vec<(LanguageServer, Request<lsp::CompletionList>)> {
    let trigger = match query.trigger {
        CompletionTrigger::Invoked | CompletionTrigger::Typed => lsp::CompletionTrigger::Invoked,
        CompletionTrigger::Character(character) => lsp::CompletionTrigger::Character(character),
        CompletionTrigger::Incomplete => lsp::CompletionTrigger::Incomplete,
    };
    let requests = servers.iter().filter_map(|server| {
        let request = server.connection.completion(path, query.offset, trigger)?;
        Some((server.connection.clone(), request))
    });
    requests.collect()
}

/// Waits for the answers to the requests about the text of `revision` and joins them; `None` without requests. If the
/// text had changed before they were sent, `requests` is `None`, and the answer is an empty, incomplete list.
async fn joined(
    requests: Option<Vec<(LanguageServer, Request<lsp::CompletionList>)>>,
    revision: Revision,
) -> Option<(HashMap<CompletionId, ServerItem>, CompletionAnswer)> {
    let Some(requests) = requests else {
        return Some(joined_answer([], true, revision));
    };
    if requests.is_empty() {
        return None;
    }
    let answers = requests
        .into_iter()
        .map(|(server, request)| async move { (server, request.await) });
    let lists = join_all(answers).await.into_iter();
    // A server that cannot answer now has no items.
    let lists = lists.filter_map(|(server, list)| Some((server, list.ok()?)));
    let (lists, is_incomplete) = current_lists(lists, revision);
    Some(joined_answer(lists, is_incomplete, revision))
}

/// Returns the lists about the text of `revision`, and whether further typing needs a new request. The spans of a list
/// about another text cannot be placed, so its server must be asked again.
fn current_lists<S>(
    lists: impl IntoIterator<Item = (S, lsp::CompletionList)>,
    revision: Revision,
) -> (Vec<(S, lsp::CompletionList)>, bool) {
    let (current, outdated): (Vec<_>, Vec<_>) = lists
        .into_iter()
        .partition(|(_, list)| list.text.revision() == revision);
    let is_incomplete = current.iter().any(|(_, list)| list.is_incomplete);
    (current, is_incomplete || !outdated.is_empty())
}

/// Joins the lists of several servers into one answer. Also returns the items as their servers gave them.
fn joined_answer(
    lists: impl IntoIterator<Item = (LanguageServer, lsp::CompletionList)>,
    is_incomplete: bool,
    revision: Revision,
) -> (HashMap<CompletionId, ServerItem>, CompletionAnswer) {
    let mut known = HashMap::new();
    let mut items = Vec::new();
    for (server, list) in lists {
        for item in list.items {
            let id = CompletionId(known.len() as u64);
            items.push(converted(id, &item));
            let server = server.clone();
            known.insert(id, ServerItem { server, item });
        }
    }
    let answer = CompletionAnswer {
        items,
        is_incomplete,
        revision,
    };
    (known, answer)
}

/// Returns the item of a list for an item of a server.
fn converted(id: CompletionId, item: &lsp::CompletionItem) -> CompletionItem {
    let label = match &item.label_detail {
        Some(detail) => format!("{}{detail}", item.label),
        None => item.label.clone(),
    };
    let detail = item.label_description.as_ref().or(item.detail.as_ref());
    let documentation = item.documentation();
    CompletionItem {
        id,
        label: printed(&label),
        detail: detail.map(|detail| printed(detail)),
        kind: item.kind,
        filter_text: item
            .filter_text
            .clone()
            .unwrap_or_else(|| item.label.clone())
            .into(),
        sort_text: item
            .sort_text
            .clone()
            .unwrap_or_else(|| item.label.clone())
            .into(),
        is_preselected: item.is_preselected,
        is_deprecated: item.is_deprecated,
        commit_characters: item.commit_characters.clone(),
        insert: CompletionInsertion {
            text: item.insert.text.clone().into(),
            is_snippet: item.insert.is_snippet,
            insert_span: item.insert.insert_span,
            replace_span: item.insert.replace_span,
        },
        additional_edits: item
            .additional_edits
            .iter()
            .map(|(span, text)| Edit::new(*span, text.clone()))
            .collect(),
        documentation: documentation.map(|MarkupText { value, is_markdown }| Documentation {
            text: value.into(),
            is_markdown,
        }),
    }
}

fn printed(text: &str) -> SharedString {
    base::printable(text, base::LineFeeds::Escape)
        .into_owned()
        .into()
}

#[cfg(test)]
mod tests {
    use text::Snapshot;

    use super::*;

    /// Checks whether a list is used, and whether the answer is incomplete. The text of the list has revision 0.
    fn check(revision: u64, is_incomplete: bool, expected: (bool, bool)) {
        let list = lsp::CompletionList {
            items: Vec::new(),
            is_incomplete,
            text: Snapshot::new("a"),
        };
        let (used, is_incomplete) = current_lists([("server", list)], Revision(revision));
        assert_eq!((!used.is_empty(), is_incomplete), expected, "{revision}");
    }

    #[test]
    fn lists_about_another_text_are_requested_again() {
        check(0, false, (true, false));
        check(0, true, (true, true));
        check(1, false, (false, true));
    }
}
