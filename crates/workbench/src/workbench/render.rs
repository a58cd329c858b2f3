//! Renders a window: title bar, tree, panes, status bar, and the modal layer.
//!
//! Every region is a cached view that is redrawn only when it changes; this module composes them.

use gpui_kit::TestSupportExt as _;
use gpui_kit::{
    AnyElement, AppContext as _, Context, Div, DragMoveEvent, Empty, ExternalPaths,
    InteractiveElement as _, IntoElement, ParentElement as _, Pixels, Render, Role, Stateful,
    StatefulInteractiveElement as _, StyleRefinement, Styled as _, Window, div,
    prelude::FluentBuilder as _, px, relative,
};
use settings::Side;
use ui::{ActiveSettings as _, ActiveTheme as _, EmptyState, Icon, KeyHint, Label, dp};

use super::agents::DraggedAgentsBorder;
use super::terminals::DraggedTerminalsBorder;
use super::{
    Workbench, agent_access, agents, blame, close, conflicts, dialogs, editor_terminals, excerpts,
    folders, formatting, git_changes, grid, help, hierarchy, history, inline_edit, is_narrow,
    language, locations, navigate, open, panes, peek, pick, previews, problems, program, refactor,
    review, save, search, snippets, suggestions, tasks, terminals, test_runs, vim_keys,
};
use crate::actions::{app, file, go, view};
use crate::layout::PaneId;
use crate::region::{flat_region, region};

/// Drag of the tree's border.
struct DraggedTreeBorder;

/// Window height, in pixels, below which the breadcrumbs are hidden.
const LOW: f32 = 360.0;
/// Minimum and maximum width of the tree while dragging, in pixels.
const TREE_WIDTHS: (f32, f32) = (140.0, 900.0);

/// Renders the area below the tab bar of a pane.
pub(crate) fn render_pane_content(
    workbench: &Workbench,
    pane: PaneId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> AnyElement {
    let id = workbench.layout.tabs(pane).and_then(|tabs| tabs.active());
    let item = id.and_then(|id| Some((id, workbench.item(id)?)));
    match item {
        Some((id, item)) => {
            let view = git_changes::view_of(workbench, id).unwrap_or_else(|| item.view());
            let view = region(view, StyleRefinement::default().size_full(), window);
            match item.terminal() {
                Some(_) => editor_terminals::render_tab(view, pane, cx),
                None => view,
            }
        }
        None => render_nothing_open(workbench, pane, window, cx),
    }
}

/// Renders the breadcrumbs of a pane. Returns `None` if the settings hide breadcrumbs, or if the
/// pane does not show a text.
pub(crate) fn render_crumbs(
    workbench: &Workbench,
    pane: PaneId,
    window: &Window,
    cx: &Context<Workbench>,
) -> Option<AnyElement> {
    if !cx.settings().window.breadcrumbs {
        return None;
    }
    // In a low window, every row of text counts.
    if f32::from(window.viewport_size().height) < LOW {
        return None;
    }
    let item = workbench.layout.tabs(pane)?.active()?;
    let crumbs = workbench.items.get(&item)?.crumbs.clone()?;
    let style = StyleRefinement::default().w_full().h(dp(24.0)).flex_none();
    Some(flat_region(crumbs, style, window))
}

fn render_nothing_open(
    workbench: &Workbench,
    pane: PaneId,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> AnyElement {
    let colors = cx.theme().colors;
    let hints: Vec<(&'static str, Box<dyn gpui_kit::Action>)> = if workbench.folder.is_some() {
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
    let is_active = workbench.layout.active_pane() == pane;
    div()
        .id(("empty-pane", pane.0))
        .size_full()
        .bg(colors.surface)
        .when(is_active, |this| this.track_focus(&workbench.focus))
        .on_click(cx.listener(move |this, _, window, cx| this.focus_pane(pane, window, cx)))
        .child(
            EmptyState::new("Nothing is open here")
                .icon(Icon::FileText)
                .child(div().flex().flex_col().pt(dp(8.0)).children(rows)),
        )
        .into_any_element()
}

/// Renders the tree with its movable border. Returns `None` if the tree is not visible.
fn render_tree(
    workbench: &Workbench,
    window: &Window,
    cx: &mut Context<Workbench>,
) -> Option<AnyElement> {
    if !workbench.is_tree_visible(window, cx) {
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
    let style = StyleRefinement::default().size_full();
    let content = match workbench.git.shown() {
        Some(panel) => flat_region(panel.clone(), style, window),
        None => flat_region(workbench.tree.panel.clone(), style, window),
    };
    let tree = div()
        .relative()
        .flex_none()
        .h_full()
        .w(workbench.tree.width)
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
        .child(content)
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

fn drag_tree_border(
    workbench: &mut Workbench,
    at: Pixels,
    room: Pixels,
    cx: &mut Context<Workbench>,
) {
    let is_left = cx.settings().window.file_tree_side == Side::Left;
    let width = if is_left { at } else { room - at };
    let width = f32::from(width).clamp(TREE_WIDTHS.0, TREE_WIDTHS.1.min(f32::from(room) * 0.8));
    workbench.set_tree_width(px(width), cx);
}

fn render_body(
    workbench: &Workbench,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) -> AnyElement {
    let is_left = cx.settings().window.file_tree_side == Side::Left;
    let tree = render_tree(workbench, window, cx);
    let agents = agents::render_agents(workbench, window, cx);
    let grid = div()
        .flex_1()
        .min_h_0()
        .w_full()
        .child(grid::render_grid(workbench, window, cx));
    let grid = div()
        .id("panes-and-terminals")
        .flex()
        .flex_col()
        .flex_1()
        .min_w_0()
        .h_full()
        .on_drag_move(cx.listener(
            |this, event: &DragMoveEvent<DraggedTerminalsBorder>, _, cx| {
                let at = event.event.position.y - event.bounds.origin.y;
                terminals::drag_border(this, at, event.bounds.size.height, cx);
            },
        ))
        .child(grid)
        .children(terminals::render_terminals(workbench, window, cx));
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
                drag_tree_border(this, at, event.bounds.size.width, cx);
            }),
        )
        .on_drag_move(
            cx.listener(|this, event: &DragMoveEvent<DraggedAgentsBorder>, _, cx| {
                let at = event.event.position.x - event.bounds.origin.x;
                agents::drag_agents_border(this, at, event.bounds.size.width, cx);
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
        let root = with_window_actions(root, cx);
        let root = program::with_actions(root, cx);
        let root = help::with_actions(root, cx);
        let root = pick::with_actions(root, cx);
        let root = navigate::with_actions(root, cx);
        let root = open::with_actions(root, cx);
        let root = previews::with_actions(root, cx);
        let root = save::with_actions(root, cx);
        let root = folders::with_actions(root, cx);
        let root = panes::with_actions(root, cx);
        let root = close::with_actions(root, cx);
        let root = agents::with_actions(root, cx);
        let root = agent_access::with_actions(root, cx);
        let root = review::with_actions(root, cx);
        let root = conflicts::with_actions(root, cx);
        let root = search::with_actions(root, cx);
        let root = snippets::with_actions(root, cx);
        let root = language::with_actions(root, cx);
        let root = problems::with_actions(root, cx);
        let root = locations::with_actions(root, cx);
        let root = peek::with_actions(root, cx);
        let root = inline_edit::with_actions(root, cx);
        let root = hierarchy::with_actions(root, cx);
        let root = refactor::with_actions(root, cx);
        let root = formatting::with_actions(root, cx);
        let root = suggestions::with_actions(root, cx);
        let root = excerpts::with_actions(root, cx);
        let root = terminals::with_actions(root, cx);
        let root = editor_terminals::with_actions(root, cx);
        let root = test_runs::with_actions(root, cx);
        let root = git_changes::with_actions(root, cx);
        let root = history::with_actions(root, cx);
        let root = blame::with_actions(root, cx);
        let root = tasks::with_actions(root, cx);
        let root = vim_keys::with_actions(root, cx);
        let root = dialogs::with_actions(root, cx);
        let root = search::with_tree_actions(root, cx);
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
        .child(flat_region(
            self.title.clone(),
            full_width.clone().h(dp(36.0)).flex_none(),
            window,
        ))
        .child(render_body(self, window, cx))
        .when(shows_status, |this| {
            this.child(flat_region(
                self.status.clone(),
                full_width.h(dp(24.0)).flex_none(),
                window,
            ))
        })
        .child(self.modal.clone())
    }
}

/// Registers the actions on the window itself.
fn with_window_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(|_, _: &app::Minimize, window, _| window.minimize_window()))
        .on_action(cx.listener(|_, _: &app::Zoom, window, _| window.zoom_window()))
        .on_action(
            cx.listener(|_, _: &view::ToggleFullScreen, window, _| window.toggle_fullscreen()),
        )
}
