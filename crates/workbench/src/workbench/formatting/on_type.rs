//! Formatting by language servers as the user types.

use editor::{DocumentModel, TypeFormatQuery, TypeFormatter};
use gpui_kit::{App, AppContext as _, Task, WeakEntity};
use lsp::FormatOptions;
use text::Edit;

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
        let model = self.model.clone();
        // The servers receive the edit that led here when the present update ends.
        cx.spawn(async move |cx| {
            let edits = cx.update(|cx| request(&model, query, cx));
            match edits {
                Some(edits) => edits.await,
                None => Vec::new(),
            }
        })
    }
}

/// Asks the first server that formats after the typed character; `None` if there is none, and if the
/// text has changed since the query.
fn request(
    model: &WeakEntity<DocumentModel>,
    query: TypeFormatQuery,
    cx: &App,
) -> Option<Task<Vec<Edit>>> {
    let model = model.upgrade()?;
    let (path, servers) = super::servers(&model, cx)?;
    let text = model.read(cx).snapshot();
    if text.revision() != query.snapshot.revision() {
        return None;
    }
    let options = FormatOptions {
        tab_size: query.tab_size,
        inserts_spaces: !query.hard_tabs,
    };
    let request = servers.iter().find_map(|server| {
        let connection = &server.connection;
        let triggers = connection.format_on_type_triggers(&path);
        let is_offered = triggers.contains(&query.typed);
        let request = is_offered
            .then(|| connection.format_on_type(&path, query.offset, query.typed, options));
        request.flatten()
    })?;
    let ending = model.read(cx).document().buffer().line_ending();
    Some(cx.background_spawn(async move {
        // A server that cannot answer now has no edits; its log has the reason.
        let answer = request.await.ok();
        let edits = answer.map(|answer| FormattingEdits::of(answer, ending));
        edits.map_or_else(Vec::new, |edits| edits.for_text(&text))
    }))
}
