//! The message of the next commit of a repository: a text with its editor, and the draft that is kept.

use editor::{DocumentEnvironment, DocumentModel, Editor, ModelEvent};
use gpui_kit::{App, Context, Entity, EventEmitter, Subscription, Window};
use project::Document;
use text::{Author, Edit};

use crate::service::MessageDraft;

/// Columns of the rulers: the recommended length of the subject, and of the other lines.
pub(crate) const RULERS: [u32; 2] = [50, 72];

/// The message of the next commit.
pub(crate) struct CommitMessage {
    model: Entity<DocumentModel>,
    editor: Entity<Editor>,
    is_template: bool,
    /// The text that Git or the settings made.
    template: String,
    _edits: Subscription,
}

/// The message rests: it is to be stored.
pub(crate) struct MessageRested;

impl EventEmitter<MessageRested> for CommitMessage {}

impl CommitMessage {
    /// Creates the message from a draft.
    pub(crate) fn new(
        draft: MessageDraft,
        environment: DocumentEnvironment,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Self {
        let model = DocumentModel::open(Document::of_text(&draft.text), environment, cx);
        let editor = Editor::open(model.clone(), window, cx);
        editor.update(cx, |editor, cx| editor.show_as_field(&RULERS, cx));
        let edits = cx.subscribe(&model, |_, _, event: &ModelEvent, cx| match event {
            ModelEvent::Edited(_) => cx.notify(),
            ModelEvent::Rested => cx.emit(MessageRested),
            _ => {}
        });
        Self {
            model,
            editor,
            is_template: draft.is_template,
            template: draft.text,
            _edits: edits,
        }
    }

    pub(crate) fn editor(&self) -> &Entity<Editor> {
        &self.editor
    }

    pub(crate) fn text(&self, cx: &App) -> String {
        self.model.read(cx).snapshot().to_string()
    }

    /// Returns the text to store: none if it is what Git or the settings made.
    pub(crate) fn draft(&self, cx: &App) -> String {
        let text = self.text(cx);
        if self.is_template && text == self.template {
            return String::new();
        }
        text
    }

    /// Returns whether Git or the settings made the text, so that its comment lines are removed.
    pub(crate) fn is_template(&self) -> bool {
        self.is_template
    }

    /// Returns whether the message has a subject.
    pub(crate) fn is_empty(&self, cx: &App) -> bool {
        let is_comment = |line: &str| self.is_template && line.starts_with('#');
        let text = self.text(cx);
        !text
            .lines()
            .any(|line| !line.trim().is_empty() && !is_comment(line))
    }

    /// Returns the length of the subject in characters.
    pub(crate) fn subject_len(&self, cx: &App) -> usize {
        let text = self.text(cx);
        text.lines().next().unwrap_or_default().chars().count()
    }

    /// Replaces the text, as one step that the user can undo.
    pub(crate) fn set(&mut self, draft: MessageDraft, cx: &mut Context<Self>) {
        self.is_template = draft.is_template;
        self.template.clone_from(&draft.text);
        self.model.update(cx, |model, cx| {
            let all = model.snapshot().full_span();
            model.edit(&[Edit::new(all, draft.text)], Author::User, cx);
        });
    }
}
