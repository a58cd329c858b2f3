//! The picker of snippets: inserts the chosen one into the active text.

use editor::{Editor, SnippetInsertion};
use gpui_kit::{App, Context, SharedString, Task, WeakEntity, Window};
use snippet::Snippet;
use ui::Icon;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use crate::snippet_library::LibrarySnippet;

/// Picker delegate that lists the snippets of a language.
pub(crate) struct SnippetPicker {
    editor: WeakEntity<Editor>,
    /// Those whose abbreviation was typed come first.
    snippets: Vec<LibrarySnippet>,
    /// Indices of those that match the query.
    matching: Vec<usize>,
    /// Text before the caret.
    before: String,
    variables: Vec<(&'static str, String)>,
}

impl SnippetPicker {
    /// Creates the picker. `before` is the text before the caret in its row; `variables` are the
    /// values of variables that do not depend on the caret.
    pub(crate) fn new(
        editor: WeakEntity<Editor>,
        mut snippets: Vec<LibrarySnippet>,
        before: String,
        variables: Vec<(&'static str, String)>,
    ) -> Self {
        snippets.sort_by_key(|snippet| snippet.typed_prefix(&before).is_none());
        Self {
            editor,
            matching: (0..snippets.len()).collect(),
            snippets,
            before,
            variables,
        }
    }

    fn matching(&self, query: &str) -> Vec<usize> {
        let query = query.trim().to_lowercase();
        let holds = |text: &str| text.to_lowercase().contains(&query);
        let is_match = |snippet: &LibrarySnippet| {
            let definition = &snippet.definition;
            holds(&definition.name)
                || holds(&definition.description)
                || definition.prefixes.iter().any(|prefix| holds(prefix))
        };
        let all = self.snippets.iter().enumerate();
        all.filter(|(_, snippet)| is_match(snippet))
            .map(|(ix, _)| ix)
            .collect()
    }
}

impl PickerDelegate for SnippetPicker {
    type Found = Vec<usize>;

    fn name(&self) -> SharedString {
        "Snippets".into()
    }

    fn placeholder(&self) -> SharedString {
        "Insert a snippet".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        Task::ready(self.matching(query))
    }

    fn accept(&mut self, matching: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.matching = matching;
        0
    }

    fn count(&self) -> usize {
        self.matching.len()
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        if query.is_empty() {
            "No snippets for this language; configure some with “Configure snippets”".into()
        } else {
            "No matching snippets".into()
        }
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let snippet = self.matching.get(ix).and_then(|ix| self.snippets.get(*ix));
        let Some(LibrarySnippet { definition, .. }) = snippet else {
            return PickerRow::new("");
        };
        let first_row = definition.body.lines().next().unwrap_or_default();
        let detail = match definition.description.as_str() {
            "" => first_row.trim(),
            description => description,
        };
        PickerRow::new(definition.name.clone())
            .detail(detail.to_owned())
            .end_text(definition.prefixes.join(", "))
            .start(Icon::Braces)
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let snippet = self.matching.get(ix).and_then(|ix| self.snippets.get(*ix));
        let (Some(snippet), Some(editor)) = (snippet, self.editor.upgrade()) else {
            return AfterConfirm::Stay;
        };
        let variable = |name: &str| {
            let mut values = self.variables.iter();
            let value = values.find(|(known, _)| *known == name);
            value.map(|(_, value)| value.clone())
        };
        let insertion = SnippetInsertion {
            snippet: &Snippet::parse(&snippet.definition.body),
            typed: snippet.typed_prefix(&self.before).unwrap_or_default(),
            variable: &variable,
        };
        editor.update(cx, |editor, cx| {
            editor.insert_snippet(&insertion, window, cx);
        });
        AfterConfirm::Close
    }
}
