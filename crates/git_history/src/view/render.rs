//! Rendering of the history: the filter, the list of commits with the graph, and the states without rows.

use std::ops::Range;

use git_program::{RefKind, RefLabel};
use gpui_kit::{
    AnyElement, ClickEvent, Context, InteractiveElement as _, IntoElement, KeyContext,
    ParentElement as _, Render, Role, StatefulInteractiveElement as _, Styled as _,
    TestSupportExt as _, Window, canvas, div, uniform_list,
};
use ui::{
    ActiveTheme as _, Badge, Banner, Button, EmptyState, Icon, IconButton, Label, ListRow, Menu,
    MenuExt as _, TextField, Tone, dp,
};

use super::loading::LoadProgress;
use super::{HistoryRow, HistoryView};
use crate::actions::{Refresh, ToggleAllBranches};
use crate::age::age;
use crate::lanes;
use crate::service::HistoryError;

/// Width of a lane in design pixels.
const LANE: f32 = 12.0;
/// Maximum number of references of a commit that are drawn; the rest is counted.
const MAX_REFS: usize = 3;
/// Characters of an author's name that are drawn.
const MAX_NAME: usize = 24;

impl HistoryView {
    fn render_controls(&self, cx: &Context<Self>) -> AnyElement {
        let words = self.status_words();
        let field = TextField::new(&self.filter, "Filter of the history").icon(Icon::Filter);
        let all = IconButton::new("history-all", Icon::GitBranch, "All branches")
            .small()
            .pressed(self.is_all)
            .action(Box::new(ToggleAllBranches));
        let refresh = IconButton::new("history-refresh", Icon::Refresh, "Refresh")
            .small()
            .action(Box::new(Refresh));
        let status = div()
            .id("history-status")
            .role(Role::Status)
            .test_support()
            .aria_label(words.clone())
            .flex_none()
            .child(Label::new(words).small().muted());
        div()
            .flex()
            .flex_none()
            .items_center()
            .gap(dp(8.0))
            .p(dp(8.0))
            .border_b_1()
            .border_color(cx.theme().colors.border)
            .child(div().flex_1().min_w_0().child(field))
            .child(all)
            .child(refresh)
            .child(status)
            .into_any_element()
    }

    /// Renders the strip about an error behind rows, or about parts that cannot be shown.
    fn render_strip(&self) -> Option<AnyElement> {
        let load = &self.load;
        let strip = match (&load.error, &load.limits) {
            (Some(error), _) if !self.rows.is_empty() => {
                Banner::new("history-error", Tone::Error, Self::failure(error))
            }
            (_, Some(limits)) => Banner::new("history-limits", Tone::Info, limits.clone()),
            _ => return None,
        };
        Some(strip.into_any_element())
    }

    fn render_list(&self, cx: &mut Context<Self>) -> AnyElement {
        if self.rows.is_empty() {
            return self.render_empty();
        }
        uniform_list(
            "history-rows",
            self.rows.len(),
            cx.processor(Self::render_rows),
        )
        .track_scroll(&self.scroll)
        .size_full()
        .into_any_element()
    }

    fn render_empty(&self) -> AnyElement {
        let state = match (&self.load.error, self.load.progress) {
            (Some(HistoryError::NoRepository), _) => EmptyState::new("There is no repository here")
                .detail("The history shows the commits of a folder that Git manages."),
            (Some(error), _) => EmptyState::new("The history cannot be read")
                .detail(Self::failure(error))
                .child(
                    Button::new("history-again", "Try again")
                        .action(Box::new(Refresh))
                        .with_keys(),
                ),
            (None, LoadProgress::Reading) => EmptyState::new("Reading the history\u{2026}"),
            (None, LoadProgress::Ended) if self.query == git_program::LogQuery::default() => {
                EmptyState::new("There are no commits yet")
                    .detail("The first commit of this branch will be the first row.")
            }
            (None, LoadProgress::Ended) => {
                EmptyState::new("No commit matches").detail("Escape clears the filter.")
            }
        };
        state.icon(Icon::GitBranch).into_any_element()
    }

    fn render_rows(
        &mut self,
        range: Range<usize>,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) -> Vec<AnyElement> {
        self.note_seen(range.end);
        let rows = self.rows.get(range.clone()).unwrap_or_default().iter();
        rows.zip(range)
            .map(|(row, ix)| self.render_row(row, ix, cx))
            .collect()
    }

    fn render_row(&self, row: &HistoryRow, ix: usize, cx: &Context<Self>) -> AnyElement {
        let commit = &row.commit;
        let age = age(self.now, commit.seconds);
        let names: String = commit
            .refs
            .iter()
            .map(|label| format!("{}, ", label.name))
            .collect();
        let is_marked = self.is_marked(&commit.id);
        let mark = if is_marked { ", marked" } else { "" };
        let name = format!("{names}{}, {}, {age}{mark}", commit.subject, commit.author);
        let subject = if commit.subject.is_empty() {
            Label::new("(no message)").muted()
        } else {
            Label::new(commit.subject.clone())
        };
        let author: String = commit.author.chars().take(MAX_NAME).collect();
        let view = cx.entity().downgrade();
        ListRow::new(("history-row", ix), name)
            .selected(self.selected == Some(ix))
            .on_click(move |event: &ClickEvent, window, cx| {
                let is_double = event.click_count() > 1;
                let clicked = view.update(cx, |view, cx| view.click(ix, is_double, window, cx));
                // The view may have been closed.
                clicked.ok();
            })
            .children(self.render_graph(row, cx))
            .children(is_marked.then(|| Badge::new("marked").tone(Tone::Info)))
            .children(commit.refs.iter().take(MAX_REFS).map(badge))
            .children(more_refs(&commit.refs))
            .child(div().flex_1().min_w_0().child(subject))
            .child(div().flex_none().child(Label::new(author).small().muted()))
            .child(
                div()
                    .flex_none()
                    .w(dp(104.0))
                    .child(Label::new(age).small().muted()),
            )
            .into_any_element()
    }

    fn click(&mut self, ix: usize, is_double: bool, window: &mut Window, cx: &mut Context<Self>) {
        self.list_focus.focus(window, cx);
        self.is_in_files = false;
        self.select(ix, cx);
        if is_double {
            self.open_selected(&crate::actions::OpenSelected, window, cx);
        }
    }

    /// Renders the part of the graph of a row.
    fn render_graph(&self, row: &HistoryRow, cx: &Context<Self>) -> Option<AnyElement> {
        let graph = row.graph.clone()?;
        let palette = cx.theme().agents;
        let lanes = self.lanes.min(lanes::MAX_LANES) as f32;
        let strip = canvas(
            |_, _, _| {},
            move |bounds, (), window, _| {
                let lane = bounds.size.width / lanes;
                lanes::paint(&graph, bounds, lane, &palette, window);
            },
        );
        Some(
            strip
                .flex_none()
                .w(dp(LANE * lanes))
                .h(dp(ListRow::height(1)))
                .into_any_element(),
        )
    }

    fn key_context(&self) -> KeyContext {
        let mut context = KeyContext::default();
        context.add("GitHistory");
        if self.is_in_files {
            context.add("files");
        }
        context
    }
}

fn badge(label: &RefLabel) -> Badge {
    let tone = match label.kind {
        _ if label.is_head => Tone::Accent,
        RefKind::Branch => Tone::Success,
        RefKind::Remote => Tone::Info,
        RefKind::Tag => Tone::Warning,
        RefKind::Head | RefKind::Other => Tone::Neutral,
    };
    Badge::new(label.name.clone()).tone(tone)
}

fn more_refs(refs: &[RefLabel]) -> Option<Badge> {
    let more = refs.len().saturating_sub(MAX_REFS);
    (more > 0).then(|| Badge::new(format!("+{more}")))
}

impl Render for HistoryView {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let controls = self.render_controls(cx);
        let strip = self.render_strip();
        let list = self.render_list(cx);
        let details = (!self.rows.is_empty()).then(|| self.render_details(cx));
        let this = cx.weak_entity();
        let commits = div()
            .id("history-list")
            .key_context("GitHistoryList")
            .role(Role::ListBox)
            .test_support()
            .aria_label("Commits")
            .track_focus(&self.list_focus)
            .flex_1()
            .min_h_0()
            .w_full()
            .p(dp(4.0))
            .child(list)
            .menu_on_right_click(move |_, cx| match this.upgrade() {
                Some(view) => view.read(cx).menu(),
                None => Menu::new(),
            });
        div()
            .id("git-history")
            .role(Role::Group)
            .test_support()
            .aria_label("History")
            .key_context(self.key_context())
            .track_focus(&self.focus)
            .on_action(cx.listener(Self::select_next))
            .on_action(cx.listener(Self::select_previous))
            .on_action(cx.listener(Self::select_page_down))
            .on_action(cx.listener(Self::select_page_up))
            .on_action(cx.listener(Self::select_first))
            .on_action(cx.listener(Self::select_last))
            .on_action(cx.listener(Self::open_selected))
            .on_action(cx.listener(Self::cancel))
            .on_action(cx.listener(Self::focus_filter))
            .on_action(cx.listener(Self::toggle_all_branches))
            .on_action(cx.listener(Self::refresh_now))
            .on_action(cx.listener(Self::check_out))
            .on_action(cx.listener(Self::create_branch))
            .on_action(cx.listener(Self::create_tag))
            .on_action(cx.listener(Self::cherry_pick))
            .on_action(cx.listener(Self::revert))
            .on_action(cx.listener(Self::rebase_from))
            .on_action(cx.listener(Self::mark_for_comparison))
            .on_action(cx.listener(Self::compare_with_marked))
            .on_action(cx.listener(Self::compare_with_working_tree))
            .on_action(cx.listener(Self::reset_soft))
            .on_action(cx.listener(Self::reset_mixed))
            .on_action(cx.listener(Self::reset_hard))
            .on_action(cx.listener(Self::copy_id))
            .on_action(cx.listener(Self::open_on_host))
            .flex()
            .flex_col()
            .size_full()
            .bg(cx.theme().colors.surface)
            .child(controls)
            .children(strip)
            .child(commits)
            .children(details)
    }
}
