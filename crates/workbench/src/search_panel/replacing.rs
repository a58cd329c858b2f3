//! Replaces results of the search, in open texts and in closed files, and takes that back.
//!
//! Invariant: a file that changed since it was searched is left alone and named.

use base::AbsPath;
use editor::DocumentModel;
use gpui_kit::{App, AppContext as _, Context, Entity, Window};
use project::search::FoundRow;
use text::{Author, Edit, Timestamp};
use ui::{ButtonStyle, Tone};

use super::SearchPanel;
use super::actions::{files, matches};
use super::replace::{Disk, InFile, Replace, ReplacedFile, replace_in_file, take_back_in_file};
use super::results::Picked;
use crate::actions::project_search as act;
use crate::documents::Documents;
use crate::notices::Notice;
use crate::question::Asked;

impl SearchPanel {
    pub(super) fn replace_one(
        &mut self,
        _: &act::Replace,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(picked) = self.picked.clone() else {
            return;
        };
        if let Some(target) = self.target_of(&picked) {
            self.replace(vec![target], window, cx);
        }
    }

    pub(super) fn replace_in_file(
        &mut self,
        _: &act::ReplaceInFile,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let path = match &self.picked {
            Some(Picked::File(path) | Picked::Match(path, _)) => path.clone(),
            None => return,
        };
        if let Some(target) = self.target_of(&Picked::File(path)) {
            self.replace(vec![target], window, cx);
        }
    }

    pub(super) fn replace_all(
        &mut self,
        _: &act::ReplaceAll,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        // A half of what is meant would be worse than a moment's wait.
        if self.is_under_way() {
            self.wants_replace = true;
            cx.notify();
            return;
        }
        self.ask_to_replace(window, cx);
    }

    /// Asks whether everything that was found is to be replaced.
    pub(super) fn ask_to_replace(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let targets: Vec<InFile> = self
            .results
            .files()
            .iter()
            .filter_map(|file| self.target_of(&Picked::File(file.path.clone())))
            .collect();
        if targets.is_empty() {
            return;
        }
        let asked = Asked {
            title: format!("Replace {} in {}?", matches(self.results.match_count()), files(targets.len())).into(),
            detail: "Open files change in their tabs; the other files are saved. Undo replace takes it back in all of them.".into(),
            answers: vec![("Cancel".into(), ButtonStyle::Plain), ("Replace all".into(), ButtonStyle::Primary)],
            safest: 0,
        };
        let workbench = self.workbench.clone();
        cx.spawn_in(window, async move |this, cx| {
            let Ok(answer) =
                workbench.update_in(cx, |workbench, window, cx| workbench.ask(asked, window, cx))
            else {
                return;
            };
            if answer.await == Ok(1) {
                this.update_in(cx, |this, window, cx| this.replace(targets, window, cx))
                    .ok();
            }
        })
        .detach();
    }

    /// What replaces the results that are shown.
    pub(super) fn replacing(&self, cx: &App) -> Option<Replace> {
        let searched = self.searched.as_ref()?;
        Some(Replace {
            matcher: searched.matcher.clone(),
            pattern: searched.query.in_text().pattern,
            template: self.replacement.read(cx).value().to_string(),
        })
    }

    fn target_of(&self, picked: &Picked) -> Option<InFile> {
        let (file, row) = self.results.found(picked)?;
        let is_wanted = |found: &&FoundRow| row.is_none_or(|row| row.row == found.row);
        let matches = |wanted: bool| {
            let rows = file.rows.iter().filter(|row| is_wanted(row) == wanted);
            rows.flat_map(FoundRow::matches).collect()
        };
        Some(InFile {
            path: file.path.clone(),
            content: file.content,
            line_ending: file.line_ending,
            matches: matches(true),
            rest: matches(false),
            context_rows: self.searched.as_ref()?.query.context_rows,
        })
    }

    fn replace(&mut self, targets: Vec<InFile>, window: &mut Window, cx: &mut Context<Self>) {
        let Some(replace) = self.replacing(cx) else {
            return;
        };
        let mut done = Done::default();
        let mut closed = Vec::new();
        for target in targets {
            match Documents::of_path(&target.path, cx) {
                Some(document) => done.take(replace_in_open(&replace, &target, &document, cx)),
                None => closed.push(target),
            }
        }
        self.on_disk(
            move |disk| {
                let replaced = closed
                    .iter()
                    .map(|file| replace_in_file(&replace, file, disk));
                replaced.for_each(|result| done.take(result));
                done
            },
            Self::was_replaced,
            window,
            cx,
        );
    }

    fn was_replaced(
        &mut self,
        done: Done<ReplacedFile>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Done {
            files: replaced,
            problems,
        } = done;
        let count: usize = replaced.iter().map(|file| file.edits.len()).sum();
        if count > 0 {
            let sentence = format!("Replaced {} in {}", matches(count), files(replaced.len()));
            let notice = Notice::new(Tone::Success, sentence).action("Undo", act::UndoReplace);
            self.report(notice, window, cx);
        }
        for sentence in problems {
            self.report(Notice::new(Tone::Error, sentence), window, cx);
        }
        for file in &replaced {
            self.take_rest(file);
        }
        if !replaced.is_empty() {
            self.replaced = replaced;
        }
        self.show_picked(cx);
    }

    /// What was replaced leaves the list.
    fn take_rest(&mut self, file: &ReplacedFile) {
        let whole = Picked::File(file.path.clone());
        let found = self.results.found(&whole).map(|(found, _)| found.content);
        // A search that was begun meanwhile knows better.
        if found != Some(file.before) {
            return;
        }
        let picked = self
            .picked
            .as_ref()
            .filter(|picked| picked.path() == &file.path);
        let is_picked = picked.is_some();
        let at = picked.cloned().unwrap_or(whole);
        let replaced = self.replaced();
        let next = self
            .results
            .take_rest(&file.path, file.rest.clone(), &at, replaced);
        if is_picked {
            self.picked = next;
        }
    }

    /// Takes the last replacement back in every file that was not changed since.
    pub(crate) fn undo_replace(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let replaced = std::mem::take(&mut self.replaced);
        if replaced.is_empty() {
            let notice = Notice::new(Tone::Info, "there is no replacement to undo");
            return self.report(notice, window, cx);
        }
        let mut done = Done::default();
        let mut closed = Vec::new();
        for file in replaced {
            match Documents::of_path(&file.path, cx) {
                Some(document) => done.take(take_back_in_open(&file, &document, cx)),
                None => closed.push(file),
            }
        }
        self.on_disk(
            move |disk| {
                let taken_back = closed.iter().map(|file| {
                    take_back_in_file(file, disk)?;
                    Ok(file.path.clone())
                });
                taken_back.for_each(|result| done.take(result));
                done
            },
            Self::was_taken_back,
            window,
            cx,
        );
    }

    fn was_taken_back(&mut self, done: Done<AbsPath>, window: &mut Window, cx: &mut Context<Self>) {
        let Done {
            files: taken_back,
            problems,
        } = done;
        if !taken_back.is_empty() {
            let sentence = format!("Undid the replacement in {}", files(taken_back.len()));
            self.report(Notice::new(Tone::Success, sentence), window, cx);
            self.search(std::time::Duration::ZERO, window, cx);
        }
        for sentence in problems {
            self.report(Notice::new(Tone::Error, sentence), window, cx);
        }
    }

    /// Does some work on closed files in the background, and hands its result on.
    fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Disk<'_>) -> T + Send + 'static,
        then: fn(&mut Self, T, &mut Window, &mut Context<Self>),
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let (disk, recovery) = (self.services.files.clone(), self.services.dirs.recovery());
        let at = Timestamp(self.services.clock.wall_ms());
        let work = cx.background_spawn(async move {
            work(&Disk {
                files: disk.as_ref(),
                recovery: &recovery,
                at,
            })
        });
        cx.spawn_in(window, async move |this, cx| {
            let done = work.await;
            // The panel may be closed by now.
            this.update_in(cx, |this, window, cx| then(this, done, window, cx))
                .ok();
        })
        .detach();
    }

    fn report(&self, notice: Notice, window: &mut Window, cx: &mut Context<Self>) {
        let workbench = self.workbench.clone();
        window.defer(cx, move |window, cx| {
            workbench
                .update(cx, |workbench, cx| workbench.report(notice, window, cx))
                .ok();
        });
    }
}

/// The files that something was done to, and sentences about the others.
struct Done<T> {
    files: Vec<T>,
    problems: Vec<String>,
}

impl<T> Default for Done<T> {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            problems: Vec::new(),
        }
    }
}

impl<T> Done<T> {
    fn take(&mut self, result: Result<T, String>) {
        match result {
            Ok(file) => self.files.push(file),
            Err(sentence) => self.problems.push(sentence),
        }
    }
}

fn replace_in_open(
    replace: &Replace,
    target: &InFile,
    document: &Entity<DocumentModel>,
    cx: &mut App,
) -> Result<ReplacedFile, String> {
    let text = document.read(cx).snapshot().to_string();
    let replaced = target.replace(replace, &text)?;
    edit_open(&target.path, document, &replaced.edits, cx)?;
    Ok(replaced)
}

fn take_back_in_open(
    file: &ReplacedFile,
    document: &Entity<DocumentModel>,
    cx: &mut App,
) -> Result<AbsPath, String> {
    let text = document.read(cx).snapshot().to_string();
    let edits = file.take_back(&text)?;
    edit_open(&file.path, document, &edits, cx)?;
    Ok(file.path.clone())
}

fn edit_open(
    path: &AbsPath,
    document: &Entity<DocumentModel>,
    edits: &[Edit],
    cx: &mut App,
) -> Result<(), String> {
    if !document.read(cx).document().can_edit() {
        return Err(format!("cannot replace in {path}: it is read-only"));
    }
    if !edits.is_empty() {
        document.update(cx, |document, cx| document.edit(edits, Author::User, cx));
    }
    Ok(())
}
