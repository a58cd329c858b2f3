//! Draws the list of a rebase: title, commits, the message that is edited, and the buttons.

use std::ops::Range;

use git_program::{RebaseAction, RebaseStep};
use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    AnyElement, ClickEvent, Context, Div, Hsla, InteractiveElement as _, IntoElement,
    ParentElement as _, Render, Role, Stateful, StatefulInteractiveElement as _, Styled as _,
    Window, div, prelude::FluentBuilder as _, px, uniform_list,
};
use ui::{ActiveTheme as _, Button, ButtonStyle, Label, ListRow, dp};

use super::RebaseList;
use super::steps::action_name;
use crate::actions::rebase as act;
use crate::rows::shown;

/// Width of the list, in design pixels.
const WIDTH: f32 = 720.0;
/// Maximum number of commits in sight.
const VISIBLE_ROWS: usize = 14;
/// Characters of a commit id that people read.
const SHORT_ID: usize = 8;
/// The keys of the list, in words.
const HELP: &str = "P pick, R message, E edit, S squash, F fixup, D drop";

impl RebaseList {
    fn render_rows(
        &mut self,
        range: Range<usize>,
        _: &mut Window,
        cx: &mut Context<Self>,
    ) -> Vec<AnyElement> {
        let selected = self.steps.selected();
        let steps = self.steps.all().get(range.clone()).unwrap_or_default();
        let rows = steps.iter().zip(range);
        rows.map(|(step, ix)| render_step(step, ix, ix == selected, cx))
            .collect()
    }

    fn render_list(&self, cx: &mut Context<Self>) -> AnyElement {
        let count = self.steps.all().len();
        let visible = u16::try_from(count.clamp(1, VISIBLE_ROWS)).unwrap_or(u16::MAX);
        let list = div()
            .id("git-rebase-list")
            .role(Role::ListBox)
            .aria_label("Commits, the oldest first")
            .key_context("GitRebaseList")
            .track_focus(&self.focus)
            .w_full()
            .h(dp(ListRow::height(1) * f32::from(visible)))
            .px(dp(4.0));
        with_list_actions(list, cx)
            .test_support()
            .child(
                uniform_list("git-rebase-rows", count, cx.processor(Self::render_rows))
                    .track_scroll(&self.scroll)
                    .size_full(),
            )
            .into_any_element()
    }

    fn render_message(&self, cx: &Context<Self>) -> Option<AnyElement> {
        let edited = self.message.as_ref()?;
        let colors = cx.theme().colors;
        let field = div()
            .id("git-rebase-message")
            .role(Role::Group)
            .test_support()
            .aria_label("New message of the commit")
            .h(dp(120.0))
            .w_full()
            .border_1()
            .border_color(colors.border_strong)
            .rounded(px(4.0))
            .overflow_hidden()
            .bg(colors.surface)
            .child(edited.message.read(cx).editor().clone());
        Some(div().p(dp(12.0)).child(field).into_any_element())
    }

    fn render_footer(&self, cx: &Context<Self>) -> AnyElement {
        let colors = cx.theme().colors;
        let problem = self.problem.clone().map(|problem| {
            div()
                .id("git-rebase-problem")
                .role(Role::Alert)
                .test_support()
                .aria_label(problem.clone())
                .px(dp(12.0))
                .pb(dp(8.0))
                .child(Label::new(problem).small().color(colors.error))
        });
        let buttons = div()
            .flex()
            .items_center()
            .gap(dp(8.0))
            .px(dp(12.0))
            .py(dp(8.0))
            .border_t_1()
            .border_color(colors.border)
            .child(
                div()
                    .flex_1()
                    .min_w_0()
                    .child(Label::new(HELP).tiny().muted()),
            )
            .child(Button::new("git-rebase-cancel", "Cancel").action(Box::new(act::Cancel)))
            .child(
                Button::new("git-rebase-start", "Start rebase")
                    .style(ButtonStyle::Primary)
                    .with_keys()
                    .action(Box::new(act::Start)),
            );
        div().children(problem).child(buttons).into_any_element()
    }
}

fn render_step(
    step: &RebaseStep,
    ix: usize,
    is_selected: bool,
    cx: &Context<RebaseList>,
) -> AnyElement {
    let word = action_name(&step.action);
    let short = step.id.get(..SHORT_ID).unwrap_or(&step.id).to_owned();
    let subject = shown(&step.subject);
    let is_dropped = step.action == RebaseAction::Drop;
    let is_joined = matches!(step.action, RebaseAction::Squash(_) | RebaseAction::Fixup);
    ListRow::new(("git-rebase-row", ix), format!("{word} {short} {subject}"))
        .selected(is_selected)
        .on_click(cx.listener(move |this, _: &ClickEvent, window, cx| {
            this.end_message(window, cx);
            this.steps.select(ix);
            this.show_selected(cx);
            this.focus.focus(window, cx);
        }))
        .child(
            div().flex_none().w(dp(64.0)).child(
                Label::new(word)
                    .mono()
                    .color(action_color(&step.action, cx)),
            ),
        )
        .child(Label::new(short).mono().muted())
        .child(
            div()
                .flex_1()
                .min_w_0()
                .truncate()
                .when(is_joined, |it| it.pl(dp(16.0)))
                .when(is_dropped, |it| it.line_through().opacity(0.6))
                .child(subject),
        )
        .into_any_element()
}

fn action_color(action: &RebaseAction, cx: &Context<RebaseList>) -> Hsla {
    let colors = cx.theme().colors;
    match action {
        RebaseAction::Pick => colors.text,
        RebaseAction::Reword(_) | RebaseAction::Edit => colors.changed,
        RebaseAction::Squash(_) | RebaseAction::Fixup => colors.muted,
        RebaseAction::Drop => colors.removed,
    }
}

/// Registers the actions of the list.
fn with_list_actions(element: Stateful<Div>, cx: &mut Context<RebaseList>) -> Stateful<Div> {
    element
        .on_action(cx.listener(|this, _: &act::Pick, _, cx| {
            this.set_action(RebaseAction::Pick, cx);
        }))
        .on_action(cx.listener(|this, _: &act::StopAtCommit, _, cx| {
            this.set_action(RebaseAction::Edit, cx);
        }))
        .on_action(cx.listener(|this, _: &act::Fixup, _, cx| {
            this.set_action(RebaseAction::Fixup, cx);
        }))
        .on_action(cx.listener(|this, _: &act::DropCommit, _, cx| {
            this.set_action(RebaseAction::Drop, cx);
        }))
        .on_action(cx.listener(|this, _: &act::Squash, _, cx| {
            this.set_action(RebaseAction::Squash(None), cx);
        }))
        .on_action(cx.listener(|this, _: &act::Reword, window, cx| this.reword(window, cx)))
        .on_action(cx.listener(|this, _: &act::SelectNext, _, cx| this.select_by(1, cx)))
        .on_action(cx.listener(|this, _: &act::SelectPrevious, _, cx| this.select_by(-1, cx)))
        .on_action(cx.listener(|this, _: &act::SelectFirst, _, cx| {
            this.select_by(isize::MIN, cx);
        }))
        .on_action(cx.listener(|this, _: &act::SelectLast, _, cx| {
            this.select_by(isize::MAX, cx);
        }))
        .on_action(cx.listener(|this, _: &act::MoveUp, _, cx| this.move_by(-1, cx)))
        .on_action(cx.listener(|this, _: &act::MoveDown, _, cx| this.move_by(1, cx)))
}

impl Render for RebaseList {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let list = self.render_list(cx);
        let message = self.render_message(cx);
        let footer = self.render_footer(cx);
        let title = div()
            .id("git-rebase-title")
            .role(Role::Heading)
            .test_support()
            .aria_label(self.title.clone())
            .px(dp(12.0))
            .py(dp(8.0))
            .child(Label::new(self.title.clone()).strong());
        let warning = self.warning.clone().map(|warning| {
            div()
                .px(dp(12.0))
                .pb(dp(8.0))
                .child(Label::new(warning).small().muted())
        });
        div()
            .id("git-rebase")
            .key_context("GitRebase")
            .on_action(cx.listener(Self::cancel))
            .on_action(cx.listener(|this, _: &act::Start, window, cx| this.start(window, cx)))
            .on_action(cx.listener(|this, _: &act::EndMessage, window, cx| {
                this.end_message(window, cx);
            }))
            .flex()
            .flex_col()
            .w(dp(WIDTH))
            .max_w_full()
            .text_size(dp(13.0))
            .text_color(cx.theme().colors.text)
            .child(title)
            .children(warning)
            .child(list)
            .children(message)
            .child(footer)
    }
}
