//! The problems that tasks and tests found in the files of a folder, shown beside the reports of servers.
//!
//! Invariant: places in open texts are found in the background, for the latest problems of each file.
//! Invariant: a file whose problems are the same as before is not placed again: its places follow edits.
//! Start at `LanguageServers::set_findings`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::{AbsPath, ByteOffset, Span};
use editor::{DiagnosticOrigin, DiagnosticSet, DocumentModel};
use gpui_kit::{AppContext as _, Context, EntityId, Task, WeakEntity};
use lsp::{Diagnostic, DiagnosticTags, UnopenedDiagnostic};
use text::Snapshot;

use super::{LanguageServers, LanguageServersEvent};

/// Length of a word in characters, at most.
const MAX_WORD: usize = 200;

/// Origins whose diagnostics are placed here.
pub(super) const ORIGINS: [DiagnosticOrigin; 2] =
    [DiagnosticOrigin::Tasks, DiagnosticOrigin::Tests];

/// Problems of one source, by file.
pub(crate) type Findings = HashMap<AbsPath, Vec<UnopenedDiagnostic>>;

/// The source of problems. New ones replace those of their source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FindingSource {
    /// The output of the task with this label.
    Task(String),
    /// The failures of the tests of a window.
    Tests(EntityId),
}

/// An open text whose diagnostics of an origin are replaced.
struct OpenText {
    path: AbsPath,
    model: WeakEntity<DocumentModel>,
    origin: DiagnosticOrigin,
}

/// Problems at their places in a text.
type PlacedFindings = (Snapshot, DiagnosticSet);

/// The problems of all sources.
#[derive(Default)]
pub(super) struct FoundProblems {
    by_source: BTreeMap<FindingSource, Findings>,
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

impl FindingSource {
    fn origin(&self) -> DiagnosticOrigin {
        match self {
            Self::Task(_) => DiagnosticOrigin::Tasks,
            Self::Tests(_) => DiagnosticOrigin::Tests,
        }
    }
}

impl FoundProblems {
    /// Returns the problems in a file.
    pub(super) fn of(&self, path: &AbsPath) -> Vec<UnopenedDiagnostic> {
        let of_origins = ORIGINS.into_iter();
        of_origins
            .flat_map(|origin| self.of_origin(origin, path))
            .collect()
    }

    fn of_origin(&self, origin: DiagnosticOrigin, path: &AbsPath) -> Vec<UnopenedDiagnostic> {
        let sources = self.by_source.iter();
        let sources = sources.filter(|(source, _)| source.origin() == origin);
        let items = sources.filter_map(|(_, findings)| findings.get(path));
        items.flatten().cloned().collect()
    }

    /// Replaces the problems of a source and notes the files that are to be shown anew.
    fn replace(&mut self, source: FindingSource, findings: Findings) {
        let old = self.by_source.remove(&source).unwrap_or_default();
        let files = old.keys().chain(findings.keys());
        let changed = files.filter(|path| old.get(*path) != findings.get(*path));
        self.unplaced.extend(changed.cloned());
        if !findings.is_empty() {
            self.by_source.insert(source, findings);
        }
    }
}

impl LanguageServers {
    /// Replaces the problems that a source found.
    pub(crate) fn set_findings(
        &mut self,
        source: FindingSource,
        findings: Findings,
        cx: &mut Context<Self>,
    ) {
        self.found.replace(source, findings);
        self.place_findings(cx);
    }

    /// Shows the problems in a text that was opened.
    pub(super) fn show_findings_again(&mut self, path: AbsPath, cx: &mut Context<Self>) {
        if !self.found.of(&path).is_empty() {
            self.found.unplaced.insert(path);
            self.place_findings(cx);
        }
    }

    /// Shows the problems of all noted files, unless that is in progress.
    fn place_findings(&mut self, cx: &mut Context<Self>) {
        if self.found.unplaced.is_empty() || std::mem::replace(&mut self.found.is_placing, true) {
            return;
        }
        let task = cx.spawn(async move |this, cx| {
            loop {
                let next = this.update(cx, |this, cx| this.take_unplaced(cx));
                // The folder may have been closed.
                let Ok(Some((texts, unplaced))) = next else {
                    return;
                };
                let placed = cx.background_spawn(async move {
                    let placed = unplaced.into_iter().map(UnplacedFindings::place);
                    placed.collect::<Vec<_>>()
                });
                let placed = texts.into_iter().zip(placed.await).collect();
                let shown = this.update(cx, |this, cx| this.show_placed(placed, cx));
                if shown.is_err() {
                    return;
                }
            }
        });
        self.found._placing = Some(task);
    }

    /// Shows the problems of closed files, and returns those of open texts; `None` if nothing is left to show.
    fn take_unplaced(
        &mut self,
        cx: &mut Context<Self>,
    ) -> Option<(Vec<OpenText>, Vec<UnplacedFindings>)> {
        let paths = std::mem::take(&mut self.found.unplaced);
        if paths.is_empty() {
            self.found.is_placing = false;
            return None;
        }
        let (mut texts, mut unplaced) = (Vec::new(), Vec::new());
        for path in paths {
            let mut documents = self.documents.values();
            let document = documents.find(|document| document.path == path);
            let Some(model) = document.and_then(|document| document.model.upgrade()) else {
                self.diagnostics.set_found(&path, self.found.of(&path));
                continue;
            };
            for origin in ORIGINS {
                unplaced.push(UnplacedFindings {
                    text: model.read(cx).snapshot(),
                    items: self.found.of_origin(origin, &path),
                });
                texts.push(OpenText {
                    path: path.clone(),
                    model: model.downgrade(),
                    origin,
                });
            }
        }
        cx.emit(LanguageServersEvent::DiagnosticsChanged);
        Some((texts, unplaced))
    }

    fn show_placed(&mut self, placed: Vec<(OpenText, PlacedFindings)>, cx: &mut Context<Self>) {
        for (shown, (text, items)) in placed {
            let counts = shown.model.update(cx, |model, cx| {
                model.set_diagnostics(shown.origin, text.revision(), items, cx);
                model.diagnostic_counts()
            });
            // The text may have been closed, which showed the problems of its file.
            let is_open = self.documents.values().any(|it| it.path == shown.path);
            if let Some(counts) = counts.ok().filter(|_| is_open) {
                self.diagnostics.set_open(&shown.path, counts);
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

/// Places a problem in a text, which may be shorter than the one that the tool read.
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
