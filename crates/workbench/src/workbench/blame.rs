//! Blame in the texts of a window: authors of lines in a margin and behind the line with the caret.
//!
//! Invariant: one blame runs at a time, and it ends when its text is left.
//! Invariant: a text is blamed again only when HEAD moved or a changed text was saved; a look at the status does nothing.
//! Start at `ensure`.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use base::Revision;
use editor::{DocumentModel, Editor, LineAuthorDisplay, MenuSection, show_card, show_line_authors};
use git_history::actions::git::{
    CopyCommitOfLine, OpenCommitOfLine, ShowCommitOfLine, ShowFileHistory, ShowLineHistory,
    ToggleBlame,
};
use git_history::{BlameRequest, HistoryError, HistoryService, blamed_rows, commit_card};
use git_program::{BlamedCommit, BlamedLines};
use gpui_kit::{
    App, AppContext as _, ClipboardItem, Context, Div, Entity, EntityId, InteractiveElement as _,
    Stateful, Task, Window,
};
use text::{Encoding, Snapshot};
use ui::{ActiveSettings as _, Menu};

use super::Workbench;
use super::history::{now, open_view, service_or_tell, short};
use crate::documents::Documents;
use crate::item::TabItem;

/// Key of the notices of this module.
const NOTICE: &str = "blame";

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(toggle))
        .on_action(cx.listener(show_commit))
        .on_action(cx.listener(open_commit_of_line))
        .on_action(cx.listener(copy_commit))
}

/// The blame of a window's texts.
#[derive(Default)]
pub(super) struct BlameState {
    /// Whether the margin is shown.
    pub(super) has_margin: bool,
    running: Option<RunningBlame>,
    known: HashMap<EntityId, BlamedDocument>,
}

/// A blame that runs; dropping it ends the process.
struct RunningBlame {
    document: EntityId,
    _task: Task<()>,
}

/// The blame of one text.
#[derive(Default)]
struct BlamedDocument {
    /// HEAD and the text that were blamed; `None` if that was cancelled.
    of: Option<(String, Revision)>,
    /// The commits by the keys of the editor's marks.
    commits: Vec<Arc<BlamedCommit>>,
    keys: HashMap<String, usize>,
}

impl BlamedDocument {
    fn key_of(&mut self, commit: &Arc<BlamedCommit>) -> usize {
        let id = commit.id.clone().unwrap_or_default();
        *self.keys.entry(id).or_insert_with(|| {
            self.commits.push(commit.clone());
            self.commits.len() - 1
        })
    }
}

fn display(workbench: &Workbench, cx: &Context<Workbench>) -> LineAuthorDisplay {
    if workbench.history.service.is_none() {
        return LineAuthorDisplay::default();
    }
    LineAuthorDisplay {
        margin: workbench.history.blame.has_margin,
        inline: cx.settings().git.inline_blame,
    }
}

/// Adds the commands of Git to the context menu of a text in a repository's folder.
pub(super) fn with_menu_section(workbench: &Workbench, section: MenuSection) -> MenuSection {
    if workbench.history.service.is_none() {
        return section;
    }
    Rc::new(move |menu: Menu, cx: &App| {
        let commands = Menu::new()
            .action("Show commit of line", Box::new(ShowCommitOfLine))
            .action("Open commit of line in history", Box::new(OpenCommitOfLine))
            .action("Copy commit id of line", Box::new(CopyCommitOfLine))
            .separator()
            .action("History of file", Box::new(ShowFileHistory))
            .action("History of selected lines", Box::new(ShowLineHistory))
            .separator()
            .action("Authors of lines", Box::new(ToggleBlame));
        section(menu, cx).submenu("Git", commands).separator()
    })
}

/// Shows the authors in a new view as the window shows them.
pub(super) fn show_in(workbench: &Workbench, editor: &Entity<Editor>, cx: &mut Context<Workbench>) {
    let display = display(workbench, cx);
    editor.update(cx, |editor, cx| show_line_authors(editor, display, cx));
}

/// Shows the authors in all texts, or hides them.
pub(super) fn show_everywhere(workbench: &Workbench, cx: &mut Context<Workbench>) {
    for entry in workbench.items.values() {
        if let TabItem::Text(editor) = &entry.item {
            show_in(workbench, editor, cx);
        }
    }
}

/// Follows the setting for the line with the caret.
pub(super) fn settings_changed(workbench: &Workbench, cx: &mut Context<Workbench>) {
    show_everywhere(workbench, cx);
}

/// Ends the blame of a text that was left.
pub(super) fn follow_layout(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    let Some(running) = &workbench.history.blame.running else {
        return;
    };
    let active = workbench.active_item().and_then(|item| item.document(cx));
    if active.is_none_or(|active| active.entity_id() != running.document) {
        cancel(&mut workbench.history.blame);
    }
}

fn cancel(blame: &mut BlameState) {
    if let Some(running) = blame.running.take()
        && let Some(known) = blame.known.get_mut(&running.document)
    {
        // It begins anew when the text is visited again.
        known.of = None;
    }
}

/// Blames the active text anew after HEAD moved; the others follow when their carets rest.
pub(super) fn head_moved(workbench: &mut Workbench, cx: &mut Context<Workbench>) {
    let editor = match workbench.active_item() {
        Some(TabItem::Text(editor)) => editor.clone(),
        _ => return,
    };
    if display(workbench, cx) != LineAuthorDisplay::default() {
        ensure(workbench, &editor, cx);
    }
}

/// Blames the text of a view, unless that was done for this HEAD and text.
pub(super) fn ensure(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    cx: &mut Context<Workbench>,
) {
    let document = editor.read(cx).model().clone();
    let history = &workbench.history;
    let (Some(service), Some(head)) = (history.service.clone(), history.head.clone()) else {
        return;
    };
    let id = document.entity_id();
    let is_running = history.blame.running.as_ref().map(|it| it.document) == Some(id);
    let model = document.read(cx);
    let snapshot = model.snapshot();
    let of = Some((head, snapshot.revision()));
    let known = history.blame.known.get(&id).and_then(|it| it.of.as_ref());
    let is_dirty = model.document().is_dirty();
    let is_current = match (known, &of) {
        // A text that is being edited keeps its authors until it is saved.
        (Some(known), Some(of)) => known.0 == of.0 && (is_dirty || known.1 == of.1),
        _ => false,
    };
    if is_current || is_running && is_dirty {
        return;
    }
    let path = model.path().cloned();
    let path = path.and_then(|path| service.path_in_repository(&path));
    let format = model.document().format();
    let is_plain = format.encoding == Encoding::UTF_8 && !format.bom;
    let Some(path) = path else {
        return;
    };
    if model.document().is_large() || is_dirty && !is_plain {
        return;
    }
    cancel(&mut workbench.history.blame);
    forget_closed(workbench, cx);
    workbench.history.blame.known.entry(id).or_default().of = of;
    let content = is_dirty.then(|| snapshot.clone());
    let task = start(service, path, content, (document, snapshot), cx);
    workbench.history.blame.running = Some(RunningBlame {
        document: id,
        _task: task,
    });
}

fn forget_closed(workbench: &mut Workbench, cx: &Context<Workbench>) {
    let open = Documents::all(cx).into_iter();
    let open: HashSet<EntityId> = open.map(|document| document.entity_id()).collect();
    let known = &mut workbench.history.blame.known;
    known.retain(|id, _| open.contains(id));
}

fn start(
    service: Arc<dyn HistoryService>,
    path: std::path::PathBuf,
    content: Option<Snapshot>,
    blamed: (Entity<DocumentModel>, Snapshot),
    cx: &Context<Workbench>,
) -> Task<()> {
    cx.spawn(async move |this, cx| {
        let content = match content {
            Some(text) => {
                let bytes = cx.background_spawn(async move { text.to_string().into_bytes() });
                Some(bytes.await)
            }
            None => None,
        };
        let query = service.blame(BlameRequest { path, content });
        let (document, snapshot) = blamed;
        let (mut is_first, mut failure) = (true, None);
        while let Ok(answer) = query.items.recv().await {
            failure = answer.as_ref().err().cloned();
            let taken = this.update(cx, |this, cx| {
                take(this, &document, &snapshot, answer, is_first, cx);
            });
            if taken.is_err() {
                // The window was closed.
                return;
            }
            is_first = false;
        }
        let ended = this.update(cx, |this, cx| end(this, &document, failure, cx));
        // The window may have been closed.
        ended.ok();
    })
}

/// Adds the lines of an answer, in place of those of an earlier blame.
fn take(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    snapshot: &Snapshot,
    answer: Result<Vec<BlamedLines>, HistoryError>,
    is_first: bool,
    cx: &mut Context<Workbench>,
) {
    let now = now(workbench);
    let known = &mut workbench.history.blame.known;
    let known = known.entry(document.entity_id()).or_default();
    let rows = match answer {
        Ok(lines) => Some(blamed_rows(&lines, now, &mut |commit| known.key_of(commit))),
        Err(_) => None,
    };
    document.update(cx, |document, cx| {
        if is_first {
            document.clear_line_authors(cx);
        }
        if let Some(rows) = rows {
            document.add_line_authors(snapshot, &rows, cx);
        }
    });
}

fn end(
    workbench: &mut Workbench,
    document: &Entity<DocumentModel>,
    failure: Option<HistoryError>,
    cx: &mut Context<Workbench>,
) {
    let blame = &mut workbench.history.blame;
    blame.running = None;
    match failure {
        None => document.update(cx, |document, cx| document.complete_line_authors(cx)),
        Some(HistoryError::Untrusted) => {
            // The user may trust the folder soon.
            let known = blame.known.entry(document.entity_id()).or_default();
            known.of = None;
        }
        // Such as a file that no commit has.
        Some(_) => {}
    }
}

fn toggle(
    workbench: &mut Workbench,
    _: &ToggleBlame,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if service_or_tell(workbench, window, cx).is_none() {
        return;
    }
    let has_margin = !workbench.history.blame.has_margin;
    let root = workbench
        .folder
        .as_ref()
        .map(|folder| folder.read(cx).root().clone());
    let trust = workbench.services.task_trust.as_ref().zip(root);
    if has_margin && trust.is_some_and(|(trust, root)| !trust.is_trusted(&root)) {
        let sentence = "Authors of lines are not shown: git runs only in folders that you trust";
        workbench.tell(NOTICE, sentence, window, cx);
    }
    workbench.history.blame.has_margin = has_margin;
    show_everywhere(workbench, cx);
    if let Some(TabItem::Text(editor)) = workbench.active_item().cloned()
        && has_margin
    {
        ensure(workbench, &editor, cx);
    }
}

/// Returns the active text and the commit of the line with its caret; reports if there is none.
fn commit_of_line(
    workbench: &mut Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> Option<(Entity<Editor>, Arc<BlamedCommit>)> {
    service_or_tell(workbench, window, cx)?;
    let Some(TabItem::Text(editor)) = workbench.active_item().cloned() else {
        workbench.tell(NOTICE, "A commit of a line needs an open file", window, cx);
        return None;
    };
    let row = editor.update(cx, |editor, cx| editor.caret_point(cx).row);
    let document = editor.read(cx).model().clone();
    let author = document.read(cx).line_author(row);
    let known = workbench.history.blame.known.get(&document.entity_id());
    let commit = author
        .zip(known)
        .and_then(|(author, known)| known.commits.get(author.key).cloned());
    let Some(commit) = commit else {
        ensure(workbench, &editor, cx);
        let sentence = "The commit of this line is not known: it is not committed, or blame still looks for it";
        workbench.tell(NOTICE, sentence, window, cx);
        return None;
    };
    Some((editor, commit))
}

/// Shows the message of the commit in a card, as soon as it is read.
fn show_commit(
    workbench: &mut Workbench,
    _: &ShowCommitOfLine,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((editor, commit)) = commit_of_line(workbench, window, cx) else {
        return;
    };
    let Some(service) = service_or_tell(workbench, window, cx) else {
        return;
    };
    let now = now(workbench);
    let page = service.commit(commit.id.clone().unwrap_or_default());
    cx.spawn(async move |_, cx| {
        // Without the whole message, the card has the first line.
        let page = page.await.ok();
        let message = page.as_ref().map(|page| page.details.message.as_str());
        let card = commit_card(&commit, message, now);
        editor.update(cx, |editor, cx| show_card(editor, card, cx));
    })
    .detach();
}

fn open_commit_of_line(
    workbench: &mut Workbench,
    _: &OpenCommitOfLine,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    if let Some((_, commit)) = commit_of_line(workbench, window, cx) {
        open(workbench, &commit, window, cx);
    }
}

/// Opens the commit of a mark in the margin.
pub(super) fn open_commit(
    workbench: &mut Workbench,
    editor: &Entity<Editor>,
    key: usize,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let document = editor.read(cx).model().entity_id();
    let known = workbench.history.blame.known.get(&document);
    if let Some(commit) = known.and_then(|known| known.commits.get(key)).cloned() {
        open(workbench, &commit, window, cx);
    }
}

fn open(
    workbench: &mut Workbench,
    commit: &BlamedCommit,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let id = commit.id.clone().unwrap_or_default();
    if let Some(view) = open_view(workbench, "", window, cx) {
        view.update(cx, |view, cx| view.select_commit(&id, cx));
    }
}

fn copy_commit(
    workbench: &mut Workbench,
    _: &CopyCommitOfLine,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some((_, commit)) = commit_of_line(workbench, window, cx) else {
        return;
    };
    let id = commit.id.clone().unwrap_or_default();
    let told = format!("Copied {}", short(&id));
    cx.write_to_clipboard(ClipboardItem::new_string(id));
    workbench.tell(NOTICE, told, window, cx);
}
