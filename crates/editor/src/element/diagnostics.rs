//! Underlines of diagnostics, and text that has no effect drawn paler.

use base::{Row, Span};
use gpui_kit::{Context, Hsla, Pixels, Point, fill, point};
use lsp::{Diagnostic, DiagnosticSeverity};
use settings::Colors;
use ui::ActiveTheme as _;

use super::layout::Decorator;
use super::ranges::{CellRange, bounds_of, stretches};
use crate::editor::Editor;

/// Maximum number of diagnostics of the visible rows that are drawn.
pub(super) const MAX_VISIBLE: usize = 1_000;
/// Opacity of the surface over text that has no effect.
const FADE: f32 = 0.45;

/// The underline of a part of a visible row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiagnosticUnderline {
    /// Left end of the underline, at the top of the row.
    pub(crate) origin: Point<Pixels>,
    pub(crate) width: Pixels,
    pub(crate) color: Hsla,
}

impl Decorator<'_> {
    /// Adds the underlines of the visible diagnostics, the most severe last, on top.
    pub(super) fn add_diagnostics(&mut self, cx: &Context<Editor>) {
        let colors = cx.theme().colors;
        let mut found = self.editor.model.read(cx).diagnostics_in(self.layout.span);
        found.truncate(MAX_VISIBLE);
        found.sort_by_key(|it| std::cmp::Reverse(it.diagnostic.severity));
        for placed in found {
            for stretch in self.diagnostic_stretches(placed.span) {
                let bounds = bounds_of(&stretch, &self.layout.rows, &self.layout.geometry);
                if placed.diagnostic.tags.unnecessary {
                    let paler = colors.surface.opacity(FADE);
                    self.layout.fronts.push(fill(bounds, paler));
                }
                if is_underlined(&placed.diagnostic) {
                    self.layout.underlines.push(DiagnosticUnderline {
                        origin: point(bounds.left(), bounds.top()),
                        width: bounds.size.width,
                        color: severity_color(placed.diagnostic.severity, &colors),
                    });
                }
            }
        }
    }

    /// Returns the visible cells of a diagnostic; an empty one is as wide as a cell.
    fn diagnostic_stretches(&self, span: Span) -> Vec<CellRange> {
        let (rows, display) = (&self.layout.rows, &self.editor.display);
        let mut found = stretches(span, self.layout.span, rows, display);
        if found.is_empty() && span.start >= self.layout.span.start {
            let place = display.to_display(span.start, base::Bias::Left);
            let ix = rows.iter().position(|row| row.row == place.row);
            found.extend(ix.map(|ix| CellRange {
                ix,
                from: place.cell,
                to: place.cell + 1,
            }));
        }
        found
    }

    /// Returns the visible rows with an error or a warning, sorted, with the colour of the worst.
    pub(super) fn diagnostic_rows(&self, cx: &Context<Editor>) -> Vec<(Row, Hsla)> {
        let colors = cx.theme().colors;
        let found = self.editor.model.read(cx).diagnostics_in(self.layout.span);
        let serious = found
            .iter()
            .take(MAX_VISIBLE)
            .filter(|it| it.diagnostic.severity <= DiagnosticSeverity::Warning);
        let mut rows: Vec<_> = serious
            .map(|it| {
                let row = self.editor.snapshot.point_at(it.span.start).row;
                (row, it.diagnostic.severity)
            })
            .collect();
        rows.sort();
        rows.dedup_by_key(|(row, _)| *row);
        let colored = rows.into_iter();
        colored
            .map(|(row, severity)| (row, severity_color(severity, &colors)))
            .collect()
    }
}

/// Returns the colour of a severity.
pub(super) fn severity_color(severity: DiagnosticSeverity, colors: &Colors<Hsla>) -> Hsla {
    match severity {
        DiagnosticSeverity::Error => colors.error,
        DiagnosticSeverity::Warning => colors.warning,
        DiagnosticSeverity::Information => colors.info,
        DiagnosticSeverity::Hint => colors.muted,
    }
}

/// Whether a diagnostic is underlined. Hints are not: they explain other diagnostics, or propose something.
fn is_underlined(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity != DiagnosticSeverity::Hint
}
