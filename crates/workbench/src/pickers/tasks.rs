//! Lists tasks to run with the problems of their files, and running tasks to stop.
//!
//! Start at `TaskPicker::new`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::AbsPath;
use gpui_kit::{App, AppContext as _, Context, SharedString, Task, WeakEntity, Window};
use project::fuzzy::{self, CandidateKind};
use ui::picker::{
    AfterConfirm, Confirm, ConfirmKind, ConfirmOther, FooterHint, Picker, PickerDelegate, PickerRow,
};
use ui::{ActiveTheme as _, Icon};

use crate::workbench::Workbench;

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskRow {
    pub(crate) title: String,
    pub(crate) detail: String,
    /// Text at the end, such as the source of the task.
    pub(crate) end: String,
    pub(crate) icon: Icon,
    pub(crate) choice: TaskChoice,
    /// The definition: a file and a line, counted from 1.
    pub(crate) place: Option<(AbsPath, u32)>,
}

/// The effect of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TaskChoice {
    /// Runs the task with this label.
    Run(String),
    /// Stops a run, by its number.
    Stop(u64),
    /// Opens the definition.
    Open,
}

/// Reads the rows; called in the background.
pub(crate) type ReadTaskRows = Arc<dyn Fn() -> Vec<TaskRow> + Send + Sync>;

/// Picker delegate that lists tasks.
pub(crate) struct TaskPicker {
    workbench: WeakEntity<Workbench>,
    placeholder: SharedString,
    nothing: SharedString,
    read: ReadTaskRows,
    /// `None` until the rows were read.
    rows: Option<Arc<Vec<TaskRow>>>,
    matching: Vec<usize>,
}

impl TaskPicker {
    /// Creates the picker; `nothing` is shown if there are no rows.
    pub(crate) fn new(
        workbench: WeakEntity<Workbench>,
        placeholder: &'static str,
        nothing: &'static str,
        read: ReadTaskRows,
    ) -> Self {
        Self {
            workbench,
            placeholder: placeholder.into(),
            nothing: nothing.into(),
            read,
            rows: None,
            matching: Vec::new(),
        }
    }

    fn at(&self, ix: usize) -> Option<&TaskRow> {
        self.rows.as_ref()?.get(*self.matching.get(ix)?)
    }

    /// Returns the titles of the listed rows with the texts at their ends.
    #[cfg(test)]
    pub(crate) fn titles(&self) -> Vec<String> {
        let rows = (0..self.matching.len()).filter_map(|ix| self.at(ix));
        rows.map(|row| format!("{} [{}]", row.title, row.end))
            .collect()
    }
}

impl PickerDelegate for TaskPicker {
    type Found = (Arc<Vec<TaskRow>>, Vec<usize>);

    fn name(&self) -> SharedString {
        "Tasks".into()
    }

    fn placeholder(&self) -> SharedString {
        self.placeholder.clone()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let (rows, read, query) = (self.rows.clone(), self.read.clone(), query.to_owned());
        cx.background_spawn(async move {
            let rows = rows.unwrap_or_else(|| Arc::new(read()));
            let texts: Vec<String> = rows
                .iter()
                .map(|row| format!("{} {}", row.title, row.detail))
                .collect();
            let cancel = AtomicBool::new(false);
            let ranked = fuzzy::rank(&query, &texts, CandidateKind::Text, texts.len(), &cancel);
            let matching = ranked.into_iter().map(|ranked| ranked.index).collect();
            (rows, matching)
        })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.rows = Some(found.0);
        self.matching = found.1;
        0
    }

    fn count(&self) -> usize {
        self.matching.len()
    }

    fn nothing_found(&self, query: &str) -> SharedString {
        if query.is_empty() {
            self.nothing.clone()
        } else {
            "No matching tasks".into()
        }
    }

    fn row(&self, ix: usize, cx: &App) -> PickerRow {
        let Some(row) = self.at(ix) else {
            return PickerRow::default();
        };
        let colors = cx.theme().colors;
        let color = match row.choice {
            TaskChoice::Open => colors.error,
            TaskChoice::Run(_) | TaskChoice::Stop(_) => colors.muted,
        };
        let shown = PickerRow::new(row.title.clone())
            .end_text(row.end.clone())
            .start(row.icon.color(color));
        if row.detail.is_empty() {
            shown
        } else {
            shown.detail(row.detail.clone()).prose()
        }
    }

    fn footer(&self) -> Vec<FooterHint> {
        let stops = self.at(0).map(|row| &row.choice);
        if matches!(stops, Some(TaskChoice::Stop(_))) {
            return vec![FooterHint::new(Confirm, "stop")];
        }
        vec![
            FooterHint::new(Confirm, "run"),
            FooterHint::new(ConfirmOther, "open definition"),
        ]
    }

    fn confirm(
        &mut self,
        ix: usize,
        kind: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let Some(mut row) = self.at(ix).cloned() else {
            return AfterConfirm::Stay;
        };
        if kind == ConfirmKind::Other && row.place.is_some() {
            row.choice = TaskChoice::Open;
        }
        let workbench = self.workbench.clone();
        // After the list has closed: a question may follow.
        window.defer(cx, move |window, cx| {
            let chosen = workbench.update(cx, |workbench, cx| {
                workbench.choose_task(row, window, cx);
            });
            // The window may be closing.
            chosen.ok();
        });
        AfterConfirm::Close
    }
}
