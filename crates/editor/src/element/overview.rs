//! Marks on the scrollbar: positions of changes, matches and carets in the whole text.
//!
//! Invariant: the work depends on the height of the bar and the bounded number of marks, never on
//! the length of the text.

use gpui_kit::{Bounds, Context, Hsla, PaintQuad, Pixels, fill, point, px, size};
use lsp::DiagnosticSeverity;
use ui::ActiveTheme as _;

use super::diagnostics::severity_color;
use super::layout::Decorator;
use crate::editor::Editor;

/// If there are more carets, none is marked.
const MAX_CARETS: usize = 500;

/// If there are more changes, none is marked.
const MAX_HUNKS: usize = 2_000;

impl Decorator<'_> {
    pub(super) fn overview_marks(&self, cx: &Context<Editor>) -> Vec<PaintQuad> {
        if !self.editor.settings.overview_marks {
            return Vec::new();
        }
        let colors = cx.theme().colors;
        let track = &self.layout.geometry.vertical;
        let rows = f64::from(self.editor.snapshot.row_count().max(1));
        let height = f64::from(f32::from(track.size.height));
        let place = |row: u32| (f64::from(row) / rows * height) as f32;
        let third = track.size.width / 3.0;
        let mut marks = OverviewMarks {
            track: *track,
            quads: Vec::new(),
            last: None,
        };
        for hunk in self.editor.model.read(cx).hunks().iter().take(MAX_HUNKS) {
            let color = match (hunk.before.is_empty(), hunk.after.is_empty()) {
                (true, _) => colors.added,
                (_, true) => colors.removed,
                _ => colors.changed,
            };
            let (from, to) = (place(hunk.after.start.0), place(hunk.after.end.0));
            marks.push(px(0.0), third, from, to, color);
        }
        marks.last = None;
        self.add_diagnostic_marks(&mut marks, cx);
        for fraction in self.editor.find.overview() {
            let at = fraction * height as f32;
            marks.push(third, third, at, at, colors.find_match_active);
        }
        marks.last = None;
        if self.editor.selections.len() <= MAX_CARETS {
            for selection in self.editor.selections.iter() {
                let at = place(self.editor.snapshot.point_at(selection.head).row.0);
                marks.push(third * 2.0, third, at, at, colors.caret.opacity(0.7));
            }
        }
        marks.quads
    }

    /// Adds marks of errors and warnings over the whole width, the errors on top.
    fn add_diagnostic_marks(&self, marks: &mut OverviewMarks, cx: &Context<Editor>) {
        let colors = cx.theme().colors;
        let model = self.editor.model.read(cx);
        let rows = f64::from(self.editor.snapshot.row_count().max(1));
        let height = f64::from(f32::from(marks.track.size.height));
        let diagnosed = self.editor.diagnosed_rows.get(model, &self.editor.snapshot);
        for severity in [DiagnosticSeverity::Warning, DiagnosticSeverity::Error] {
            marks.last = None;
            let color = severity_color(severity, &colors);
            let of_severity = diagnosed.iter().filter(|(it, _)| *it == severity);
            for (_, row) in of_severity {
                let at = (f64::from(row.0) / rows * height) as f32;
                marks.push(px(0.0), marks.track.size.width, at, at, color);
            }
        }
        marks.last = None;
    }
}

/// Collects marks, merging those on the same pixel.
struct OverviewMarks {
    track: Bounds<Pixels>,
    quads: Vec<PaintQuad>,
    last: Option<(i32, i32)>,
}

impl OverviewMarks {
    fn push(&mut self, x: Pixels, width: Pixels, from: f32, to: f32, color: Hsla) {
        let pixels = (from.floor() as i32, to.floor() as i32);
        if self.last == Some(pixels) {
            return;
        }
        self.last = Some(pixels);
        let height = px((to - from).max(2.0));
        let origin = point(self.track.left() + x, self.track.top() + px(from));
        self.quads
            .push(fill(Bounds::new(origin, size(width, height)), color));
    }
}
