//! Markdown as it is read, beside its text: it follows every edit, and both scroll in step.
//!
//! Invariant: an edit is parsed in the background, and only the blocks that it changed are laid out again.
//! Start at `MarkdownPreview::new`; `scrolling` keeps it in step with an editor, `pictures` loads the images in sight.

mod blocks;
mod code;
mod inline;
mod links;
mod pictures;
mod render;
mod scrolling;
mod tables;

use std::sync::Arc;
use std::time::Duration;

use base::AbsPath;
use editor::{DocumentModel, Editor, ModelEvent};
use gpui_kit::{
    App, AppContext as _, Context, Entity, EventEmitter, FocusHandle, Focusable, ListAlignment,
    ListState, SharedString, Subscription, Task, WeakEntity, px,
};
use host::Files;
use preview::MarkdownDocument;
use ui::RestTimer;

use crate::actions::ToggleScrollInStep;
use crate::event::{PreviewEvent, PreviewStatus};
use crate::kind::PreviewKind;
use crate::loading::{Loaded, sentence};
use crate::source::PreviewSource;
use code::CodeHighlights;
use pictures::Pictures;

/// Time that typing rests before the text is parsed again.
const PARSE_REST: Duration = Duration::from_millis(120);
/// Distance beyond the view in which blocks are laid out, in pixels. The list knows no heights beyond it, so that a key
/// scrolls less far.
const OVERDRAW: f32 = 1_000.0;

/// The preview of a Markdown document in a tab.
pub struct MarkdownPreview {
    model: Entity<DocumentModel>,
    files: Arc<dyn Files>,
    root: Option<AbsPath>,
    content: Loaded<MarkdownDocument>,
    highlights: CodeHighlights,
    list: ListState,
    pictures: Pictures,
    /// The editor that scrolls in step.
    editor: Option<WeakEntity<Editor>>,
    is_in_step: bool,
    /// The position to which the editor was scrolled from here, in its line heights: its event is no news.
    expected_top: Option<f64>,
    /// The row to show once the text is parsed.
    awaited_row: Option<f64>,
    /// The row that was scrolled to in a block whose height is not known yet.
    unsettled_row: Option<f64>,
    focus: FocusHandle,
    typing: RestTimer<MarkdownPreview>,
    parsing: Option<Task<()>>,
    _model_events: Subscription,
    _editor_events: Option<Subscription>,
}

impl EventEmitter<PreviewEvent> for MarkdownPreview {}

impl Focusable for MarkdownPreview {
    fn focus_handle(&self, _: &App) -> FocusHandle {
        self.focus.clone()
    }
}

impl MarkdownPreview {
    /// Creates the preview of a document, and begins to parse it. Row `top` of the source is at the top.
    pub fn new(
        model: Entity<DocumentModel>,
        files: Arc<dyn Files>,
        root: Option<AbsPath>,
        top: f64,
        cx: &mut Context<Self>,
    ) -> Self {
        cx.on_release(|this, cx| this.pictures.forget(None, cx))
            .detach();
        let list = ListState::new(0, ListAlignment::Top, px(OVERDRAW));
        let view = cx.weak_entity();
        list.set_scroll_handler(move |_, _, cx| {
            // The list cannot be read while it calls this.
            let view = view.clone();
            cx.defer(move |cx| {
                // The view may have been closed.
                view.update(cx, Self::list_scrolled).ok();
            });
        });
        let mut this = Self {
            _model_events: cx.subscribe(&model, Self::model_event),
            model,
            files,
            root,
            content: Loaded::Waiting,
            highlights: CodeHighlights::default(),
            list,
            pictures: Pictures::default(),
            editor: None,
            is_in_step: true,
            expected_top: None,
            awaited_row: Some(top),
            unsettled_row: None,
            focus: cx.focus_handle().tab_stop(true),
            typing: RestTimer::new(PARSE_REST, |it| &mut it.typing, Self::parse),
            parsing: None,
            _editor_events: None,
        };
        this.parse(cx);
        this
    }

    /// Returns the document.
    pub fn model(&self) -> &Entity<DocumentModel> {
        &self.model
    }

    /// Returns the title of the tab.
    pub fn title(&self, cx: &App) -> SharedString {
        PreviewKind::Markdown.title(&self.model.read(cx).document().title())
    }

    /// Returns the path of the document; `None` for an untitled one.
    pub fn path(&self, cx: &App) -> Option<AbsPath> {
        self.model.read(cx).path().cloned()
    }

    /// Returns the items of the status bar.
    pub fn status(&self) -> Vec<PreviewStatus> {
        let text = if self.is_in_step {
            "Scrolls in step"
        } else {
            "Scrolls alone"
        };
        let help = "Scroll the preview and its text in step, or each alone";
        vec![PreviewStatus::new(
            "preview-step",
            text,
            help,
            ToggleScrollInStep,
        )]
    }

    /// Returns the file of the document, within which images are looked up.
    fn source(&self, cx: &App) -> Option<PreviewSource> {
        Some(PreviewSource {
            files: self.files.clone(),
            path: self.path(cx)?,
            root: self.root.clone(),
        })
    }

    fn model_event(
        &mut self,
        _: Entity<DocumentModel>,
        event: &ModelEvent,
        cx: &mut Context<Self>,
    ) {
        if matches!(event, ModelEvent::Edited(_)) {
            self.typing.put_off(cx);
        }
    }

    /// Parses the text in the background, with the colours of its code.
    fn parse(&mut self, cx: &mut Context<Self>) {
        let snapshot = self.model.read(cx).snapshot();
        let known = self.highlights.clone();
        let parsing = cx.background_spawn(async move {
            let document = MarkdownDocument::parse(&snapshot.to_string())?;
            let highlights = known.of(document.blocks());
            Ok::<_, preview::MarkdownError>((document, highlights))
        });
        self.parsing = Some(cx.spawn(async move |this, cx| {
            let parsed = parsing.await;
            let shown = this.update(cx, |this, cx| {
                match parsed {
                    Ok((document, highlights)) => {
                        this.highlights = highlights;
                        this.show(document, cx);
                    }
                    Err(error) => this.content = Loaded::Refused(sentence(&error)),
                }
                cx.emit(PreviewEvent::StatusChanged);
                cx.notify();
            });
            // The view may have been closed.
            shown.ok();
        }));
    }

    /// Shows a parsed text; the blocks that did not change keep their layout.
    fn show(&mut self, document: MarkdownDocument, cx: &mut Context<Self>) {
        match self.content.ready() {
            Some(before) => {
                let (changed, count) = document.changed_blocks(before);
                self.list.splice(changed, count);
            }
            None => self.list.reset(document.blocks().len()),
        }
        self.content = Loaded::Ready(document);
        if let Some(row) = self.awaited_row.take() {
            self.show_row(row, cx);
        }
    }
}

#[cfg(test)]
mod tests;
