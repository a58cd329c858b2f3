//! Breadcrumbs above a text: its path, and the symbols around the caret.
//!
//! The outline is brought up to date in the background after a pause in typing; moving the caret
//! only looks it up. Invariant: the breadcrumbs are redrawn only when their text changes.

use base::AbsPath;
use editor::{Editor, EditorEvent, ModelEvent};
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    App, AppContext as _, Context, Entity, InteractiveElement as _, IntoElement,
    ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _, Styled as _,
    Subscription, Task, Window, div,
};
use syntax::Outline;
use ui::{ActiveTheme as _, Icon, IconSize, Label, Tooltip, dp};

use crate::actions::go;
use crate::services::Services;

/// The breadcrumbs above one text.
pub(crate) struct Crumbs {
    editor: Entity<Editor>,
    /// The open folder, to which paths are relative.
    root: Option<AbsPath>,
    /// The outline at the last pause in typing; `None` before the first one.
    outline: Option<Outline>,
    symbols: Vec<SharedString>,
    /// Row of the caret, for a view of several files.
    row: base::Row,
    finding: Option<Task<()>>,
    _subscriptions: Vec<Subscription>,
}

impl Crumbs {
    /// Creates the breadcrumbs of an editor and follows its changes.
    pub(crate) fn new(
        editor: Entity<Editor>,
        root: Option<AbsPath>,
        cx: &mut Context<Self>,
    ) -> Self {
        let model = editor.read(cx).model().clone();
        let subscriptions = vec![
            cx.subscribe(&editor, |this, _, event: &EditorEvent, cx| {
                if *event == EditorEvent::SelectionsChanged {
                    this.follow_caret(cx);
                }
            }),
            cx.subscribe(&model, |this, _, event: &ModelEvent, cx| match event {
                ModelEvent::Rested | ModelEvent::SyntaxUpdated => this.update_outline(cx),
                ModelEvent::StateChanged => cx.notify(),
                ModelEvent::Edited(_)
                | ModelEvent::Saved
                | ModelEvent::HunksUpdated
                | ModelEvent::DiagnosticsUpdated
                | ModelEvent::GutterMarksUpdated => {}
            }),
        ];
        let mut this = Self {
            editor,
            root,
            outline: None,
            symbols: Vec::new(),
            row: base::Row(0),
            finding: None,
            _subscriptions: subscriptions,
        };
        this.update_outline(cx);
        this
    }

    /// Sets the open folder.
    pub(crate) fn set_root(&mut self, root: Option<AbsPath>, cx: &mut Context<Self>) {
        self.root = root;
        cx.notify();
    }

    /// Brings the outline up to date in the background, unless a pause in typing follows.
    fn update_outline(&mut self, cx: &mut Context<Self>) {
        let model = self.editor.read(cx).model().read(cx);
        let Some(syntax) = model.syntax().cloned() else {
            return;
        };
        if model.is_being_edited() {
            return;
        }
        let snapshot = model.snapshot();
        let outline = cx.background_spawn(async move { syntax.shared_outline(&snapshot) });
        self.finding = Some(cx.spawn(async move |this, cx| {
            let outline = outline.await;
            let updated = this.update(cx, |this, cx| {
                this.outline = Some(outline);
                this.follow_caret(cx);
            });
            // The tab may have been closed in the meantime.
            updated.ok();
        }));
    }

    fn follow_caret(&mut self, cx: &mut Context<Self>) {
        let (caret, row) = self.editor.update(cx, |editor, cx| {
            let row = editor
                .excerpts()
                .is_some()
                .then(|| editor.caret_point(cx).row);
            (editor.selections(cx).primary().head, row)
        });
        if let Some(row) = row.filter(|row| *row != self.row) {
            self.row = row;
            cx.notify();
        }
        let outline = self.outline.as_ref();
        let around = outline.map_or_else(Vec::new, |outline| outline.around(caret));
        let symbols: Vec<SharedString> = around.into_iter().map(|it| it.name.into()).collect();
        if symbols != self.symbols {
            self.symbols = symbols;
            cx.notify();
        }
    }

    /// Returns the breadcrumb labels, from the outermost folder to the innermost symbol.
    fn breadcrumb_labels(&self, cx: &App) -> (Vec<SharedString>, &[SharedString]) {
        let editor = self.editor.read(cx);
        let path = match editor.excerpts() {
            Some(excerpts) => excerpts.read(cx).path_of(self.row, cx),
            None => editor.model().read(cx).path().cloned(),
        };
        let shown = path.map(|path| Services::of(cx).display_in(self.root.as_ref(), &path));
        let parts = shown.unwrap_or_default();
        let parts = parts.split('/').filter(|part| !part.is_empty());
        (
            parts.map(|part| part.to_owned().into()).collect(),
            &self.symbols,
        )
    }
}

impl Render for Crumbs {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        let (path, symbols) = self.breadcrumb_labels(cx);
        let spoken: Vec<&str> = path.iter().chain(symbols).map(AsRef::as_ref).collect();
        let spoken = spoken.join(", ");
        let mut parts = Vec::new();
        for (index, part) in path.iter().chain(symbols).enumerate() {
            if index > 0 {
                parts.push(
                    Icon::ChevronRight
                        .size(IconSize::Small)
                        .color(colors.disabled)
                        .into_any_element(),
                );
            }
            let is_symbol = index >= path.len();
            let label = Label::new(part.clone()).small();
            let label = if is_symbol {
                label.color(colors.text)
            } else {
                label.muted()
            };
            parts.push(
                div()
                    .flex_none()
                    .max_w(dp(280.0))
                    .child(label)
                    .into_any_element(),
            );
        }
        div()
            .id("crumbs")
            .role(Role::Button)
            .test_support()
            .aria_label(format!("Find a symbol; here: {spoken}"))
            .size_full()
            .px(dp(12.0))
            .bg(colors.surface)
            .cursor_pointer()
            .on_click(|_, window, cx| window.dispatch_action(Box::new(go::FindSymbol), cx))
            .tooltip(Tooltip::for_action(
                "Find a symbol of this file",
                &go::FindSymbol,
            ))
            // If the labels do not fit, the leading folders are clipped.
            .child(
                div()
                    .flex()
                    .justify_end()
                    .size_full()
                    .overflow_hidden()
                    .child(
                        div()
                            .flex()
                            .flex_none()
                            .items_center()
                            .min_w_full()
                            .h_full()
                            .gap(dp(4.0))
                            .children(parts),
                    ),
            )
    }
}
