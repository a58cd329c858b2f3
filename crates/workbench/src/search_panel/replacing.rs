//! Replaces search results in open texts and closed files, and undoes the replacement.
//!
//! Invariant: a file that changed since it was searched is left unchanged and reported.

use base::AbsPath;
use editor::DocumentModel;
use gpui_kit::{App, AppContext as _, Context, Entity, Window};
use project::search::MatchingRow;
use text::{Author, Edit, Timestamp};
use ui::{ButtonStyle, Tone};

use super::actions::{files, matches};
use super::replace::{
    DiskWriter, FileReplacement, ReplacedFile, Replacer, replace_in_file, take_back_in_file,
};
use super::results::Picked;
use super::{SearchPanel, SearchPanelEvent};
use crate::actions::project_search as act;
use crate::documents::Documents;
use crate::error::Error;
use crate::notices::Notice;
use crate::question;
use crate::question::QuestionSpec;

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
        // Replacing only part of the results would be worse than a short wait.
        if self.is_under_way() {
            self.wants_replace = true;
            cx.notify();
            return;
        }
        self.ask_to_replace(window, cx);
    }

    /// Asks the user to confirm replacing all results.
    pub(super) fn ask_to_replace(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let targets: Vec<FileReplacement> = self
            .results
            .files()
            .iter()
            .filter_map(|file| self.target_of(&Picked::File(file.path.clone())))
            .collect();
        if targets.is_empty() {
            return;
        }
        let spec = QuestionSpec {
            title: format!("Replace {} in {}?", matches(self.results.match_count()), files(targets.len())).into(),
            detail: "Open files change in their tabs; the other files are saved. Undo Replace reverts all of them.".into(),
            answers: vec![("Cancel".into(), ButtonStyle::Plain), ("Replace all".into(), ButtonStyle::Primary)],
            safest: 0,
        };
        let modal = self.modal.clone();
        cx.spawn_in(window, async move |this, cx| {
            let Ok(answer) = cx.update(|window, cx| question::ask(&modal, spec, window, cx)) else {
                return;
            };
            if answer.await == Ok(1) {
                this.update_in(cx, |this, window, cx| this.replace(targets, window, cx))
                    .ok();
            }
        })
        .detach();
    }

    /// Returns the replacement for the shown results, or `None` without a search.
    pub(super) fn replacing(&self, cx: &App) -> Option<Replacer> {
        let searched = self.searched.as_ref()?;
        Some(Replacer {
            matcher: searched.matcher.clone(),
            pattern: searched.query.in_text().pattern,
            template: self.replacement.read(cx).value().to_string(),
        })
    }

    /// Returns the replacement of the selected row's matches, or of all in the file if a heading is
    /// selected or the row is gone. Returns `None` if the file is gone or there is no search.
    fn target_of(&self, picked: &Picked) -> Option<FileReplacement> {
        let (file, row) = self.results.picked_match(picked)?;
        let is_wanted = |found: &&MatchingRow| row.is_none_or(|row| row.row == found.row);
        let matches = |wanted: bool| {
            let rows = file.rows.iter().filter(|row| is_wanted(row) == wanted);
            rows.flat_map(MatchingRow::matches).collect()
        };
        Some(FileReplacement {
            path: file.path.clone(),
            content: file.content,
            line_ending: file.line_ending,
            matches: matches(true),
            rest: matches(false),
            context_rows: self.searched.as_ref()?.query.context_rows,
        })
    }

    fn replace(
        &mut self,
        targets: Vec<FileReplacement>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(replace) = self.replacing(cx) else {
            return;
        };
        let mut done = ReplaceOutcome::default();
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
        done: ReplaceOutcome<ReplacedFile>,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let ReplaceOutcome {
            files: replaced,
            problems,
        } = done;
        let count: usize = replaced.iter().map(|file| file.edits.len()).sum();
        if count > 0 {
            let sentence = format!("Replaced {} in {}", matches(count), files(replaced.len()));
            let notice = Notice::new(Tone::Success, sentence).action("Undo", act::UndoReplace);
            self.report(notice, cx);
        }
        for sentence in problems {
            self.report(Notice::new(Tone::Error, sentence), cx);
        }
        for file in &replaced {
            self.take_rest(file);
        }
        if !replaced.is_empty() {
            self.replaced = replaced;
        }
        self.show_picked(cx);
    }

    /// Removes the replaced results from the list.
    fn take_rest(&mut self, file: &ReplacedFile) {
        let whole = Picked::File(file.path.clone());
        let found = self
            .results
            .picked_match(&whole)
            .map(|(found, _)| found.content);
        // A search started in the meantime has newer results.
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

    /// Undoes the last replacement in every file that is unchanged since.
    pub(crate) fn undo_replace(&mut self, window: &mut Window, cx: &mut Context<Self>) {
        let replaced = std::mem::take(&mut self.replaced);
        if replaced.is_empty() {
            let notice = Notice::new(Tone::Info, "there is no replacement to undo");
            return self.report(notice, cx);
        }
        let mut done = ReplaceOutcome::default();
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

    fn was_taken_back(
        &mut self,
        done: ReplaceOutcome<AbsPath>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let ReplaceOutcome {
            files: taken_back,
            problems,
        } = done;
        if !taken_back.is_empty() {
            let sentence = format!("Undid the replacement in {}", files(taken_back.len()));
            self.report(Notice::new(Tone::Success, sentence), cx);
            self.search(std::time::Duration::ZERO, window, cx);
        }
        for sentence in problems {
            self.report(Notice::new(Tone::Error, sentence), cx);
        }
    }

    /// Runs `work` on closed files in the background and passes its result to `then`.
    fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DiskWriter<'_>) -> T + Send + 'static,
        then: fn(&mut Self, T, &mut Window, &mut Context<Self>),
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let (disk, recovery) = (self.services.files.clone(), self.services.dirs.recovery());
        let at = Timestamp(self.services.clock.wall_ms());
        let work = cx.background_spawn(async move {
            work(&DiskWriter {
                files: disk.as_ref(),
                recovery: &recovery,
                at,
            })
        });
        cx.spawn_in(window, async move |this, cx| {
            let done = work.await;
            // The panel may have been closed.
            this.update_in(cx, |this, window, cx| then(this, done, window, cx))
                .ok();
        })
        .detach();
    }

    fn report(&self, notice: Notice, cx: &mut Context<Self>) {
        cx.emit(SearchPanelEvent::Report(notice));
    }
}

/// The changed files, and messages about the others.
struct ReplaceOutcome<T> {
    files: Vec<T>,
    problems: Vec<String>,
}

impl<T> Default for ReplaceOutcome<T> {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            problems: Vec::new(),
        }
    }
}

impl<T> ReplaceOutcome<T> {
    fn take(&mut self, result: Result<T, Error>) {
        match result {
            Ok(file) => self.files.push(file),
            Err(error) => self.problems.push(error.to_string()),
        }
    }
}

/// Replaces the matches in an open text. Returns an error if the text has changed since the search
/// or is read-only.
fn replace_in_open(
    replace: &Replacer,
    target: &FileReplacement,
    document: &Entity<DocumentModel>,
    cx: &mut App,
) -> Result<ReplacedFile, Error> {
    let text = document.read(cx).snapshot().to_string();
    let replaced = target.replace(replace, &text)?;
    edit_open(&target.path, document, &replaced.edits, cx)?;
    Ok(replaced)
}

/// Undoes a replacement in an open text, as a further edit. Returns the path of the file, or an
/// error if the text has changed since or is read-only.
fn take_back_in_open(
    file: &ReplacedFile,
    document: &Entity<DocumentModel>,
    cx: &mut App,
) -> Result<AbsPath, Error> {
    let text = document.read(cx).snapshot().to_string();
    let edits = file.take_back(&text)?;
    edit_open(&file.path, document, &edits, cx)?;
    Ok(file.path.clone())
}

/// Edits an open text in the user's name. Returns an error if it is read-only. `path` is its file.
fn edit_open(
    path: &AbsPath,
    document: &Entity<DocumentModel>,
    edits: &[Edit],
    cx: &mut App,
) -> Result<(), Error> {
    if !document.read(cx).document().can_edit() {
        return Err(Error::ReadOnly(path.clone()));
    }
    if !edits.is_empty() {
        document.update(cx, |document, cx| document.edit(edits, Author::User, cx));
    }
    Ok(())
}
