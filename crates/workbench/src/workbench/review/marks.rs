//! Appearance and position of a change under review in its text.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use base::{AbsPath, Row, Span};
use composer_panel::actions::{AcceptHere, Cancel, RejectHere};
use composer_panel::board::{Board, BoardHunk, HunkVerdict};
use composer_panel::{ComposerPanel, comment_field};
use editor::{BlockPlace, BlockView, ReviewMark};
use gpui_kit::component::input::InputState;
use gpui_kit::{
    Action, AnyElement, App, Div, Entity, InteractiveElement as _, IntoElement as _,
    ParentElement as _, Role, StatefulInteractiveElement as _, Styled as _, TestSupportExt as _,
    WeakEntity, div, prelude::FluentBuilder as _, px,
};
use text::{RowSpan, Snapshot};
use ui::{ActiveTheme as _, Button, ButtonStyle, Icon, IconButton, KeyHint, Label, dp};

use crate::workbench::changed_words::{ChangedWords, WhitespaceChanges, changed_words};
use crate::workbench::removed_lines::{self, LineKinds, RemovedMarks, kinds_in_lines};

/// Maximum number of removed lines shown; the rest is only counted.
const MAX_REMOVED_LINES: usize = 40;
/// Maximum distance from its line, in rows, at which a change is searched: earlier edits may have
/// moved it.
const AROUND: u32 = 400;
/// Height of the line with the buttons, in pixels.
pub(crate) const HEAD: f32 = 32.0;
/// Height of the field of a comment, in pixels.
const FIELD: f32 = 44.0;

/// A change shown in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShownChange {
    hunk: BoardHunk,
    rows: RowSpan,
    /// Index of the letter and colour of its agent.
    mark: usize,
    agent: String,
    /// The words that differ; `find_words` fills them in.
    words: Arc<ChangedWords>,
    /// The syntax highlights of each removed line, once they are known.
    kinds: Rc<OnceCell<Vec<LineKinds>>>,
    /// The field in which the user writes a comment on it.
    pub(super) field: Option<Entity<InputState>>,
}

/// Returns the changes already contained in a text, in text order; those that no longer match are
/// left out.
pub(super) fn shown_in(path: &AbsPath, snapshot: &Snapshot, board: &Board) -> Vec<ShownChange> {
    let mut shown: Vec<ShownChange> = Vec::new();
    for job in &board.jobs {
        let Some(root) = job.root() else {
            continue;
        };
        if path.relative_to(&root).is_none() {
            continue;
        }
        let own = board.hunks_of(Some(job.id()));
        for hunk in own.filter(|hunk| root.join(&hunk.path) == *path) {
            if let Some(rows) = rows_of(hunk, snapshot) {
                shown.push(ShownChange {
                    hunk: hunk.clone(),
                    rows,
                    mark: job.mark,
                    agent: job.title().to_owned(),
                    words: Arc::default(),
                    kinds: Rc::default(),
                    field: None,
                });
            }
        }
    }
    shown.sort_by_key(|it| it.rows.start);
    shown
}

/// The changes of the open session in the user's folder: the folder, the session's title, the
/// changes.
pub(super) type FolderHunks = (AbsPath, String, Vec<BoardHunk>);

/// Returns the changes of the open session in a text of the user's folder, in text order.
pub(super) fn shown_here(
    path: &AbsPath,
    snapshot: &Snapshot,
    (root, title, hunks): &FolderHunks,
) -> Vec<ShownChange> {
    let own = hunks.iter().filter(|hunk| root.join(&hunk.path) == *path);
    let mut shown: Vec<ShownChange> = own
        .filter_map(|hunk| {
            Some(ShownChange {
                hunk: hunk.clone(),
                rows: rows_of(hunk, snapshot)?,
                mark: 0,
                agent: title.clone(),
                words: Arc::default(),
                kinds: Rc::default(),
                field: None,
            })
        })
        .collect();
    shown.sort_by_key(|it| it.rows.start);
    shown
}

/// Finds the rows that a change inserted: at its line, or else the nearest identical rows.
fn rows_of(hunk: &BoardHunk, snapshot: &Snapshot) -> Option<RowSpan> {
    let line = hunk.line.saturating_sub(1);
    let count = u32::try_from(hunk.after.len()).ok()?;
    let at = |start: u32| RowSpan {
        start: Row(start),
        end: Row(start + count),
    };
    if count == 0 {
        let has_text = !hunk.before.is_empty();
        return has_text.then(|| at(line.min(snapshot.row_count())));
    }
    let is_here = |start: u32| {
        start + count <= snapshot.row_count()
            && hunk.after.iter().zip(start..).all(|(text, row)| {
                let span = Span::new(snapshot.row_start(Row(row)), snapshot.row_end(Row(row)));
                snapshot.text(span).trim_end_matches('\r') == text.as_str()
            })
    };
    let steps = (0..=AROUND).flat_map(|step| [line.checked_add(step), line.checked_sub(step)]);
    steps.flatten().find(|start| is_here(*start)).map(at)
}

impl ShownChange {
    /// Returns the id of the hunk.
    pub(super) fn hunk_id(&self) -> &str {
        &self.hunk.id
    }

    /// Compares the words of both sides, unless `before` has the same change.
    pub(super) fn find_words(&mut self, before: &[ShownChange]) {
        if let Some(known) = before.iter().find(|it| it.hunk == self.hunk) {
            self.words = known.words.clone();
            self.kinds = known.kinds.clone();
            return;
        }
        let removed: Vec<&str> = self.hunk.before.iter().map(String::as_str).collect();
        let added: Vec<&str> = self.hunk.after.iter().map(String::as_str).collect();
        self.words = Arc::new(changed_words(&removed, &added, WhitespaceChanges::Shown));
    }

    /// Returns the syntax highlights of the removed lines. The editor paints again when it has the colours of its own
    /// text, so the first rows without colours are painted again, too.
    fn kinds(&self) -> &[LineKinds] {
        if let Some(kinds) = self.kinds.get() {
            return kinds;
        }
        match kinds_in_lines(self.hunk.path.as_ref(), &self.hunk.before) {
            Some(kinds) => self.kinds.get_or_init(|| kinds),
            None => &[],
        }
    }

    /// Returns the differing words among the added rows of a text.
    pub(super) fn added_words(&self, snapshot: &Snapshot) -> Vec<Span> {
        self.words.added_spans(snapshot, self.rows.start)
    }

    /// Returns the rows that the change added.
    pub(super) fn rows(&self) -> RowSpan {
        self.rows
    }

    /// Returns the first line of the hunk in its file as the engines know it, from 1.
    pub(super) fn line(&self) -> u32 {
        self.hunk.line
    }

    /// Returns the height of the block above the rows, in line heights; with the field of a comment
    /// if `has_field`.
    pub(super) fn height(&self, has_field: bool, cx: &App) -> f32 {
        let gone = self.hunk.before.len();
        let more = usize::from(gone > MAX_REMOVED_LINES);
        let rows = gone.min(MAX_REMOVED_LINES) + more;
        let field = if has_field { FIELD } else { 0.0 };
        cx.theme().code_lines(HEAD + field) + rows as f32
    }

    /// Returns the editor's mark for the change.
    pub(super) fn mark(&self, panel: &WeakEntity<ComposerPanel>, cx: &App) -> ReviewMark {
        let (shown, panel) = (self.clone(), panel.clone());
        ReviewMark {
            rows: self.rows,
            height: self.height(self.field.is_some(), cx),
            view: BlockView::new(move |place, _, cx| shown.render(place, &panel, cx)),
            sides: None,
        }
    }

    fn render(
        &self,
        place: &BlockPlace,
        panel: &WeakEntity<ComposerPanel>,
        cx: &mut App,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let key = place.id.0 as usize;
        let button = |id: &'static str, label: &'static str, verdict: HunkVerdict| {
            let (panel, hunk) = (panel.clone(), self.hunk.id.clone());
            Button::new((id, key), label)
                .style(ButtonStyle::Ghost)
                .icon(match verdict {
                    HunkVerdict::Accepted => Icon::Check,
                    HunkVerdict::Open | HunkVerdict::Rejected => Icon::Close,
                })
                .on_click(move |_, _, cx| {
                    // The panel lives as long as the window.
                    panel
                        .update(cx, |panel, cx| panel.decide_hunk(&hunk, verdict, cx))
                        .ok();
                })
        };
        let verdict = match self.hunk.verdict {
            HunkVerdict::Open => None,
            HunkVerdict::Accepted => Some(("accepted", colors.added)),
            HunkVerdict::Rejected => Some(("rejected", colors.removed)),
        };
        let verdict = verdict.map(|(word, color)| Label::new(word).tiny().color(color));
        let head = head(place, cx)
            .child(composer_panel::agent_mark(self.mark, cx))
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .child(Label::new(self.agent.clone()).small().muted()),
            )
            .children(verdict)
            .child(button("inline-accept", "Accept", HunkVerdict::Accepted))
            .children(keys(&AcceptHere, cx))
            .child(button("inline-reject", "Reject", HunkVerdict::Rejected))
            .children(keys(&RejectHere, cx))
            .child(self.comment_button(key, panel));
        let name = format!("Change by {}, line {}", self.agent, self.hunk.line);
        div()
            .id(("inline-change", key))
            .role(Role::Group)
            .aria_label(name)
            .test_support()
            .size_full()
            .flex()
            .flex_col()
            .when(self.hunk.verdict == HunkVerdict::Rejected, |it| {
                it.opacity(0.6)
            })
            .child(head)
            .children(removed_lines::render(
                &self.hunk.before,
                &RemovedMarks {
                    words: &self.words,
                    kinds: self.kinds(),
                    moved: &[],
                },
                MAX_REMOVED_LINES,
                place,
                cx,
            ))
            .children(self.render_field(place, panel, cx))
            .into_any_element()
    }

    fn comment_button(&self, key: usize, panel: &WeakEntity<ComposerPanel>) -> IconButton {
        let (panel, hunk) = (panel.clone(), self.hunk.id.clone());
        IconButton::new(("inline-comment", key), Icon::Message, "Comment")
            .small()
            .on_click(move |_, window, cx| {
                // The panel lives as long as the window.
                panel
                    .update(cx, |panel, cx| {
                        panel.comment_in_text(&hunk, None, window, cx);
                    })
                    .ok();
            })
    }

    /// Renders the field of a comment, if the user writes one.
    fn render_field(
        &self,
        place: &BlockPlace,
        panel: &WeakEntity<ComposerPanel>,
        cx: &App,
    ) -> Option<Div> {
        let field = self.field.as_ref()?;
        let panel = panel.clone();
        let row = div()
            .on_action(move |_: &Cancel, window, cx| {
                // The panel lives as long as the window.
                panel
                    .update(cx, |panel, cx| panel.cancel_comment(window, cx))
                    .ok();
            })
            .flex()
            .flex_none()
            .items_center()
            .w_full()
            .h(px(FIELD * cx.theme().fonts.zoom))
            .pl(place.gutter)
            .pr(dp(16.0))
            .bg(cx.theme().colors.raised)
            .child(comment_field(field));
        Some(row)
    }
}

/// Renders the header above a change, aligned with the text.
pub(crate) fn head(place: &BlockPlace, cx: &App) -> Div {
    let colors = cx.theme().colors;
    div()
        .flex()
        .flex_none()
        .items_center()
        .gap(dp(8.0))
        .w_full()
        .h(px(HEAD * cx.theme().fonts.zoom))
        .pl(place.gutter)
        .pr(dp(16.0))
        .bg(colors.raised)
        .border_y_1()
        .border_color(colors.border)
        .text_size(dp(12.0))
}

/// Returns the key binding of an action in any context: a newly inserted mark is not yet in the
/// focus tree, which a contextual lookup would need.
pub(crate) fn keys(action: &dyn Action, cx: &App) -> Option<KeyHint> {
    ui::keys_anywhere(action, cx).map(KeyHint::text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(line: u32, before: &[&str], after: &[&str]) -> BoardHunk {
        let own = |lines: &[&str]| lines.iter().map(|it| (*it).to_owned()).collect();
        BoardHunk {
            id: "h".to_owned(),
            job: "a".to_owned(),
            path: "x".to_owned(),
            symbol: None,
            line,
            before: own(before),
            after: own(after),
            note: None,
            author: None,
            risk: None,
            verdict: HunkVerdict::Open,
        }
    }

    #[track_caller]
    fn check(text: &str, hunk: &BoardHunk, rows: Option<(u32, u32)>) {
        let found = rows_of(hunk, &Snapshot::new(text));
        assert_eq!(found.map(|rows| (rows.start.0, rows.end.0)), rows);
    }

    #[test]
    fn a_change_is_found_where_its_rows_are() {
        let text = "one\ntwo\nthree\ntwo\n";
        check(text, &hunk(2, &["old"], &["two"]), Some((1, 2)));
        check(text, &hunk(4, &["old"], &["two"]), Some((3, 4)));
        check(text, &hunk(1, &[], &["three", "two"]), Some((2, 4)));
        check(text, &hunk(9, &["old"], &["two"]), Some((3, 4)));
        check(text, &hunk(2, &[], &["nowhere"]), None);
        check("one\r\ntwo\r\n", &hunk(2, &[], &["two"]), Some((1, 2)));
    }

    #[test]
    fn what_only_went_lies_between_rows() {
        check("one\ntwo\n", &hunk(2, &["gone"], &[]), Some((1, 1)));
        check("one\n", &hunk(9, &["gone"], &[]), Some((2, 2)));
        // A change of a file's mode has no position in its text.
        check("one\n", &hunk(1, &[], &[]), None);
    }
}
