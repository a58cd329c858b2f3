//! Formatting by language servers as the user types.

use base::AbsPath;
use editor::{DocumentModel, TypeFormatQuery, TypeFormatter};
use gpui_kit::{App, AppContext as _, Task, WeakEntity};
use language::DocumentServer;
use lsp::{DocumentEdits, FormatOptions, Request};
use text::Edit;

use crate::folder::OpenFolder;
use crate::refactoring::FormattingEdits;

/// Asks the language servers of a text, those for formatting first.
pub(crate) struct ServerTypeFormatter {
    model: WeakEntity<DocumentModel>,
}

impl ServerTypeFormatter {
    /// Creates the source for a text, whichever servers it has when it is asked.
    pub(crate) fn new(model: WeakEntity<DocumentModel>) -> Self {
        Self { model }
    }
}

impl TypeFormatter for ServerTypeFormatter {
    fn triggers(&self, cx: &App) -> Vec<char> {
        let model = self.model.upgrade();
        let Some((path, servers)) = model.and_then(|model| super::servers(&model, cx)) else {
            return Vec::new();
        };
        let servers = servers.iter();
        servers
            .flat_map(|server| server.connection.format_on_type_triggers(&path))
            .collect()
    }

    fn format(&self, query: TypeFormatQuery, cx: &mut App) -> Task<Vec<Edit>> {
        let Some(model) = self.model.upgrade() else {
            return Task::ready(Vec::new());
        };
        let ending = model.read(cx).document().buffer().line_ending();
        let text = query.snapshot.clone();
        let revision = text.revision();
        let request = OpenFolder::after_update(&self.model, revision, cx, move |servers, path| {
            request(servers, path, &query)
        });
        cx.background_spawn(async move {
            let Some(request) = request.await else {
                return Vec::new();
            };
            // A server that cannot answer now has no edits; its log has the reason.
            let answer = request.await.ok();
            let edits = answer.map(|answer| FormattingEdits::of(answer, ending));
            edits.map_or_else(Vec::new, |edits| edits.for_text(&text))
        })
    }
}

/// Asks the first server that formats after the typed character; `None` if there is none.
fn request(
    servers: &[DocumentServer],
    path: &AbsPath,
    query: &TypeFormatQuery,
) -> Option<Request<DocumentEdits>> {
    let options = FormatOptions {
        tab_size: query.tab_size,
        inserts_spaces: !query.hard_tabs,
    };
    let mut servers: Vec<&DocumentServer> = servers.iter().collect();
    servers.sort_by_key(|server| super::rank(server));
    servers.into_iter().find_map(|server| {
        let connection = &server.connection;
        let triggers = connection.format_on_type_triggers(path);
        let is_offered = triggers.contains(&query.typed);
        let request =
            is_offered.then(|| connection.format_on_type(path, query.offset, query.typed, options));
        request.flatten()
    })
}
