//! The outline of a text: functions, types and headings by name. The view follows the selection.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::Span;
use editor::{Editor, ViewState};
use gpui_kit::{App, AppContext as _, Context, Entity, SharedString, Task, Window};
use project::fuzzy::{self, CandidateKind};
use syntax::{OutlineItem, OutlineKind};
use ui::Icon;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use super::byte_offsets;
use crate::open_options::{GoToPosition, go_to};

/// Picker delegate for the symbols of one text.
pub(crate) struct SymbolPicker {
    editor: Entity<Editor>,
    before: ViewState,
    caret: base::ByteOffset,
    outline: Option<Arc<Vec<OutlineItem>>>,
    has_syntax: bool,
    found: Vec<(usize, Vec<usize>)>,
    is_asked: bool,
}

impl SymbolPicker {
    /// Creates the picker and remembers the view's position. Dismissing the picker restores this
    /// position. The outline is computed in the background.
    pub(crate) fn new(editor: Entity<Editor>, cx: &mut App) -> Self {
        let (before, caret) = editor.update(cx, |editor, cx| {
            (editor.view_state(cx), editor.selections(cx).primary().head)
        });
        let has_syntax = editor.read(cx).model().read(cx).syntax().is_some();
        Self {
            editor,
            before,
            caret,
            outline: None,
            has_syntax,
            found: Vec::new(),
            is_asked: false,
        }
    }

    /// Returns the item in a row of the list; `None` if there is none.
    fn item(&self, ix: usize) -> Option<&OutlineItem> {
        let (index, _) = self.found.get(ix)?;
        self.outline.as_ref()?.get(*index)
    }
}

impl PickerDelegate for SymbolPicker {
    type Found = (Arc<Vec<OutlineItem>>, Vec<(usize, Vec<usize>)>);

    fn name(&self) -> SharedString {
        "Symbols".into()
    }

    fn placeholder(&self) -> SharedString {
        "Find a symbol of this file".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let query = query.trim_start_matches('@').to_owned();
        self.is_asked = !query.is_empty();
        let model = self.editor.read(cx).model().clone();
        let (snapshot, syntax) = (model.read(cx).snapshot(), model.read(cx).syntax().cloned());
        let outline = self.outline.clone();
        cx.background_spawn(async move {
            let outline = outline.unwrap_or_else(|| {
                Arc::new(
                    syntax
                        .map(|syntax| syntax.outline(&snapshot))
                        .unwrap_or_default(),
                )
            });
            let names: Vec<&str> = outline.iter().map(|item| item.name.as_str()).collect();
            let ranked = fuzzy::rank(
                &query,
                &names,
                CandidateKind::Text,
                names.len(),
                &AtomicBool::new(false),
            );
            let marked = |index: usize| {
                byte_offsets(
                    names[index],
                    &fuzzy::positions(&query, names[index], CandidateKind::Text),
                )
            };
            let found = ranked
                .into_iter()
                .map(|ranked| (ranked.index, marked(ranked.index)))
                .collect();
            (outline, found)
        })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        let (outline, found) = found;
        self.found = found;
        self.outline = Some(outline.clone());
        if self.is_asked {
            return 0;
        }
        // With an empty query, the symbol around the caret is selected.
        let holds = |span: Span| span.start <= self.caret && self.caret <= span.end;
        outline
            .iter()
            .rposition(|item| holds(item.span))
            .unwrap_or(0)
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let (Some(item), Some((_, matched))) = (self.item(ix), self.found.get(ix)) else {
            return PickerRow::default();
        };
        let indent = if self.is_asked { 0 } else { item.depth.min(12) };
        let pad = "\u{2003}".repeat(indent);
        let shift = pad.len();
        PickerRow::new(format!("{pad}{}", item.name))
            .matches(matched.iter().map(|offset| offset + shift))
            .start(icon(item.kind))
            .detail(item.detail.clone())
    }

    fn selected(&mut self, ix: usize, _: &mut Window, cx: &mut Context<Picker<Self>>) {
        if let Some(span) = self.item(ix).map(|item| item.name_span) {
            go_to(&self.editor, GoToPosition::Span(span), cx);
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        if let Some(span) = self.item(ix).map(|item| item.name_span) {
            go_to(&self.editor, GoToPosition::Span(Span::at(span.start)), cx);
        }
        AfterConfirm::Close
    }

    fn cancelled(&mut self, _: &mut Window, cx: &mut Context<Picker<Self>>) {
        let before = self.before.clone();
        self.editor
            .update(cx, |editor, cx| editor.restore_view_state(&before, cx));
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        match (self.has_syntax, query.is_empty()) {
            (false, _) => "This text has no outline: its language is plain text".into(),
            (true, true) => "This text has no symbols".into(),
            (true, false) => "No matching symbols".into(),
        }
    }
}

pub(super) fn icon(kind: OutlineKind) -> Icon {
    match kind {
        OutlineKind::Module => Icon::Package,
        OutlineKind::Class | OutlineKind::Struct | OutlineKind::Interface | OutlineKind::Type => {
            Icon::Box
        }
        OutlineKind::Enum => Icon::List,
        OutlineKind::Function | OutlineKind::Method | OutlineKind::Macro => Icon::SymbolFunction,
        OutlineKind::Field | OutlineKind::Key => Icon::Braces,
        OutlineKind::Constant | OutlineKind::Variable => Icon::CircleDot,
        OutlineKind::Heading => Icon::Hash,
        OutlineKind::Other => Icon::Circle,
    }
}
