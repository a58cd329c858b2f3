//! The user's snippets as a source of the completion list.

use base::AbsPath;
use editor::{
    CompletionAnswer, CompletionId, CompletionItem, CompletionKind, CompletionQuery,
    CompletionSource, DocumentModel, Documentation,
};
use gpui_kit::{App, Entity, Task};
use ui::ActiveSettings as _;

use crate::configuration::Configuration;
use crate::snippet_library::LibrarySnippet;

/// Offers the snippets for the language of a text, by their abbreviations.
pub(crate) struct SnippetItems {
    model: Entity<DocumentModel>,
    /// Folder of the window.
    root: Option<AbsPath>,
}

impl SnippetItems {
    /// Creates the source for a text in a window.
    pub(crate) fn new(model: Entity<DocumentModel>, root: Option<AbsPath>) -> Self {
        Self { model, root }
    }
}

impl CompletionSource for SnippetItems {
    fn immediate_items(&self, _: &CompletionQuery, cx: &App) -> Vec<CompletionItem> {
        if !cx.settings().completions.snippets {
            return Vec::new();
        }
        let language = self.model.read(cx).language();
        let library = Configuration::of(cx).read(cx).snippets();
        let snippets = library.of_language(language);
        let items = snippets.iter().flat_map(|snippet| {
            let prefixes = snippet.definition.prefixes.iter();
            prefixes.map(move |prefix| (prefix, snippet))
        });
        items
            .zip(0..)
            .map(|((prefix, snippet), id)| item(CompletionId(id), prefix, snippet))
            .collect()
    }

    fn request(&self, _: CompletionQuery, _: &mut App) -> Task<Option<CompletionAnswer>> {
        Task::ready(None)
    }

    fn variables(&self, cx: &App) -> Vec<(&'static str, String)> {
        let path = self.model.read(cx).path().cloned();
        window_variables(self.root.as_ref(), path.as_ref(), cx)
    }
}

/// Returns the snippet variables that concern the window: its folder, the text in it, and the
/// clipboard.
pub(crate) fn window_variables(
    root: Option<&AbsPath>,
    path: Option<&AbsPath>,
    cx: &App,
) -> Vec<(&'static str, String)> {
    let mut variables = Vec::new();
    if let Some(root) = root {
        if let Some(relative) = path.and_then(|path| path.relative_to(root)) {
            variables.push(("RELATIVE_FILEPATH", relative.display().to_string()));
        }
        variables.push(("WORKSPACE_NAME", root.name()));
        variables.push(("WORKSPACE_FOLDER", root.to_string()));
    }
    let clipboard = cx.read_from_clipboard().and_then(|item| item.text());
    variables.extend(clipboard.map(|text| ("CLIPBOARD", text)));
    variables
}

fn item(id: CompletionId, prefix: &str, snippet: &LibrarySnippet) -> CompletionItem {
    let definition = &snippet.definition;
    let mut item = CompletionItem::new(id, prefix.to_owned(), CompletionKind::Snippet);
    item.detail = Some(definition.name.clone().into());
    item.insert.text = definition.body.clone().into();
    item.insert.is_snippet = true;
    let text = match definition.description.as_str() {
        "" => definition.body.clone(),
        description => format!("{description}\n\n{}", definition.body),
    };
    item.documentation = Some(Documentation {
        text: text.into(),
        is_markdown: false,
    });
    item
}
