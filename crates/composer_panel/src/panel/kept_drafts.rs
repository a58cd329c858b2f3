//! Keeps drafts and sent prompts: per session while the panel shows others, and on the disk.
//!
//! Invariant: the text of a session's prompt box is stored at most `PAUSE` after a key, and at once
//! when the panel turns to another session or folder.
//! Start at `ComposerPanel::draft_changed`.

use std::collections::BTreeMap;
use std::time::Duration;

use agent::drafts::{Draft, KeptPrompts};
use agent::stored_parts;
use futures::future::BoxFuture;
use gpui_kit::{App, Context, Task, Window};

use super::{ComposerPanel, PanelEvent};
use crate::agents::Error;
use crate::mention_chips::prompt_content;

/// The time after a key at which the draft is stored.
const PAUSE: Duration = Duration::from_millis(500);

/// Drafts of the folder that are not in the prompt box.
#[derive(Default)]
pub(super) struct KeptDrafts {
    /// By session id; that of a new session has an empty id. The draft in the box is not among
    /// them.
    drafts: BTreeMap<String, Draft>,
    /// Id of the session whose draft is in the box.
    shown: String,
    /// Whether the drafts of the folder were read: nothing is written before.
    is_loaded: bool,
    load: Option<Task<()>>,
    save: Option<Task<()>>,
}

impl ComposerPanel {
    /// Reads the drafts of the folder. The user's draft, if there is one by then, stays.
    pub(super) fn load_drafts(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let (Some(agents), Some(root)) = (self.agents.clone(), self.root.clone()) else {
            return;
        };
        self.kept.load = Some(cx.spawn_in(window, async move |this, cx| {
            let kept = agents.kept_prompts(root).await;
            // The window may be gone by then.
            this.update_in(cx, |this, window, cx| this.drafts_loaded(kept, window, cx))
                .ok();
        }));
    }

    fn drafts_loaded(&mut self, kept: KeptPrompts, window: &mut Window, cx: &mut Context<Self>) {
        let KeptPrompts { drafts, mut sent } = kept;
        for (session, draft) in drafts {
            self.kept.drafts.entry(session).or_insert(draft);
        }
        sent.extend(self.recall.prompts().iter().cloned());
        self.recall.set(sent);
        self.kept.is_loaded = true;
        match self.kept.drafts.remove(&self.kept.shown) {
            Some(draft) if self.draft(cx) == Draft::default() => self.put_draft(draft, window, cx),
            Some(draft) => {
                let images = draft.images.iter();
                let images = images.map(|part| stored_parts::to_part(part).content);
                self.images.add_ready(images);
                self.return_to_prompt(&[draft.text], window, cx);
            }
            None => {}
        }
    }

    /// The draft in the prompt box.
    fn draft(&self, cx: &App) -> Draft {
        Draft {
            text: self.prompt.read(cx).value().to_string(),
            images: self.images.stored(),
        }
    }

    fn put_draft(&mut self, draft: Draft, window: &mut Window, cx: &mut Context<Self>) {
        self.returned.clear();
        self.images.restore(&draft.images);
        self.prompt.update(cx, |state, cx| {
            let end = draft.text.len();
            state.set_value(prompt_content(&draft.text), window, cx);
            state.set_selected_range(end..end, cx);
        });
        cx.notify();
    }

    /// Stores the draft soon.
    pub(super) fn draft_changed(&mut self, cx: &mut Context<Self>) {
        if self.kept.save.is_some() {
            return;
        }
        self.kept.save = Some(cx.spawn(async move |this, cx| {
            cx.background_executor().timer(PAUSE).await;
            // The panel may be gone by then; it stored the draft when it was released.
            this.update(cx, |this, cx| this.save_drafts(cx)).ok();
        }));
    }

    /// Stores all drafts of the folder now.
    pub(super) fn save_drafts(&mut self, cx: &mut Context<Self>) {
        self.kept.save = None;
        let Some(saving) = self.saving_drafts(cx) else {
            return;
        };
        cx.spawn(async move |this, cx| {
            if let Err(error) = saving.await {
                let sentence = format!("Cannot keep the drafts of prompts: {error}");
                // The panel may be gone by then.
                this.update(cx, |_, cx| cx.emit(PanelEvent::Problem(sentence)))
                    .ok();
            }
        })
        .detach();
    }

    /// Begins to store all drafts of the folder. Returns `None` if there is nothing to store.
    pub(super) fn saving_drafts(&self, cx: &App) -> Option<BoxFuture<'static, Result<(), Error>>> {
        let agents = self.agents.as_ref().filter(|_| self.kept.is_loaded)?;
        let root = self.root.clone()?;
        let mut drafts = self.kept.drafts.clone();
        let draft = self.draft(cx);
        if draft != Draft::default() {
            drafts.insert(self.kept.shown.clone(), draft);
        }
        let sent = self.recall.prompts().to_vec();
        Some(agents.keep_prompts(root, KeptPrompts { drafts, sent }))
    }

    /// Puts the draft of the session `id` into the box; a new session has an empty id. The draft
    /// that was in the box stays with its session.
    pub(super) fn turn_draft_to(&mut self, id: &str, window: &mut Window, cx: &mut Context<Self>) {
        if self.kept.shown == id {
            return;
        }
        let draft = self.draft(cx);
        let before = std::mem::replace(&mut self.kept.shown, id.to_owned());
        if draft != Draft::default() {
            self.kept.drafts.insert(before, draft);
        }
        let draft = self.kept.drafts.remove(id).unwrap_or_default();
        self.put_draft(draft, window, cx);
        self.save_drafts(cx);
    }

    /// Lets the draft in the box belong to the session `id`, which began with an earlier prompt.
    pub(super) fn take_draft_along(&mut self, id: &str) {
        id.clone_into(&mut self.kept.shown);
    }

    /// Stores the drafts of the folder, before the panel turns to another one, and empties the box.
    pub(super) fn leave_drafts(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        self.save_drafts(cx);
        self.kept = KeptDrafts::default();
        self.recall.set(Vec::new());
        self.put_draft(Draft::default(), window, cx);
    }
}
