//! The problems that language servers and tasks report in a folder, grouped by file; the list follows new reports.
//!
//! Start at `ProblemPicker::new`; the rows are ordered and described in `listing`.

pub(crate) mod listing;
pub(crate) mod sources;

use std::sync::Arc;

use gpui_kit::component::input::Copy;
use gpui_kit::{
    App, AppContext as _, Context, Entity, SharedString, Subscription, Task, WeakEntity, Window,
};
use lsp::DiagnosticSeverity;
use ui::picker::{AfterConfirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow};
use ui::{ActiveTheme as _, Icon};

use self::listing::{Problem, ProblemScope, matching, prompt, sections};
use self::sources::ProblemSources;
use crate::language_servers::{LanguageServers, LanguageServersEvent};
use crate::workbench::Workbench;

/// Reads the diagnostics of a folder.
pub(crate) type ReadProblems = fn(&Workbench, &App) -> ProblemSources;

/// Picker delegate that lists problems and filters them by message, file and tool.
pub(crate) struct ProblemPicker {
    workbench: WeakEntity<Workbench>,
    servers: Entity<LanguageServers>,
    read: ReadProblems,
    /// The diagnostics that the next search lists; `None` if `problems` are the latest.
    sources: Option<Arc<ProblemSources>>,
    /// In the order of the list.
    problems: Arc<Vec<Problem>>,
    /// Indices of those that match the query.
    matching: Vec<usize>,
    sections: Vec<(usize, SharedString)>,
    scope: ProblemScope,
    /// Set at the first search.
    reports_followed: Option<Subscription>,
}

/// The problems that match a query.
pub(crate) struct MatchingProblems {
    scope: ProblemScope,
    /// The diagnostics of which the list was made; `None` if it was known.
    sources: Option<Arc<ProblemSources>>,
    problems: Arc<Vec<Problem>>,
    /// Indices of those that match.
    matching: Vec<usize>,
    /// Headings of the files, each with its first row.
    sections: Vec<(usize, SharedString)>,
}

impl ProblemPicker {
    /// Creates the picker; `read` is called again after each report of a server.
    pub(crate) fn new(
        servers: Entity<LanguageServers>,
        workbench: &Workbench,
        read: ReadProblems,
        cx: &mut Context<Workbench>,
    ) -> Self {
        Self {
            workbench: cx.weak_entity(),
            servers,
            sources: Some(Arc::new(read(workbench, cx))),
            problems: Arc::default(),
            read,
            matching: Vec::new(),
            sections: Vec::new(),
            scope: ProblemScope::default(),
            reports_followed: None,
        }
    }

    fn problem(&self, ix: usize) -> Option<&Problem> {
        self.problems.get(*self.matching.get(ix)?)
    }

    /// Reads the problems anew after each report.
    fn follow_reports(&mut self, window: &Window, cx: &mut Context<Picker<Self>>) {
        let follow = cx.subscribe_in(
            &self.servers,
            window,
            |picker, _, event: &LanguageServersEvent, window, cx| {
                if !matches!(event, LanguageServersEvent::DiagnosticsChanged) {
                    return;
                }
                let delegate = picker.delegate();
                let sources = delegate.workbench.read_with(cx, delegate.read);
                // The window may be closing.
                if let Ok(sources) = sources {
                    picker.delegate_mut().sources = Some(Arc::new(sources));
                    picker.refresh(window, cx);
                }
            },
        );
        self.reports_followed = Some(follow);
    }

    /// Returns the texts and places of the listed problems, as the clipboard gets them.
    #[cfg(test)]
    pub(crate) fn rows(&self) -> Vec<String> {
        let rows = self.matching.iter();
        rows.map(|ix| self.problems[*ix].line()).collect()
    }
}

impl PickerDelegate for ProblemPicker {
    type Found = MatchingProblems;

    fn name(&self) -> SharedString {
        "Problems".into()
    }

    fn placeholder(&self) -> SharedString {
        "Search problems; ! for errors only, * with hints".into()
    }

    fn search(
        &mut self,
        query: &str,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        if self.reports_followed.is_none() {
            self.follow_reports(window, cx);
        }
        let (scope, query) = ProblemScope::parse(query);
        let (known, query) = (self.problems.clone(), query.to_owned());
        let sources = self.sources.clone();
        cx.background_spawn(async move {
            let problems = match &sources {
                Some(sources) => Arc::new(sources.problems()),
                None => known,
            };
            let matching = matching(&problems, scope, &query);
            let sections = sections(&problems, &matching).into_iter();
            MatchingProblems {
                scope,
                sources,
                sections: sections.map(|(row, title)| (row, title.into())).collect(),
                problems,
                matching,
            }
        })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        let latest = self.sources.take();
        // Of a report that came during the search, the next search makes the list.
        self.sources = latest.filter(|latest| {
            let listed = found.sources.as_ref();
            !listed.is_some_and(|listed| Arc::ptr_eq(listed, latest))
        });
        self.scope = found.scope;
        self.problems = found.problems;
        self.matching = found.matching;
        self.sections = found.sections;
        0
    }

    fn count(&self) -> usize {
        self.matching.len()
    }

    fn sections(&self) -> Vec<(usize, SharedString)> {
        self.sections.clone()
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        match ProblemScope::parse(query) {
            (ProblemScope::Errors, "") => "No errors are known".into(),
            (_, "") => "No problems are known".into(),
            _ => "No matching problems".into(),
        }
    }

    fn status(&self) -> Option<SharedString> {
        let count = self.matching.len();
        (count > 0).then(|| match count {
            1 => "1 problem".into(),
            count => format!("{count} problems").into(),
        })
    }

    fn footer(&self) -> Vec<FooterHint> {
        let next = match self.scope {
            ProblemScope::Serious => "only errors",
            ProblemScope::Errors => "with hints",
            ProblemScope::All => "without hints",
        };
        vec![
            FooterHint::new(ui::picker::ConfirmAll, "ask an agent to fix these"),
            FooterHint::new(ui::picker::Complete, next),
            FooterHint::new(Copy, "copy"),
            FooterHint::new(ui::picker::ConfirmOther, "to the side"),
        ]
    }

    fn complete_query(&self, query: &str) -> Option<String> {
        Some(ProblemScope::next(query))
    }

    fn copy_text(&self, ix: usize) -> Option<String> {
        Some(self.problem(ix)?.line())
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        let Some(problem) = self.problem(ix) else {
            return PickerRow::default();
        };
        let colors = cx.theme().colors;
        let (icon, color) = match problem.severity {
            DiagnosticSeverity::Error => (Icon::CircleAlert, colors.error),
            DiagnosticSeverity::Warning => (Icon::Warning, colors.warning),
            DiagnosticSeverity::Information => (Icon::Info, colors.info),
            DiagnosticSeverity::Hint => (Icon::Info, colors.muted),
        };
        PickerRow::new(problem.first_line().to_owned())
            .detail(problem.origin())
            .end_text(format!("line {}", problem.row.0 + 1))
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
        let (path, position) = (problem.path.clone(), Some(problem.position));
        let to_side = kind == ConfirmKind::Other;
        workbench.update(cx, |workbench, cx| {
            workbench.leave_place(cx);
            workbench.open_at(path, position, to_side, window, cx);
        });
        AfterConfirm::Close
    }

    fn confirm_all(&mut self, window: &mut Window, cx: &mut Context<Picker<Self>>) -> AfterConfirm {
        let listed = self.matching.iter().filter_map(|ix| self.problems.get(*ix));
        let prompt = prompt(listed);
        // The window may be closing.
        self.workbench
            .update(cx, |workbench, cx| {
                workbench.draft_for_agent(&prompt, window, cx);
            })
            .ok();
        AfterConfirm::Close
    }
}
