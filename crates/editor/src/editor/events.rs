//! Reactions of a view to events of its document and to changes of the focus.

use gpui_kit::{Context, Entity, Window};

use super::{
    Editor, EditorEvent, annotations, document_highlights, finding, hover, inlay_hints, light_bulb,
    line_authors, links, signature, vim_mode,
};
use crate::model::{DocumentModel, ModelEvent};

impl Editor {
    pub(super) fn on_model_event(
        &mut self,
        _: Entity<DocumentModel>,
        event: &ModelEvent,
        cx: &mut Context<Self>,
    ) {
        match event {
            ModelEvent::Edited(_) => {
                let before = self.snapshot.revision();
                self.sync(cx);
                if before != self.snapshot.revision() {
                    document_highlights::carets_moved(self, cx);
                    light_bulb::carets_moved(self, cx);
                    line_authors::carets_moved(self, cx);
                    signature::carets_moved(self, cx);
                    cx.emit(EditorEvent::SelectionsChanged);
                }
            }
            ModelEvent::SyntaxUpdated => return self.syntax_updated(cx),
            ModelEvent::StateChanged => {
                self.suggestion.invalidate();
                self.comparison.is_shown &= self.model.read(cx).document().conflict().is_some();
            }
            ModelEvent::Rested => return self.text_rested(cx),
            ModelEvent::DiagnosticsUpdated => {
                hover::diagnostics_changed(self);
                light_bulb::carets_moved(self, cx);
            }
            ModelEvent::Saved | ModelEvent::HunksUpdated | ModelEvent::GutterMarksUpdated => {}
        }
        cx.notify();
    }

    pub(super) fn on_focus(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        self.show_caret(cx);
        document_highlights::carets_moved(self, cx);
        light_bulb::carets_moved(self, cx);
        line_authors::carets_moved(self, cx);
        cx.emit(EditorEvent::Focused);
        cx.notify();
    }

    pub(super) fn on_blur(&mut self, _: &mut Window, cx: &mut Context<Self>) {
        vim_mode::focus_lost(self, cx);
        self.blink.stop();
        hover::focus_lost(self, cx);
        light_bulb::hide(self);
        signature::close(self, cx);
        inlay_hints::end_hold(self, cx);
        links::end(self, cx);
        self.close_completions(cx);
        cx.notify();
    }

    /// Uses a newer tree, and requests a frame. A tree that arrives while the user types gets one
    /// only if it shows more than highlights, which request their own: headers and guides wait for a
    /// pause.
    fn syntax_updated(&mut self, cx: &mut Context<Self>) {
        self.sync(cx);
        let is_restyled = self.follow_text(cx);
        self.highlight_in_background(cx);
        let model = self.model.read(cx);
        let head = self.selections.primary().head;
        let may_match = model
            .syntax()
            .is_some_and(|syntax| syntax.may_match_bracket(&self.snapshot, head));
        if model.is_being_edited() && !is_restyled && !may_match {
            self.has_unseen_tree = true;
        } else {
            cx.notify();
        }
    }

    /// Runs the updates that were deferred to a pause in typing.
    fn text_rested(&mut self, cx: &mut Context<Self>) {
        self.sync(cx);
        self.highlight_at_rest(cx);
        finding::find_at_rest(self, cx);
        inlay_hints::move_window(self, cx);
        annotations::ask(self, cx);
        if std::mem::take(&mut self.has_unseen_tree) {
            cx.notify();
        }
    }
}
