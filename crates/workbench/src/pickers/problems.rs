//! The problems that language servers report in the open files of the folder.

use base::{AbsPath, LineFeeds, Span, printable};
use editor::PlacedDiagnostic;
use gpui_kit::{App, Context, SharedString, Task, WeakEntity, Window};
use lsp::DiagnosticSeverity;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};
use ui::{ActiveTheme as _, Icon};

use crate::open_options::GoToPosition;
use crate::workbench::Workbench;

/// A problem with its place.
pub(crate) struct Problem {
    path: AbsPath,
    span: Span,
    severity: DiagnosticSeverity,
    /// The first line of the message.
    message: String,
    /// The file and the line, for display.
    place: String,
    /// The tool that found it.
    source: String,
}

/// Picker delegate that lists problems and filters them by message, file and tool.
pub(crate) struct ProblemPicker {
    workbench: WeakEntity<Workbench>,
    problems: Vec<Problem>,
    /// Indices of those that match the query.
    matching: Vec<usize>,
}

impl Problem {
    /// Creates the entry of a diagnostic in the file `path`, which is displayed as `name`; `line` counts from 1.
    pub(crate) fn new(path: &AbsPath, name: &str, line: u32, placed: &PlacedDiagnostic) -> Self {
        let diagnostic = &placed.diagnostic;
        let first_line = diagnostic.message.trim().lines().next().unwrap_or_default();
        let source = diagnostic.source.as_deref().unwrap_or_default();
        Self {
            path: path.clone(),
            span: placed.span,
            severity: diagnostic.severity,
            message: printable(first_line, LineFeeds::Escape).into_owned(),
            place: format!("{name}:{line}"),
            source: printable(source, LineFeeds::Escape).into_owned(),
        }
    }
}

impl ProblemPicker {
    /// Creates the picker; errors come first.
    pub(crate) fn new(workbench: WeakEntity<Workbench>, mut problems: Vec<Problem>) -> Self {
        problems.sort_by(|a, b| {
            (a.severity, &a.path, a.span.start).cmp(&(b.severity, &b.path, b.span.start))
        });
        Self {
            workbench,
            matching: (0..problems.len()).collect(),
            problems,
        }
    }

    fn matching(&self, query: &str) -> Vec<usize> {
        let query = query.to_lowercase();
        let words: Vec<&str> = query.split_whitespace().collect();
        let is_match = |problem: &Problem| {
            let text = format!("{} {} {}", problem.message, problem.place, problem.source);
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let all = self.problems.iter().enumerate();
        all.filter(|(_, problem)| is_match(problem))
            .map(|(ix, _)| ix)
            .collect()
    }

    fn problem(&self, ix: usize) -> Option<&Problem> {
        self.problems.get(*self.matching.get(ix)?)
    }
}

impl PickerDelegate for ProblemPicker {
    type Found = Vec<usize>;

    fn name(&self) -> SharedString {
        "Problems".into()
    }

    fn placeholder(&self) -> SharedString {
        "Search problems in open files".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        Task::ready(self.matching(query))
    }

    fn accept(&mut self, matching: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.matching = matching;
        0
    }

    fn count(&self) -> usize {
        self.matching.len()
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        if query.is_empty() {
            "No language server reports a problem in the open files".into()
        } else {
            "No matching problems".into()
        }
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        let Some(problem) = self.problem(ix) else {
            return PickerRow::new("");
        };
        let colors = cx.theme().colors;
        let (icon, color) = match problem.severity {
            DiagnosticSeverity::Error => (Icon::CircleAlert, colors.error),
            DiagnosticSeverity::Warning => (Icon::Warning, colors.warning),
            DiagnosticSeverity::Information => (Icon::Info, colors.info),
            DiagnosticSeverity::Hint => (Icon::Info, colors.muted),
        };
        PickerRow::new(problem.message.clone())
            .detail(problem.place.clone())
            .end_text(problem.source.clone())
            .start(icon.color(color))
    }

    fn confirm(
        &mut self,
        ix: usize,
        kind: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let (Some(problem), Some(workbench)) = (self.problem(ix), self.workbench.upgrade()) else {
            return AfterConfirm::Stay;
        };
        let position = Some(GoToPosition::Span(Span::at(problem.span.start)));
        let to_side = kind == ConfirmKind::Other;
        workbench.update(cx, |workbench, cx| {
            workbench.leave_place(cx);
            workbench.open_at(problem.path.clone(), position, to_side, window, cx);
        });
        AfterConfirm::Close
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lsp::{Diagnostic, DiagnosticTags};

    use super::*;

    fn problem(name: &str, severity: DiagnosticSeverity, message: &str) -> Problem {
        let span = Span::from(0..1);
        let diagnostic = Diagnostic {
            span,
            severity,
            message: message.to_owned(),
            code: None,
            code_url: None,
            source: Some("rustc".to_owned()),
            tags: DiagnosticTags::default(),
            related: Vec::new(),
        };
        let placed = PlacedDiagnostic {
            span,
            diagnostic: Arc::new(diagnostic),
        };
        let path = AbsPath::new("/p").expect("absolute").join(name);
        Problem::new(&path, name, 3, &placed)
    }

    #[test]
    fn errors_come_first_and_every_word_is_searched() {
        use DiagnosticSeverity::{Error, Warning};
        let picker = ProblemPicker::new(
            WeakEntity::new_invalid(),
            vec![
                problem("a.rs", Warning, "unused variable\nwith details"),
                problem("b.rs", Error, "mismatched types"),
            ],
        );
        let messages: Vec<&str> = picker
            .problems
            .iter()
            .map(|it| it.message.as_str())
            .collect();
        assert_eq!(messages, ["mismatched types", "unused variable"]);
        assert_eq!(picker.matching(""), [0, 1]);
        assert_eq!(picker.matching("RUSTC b.rs:3"), [0]);
        assert_eq!(picker.matching("unused rustc"), [1]);
        assert!(picker.matching("details").is_empty());
    }
}
