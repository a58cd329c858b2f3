//! The problems that tasks found in the files of a folder, shown beside the reports of servers.
//!
//! Invariant: places in open texts are found in the background, for the latest problems of each file.
//! Start at `LanguageServers::set_task_findings`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::{AbsPath, ByteOffset, Span};
use editor::{DiagnosticOrigin, DiagnosticSet, DocumentModel};
use gpui_kit::{AppContext as _, Context, Task, WeakEntity};
use lsp::{Diagnostic, DiagnosticTags, UnopenedDiagnostic};
use text::Snapshot;

use super::{LanguageServers, LanguageServersEvent};

/// Length of a word in characters, at most.
const MAX_WORD: usize = 200;

/// Problems of one task, by file.
pub(crate) type TaskFindings = HashMap<AbsPath, Vec<UnopenedDiagnostic>>;

/// An open text with its path.
type OpenText = (AbsPath, WeakEntity<DocumentModel>);

/// Problems at their places in a text.
type PlacedFindings = (Snapshot, DiagnosticSet);

/// The problems of all tasks.
#[derive(Default)]
pub(super) struct TaskReports {
    by_task: BTreeMap<String, TaskFindings>,
    /// Files whose problems changed and are not shown yet.
    unplaced: BTreeSet<AbsPath>,
    is_placing: bool,
    _placing: Option<Task<()>>,
}

/// Problems to place in an open text.
struct UnplacedFindings {
    text: Snapshot,
    items: Vec<UnopenedDiagnostic>,
}

impl TaskReports {
    /// Returns the problems in a file.
    pub(super) fn of(&self, path: &AbsPath) -> Vec<UnopenedDiagnostic> {
        let of_tasks = self.by_task.values();
        let items = of_tasks.filter_map(|findings| findings.get(path)).flatten();
        items.cloned().collect()
    }

    /// Replaces the problems of a task and notes the files that are to be shown anew.
    fn replace(&mut self, task: &str, findings: TaskFindings) {
        self.unplaced.extend(findings.keys().cloned());
        let old = if findings.is_empty() {
            self.by_task.remove(task)
        } else {
            self.by_task.insert(task.to_owned(), findings)
        };
        let old = old.into_iter().flatten();
        self.unplaced.extend(old.map(|(path, _)| path));
    }
}

impl LanguageServers {
    /// Replaces the problems that a task found.
    pub(crate) fn set_task_findings(
        &mut self,
        task: &str,
        findings: TaskFindings,
        cx: &mut Context<Self>,
    ) {
        self.task_reports.replace(task, findings);
        self.place_findings(cx);
    }

    /// Shows the problems in a text that was opened.
    pub(super) fn show_findings_again(&mut self, path: AbsPath, cx: &mut Context<Self>) {
        if !self.task_reports.of(&path).is_empty() {
            self.task_reports.unplaced.insert(path);
            self.place_findings(cx);
        }
    }

    /// Shows the problems of all noted files, unless that is in progress.
    fn place_findings(&mut self, cx: &mut Context<Self>) {
        if std::mem::replace(&mut self.task_reports.is_placing, true) {
            return;
        }
        let task = cx.spawn(async move |this, cx| {
            loop {
                let next = this.update(cx, |this, cx| this.take_unplaced(cx));
                // The folder may have been closed.
                let Ok(Some((models, unplaced))) = next else {
                    return;
                };
                let placed = cx.background_spawn(async move {
                    let placed = unplaced.into_iter().map(UnplacedFindings::place);
                    placed.collect::<Vec<_>>()
                });
                let placed = models.into_iter().zip(placed.await).collect();
                let shown = this.update(cx, |this, cx| this.show_placed(placed, cx));
                if shown.is_err() {
                    return;
                }
            }
        });
        self.task_reports._placing = Some(task);
    }

    /// Shows the problems of closed files, and returns those of open texts; `None` if nothing is left to show.
    fn take_unplaced(
        &mut self,
        cx: &mut Context<Self>,
    ) -> Option<(Vec<OpenText>, Vec<UnplacedFindings>)> {
        let paths = std::mem::take(&mut self.task_reports.unplaced);
        if paths.is_empty() {
            self.task_reports.is_placing = false;
            return None;
        }
        let (mut models, mut unplaced) = (Vec::new(), Vec::new());
        for path in paths {
            let items = self.task_reports.of(&path);
            let mut documents = self.documents.values();
            let document = documents.find(|document| document.path == path);
            match document.and_then(|document| document.model.upgrade()) {
                Some(model) => {
                    let text = model.read(cx).snapshot();
                    unplaced.push(UnplacedFindings { text, items });
                    models.push((path, model.downgrade()));
                }
                None => self.diagnostics.set_found(&path, items),
            }
        }
        cx.emit(LanguageServersEvent::DiagnosticsChanged);
        Some((models, unplaced))
    }

    fn show_placed(&mut self, placed: Vec<(OpenText, PlacedFindings)>, cx: &mut Context<Self>) {
        for ((path, model), (text, items)) in placed {
            let counts = model.update(cx, |model, cx| {
                model.set_diagnostics(DiagnosticOrigin::Tasks, text.revision(), items, cx);
                model.diagnostic_counts()
            });
            // The text may have been closed, which showed the problems of its file.
            let is_open = self.documents.values().any(|it| it.path == path);
            if let Some(counts) = counts.ok().filter(|_| is_open) {
                self.diagnostics.set_open(&path, counts);
            }
        }
        cx.emit(LanguageServersEvent::DiagnosticsChanged);
    }
}

impl UnplacedFindings {
    fn place(self) -> PlacedFindings {
        let items = self.items.into_iter();
        let items = items.map(|item| placed(&self.text, item)).collect();
        (self.text, DiagnosticSet::new(items))
    }
}

/// Places a problem in a text, which may be shorter than the one that the task read.
fn placed(text: &Snapshot, item: UnopenedDiagnostic) -> Diagnostic {
    let span = item.range.span(text);
    let span = span.unwrap_or_else(|| Span::at(text.len()));
    Diagnostic {
        span: if span.is_empty() {
            word_at(text, span.start)
        } else {
            without_indent(text, span)
        },
        severity: item.severity,
        message: item.message,
        code: item.code,
        code_url: None,
        source: item.source,
        tags: DiagnosticTags::default(),
        related: Vec::new(),
    }
}

/// Returns the word that starts at an offset, or the character there; empty at the end of a row.
fn word_at(text: &Snapshot, start: ByteOffset) -> Span {
    let is_word = |letter: &char| letter.is_alphanumeric() || *letter == '_';
    let letters = text.chars_at(start).take(MAX_WORD);
    let word: usize = letters.take_while(is_word).map(char::len_utf8).sum();
    let first = text.chars_at(start).next();
    let first = first.filter(|letter| !matches!(letter, '\r' | '\n'));
    let length = word.max(first.map_or(0, char::len_utf8));
    Span::new(start, start + length)
}

/// Returns a span without the blanks at its start.
fn without_indent(text: &Snapshot, span: Span) -> Span {
    let is_blank = |letter: &char| matches!(letter, ' ' | '\t');
    let letters = text.chars_at(span.start).take(MAX_WORD);
    let blank: usize = letters.take_while(is_blank).map(char::len_utf8).sum();
    Span::new((span.start + blank).min(span.end), span.end)
}

#[cfg(test)]
mod tests {
    use base::{Row, Span};
    use lsp::{DiagnosticSeverity, PositionEncoding, ServerRange, UnopenedDiagnostic};
    use text::Snapshot;

    use super::placed;

    #[test]
    fn places_are_words_and_lie_in_the_text() {
        let text = Snapshot::new("fn main() {\n    \u{fc}ber(1);\r\n}\n");
        let check = |start: (u32, u32), end: (u32, u32), encoding, expected: &str| {
            let place = |(row, column)| (Row(row), column);
            let item = UnopenedDiagnostic {
                range: ServerRange::new(place(start), place(end), encoding),
                severity: DiagnosticSeverity::Error,
                message: String::new(),
                code: None,
                source: None,
            };
            let span: Span = placed(&text, item).span;
            assert_eq!(text.text(span), expected, "{start:?}");
        };
        let (bytes, chars) = (PositionEncoding::Utf8, PositionEncoding::Utf32);
        check((0, 3), (0, 3), bytes, "main");
        check((1, 4), (1, 4), bytes, "\u{fc}ber");
        check((1, 9), (1, 9), bytes, "(");
        check((1, 8), (1, 8), chars, "(");
        check((1, 8), (1, 8), PositionEncoding::Utf16, "(");
        check((1, 0), (1, u32::MAX), chars, "\u{fc}ber(1);");
        check((1, 99), (1, 99), bytes, "");
        check((99, 0), (99, 5), bytes, "");
    }
}
