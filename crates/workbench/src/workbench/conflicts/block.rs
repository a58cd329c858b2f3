//! The block above a conflict: its number, the names of its sides, and a button for each resolution.

use editor::{BlockPlace, BlockView, DocumentModel, ReviewMark};
use git::conflict::{ConflictNames, ConflictResolution, MergeProposal};
use gpui_kit::{
    AnyElement, App, Div, InteractiveElement as _, IntoElement as _, ParentElement as _, Role,
    StatefulInteractiveElement as _, Styled as _, TestSupportExt as _, WeakEntity, div,
};
use text::RowSpan;
use ui::{ActiveTheme as _, Button, ButtonStyle, Icon, Label, foreign};

use super::{put, resolve};
use crate::actions::conflicts::{MarkResolved, NextConflict};
use crate::workbench::Workbench;
use crate::workbench::review::marks::{HEAD, head, keys};

/// Maximum number of lines of a proposal that are shown.
const MAX_LINES: usize = 12;

/// A conflict as its block shows it.
pub(super) struct ConflictBlock {
    pub(super) workbench: WeakEntity<Workbench>,
    pub(super) document: WeakEntity<DocumentModel>,
    pub(super) index: usize,
    /// Number of conflicts in the text; 0 for the block of a text without markers.
    pub(super) count: usize,
    /// Whether no conflict of the text is open, so that it can be marked as resolved.
    pub(super) is_last_open: bool,
    pub(super) names: ConflictNames,
    pub(super) resolution: Option<ConflictResolution>,
    pub(super) has_base: bool,
    pub(super) proposal: Option<MergeProposal>,
    /// The rows of our and of their side, if the conflict is open.
    pub(super) sides: Option<[RowSpan; 2]>,
}

impl ConflictBlock {
    /// Returns the editor's mark for the conflict at these rows.
    pub(super) fn mark(self, rows: RowSpan, cx: &App) -> ReviewMark {
        let lines = self.proposal_lines().len();
        let heads = if self.proposal.is_some() { 3.0 } else { 2.0 };
        ReviewMark {
            rows,
            height: cx.theme().code_lines(HEAD * heads) + lines as f32,
            sides: self.sides,
            view: BlockView::new(move |place, _, cx| self.render(place, cx)),
        }
    }

    fn title(&self) -> String {
        if self.count == 0 {
            return "No conflict markers are left in this text".to_owned();
        }
        let (number, count) = (self.index + 1, self.count);
        let ConflictNames { ours, theirs } = &self.names;
        format!("Conflict {number} of {count}: ours is {ours}, theirs is {theirs}")
    }

    fn render(&self, place: &BlockPlace, cx: &App) -> AnyElement {
        let colors = cx.theme().colors;
        let title = foreign::one_line(self.title());
        let state = self.resolution.map(resolution_text);
        let state = state.map(|text| Label::new(text).tiny().color(colors.added));
        let top = head(place, cx)
            .child(Icon::GitMerge.color(colors.warning))
            .child(
                div()
                    .min_w_0()
                    .flex_1()
                    .child(Label::new(title.clone()).small()),
            )
            .children(state)
            .children(keys(&NextConflict, cx));
        div()
            .id(("conflict", place.id.0 as usize))
            .role(Role::Group)
            .aria_label(title.clone())
            .test_support()
            .size_full()
            .flex()
            .flex_col()
            .child(top)
            .child(self.render_buttons(place, cx))
            .children(self.render_proposal(place, cx))
            .into_any_element()
    }

    fn render_buttons(&self, place: &BlockPlace, cx: &App) -> Div {
        use ConflictResolution as R;
        let key = place.id.0 as usize;
        let mut choices = vec![
            ("conflict-ours", "Ours", R::Ours),
            ("conflict-theirs", "Theirs", R::Theirs),
            ("conflict-both", "Both", R::OursThenTheirs),
            (
                "conflict-both-back",
                "Both, Theirs First",
                R::TheirsThenOurs,
            ),
        ];
        if self.has_base {
            choices.push(("conflict-base", "Base", R::Base));
        }
        if self.count == 0 {
            choices.clear();
        }
        let buttons = choices.into_iter().map(|(id, label, resolution)| {
            let (workbench, document) = (self.workbench.clone(), self.document.clone());
            let index = self.index;
            Button::new((id, key), label)
                .style(ButtonStyle::Ghost)
                .on_click(move |_, _, cx| {
                    let Some(document) = document.upgrade() else {
                        return;
                    };
                    // The window may have closed.
                    workbench
                        .update(cx, |this, cx| {
                            resolve(this, &document, index, resolution, cx);
                        })
                        .ok();
                })
        });
        let resolved = self.is_last_open.then(|| {
            Button::new(("conflict-resolved", key), "Mark Resolved")
                .style(ButtonStyle::Primary)
                .action(Box::new(MarkResolved))
        });
        head(place, cx).children(buttons).children(resolved)
    }

    /// Renders a text that keeps both changes, with the reason and a button.
    fn render_proposal(&self, place: &BlockPlace, cx: &App) -> Vec<Div> {
        let Some(proposal) = &self.proposal else {
            return Vec::new();
        };
        let (workbench, document) = (self.workbench.clone(), self.document.clone());
        let (index, text) = (self.index, proposal.clone());
        let key = place.id.0 as usize;
        let button = Button::new(("conflict-proposal", key), "Keep Both Changes")
            .style(ButtonStyle::Ghost)
            .on_click(move |_, _, cx| {
                let Some(document) = document.upgrade() else {
                    return;
                };
                // The window may have closed.
                workbench
                    .update(cx, |this, cx| put(this, &document, index, &text, cx))
                    .ok();
            });
        let reason = Label::new(proposal.reason.sentence()).small().muted();
        let reason = div().min_w_0().flex_1().child(reason);
        let mut rows = vec![head(place, cx).child(reason).child(button)];
        let theme = cx.theme();
        rows.extend(self.proposal_lines().into_iter().map(|line| {
            div()
                .flex_none()
                .h(place.line_height)
                .line_height(place.line_height)
                .pl(place.gutter)
                .overflow_hidden()
                .whitespace_nowrap()
                .font(theme.code_font())
                .text_size(theme.code_size())
                .bg(theme.colors.added_ground)
                .text_color(theme.colors.text)
                .child(line)
        }));
        rows
    }

    /// Returns the lines of the proposal that are shown.
    fn proposal_lines(&self) -> Vec<String> {
        let text = self.proposal.as_ref().map_or("", |it| it.text.as_str());
        let lines = text.lines().take(MAX_LINES);
        lines.map(|line| line.replace('\t', "    ")).collect()
    }
}

fn resolution_text(resolution: ConflictResolution) -> &'static str {
    match resolution {
        ConflictResolution::Ours => "resolved with ours",
        ConflictResolution::Theirs => "resolved with theirs",
        ConflictResolution::OursThenTheirs | ConflictResolution::TheirsThenOurs => {
            "resolved with both"
        }
        ConflictResolution::Base => "resolved with the base",
        ConflictResolution::Edited => "resolved by editing",
    }
}
