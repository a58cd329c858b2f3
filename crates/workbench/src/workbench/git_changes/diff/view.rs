//! The tab of a diff: the names of both texts with the switches, and the texts, side by side or one below the other.
//!
//! Invariant: both sides have the same scroll position, except in the frame in which one of them begins to move.

use editor::{Editor, EditorEvent, ScrollPosition, scroll_position, scroll_to};
use git_panel::actions::{NextChange, PreviousChange, ToggleSideBySideDiffs};
use gpui_kit::{
    Context, Entity, InteractiveElement as _, IntoElement, ParentElement as _, Pixels, Render,
    Role, SharedString, StatefulInteractiveElement as _, Styled as _, Subscription,
    TestSupportExt as _, WeakEntity, Window, canvas, div, px,
};
use ui::{ActiveSettings as _, ActiveTheme as _, Elide, Icon, IconButton, Label, dp};

use super::set_layout;
use crate::layout::ItemId;
use crate::workbench::Workbench;

/// Width of a view, in pixels, below which both texts are one below the other.
const MIN_WIDTH: f32 = 700.0;
/// Index of each side.
const BEFORE: usize = 0;
const AFTER: usize = 1;

/// The arrangement of both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workbench::git_changes) enum DiffLayout {
    /// The removed lines above the added ones.
    Unified,
    /// The text before on the left, the text after on the right.
    SideBySide,
}

impl DiffLayout {
    /// Returns the layout of the settings in a view of this width.
    fn wanted(width: Pixels, cx: &Context<DiffView>) -> Self {
        let is_wide = width >= px(MIN_WIDTH * cx.theme().fonts.zoom);
        if is_wide && cx.settings().git.side_by_side_diffs {
            Self::SideBySide
        } else {
            Self::Unified
        }
    }
}

/// The view of a diff.
pub(super) struct DiffView {
    workbench: WeakEntity<Workbench>,
    item: ItemId,
    names: [SharedString; 2],
    /// The text after the changes, with those before as blocks in the unified layout.
    editor: Entity<Editor>,
    before: Option<Entity<Editor>>,
    layout: DiffLayout,
    /// The layout that was asked for.
    asked: DiffLayout,
    /// The positions at which both sides were in step.
    positions: [ScrollPosition; 2],
    _subscriptions: Vec<Subscription>,
}

impl DiffView {
    /// Creates the unified view of a diff.
    pub(super) fn new(
        item: ItemId,
        names: [SharedString; 2],
        editor: Entity<Editor>,
        workbench: WeakEntity<Workbench>,
        cx: &mut Context<Self>,
    ) -> Self {
        Self {
            _subscriptions: vec![Self::follow_scrolling(&editor, AFTER, cx)],
            workbench,
            item,
            names,
            editor,
            before: None,
            layout: DiffLayout::Unified,
            asked: DiffLayout::Unified,
            positions: [ScrollPosition::default(); 2],
        }
    }

    /// Shows the text before beside the other one, or only one of both.
    pub(super) fn set_before(&mut self, before: Option<Entity<Editor>>, cx: &mut Context<Self>) {
        self.layout = match before {
            Some(_) => DiffLayout::SideBySide,
            None => DiffLayout::Unified,
        };
        self.asked = self.layout;
        if before != self.before {
            self._subscriptions.truncate(1);
            let scrolling = before.iter();
            let scrolling = scrolling.map(|editor| Self::follow_scrolling(editor, BEFORE, cx));
            let scrolling: Vec<Subscription> = scrolling.collect();
            self._subscriptions.extend(scrolling);
            self.before = before;
        }
        self.positions = [ScrollPosition {
            top: -1.0,
            left: 0.0,
        }; 2];
        self.follow(AFTER, cx);
        cx.notify();
    }

    fn follow_scrolling(
        editor: &Entity<Editor>,
        side: usize,
        cx: &mut Context<Self>,
    ) -> Subscription {
        cx.subscribe(editor, move |this, _, event: &EditorEvent, cx| {
            if *event == EditorEvent::Scrolled {
                this.follow(side, cx);
            }
        })
    }

    fn sides(&self) -> Option<[Entity<Editor>; 2]> {
        Some([self.before.clone()?, self.editor.clone()])
    }

    /// Scrolls the other side to the position of this one, if it moved.
    fn follow(&mut self, side: usize, cx: &mut Context<Self>) {
        let Some(editors) = self.sides() else {
            return;
        };
        let position = editors[side].update(cx, scroll_position);
        if position.is_at(self.positions[side]) {
            return;
        }
        let other = AFTER - side;
        self.positions[side] = position;
        self.positions[other] = editors[other].update(cx, |editor, cx| {
            scroll_to(editor, position, cx);
            scroll_position(editor, cx)
        });
    }

    /// Asks for another layout if the width or the settings want one. Follows a side that moved while it was laid out,
    /// such as to its caret.
    fn laid_out(&mut self, width: Pixels, window: &mut Window, cx: &mut Context<Self>) {
        let wanted = DiffLayout::wanted(width, cx);
        if wanted != self.layout && wanted != self.asked {
            self.asked = wanted;
            let (workbench, item) = (self.workbench.clone(), self.item);
            window.defer(cx, move |window, cx| {
                // The window may be closing.
                workbench
                    .update(cx, |workbench, cx| {
                        set_layout(workbench, item, wanted, window, cx);
                    })
                    .ok();
            });
        }
        let Some(editors) = self.sides() else {
            return;
        };
        let moved = [AFTER, BEFORE].into_iter().find(|side| {
            let position = editors[*side].update(cx, scroll_position);
            !position.is_at(self.positions[*side])
        });
        if let Some(side) = moved {
            let this = cx.weak_entity();
            window.defer(cx, move |_, cx| {
                // The view may be gone.
                this.update(cx, |this, cx| this.follow(side, cx)).ok();
            });
        }
    }

    fn render_strip(&self, cx: &Context<Self>) -> impl IntoElement + use<> {
        let colors = cx.theme().colors;
        let [before, after] = &self.names;
        let name = |name: &SharedString| {
            let name = ui::foreign::one_line(name.clone());
            Label::new(name).small().elide(Elide::Middle(48))
        };
        div()
            .flex()
            .flex_none()
            .items_center()
            .gap(dp(8.0))
            .w_full()
            .h(dp(32.0))
            .px(dp(12.0))
            .border_b_1()
            .border_color(colors.border)
            .child(name(before))
            .child(Label::new("\u{2192}").small().muted())
            .child(name(after))
            .child(div().flex_1())
            .child(
                IconButton::new("git-diff-previous", Icon::ArrowUp, "Previous change")
                    .small()
                    .action(Box::new(PreviousChange)),
            )
            .child(
                IconButton::new("git-diff-next", Icon::ArrowDown, "Next change")
                    .small()
                    .action(Box::new(NextChange)),
            )
            .child(
                IconButton::new("git-diff-beside", Icon::Columns, "Side by side")
                    .small()
                    .pressed(cx.settings().git.side_by_side_diffs)
                    .action(Box::new(ToggleSideBySideDiffs)),
            )
    }
}

impl Render for DiffView {
    fn render(&mut self, _: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let colors = cx.theme().colors;
        let [before, after] = &self.names;
        let name = ui::foreign::one_line(format!("Changes from {before} to {after}"));
        let this = cx.weak_entity();
        // The last child, so that both sides are laid out before it.
        let end = canvas(
            move |bounds, window, cx| {
                // The view may be gone.
                this.update(cx, |this, cx| this.laid_out(bounds.size.width, window, cx))
                    .ok();
            },
            |_, (), _, _| {},
        );
        let side = || div().flex_1().min_w_0().h_full();
        let left = self.before.clone().map(|before| {
            side()
                .border_r_1()
                .border_color(colors.border)
                .child(before)
        });
        div()
            .id("git-diff")
            .role(Role::Group)
            .test_support()
            .aria_label(name)
            .flex()
            .flex_col()
            .size_full()
            .child(self.render_strip(cx))
            .child(
                div()
                    .relative()
                    .flex()
                    .flex_1()
                    .min_h_0()
                    .w_full()
                    .children(left)
                    .child(side().child(self.editor.clone()))
                    .child(end.absolute().top_0().left_0().size_full()),
            )
    }
}
