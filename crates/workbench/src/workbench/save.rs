//! Saving from a window: Save, Save As, Save All, autosave.

use std::time::Duration;

use base::AbsPath;
use editor::{DocumentModel, SaveFailure};
use gpui_kit::{
    AppContext as _, Context, Div, Entity, InteractiveElement as _, Stateful, Task, Window,
};
use project::{Document, DocumentState, Loaded, SaveRefused, SaveTarget};
use settings::Autosave;
use text::Encoding;
use ui::{ActiveSettings as _, ButtonStyle, Tone};

use super::Workbench;
use crate::actions::file::{KeepMine, Revert, Save, SaveAll, SaveAs, TakeTheirs};
use crate::documents::Documents;
use crate::file_error::{FileErrorView, RetryOpen};
use crate::item::TabItem;
use crate::notices::Notice;
use crate::open_options::OpenOptions;
use crate::question::QuestionSpec;
use crate::reread::load_as;
use crate::workbench::{formatting, pick};

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(save))
        .on_action(cx.listener(save_as))
        .on_action(cx.listener(save_all))
        .on_action(cx.listener(revert))
        .on_action(cx.listener(keep_mine))
        .on_action(cx.listener(take_theirs))
}

impl Workbench {
    /// Returns the document shown in the active pane, or `None` if the pane does not show exactly
    /// one document.
    pub(crate) fn active_document(&self, cx: &Context<Self>) -> Option<Entity<DocumentModel>> {
        self.active_item().and_then(|item| item.document(cx))
    }

    /// Saves a document, and asks for a path if the document has none. The task yields whether the
    /// document was saved. Reports a failure in the window.
    pub(crate) fn save_document(
        &mut self,
        document: Entity<DocumentModel>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> Task<bool> {
        let needs_name = {
            let document = document.read(cx).document();
            document.path().is_none() || matches!(document.state(), DocumentState::ReadOnly(_))
        };
        if needs_name {
            return save_elsewhere(self, document, window, cx);
        }
        match formatting::steps_before_save(self, &document, window, cx) {
            Some(steps) => save_after(steps, document, window, cx),
            None => save_to(document, SaveTarget::Own, window, cx),
        }
    }

    /// Saves after a pause in typing, if the settings ask for it.
    pub(super) fn autosave_later(
        &mut self,
        document: &Entity<DocumentModel>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let files = &cx.settings().files;
        if files.autosave != Autosave::AfterDelay {
            return;
        }
        let delay = Duration::from_millis(u64::from(files.autosave_delay));
        let (id, document) = (document.entity_id(), document.clone());
        let saving = cx.spawn_in(window, async move |this, cx| {
            cx.background_executor().timer(delay).await;
            let saved = this.update_in(cx, |_, window, cx| autosave(document, window, cx));
            saved.ok();
        });
        // A later edit drops this task and starts another.
        self.autosaves.insert(id, saving);
    }

    /// Saves modified documents when the window loses the focus, if the settings ask for it.
    pub(super) fn autosave_on_leaving(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        if cx.settings().files.autosave != Autosave::OnFocusChange {
            return;
        }
        let documents: Vec<_> = self
            .items
            .values()
            .flat_map(|entry| entry.item.documents(cx))
            .collect();
        for document in documents {
            autosave(document, window, cx);
        }
    }

    /// Reads a file again with another encoding, in a document that replaces this one in all its
    /// tabs. If the document has unsaved changes, only reports that they must be saved or reverted
    /// first. A document without a file stays as it is.
    pub(crate) fn reopen_as(
        &mut self,
        document: Entity<DocumentModel>,
        encoding: Encoding,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(path) = document.read(cx).path().cloned() else {
            return;
        };
        if document.read(cx).document().is_dirty() {
            let sentence = format!(
                "cannot read {} again: save or revert the changes first",
                path.printable_name()
            );
            self.report_error(sentence, window, cx);
            return;
        }
        let files = self.services.files.clone();
        let read = cx.background_spawn(async move { load_as(files.as_ref(), path, encoding) });
        cx.spawn_in(window, async move |this, cx| {
            let read: Result<Loaded, host::Error> = read.await;
            let shown = this.update_in(cx, |this, window, cx| match read {
                Ok(loaded) => exchange(this, &document, loaded, window, cx),
                Err(error) => this.report_error(error.to_string(), window, cx),
            });
            shown.ok();
        })
        .detach();
    }
}

/// Saves the documents of the active tab.
pub(super) fn save(
    workbench: &mut Workbench,
    _: &Save,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let shown = workbench.active_item().map(|item| item.documents(cx));
    let is_one = shown.as_ref().is_some_and(|shown| shown.len() == 1);
    for document in shown.unwrap_or_default() {
        // When saving several, unmodified documents are skipped.
        if is_one || document.read(cx).document().is_dirty() {
            workbench.save_document(document, window, cx).detach();
        }
    }
}

fn save_as(
    workbench: &mut Workbench,
    _: &SaveAs,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(document) = workbench.active_document(cx) {
        save_elsewhere(workbench, document, window, cx).detach();
    }
}

fn save_all(
    workbench: &mut Workbench,
    _: &SaveAll,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let is_unsaved = |document: &Entity<DocumentModel>| {
        let document = document.read(cx).document();
        document.is_dirty() && document.path().is_some()
    };
    let unsaved: Vec<_> = Documents::all(cx).into_iter().filter(is_unsaved).collect();
    for document in unsaved {
        workbench.save_document(document, window, cx).detach();
    }
}

fn revert(workbench: &mut Workbench, _: &Revert, _: &mut Window, cx: &mut Context<Workbench>) {
    if let Some(document) = workbench.active_document(cx) {
        document.update(cx, |document, cx| document.revert_to_saved(cx));
    }
}

fn keep_mine(
    workbench: &mut Workbench,
    _: &KeepMine,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(document) = workbench.active_document(cx) {
        document.update(cx, |document, cx| document.keep_mine(cx));
        workbench.save_document(document, window, cx).detach();
    }
}

fn take_theirs(
    workbench: &mut Workbench,
    _: &TakeTheirs,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some(document) = workbench.active_document(cx) {
        document.update(cx, |document, cx| document.take_theirs(cx));
    }
}

/// Saves a document and reports problems to the user. The task returns whether the text was
/// written, even if the disk did not confirm it.
fn save_to(
    document: Entity<DocumentModel>,
    target: SaveTarget,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Task<bool> {
    let saving = document.update(cx, |document, cx| document.save(target, cx));
    cx.spawn_in(window, async move |this, cx| {
        let saved = saving.await;
        let is_saved = saved.is_ok();
        let updated = this.update_in(cx, |this, window, cx| match saved {
            Ok(done) => {
                if let Some(error) = done.unconfirmed {
                    this.report_error(error.to_string(), window, cx);
                }
            }
            Err(failure) => report_failure(this, &failure, window, cx),
        });
        updated.ok();
        is_saved
    })
}

/// Saves a document when the steps before are done, and reports a step that failed.
fn save_after(
    steps: Task<Option<String>>,
    document: Entity<DocumentModel>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Task<bool> {
    let unformatted = document.read(cx).snapshot();
    let id = document.entity_id();
    cx.spawn_in(window, async move |this, cx| {
        let failure = steps.await;
        let saving = this.update_in(cx, |this, window, cx| {
            if document.read(cx).snapshot().revision() != unformatted.revision() {
                this.unformatted.insert(id, unformatted);
            }
            if let Some(sentence) = failure {
                let notice = Notice::new(Tone::Warning, sentence).key("formatting");
                this.report(notice, window, cx);
            }
            save_to(document, SaveTarget::Own, window, cx)
        });
        let is_saved = match saving {
            Ok(saving) => saving.await,
            Err(_) => false,
        };
        // The window may be gone by then.
        this.update(cx, |this, _| this.unformatted.remove(&id)).ok();
        is_saved
    })
}

fn report_failure(
    workbench: &mut Workbench,
    failure: &SaveFailure,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let notice = Notice::new(Tone::Error, failure.to_string()).key("save");
    let notice = match failure {
        SaveFailure::Refused(SaveRefused::Conflict(_)) => {
            notice.action("Compare", crate::actions::file::CompareWithDisk)
        }
        // The running save ends with the newest text or leaves it marked as unsaved.
        SaveFailure::Refused(SaveRefused::UnderWay) => return,
        SaveFailure::Refused(_) => notice,
        SaveFailure::Failed(_) => notice.action("Save as\u{2026}", SaveAs),
        SaveFailure::Closed => notice,
    };
    workbench.report(notice, window, cx);
}

/// Asks for a path and saves there.
fn save_elsewhere(
    workbench: &mut Workbench,
    document: Entity<DocumentModel>,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Task<bool> {
    let asked = pick::ask_for_path(workbench, &document, window, cx);
    cx.spawn_in(window, async move |this, cx| {
        let Ok(path) = asked.await else {
            return false;
        };
        let Ok(files) = this.read_with(cx, |this, _| this.services.files.clone()) else {
            return false;
        };
        let wanted = path.clone();
        let exists = cx
            .background_spawn(async move { files.exists(&wanted) })
            .await;
        let is_own = document.read_with(cx, |document, _| document.path() == Some(&path));
        if exists && !is_own {
            let Ok(answer) = this.update_in(cx, |this, window, cx| {
                this.ask(replace_question(&path), window, cx)
            }) else {
                return false;
            };
            if answer.await != Ok(1) {
                return false;
            }
        }
        let target = match (exists, is_own) {
            (_, true) => SaveTarget::Own,
            (true, false) => SaveTarget::Over(path),
            (false, false) => SaveTarget::New(path),
        };
        match this.update_in(cx, |_, window, cx| save_to(document, target, window, cx)) {
            Ok(saving) => saving.await,
            Err(_) => false,
        }
    })
}

fn autosave(document: Entity<DocumentModel>, window: &mut Window, cx: &mut Context<Workbench>) {
    // Only a document with a file and without a conflict is saved automatically.
    if document.read(cx).document().state() == DocumentState::Dirty {
        save_to(document, SaveTarget::Own, window, cx).detach();
    }
}

/// Replaces `old` by another document in every tab.
fn exchange(
    workbench: &mut Workbench,
    old: &Entity<DocumentModel>,
    loaded: Loaded,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let new = Documents::add(Document::from_loaded(loaded), cx);
    let shown = workbench.items_of(old.entity_id(), cx);
    let texts = shown
        .into_iter()
        .filter(|id| matches!(workbench.item(*id), Some(TabItem::Text(_))));
    for id in texts.collect::<Vec<_>>() {
        let editor = workbench.new_editor(new.clone(), window, cx);
        let item = TabItem::Text(editor);
        let subscriptions = workbench.subscribe_to(id, &item, window, cx);
        workbench.keep_item(id, item, subscriptions, cx);
    }
    workbench.focus_active(window, cx);
    workbench.layout_changed(cx);
    workbench.watch_visible(cx);
}

fn replace_question(path: &AbsPath) -> QuestionSpec {
    QuestionSpec {
        title: format!("Replace \u{201c}{}\u{201d}?", path.printable_name()).into(),
        detail: format!(
            "{} is there already. What it holds is lost when it is replaced.",
            path.printable()
        )
        .into(),
        answers: vec![
            ("Cancel".into(), ButtonStyle::Plain),
            ("Replace".into(), ButtonStyle::Danger),
        ],
        safest: 0,
    }
}

/// Opens a file in place of its error tab.
pub(super) fn retry_open(
    workbench: &mut Workbench,
    refusal: &Entity<FileErrorView>,
    RetryOpen(binary): &RetryOpen,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let path = refusal.read(cx).path().clone();
    let options = OpenOptions {
        binary: *binary,
        ..OpenOptions::lasting()
    };
    let is_it = |item: &TabItem| matches!(item, TabItem::Refused(other) if other == refusal);
    let found = workbench
        .items
        .iter()
        .find(|(_, entry)| is_it(&entry.item))
        .map(|(id, _)| *id);
    let Some(id) = found else {
        return;
    };
    let pane = workbench
        .layout
        .pane_of(id)
        .unwrap_or(workbench.layout.active_pane());
    workbench.open_path_in(path, pane, options, window, cx);
    workbench.items.remove(&id);
    workbench.layout.close(id);
    workbench.layout_changed(cx);
}
