//! Renders a window: title bar, tree, panes, status bar, and the modal layer.
//!
//! Every region is a cached view that is redrawn only when it changes; this module composes them.

use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    AnyElement, AppContext as _, Context, DragMoveEvent, Empty, ExternalPaths,
    InteractiveElement as _, IntoElement, ParentElement as _, Pixels, Render, Role,
    StatefulInteractiveElement as _, StyleRefinement, Styled as _, Window, div,
    prelude::FluentBuilder as _, px, relative,
};
use settings::Side;
use ui::{ActiveSettings as _, ActiveTheme as _, EmptyState, Icon, KeyHint, Label, dp};

use super::agents::DraggedAgentsBorder;
use super::{Workbench, is_narrow};
use crate::actions::{app, file, go, view};
use crate::layout::PaneId;
use crate::region::region;

/// Drag of the tree's border.
struct DraggedTreeBorder;

/// Window height, in pixels, below which the breadcrumbs are hidden.
const LOW: f32 = 360.0;
/// Minimum and maximum width of the tree while dragging, in pixels.
const TREE_WIDTHS: (f32, f32) = (140.0, 900.0);

impl Workbench {
    /// Renders the area below the tab bar of a pane.
    pub(crate) fn render_pane_content(
        &self,
        pane: PaneId,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let item = self
            .layout
            .tabs(pane)
            .and_then(|tabs| tabs.active())
            .and_then(|item| self.item(item));
        match item {
            Some(item) => region(item.view(), StyleRefinement::default().size_full(), window),
            None => self.render_nothing_open(pane, window, cx),
        }
    }

    /// Renders the breadcrumbs of a pane.
    pub(crate) fn render_crumbs(
        &self,
        pane: PaneId,
        window: &Window,
        cx: &Context<Self>,
    ) -> Option<AnyElement> {
        if !cx.settings().window.breadcrumbs {
            return None;
        }
        // In a low window, every row of text counts.
        if f32::from(window.viewport_size().height) < LOW {
            return None;
        }
        let item = self.layout.tabs(pane)?.active()?;
        let crumbs = self.items.get(&item)?.crumbs.clone()?;
        let style = StyleRefinement::default().w_full().h(dp(24.0)).flex_none();
        Some(region(crumbs, style, window))
    }

    fn render_nothing_open(
        &self,
        pane: PaneId,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) -> AnyElement {
        let colors = cx.theme().colors;
        let hints: Vec<(&'static str, Box<dyn gpui_kit::Action>)> = if self.folder.is_some() {
            vec![
                ("Search everything", Box::new(go::Search)),
                ("Run a command", Box::new(go::ShowCommands)),
                (
                    "Search the project",
                    Box::new(crate::actions::project_search::Show),
                ),
                ("New text", Box::new(file::New)),
            ]
        } else {
            vec![
                ("Open a folder", Box::new(file::OpenFolder)),
                ("Open a file", Box::new(file::Open)),
                ("Recent folders", Box::new(file::OpenRecent)),
                ("New text", Box::new(file::New)),
                ("Run a command", Box::new(go::ShowCommands)),
            ]
        };
        let rows = hints
            .into_iter()
            .enumerate()
            .map(|(index, (label, action))| {
                let keys = KeyHint::for_action(action.as_ref(), window, cx);
                div()
                    .id(("hint", index))
                    .role(Role::Button)
                    .test_support()
                    .aria_label(label)
                    .flex()
                    .items_center()
                    .justify_between()
                    .gap(dp(32.0))
                    .w(dp(260.0))
                    .h(dp(28.0))
                    .px(dp(8.0))
                    .rounded(px(4.0))
                    .cursor_pointer()
                    .hover(|style| style.bg(colors.hover))
                    .on_click(move |_, window, cx| window.dispatch_action(action.boxed_clone(), cx))
                    .child(Label::new(label).muted())
                    .children(keys)
            });
        let rows: Vec<_> = rows.collect();
        let is_active = self.layout.active_pane() == pane;
        div()
            .id(("empty-pane", pane.0))
            .size_full()
            .bg(colors.surface)
            .when(is_active, |this| this.track_focus(&self.focus))
            .on_click(cx.listener(move |this, _, window, cx| this.focus_pane(pane, window, cx)))
            .child(
                EmptyState::new("Nothing is open here")
                    .icon(Icon::FileText)
                    .child(div().flex().flex_col().pt(dp(8.0)).children(rows)),
            )
            .into_any_element()
    }

    fn render_tree(&self, window: &Window, cx: &mut Context<Self>) -> Option<AnyElement> {
        if !self.is_tree_visible(window, cx) {
            return None;
        }
        let colors = cx.theme().colors;
        let is_left = cx.settings().window.file_tree_side == Side::Left;
        let handle = div()
            .id("tree-border")
            .absolute()
            .top_0()
            .bottom_0()
            .w(px(6.0))
            .map(|this| {
                if is_left {
                    this.right(px(-3.0))
                } else {
                    this.left(px(-3.0))
                }
            })
            .cursor_col_resize()
            .occlude()
            .on_drag(DraggedTreeBorder, |_, _, _, cx| cx.new(|_| Empty));
        let tree = div()
            .relative()
            .flex_none()
            .h_full()
            .w(self.tree_width)
            .max_w(relative(0.8))
            .bg(colors.raised)
            .border_color(colors.border)
            .map(|this| {
                if is_left {
                    this.border_r_1()
                } else {
                    this.border_l_1()
                }
            })
            .child(region(
                self.tree.clone(),
                StyleRefinement::default().size_full(),
                window,
            ))
            .child(gpui_kit::deferred(handle));
        let tree = if is_narrow(window) {
            // In a narrow window, the tree overlays the text.
            let tree = tree.absolute().top_0().bottom_0().shadow_lg().occlude();
            let tree = if is_left {
                tree.left_0()
            } else {
                tree.right_0()
            };
            gpui_kit::deferred(tree).into_any_element()
        } else {
            tree.into_any_element()
        };
        Some(tree)
    }

    fn drag_tree_border(&mut self, at: Pixels, room: Pixels, cx: &mut Context<Self>) {
        let is_left = cx.settings().window.file_tree_side == Side::Left;
        let width = if is_left { at } else { room - at };
        let width = f32::from(width).clamp(TREE_WIDTHS.0, TREE_WIDTHS.1.min(f32::from(room) * 0.8));
        self.set_tree_width(px(width), cx);
    }

    fn render_body(&self, window: &mut Window, cx: &mut Context<Self>) -> AnyElement {
        let is_left = cx.settings().window.file_tree_side == Side::Left;
        let tree = self.render_tree(window, cx);
        let agents = self.render_agents(window, cx);
        let grid = div()
            .flex_1()
            .min_w_0()
            .h_full()
            .child(self.render_grid(window, cx));
        div()
            .id("body")
            .relative()
            .flex()
            .flex_1()
            .min_h_0()
            .w_full()
            .on_drag_move(
                cx.listener(|this, event: &DragMoveEvent<DraggedTreeBorder>, _, cx| {
                    let at = event.event.position.x - event.bounds.origin.x;
                    this.drag_tree_border(at, event.bounds.size.width, cx);
                }),
            )
            .on_drag_move(
                cx.listener(|this, event: &DragMoveEvent<DraggedAgentsBorder>, _, cx| {
                    let at = event.event.position.x - event.bounds.origin.x;
                    this.drag_agents_border(at, event.bounds.size.width, cx);
                }),
            )
            .map(|this| {
                if is_left {
                    this.children(tree).child(grid)
                } else {
                    this.child(grid).children(tree)
                }
            })
            .children(agents)
            .into_any_element()
    }

    fn with_window_actions(
        &self,
        element: gpui_kit::Stateful<gpui_kit::Div>,
        cx: &mut Context<Self>,
    ) -> gpui_kit::Stateful<gpui_kit::Div> {
        element
            .on_action(cx.listener(Self::close_window))
            .on_action(cx.listener(Self::show_about))
            .on_action(cx.listener(Self::open_settings))
            .on_action(cx.listener(Self::open_default_settings))
            .on_action(cx.listener(Self::open_keymap))
            .on_action(cx.listener(Self::open_default_keymap))
            .on_action(cx.listener(Self::open_themes_folder))
            .on_action(cx.listener(Self::select_theme))
            .on_action(cx.listener(|_, _: &app::Minimize, window, _| window.minimize_window()))
            .on_action(cx.listener(|_, _: &app::Zoom, window, _| window.zoom_window()))
            .on_action(
                cx.listener(|_, _: &view::ToggleFullScreen, window, _| window.toggle_fullscreen()),
            )
            .on_action(cx.listener(Self::zoom_in))
            .on_action(cx.listener(Self::zoom_out))
            .on_action(cx.listener(Self::reset_zoom))
            .on_action(cx.listener(Self::show_menu))
            .on_action(cx.listener(Self::show_notifications))
            .on_action(cx.listener(Self::dismiss_notifications))
            .on_action(cx.listener(Self::toggle_tree))
            .on_action(cx.listener(Self::focus_tree_action))
            .on_action(cx.listener(Self::focus_editor))
    }

    fn with_file_actions(
        &self,
        element: gpui_kit::Stateful<gpui_kit::Div>,
        cx: &mut Context<Self>,
    ) -> gpui_kit::Stateful<gpui_kit::Div> {
        element
            .on_action(cx.listener(Self::new_text))
            .on_action(cx.listener(Self::open_by_path))
            .on_action(cx.listener(Self::open_folder_by_path))
            .on_action(cx.listener(Self::open_recent))
            .on_action(cx.listener(Self::close_folder))
            .on_action(cx.listener(Self::save))
            .on_action(cx.listener(Self::save_as))
            .on_action(cx.listener(Self::save_all))
            .on_action(cx.listener(Self::revert))
            .on_action(cx.listener(Self::keep_mine))
            .on_action(cx.listener(Self::take_theirs))
            .on_action(cx.listener(Self::compare_with_disk))
            .on_action(cx.listener(Self::reopen_with_encoding))
            .on_action(cx.listener(Self::save_with_encoding))
            .on_action(cx.listener(Self::select_language))
            .on_action(cx.listener(Self::select_line_ending))
            .on_action(cx.listener(Self::select_indentation))
            .on_action(cx.listener(Self::open_source))
            .on_action(cx.listener(Self::copy_path))
            .on_action(cx.listener(Self::copy_relative_path))
            .on_action(cx.listener(Self::reveal_in_file_manager))
            .on_action(cx.listener(Self::reveal_in_tree))
            .on_action(cx.listener(Self::find_file))
            .on_action(cx.listener(Self::find_symbol))
            .on_action(cx.listener(Self::search_everything))
            .on_action(cx.listener(Self::find_project_symbol))
            .on_action(cx.listener(Self::show_index))
            .on_action(cx.listener(Self::show_suggestions))
            .on_action(cx.listener(Self::snooze_suggestions))
            .on_action(cx.listener(Self::toggle_suggestions))
            .on_action(cx.listener(Self::toggle_suggestions_of_language))
            .on_action(cx.listener(Self::show_commands))
            .on_action(cx.listener(Self::go_to_line))
            .on_action(cx.listener(Self::go_back))
            .on_action(cx.listener(Self::go_forward))
            .on_action(cx.listener(Self::show_search))
            .on_action(cx.listener(Self::show_replace))
            .on_action(cx.listener(Self::undo_replace))
    }

    fn with_agent_actions(
        &self,
        element: gpui_kit::Stateful<gpui_kit::Div>,
        cx: &mut Context<Self>,
    ) -> gpui_kit::Stateful<gpui_kit::Div> {
        element
            .on_action(cx.listener(Self::toggle_agents))
            .on_action(cx.listener(Self::focus_agents))
            .on_action(cx.listener(Self::new_agent_session))
            .on_action(cx.listener(Self::show_agent_sessions))
            .on_action(cx.listener(Self::show_agent_board))
            .on_action(cx.listener(Self::stop_agent))
            .on_action(cx.listener(Self::accept_here))
            .on_action(cx.listener(Self::reject_here))
            .on_action(cx.listener(Self::trust_folder))
            .on_action(cx.listener(Self::distrust_folder))
            .on_action(cx.listener(Self::allow_hooks))
            .on_action(cx.listener(Self::choose_model_action))
    }

    fn with_pane_actions(
        &self,
        element: gpui_kit::Stateful<gpui_kit::Div>,
        cx: &mut Context<Self>,
    ) -> gpui_kit::Stateful<gpui_kit::Div> {
        element
            .on_action(cx.listener(Self::split_right))
            .on_action(cx.listener(Self::split_left))
            .on_action(cx.listener(Self::split_up))
            .on_action(cx.listener(Self::split_down))
            .on_action(cx.listener(Self::focus_left))
            .on_action(cx.listener(Self::focus_right))
            .on_action(cx.listener(Self::focus_up))
            .on_action(cx.listener(Self::focus_down))
            .on_action(cx.listener(Self::focus_next))
            .on_action(cx.listener(Self::focus_previous))
            .on_action(cx.listener(Self::even_out_action))
            .on_action(cx.listener(Self::close_tab))
            .on_action(cx.listener(Self::close_other_tabs))
            .on_action(cx.listener(Self::close_to_the_right))
            .on_action(cx.listener(Self::close_saved_tabs))
            .on_action(cx.listener(Self::close_all_tabs))
            .on_action(cx.listener(Self::reopen_closed))
            .on_action(cx.listener(Self::next_tab))
            .on_action(cx.listener(Self::previous_tab))
            .on_action(cx.listener(Self::last_tab))
            .on_action(cx.listener(Self::activate_tab))
            .on_action(cx.listener(Self::switch_tab))
            .on_action(cx.listener(Self::switch_tab_back))
            .on_action(cx.listener(Self::toggle_pin))
            .on_action(cx.listener(Self::keep_tab))
            .on_action(cx.listener(Self::move_tab_left))
            .on_action(cx.listener(Self::move_tab_right))
            .on_action(cx.listener(Self::move_tab_to_next_pane))
    }
}

impl Render for Workbench {
    fn render(&mut self, window: &mut Window, cx: &mut Context<Self>) -> impl IntoElement {
        let theme = cx.theme();
        let (colors, font) = (theme.colors, theme.fonts.ui_family.clone());
        let shows_status = cx.settings().window.status_bar;
        let root = div()
            .id("workbench")
            .role(Role::Group)
            .aria_label("Burin")
            .key_context("Workbench")
            .relative()
            .flex()
            .flex_col()
            .size_full()
            .font_family(font)
            .text_size(dp(13.0))
            .text_color(colors.text);
        let root = self.with_window_actions(root, cx);
        let root = self.with_file_actions(root, cx);
        let root = self.with_pane_actions(root, cx);
        let root = self.with_tree_actions(root, cx);
        let root = self.with_agent_actions(root, cx);
        // Without any focus, no view would receive key events.
        let root = if window.focused(cx).is_none() {
            root.track_focus(&self.focus)
        } else {
            root
        };
        let full_width = StyleRefinement::default().w_full();
        root.on_drop(cx.listener(|this, paths: &ExternalPaths, window, cx| {
            let paths = paths
                .paths()
                .iter()
                .filter_map(base::AbsPath::new)
                .collect();
            let pane = this.layout.active_pane();
            this.drop_paths(paths, pane, window, cx);
        }))
        .child(region(
            self.title.clone(),
            full_width.clone().h(dp(36.0)).flex_none(),
            window,
        ))
        .child(self.render_body(window, cx))
        .when(shows_status, |this| {
            this.child(region(
                self.status.clone(),
                full_width.h(dp(24.0)).flex_none(),
                window,
            ))
        })
        .child(self.modal.clone())
    }
}
