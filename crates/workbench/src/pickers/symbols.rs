//! The symbols of a text by name: functions, types, headings. The view follows the selection.
//!
//! A language server names them; until it has answered, and without one, the syntax tree does.
//! Start at `SymbolPicker::search`.

mod text_symbols;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use base::Span;
use editor::{Editor, ViewState};
use futures::FutureExt as _;
use futures::future::{BoxFuture, Either, Shared, select};
use gpui_kit::{App, AppContext as _, Context, Entity, SharedString, Task, WeakEntity, Window};
use lsp::DocumentSymbol;
use project::fuzzy::{self, CandidateKind};
use syntax::OutlineKind;
use ui::Icon;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use self::text_symbols::{TextSymbol, of_outline, of_server};
use super::byte_offsets;
use crate::open_options::{GoToPosition, go_to};
use crate::workbench::Workbench;

/// Deepest level by which a row is indented.
const MAX_LEVEL: u8 = 12;

/// Time for which the list waits for a server before it shows the outline of the syntax tree.
const PATIENCE: Duration = Duration::from_millis(150);

/// Picker delegate for the symbols of one text.
pub(crate) struct SymbolPicker {
    workbench: WeakEntity<Workbench>,
    editor: Entity<Editor>,
    before: ViewState,
    caret: base::ByteOffset,
    /// The answer of the servers; `None` if no server can answer.
    server: Option<ServerSymbols>,
    /// The symbols to list, once they are known.
    symbols: Option<Arc<Vec<TextSymbol>>>,
    has_syntax: bool,
    found: Vec<(usize, Vec<usize>)>,
    is_asked: bool,
    /// The name of the selected symbol.
    selected: Option<Span>,
    /// Whether that symbol stays selected, because the server's symbols replace the outline.
    keeps_selected: bool,
    /// Whether the query had the sign of this list, so that a query without it leaves the list.
    has_sign: bool,
    following: Option<Task<()>>,
}

/// The answer of the servers, for every search.
type ServerSymbols = Shared<BoxFuture<'static, Arc<Vec<TextSymbol>>>>;

impl SymbolPicker {
    /// Creates the picker and remembers the view's position. Dismissing the picker restores this position. `server` is
    /// the answer of the text's servers, if one can answer.
    pub(crate) fn new(
        editor: Entity<Editor>,
        server: Option<BoxFuture<'static, Vec<DocumentSymbol>>>,
        workbench: WeakEntity<Workbench>,
        cx: &mut App,
    ) -> Self {
        let (before, caret) = editor.update(cx, |editor, cx| {
            (editor.view_state(cx), editor.selections(cx).primary().head)
        });
        let has_syntax = editor.read(cx).model().read(cx).syntax().is_some();
        let server = server.map(|server| server.map(|it| Arc::new(of_server(it))).boxed().shared());
        Self {
            workbench,
            editor,
            before,
            caret,
            server,
            symbols: None,
            has_syntax,
            found: Vec::new(),
            is_asked: false,
            selected: None,
            keeps_selected: false,
            has_sign: false,
            following: None,
        }
    }

    /// Returns the symbol in a row of the list; `None` if there is none.
    fn symbol(&self, ix: usize) -> Option<&TextSymbol> {
        let (index, _) = self.found.get(ix)?;
        self.symbols.as_ref()?.get(*index)
    }

    /// Replaces the outline by the symbols of the server when they arrive.
    fn follow_server(&mut self, window: &Window, cx: &mut Context<Picker<Self>>) {
        let Some(server) = self.server.clone() else {
            return;
        };
        self.following = Some(cx.spawn_in(window, async move |picker, cx| {
            let answer = server.await;
            // The picker may have been closed in the meantime.
            picker
                .update_in(cx, |picker, window, cx| {
                    let delegate = picker.delegate_mut();
                    if answer.is_empty() {
                        // The outline stays.
                        delegate.server = None;
                        return;
                    }
                    let known = delegate.symbols.replace(answer.clone());
                    if known.is_none_or(|known| !Arc::ptr_eq(&known, &answer)) {
                        delegate.keeps_selected = true;
                        picker.reload(window, cx);
                    }
                })
                .ok();
        }));
    }

    /// Shows the search for everything, after the sign of this list was deleted.
    fn leave(&self, query: &str, window: &Window, cx: &mut Context<Picker<Self>>) {
        let (workbench, query) = (self.workbench.clone(), query.to_owned());
        window.defer(cx, move |window, cx| {
            // The window may be closing.
            workbench
                .update(cx, |workbench, cx| {
                    workbench.show_search(&query, window, cx);
                })
                .ok();
        });
    }

    /// Returns the names of the listed symbols, indented by their depths.
    #[cfg(test)]
    pub(crate) fn names(&self) -> Vec<String> {
        let symbols = (0..self.found.len()).filter_map(|ix| self.symbol(ix));
        symbols
            .map(|it| format!("{}{}", " ".repeat(it.depth), it.name))
            .collect()
    }
}

impl PickerDelegate for SymbolPicker {
    type Found = (Arc<Vec<TextSymbol>>, Vec<(usize, Vec<usize>)>);

    fn name(&self) -> SharedString {
        "Symbols".into()
    }

    fn placeholder(&self) -> SharedString {
        "Find a symbol of this file".into()
    }

    fn search(
        &mut self,
        query: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        if self.following.is_none() {
            self.follow_server(window, cx);
        }
        let sign = query.trim_start().strip_prefix('@');
        match sign {
            Some(_) => self.has_sign = true,
            None if self.has_sign => self.leave(query, window, cx),
            None => {}
        }
        let query = sign.unwrap_or(query).trim().to_owned();
        self.is_asked = !query.is_empty();
        let model = self.editor.read(cx).model().clone();
        let (snapshot, syntax) = (model.read(cx).snapshot(), model.read(cx).syntax().cloned());
        let (known, server) = (self.symbols.clone(), self.server.clone());
        let patience = cx.background_executor().timer(PATIENCE);
        cx.background_spawn(async move {
            let answer = match (known, server) {
                (Some(known), _) => Some(known),
                (None, None) => None,
                (None, Some(server)) => match select(server, patience).await {
                    Either::Left((answer, _)) => Some(answer).filter(|it| !it.is_empty()),
                    Either::Right(_) => None,
                },
            };
            let symbols = answer.unwrap_or_else(|| {
                let outline = syntax.map(|syntax| syntax.outline(&snapshot));
                Arc::new(of_outline(outline.unwrap_or_default()))
            });
            let found = ranked(&symbols, &query);
            (symbols, found)
        })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        let (symbols, found) = found;
        self.found = found;
        self.symbols = Some(symbols.clone());
        let keeps = std::mem::take(&mut self.keeps_selected);
        let selected = self.selected.take().filter(|_| keeps);
        let row_of = |span: Span| {
            let is_same = |(index, _): &(usize, _)| {
                let symbol: Option<&TextSymbol> = symbols.get(*index);
                symbol.is_some_and(|symbol| symbol.name_span.start == span.start)
            };
            self.found.iter().position(is_same)
        };
        if let Some(row) = selected.and_then(row_of) {
            return row;
        }
        if self.is_asked {
            return 0;
        }
        // With an empty query, the symbol around the caret is selected.
        let holds = |span: Span| span.start <= self.caret && self.caret <= span.end;
        symbols
            .iter()
            .rposition(|symbol| holds(symbol.span))
            .unwrap_or(0)
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let (Some(symbol), Some((_, matched))) = (self.symbol(ix), self.found.get(ix)) else {
            return PickerRow::default();
        };
        let level = if self.is_asked { 0 } else { symbol.depth };
        // Without the rows around it, the containers tell symbols of one name apart.
        let container = if self.is_asked {
            symbol.container.clone()
        } else {
            String::new()
        };
        PickerRow::new(symbol.name.clone())
            .matches(matched.iter().copied())
            .level(u8::try_from(level).map_or(MAX_LEVEL, |level| level.min(MAX_LEVEL)))
            .start(icon(symbol.kind))
            .detail(symbol.detail.clone())
            .end_text(container)
    }

    fn selected(&mut self, ix: usize, _: &mut Window, cx: &mut Context<Picker<Self>>) {
        let span = self.symbol(ix).map(|symbol| symbol.name_span);
        self.selected = span;
        if let Some(span) = span {
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
        if let Some(span) = self.symbol(ix).map(|symbol| symbol.name_span) {
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
        let has_source = self.has_syntax || self.server.is_some();
        match (has_source, query.trim_start_matches('@').is_empty()) {
            (false, _) => "This text has no outline: its language is plain text".into(),
            (true, true) => "This text has no symbols".into(),
            (true, false) => "No matching symbols".into(),
        }
    }
}

/// Returns the indices of the symbols that match a query, the best first, with the bytes of their names that match.
fn ranked(symbols: &[TextSymbol], query: &str) -> Vec<(usize, Vec<usize>)> {
    let names: Vec<&str> = symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    let kind = CandidateKind::Text;
    let ranked = fuzzy::rank(query, &names, kind, names.len(), &AtomicBool::new(false));
    let marked = |index: usize| {
        let positions = fuzzy::positions(query, names[index], kind);
        byte_offsets(names[index], &positions)
    };
    ranked
        .into_iter()
        .map(|ranked| (ranked.index, marked(ranked.index)))
        .collect()
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
