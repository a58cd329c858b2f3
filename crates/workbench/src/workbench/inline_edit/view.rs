//! The box of an inline edit, and the state of the edit.
//!
//! The region follows edits of the text elsewhere. An edit within it ends the request or the
//! proposal: its text is the user's.

use base::{ByteOffset, Row, Span};
use display::BlockId;
use editor::{DocumentModel, Editor, ModelEvent, ProposedChange, show_proposal};
use futures::StreamExt as _;
use gpui_kit::component::input::{Enter, InputEvent, InputState};
use gpui_kit::prelude::FluentBuilder as _;
use gpui_kit::{
    App, AppContext as _, Context, Entity, FocusHandle, Focusable, InteractiveElement as _,
    IntoElement, ParentElement as _, Render, Role, SharedString, StatefulInteractiveElement as _,
    Styled as _, Subscription, Task, TestSupportExt as _, WeakEntity, Window, div, px,
};
use rewrite::{AnswerProgress, EarlierRewrite, MAX_LINES_BYTES, RewriteEvent, RewriteRegion};
use text::{Author, Change, RowSpan, Snapshot};
use ui::{
    ActiveTheme as _, Button, ButtonStyle, Elide, Icon, IconButton, Label, TextField, Tone, dp,
};

use super::request::RewriteSource;
use crate::actions::inline_edit::{Accept, Cancel};
use crate::workbench::Workbench;

/// Height of the box, in pixels.
const HEAD: f32 = 44.0;
/// Height of the line below the field, in pixels.
const NOTE: f32 = 22.0;

/// The box of an inline edit.
pub(crate) struct InlineEditView {
    field: Entity<InputState>,
    host: WeakEntity<Editor>,
    model: Entity<DocumentModel>,
    /// The rows of the region in the text as it is now, without the last line ending.
    span: Span,
    region: RewriteRegion,
    /// The answered instructions that the next one refines.
    earlier: Vec<EarlierRewrite>,
    progress: EditProgress,
    note: Option<(Tone, SharedString)>,
    source: RewriteSource,
    block: Option<BlockId>,
    workbench: WeakEntity<Workbench>,
    _subscriptions: [Subscription; 2],
}

/// The state of an inline edit.
enum EditProgress {
    /// The user writes the instruction.
    Asking,
    /// The model writes.
    Writing {
        instruction: String,
        lines: Vec<String>,
        _task: Task<()>,
    },
    /// The change waits for the user.
    Proposed(EarlierRewrite),
}

impl Focusable for InlineEditView {
    fn focus_handle(&self, cx: &App) -> FocusHandle {
        self.field.read(cx).focus_handle(cx)
    }
}

impl InlineEditView {
    /// Creates the box for rows of a text.
    pub(super) fn new(
        (host, rows): (&Entity<Editor>, RowSpan),
        source: RewriteSource,
        workbench: WeakEntity<Workbench>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let model = host.read(cx).model().clone();
        let region = region_of(model.read(cx), rows);
        let placeholder = if region.is_blank() {
            "Describe the text to write here"
        } else {
            "Describe the change of these lines"
        };
        let field = cx.new(|cx| InputState::new(window, cx).placeholder(placeholder));
        let subscriptions = [
            cx.subscribe_in(&field, window, Self::on_field),
            cx.subscribe_in(&model, window, |this, _, event, window, cx| {
                if let ModelEvent::Edited(change) = event {
                    this.follow(change, window, cx);
                }
            }),
        ];
        Self {
            span: span_of(&model.read(cx).snapshot(), region.rows()),
            field,
            host: host.downgrade(),
            model,
            region,
            earlier: Vec::new(),
            progress: EditProgress::Asking,
            note: None,
            source,
            block: None,
            workbench,
            _subscriptions: subscriptions,
        }
    }

    /// Sets the block that shows the box.
    pub(super) fn set_block(&mut self, block: BlockId) {
        self.block = Some(block);
    }

    /// Returns whether a model writes, or a change waits for the user.
    pub(super) fn is_busy(&self) -> bool {
        !matches!(self.progress, EditProgress::Asking)
    }

    /// Returns the height in line heights.
    pub(super) fn height(&self, cx: &App) -> f32 {
        let note = if self.note_line().is_some() {
            NOTE
        } else {
            0.0
        };
        cx.theme().code_lines(HEAD + note)
    }

    fn on_field(
        &mut self,
        _: &Entity<InputState>,
        event: &InputEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            InputEvent::PressEnter { .. } => self.enter(window, cx),
            // The buttons depend on the text.
            InputEvent::Change => cx.notify(),
            InputEvent::Focus | InputEvent::Blur => {}
        }
    }

    /// Sends the instruction, or accepts the change if there is no further one.
    fn enter(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let instruction = self.field.read(cx).value().trim().to_owned();
        match (&self.progress, instruction.is_empty()) {
            (EditProgress::Proposed(_), true) => self.accept(window, cx),
            (EditProgress::Writing { .. }, _) | (EditProgress::Asking, true) => {}
            (EditProgress::Proposed(_) | EditProgress::Asking, false) => {
                self.send(instruction, window, cx);
            }
        }
    }

    fn send(&mut self, instruction: String, window: &mut Window, cx: &mut Context<Self>) {
        let Some(models) = self.source.models() else {
            let sentence = "No models are available in this program.";
            return self.set_note(Some((Tone::Error, sentence.into())), cx);
        };
        match std::mem::replace(&mut self.progress, EditProgress::Asking) {
            EditProgress::Proposed(answered) => self.earlier.push(answered),
            EditProgress::Asking | EditProgress::Writing { .. } => {
                // The user may have edited the rows since the box opened.
                let text = self.model.read(cx).snapshot();
                self.region = region_of(self.model.read(cx), rows_of(&text, self.span));
                self.span = span_of(&text, self.region.rows());
            }
        }
        if self.region.byte_len() > MAX_LINES_BYTES {
            let limit = MAX_LINES_BYTES >> 10;
            let sentence = format!("The lines are longer than {limit} KiB: select fewer lines.");
            return self.set_note(Some((Tone::Error, sentence.into())), cx);
        }
        let query = self.source.query(
            self.model.read(cx),
            (&self.region, self.span),
            &self.earlier,
            &instruction,
            cx,
        );
        let mut events = models.rewrite(query);
        let task = cx.spawn_in(window, async move |this, cx| {
            while let Some(event) = events.next().await {
                let handled = this.update_in(cx, |this, window, cx| this.read(event, window, cx));
                if handled.is_err() {
                    return;
                }
            }
            let ended = this.update_in(cx, |this, window, cx| this.end_early(window, cx));
            // The box may have been closed.
            ended.ok();
        });
        self.progress = EditProgress::Writing {
            instruction,
            lines: Vec::new(),
            _task: task,
        };
        self.field
            .update(cx, |field, cx| field.set_value("", window, cx));
        self.set_note(None, cx);
    }

    fn read(&mut self, event: RewriteEvent, window: &mut Window, cx: &mut Context<Self>) {
        let EditProgress::Writing {
            instruction,
            lines: shown,
            ..
        } = &mut self.progress
        else {
            return;
        };
        match event {
            RewriteEvent::Lines(lines) => {
                *shown = lines;
                self.set_note(None, cx);
                self.show(cx);
            }
            RewriteEvent::Waiting(sentence) => {
                self.set_note(Some((Tone::Warning, sentence.into())), cx);
            }
            RewriteEvent::Failed(sentence) => {
                self.fail((Tone::Error, sentence.into()), window, cx);
            }
            RewriteEvent::Done(lines) => {
                let instruction = std::mem::take(instruction);
                let is_equal = self
                    .region
                    .hunks(&lines, AnswerProgress::Complete)
                    .is_empty();
                if is_equal {
                    let sentence = "The model's text equals the present one: nothing to change.";
                    self.restore_instruction(instruction, window, cx);
                    self.earlier.clear();
                    self.progress = EditProgress::Asking;
                    self.set_note(Some((Tone::Info, sentence.into())), cx);
                } else {
                    self.progress = EditProgress::Proposed(EarlierRewrite { instruction, lines });
                    self.set_note(None, cx);
                }
                self.show(cx);
            }
        }
    }

    /// Handles the end of the events without a result, which no engine causes in working order.
    fn end_early(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if matches!(self.progress, EditProgress::Writing { .. }) {
            let sentence = "The answer broke off: send the instruction again.";
            self.fail((Tone::Error, sentence.into()), window, cx);
        }
    }

    /// Ends the request: the former proposal, if there is one, is shown again.
    fn fail(&mut self, note: (Tone, SharedString), window: &mut Window, cx: &mut Context<Self>) {
        let former = self.earlier.pop();
        let progress = former.map_or(EditProgress::Asking, EditProgress::Proposed);
        if let EditProgress::Writing { instruction, .. } =
            std::mem::replace(&mut self.progress, progress)
        {
            self.restore_instruction(instruction, window, cx);
        }
        self.set_note(Some(note), cx);
        self.show(cx);
    }

    /// Puts an instruction back into the field, unless the user has written another one.
    fn restore_instruction(
        &self,
        instruction: String,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        self.field.update(cx, |field, cx| {
            if field.value().trim().is_empty() {
                field.set_value(instruction, window, cx);
                field.select_all(window, cx);
            }
        });
    }

    /// Stops the model, or rejects the change. Returns false if there is neither, so that the box can
    /// be closed.
    pub(super) fn step_back(&mut self, window: &mut Window, cx: &mut Context<Self>) -> bool {
        match &self.progress {
            EditProgress::Asking => return false,
            EditProgress::Writing { .. } => {
                let sentence = "Stopped. Nothing was changed.";
                self.fail((Tone::Info, sentence.into()), window, cx);
            }
            EditProgress::Proposed(_) => {
                self.drop_proposal(window, cx);
                self.set_note(None, cx);
            }
        }
        true
    }

    /// Forgets the request or the proposal, with all that it refines.
    fn drop_proposal(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.earlier.clear();
        match std::mem::replace(&mut self.progress, EditProgress::Asking) {
            EditProgress::Asking => {}
            EditProgress::Writing { instruction, .. }
            | EditProgress::Proposed(EarlierRewrite { instruction, .. }) => {
                self.restore_instruction(instruction, window, cx);
            }
        }
        self.show(cx);
    }

    /// Replaces the rows by the proposed ones, and closes the box. Does nothing without a proposal.
    pub(super) fn accept(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let EditProgress::Proposed(answered) = &self.progress else {
            return;
        };
        if !self.model.read(cx).document().can_edit() {
            let sentence = "The text is read-only now, so the change cannot be applied.";
            return self.set_note(Some((Tone::Error, sentence.into())), cx);
        }
        let text = self.model.read(cx).snapshot();
        let first = text.point_at(self.span.start).row;
        let edits = self.region.edits(&text, first, &answered.lines);
        self.progress = EditProgress::Asking;
        self.show(cx);
        self.model
            .update(cx, |model, cx| model.edit(&edits, Author::User, cx));
        let workbench = self.workbench.clone();
        // The workbench closes this view.
        window.defer(cx, move |window, cx| {
            workbench
                .update(cx, |workbench, cx| super::close(workbench, window, cx))
                .ok();
        });
    }

    /// Moves the region along with an edit of the text. An edit within it ends the proposal.
    fn follow(&mut self, change: &Change, window: &mut Window, cx: &mut Context<Self>) {
        self.span = change.map_span(self.span);
        if !self.is_busy() {
            return;
        }
        let text = self.model.read(cx).snapshot();
        match self.region_in(&text) {
            Some(span) => {
                self.span = span;
                self.show(cx);
            }
            None => {
                self.drop_proposal(window, cx);
                let sentence = "The lines were edited, so the change no longer fits. Send the instruction again.";
                self.set_note(Some((Tone::Warning, sentence.into())), cx);
            }
        }
    }

    /// Finds the unchanged lines of the region at the start or at the end of the mapped span.
    fn region_in(&self, text: &Snapshot) -> Option<Span> {
        let rows = rows_of(text, self.span);
        let count = self.region.lines().len() as u32;
        let starts = [Some(rows.start.0), rows.end.0.checked_sub(count)];
        let is_here = |start: &u32| {
            start + count <= text.row_count()
                && self
                    .region
                    .lines()
                    .iter()
                    .zip(*start..)
                    .all(|(line, row)| text.row_text(Row(row)) == *line)
        };
        let start = starts.into_iter().flatten().find(is_here)?;
        let rows = RowSpan {
            start: Row(start),
            end: Row(start + count),
        };
        Some(span_of(text, rows))
    }

    /// Shows the lines that the model has written so far in the text.
    fn show(&self, cx: &mut Context<Self>) {
        let latest = self.earlier.last();
        let shown = match &self.progress {
            EditProgress::Asking => None,
            EditProgress::Writing { lines, .. } if lines.is_empty() => {
                latest.map(|it| (&it.lines, AnswerProgress::Complete))
            }
            EditProgress::Writing { lines, .. } => Some((lines, AnswerProgress::Partial)),
            EditProgress::Proposed(answered) => Some((&answered.lines, AnswerProgress::Complete)),
        };
        let first = self.model.read(cx).snapshot().point_at(self.span.start).row;
        let changes = shown.map_or_else(Vec::new, |(lines, progress)| {
            let hunks = self.region.hunks(lines, progress);
            let changes = hunks.into_iter().map(|hunk| {
                let added = hunk.after.start.0 as usize..hunk.after.end.0 as usize;
                ProposedChange {
                    removed: RowSpan {
                        start: first + hunk.before.start.0,
                        end: first + hunk.before.end.0,
                    },
                    added: lines[added].to_vec(),
                }
            });
            changes.collect()
        });
        // A closing view needs no rows.
        self.host
            .update(cx, |host, cx| show_proposal(host, changes, cx))
            .ok();
        cx.notify();
    }

    /// Sets the sentence below the field, and makes room for it.
    fn set_note(&mut self, note: Option<(Tone, SharedString)>, cx: &mut Context<Self>) {
        self.note = note;
        let height = self.height(cx);
        if let (Some(host), Some(block)) = (self.host.upgrade(), self.block) {
            host.update(cx, |host, cx| host.resize_block(block, height, cx));
        }
        cx.notify();
    }

    /// Returns the line below the field: a sentence, or else the instruction that is worked on.
    fn note_line(&self) -> Option<(Tone, SharedString)> {
        if let Some(note) = &self.note {
            return Some(note.clone());
        }
        match &self.progress {
            EditProgress::Asking => None,
            EditProgress::Writing { instruction, .. } => {
                Some((Tone::Info, format!("Writing: {instruction}").into()))
            }
            EditProgress::Proposed(answered) => {
                Some((Tone::Info, answered.instruction.clone().into()))
            }
        }
    }
}

/// Takes rows of a text.
fn region_of(model: &DocumentModel, rows: RowSpan) -> RewriteRegion {
    let ending = model.document().buffer().line_ending();
    RewriteRegion::new(&model.snapshot(), rows, ending)
}

/// Returns the rows that a span touches.
fn rows_of(text: &Snapshot, span: Span) -> RowSpan {
    RowSpan {
        start: text.point_at(span.start).row,
        end: text.point_at(span.end).row + 1,
    }
}

/// Returns the span of rows, at least one, without the last line ending.
fn span_of(text: &Snapshot, rows: RowSpan) -> Span {
    let start: ByteOffset = text.row_start(rows.start);
    Span::new(start, text.row_end(Row(rows.end.0 - 1)))
}

impl InlineEditView {
    fn render_buttons(&self, cx: &Context<Self>) -> Vec<gpui_kit::AnyElement> {
        let is_empty = self.field.read(cx).value().trim().is_empty();
        let close = || {
            IconButton::new("inline-edit-close", Icon::Close, "Close")
                .small()
                .action(Box::new(Cancel))
                .into_any_element()
        };
        let send = || {
            IconButton::new("inline-edit-send", Icon::ArrowUp, "Send")
                .small()
                .disabled(is_empty)
                .on_click(cx.listener(|this, _, window, cx| this.enter(window, cx)))
                .into_any_element()
        };
        match &self.progress {
            EditProgress::Asking => vec![send(), close()],
            EditProgress::Writing { .. } => {
                let stop = IconButton::new("inline-edit-stop", Icon::Stop, "Stop");
                vec![stop.small().action(Box::new(Cancel)).into_any_element()]
            }
            EditProgress::Proposed(_) => {
                let accept = Button::new("inline-edit-accept", "Accept")
                    .style(ButtonStyle::Primary)
                    .icon(Icon::Check)
                    .action(Box::new(Accept))
                    .with_keys();
                let reject = Button::new("inline-edit-reject", "Reject")
                    .style(ButtonStyle::Ghost)
                    .action(Box::new(Cancel))
                    .with_keys();
                let refine = (!is_empty).then(send);
                let decide = [accept.into_any_element(), reject.into_any_element()];
                refine.into_iter().chain(decide).collect()
            }
        }
    }
}

impl Render for InlineEditView {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let theme = cx.theme();
        let colors = theme.colors;
        let name = match self.progress {
            EditProgress::Proposed(_) => "Refine the change",
            EditProgress::Asking | EditProgress::Writing { .. } => "Instruction",
        };
        let note = self.note_line().map(|(tone, sentence)| {
            let color = match tone {
                Tone::Error => colors.error,
                Tone::Warning => colors.warning,
                _ => colors.muted,
            };
            div()
                .id("inline-edit-note")
                .test_support()
                .role(Role::Status)
                .aria_label(sentence.clone())
                .flex_none()
                .h(px(NOTE * theme.fonts.zoom))
                .flex()
                .items_center()
                .min_w_0()
                .child(Label::new(sentence).small().color(color).elide(Elide::End))
        });
        let field = div()
            .flex()
            .flex_none()
            .items_center()
            .gap(dp(8.0))
            .h(px((HEAD - 2.0) * theme.fonts.zoom))
            .child(
                div()
                    .flex_1()
                    .min_w_0()
                    // The field leaves the key to others, and a key that nothing takes is typed: it
                    // would replace the selected instruction before it is sent.
                    .on_action(|_: &Enter, _, _| {})
                    .child(TextField::new(&self.field, name)),
            )
            .child(
                div()
                    .flex_none()
                    .max_w(dp(160.0))
                    .overflow_hidden()
                    .child(Label::new(self.source.model_name(cx)).small().muted()),
            )
            .children(self.render_buttons(cx));
        div()
            .id("inline-edit")
            .test_support()
            .role(Role::Group)
            .aria_label("Inline edit")
            .key_context("EditorBlock InlineEdit")
            .occlude()
            .size_full()
            .flex()
            .flex_col()
            .px(dp(12.0))
            .border_y_1()
            .border_color(colors.accent)
            .bg(colors.raised)
            .font_family(theme.fonts.ui_family.clone())
            .text_size(dp(13.0))
            .text_color(colors.text)
            .cursor_default()
            .child(field)
            .when_some(note, |this, note| this.child(note))
    }
}

#[cfg(test)]
impl InlineEditView {
    /// Returns the line below the field.
    pub(crate) fn shown_note(&self) -> String {
        let note = self.note_line();
        note.map(|(_, sentence)| sentence.to_string())
            .unwrap_or_default()
    }
}
