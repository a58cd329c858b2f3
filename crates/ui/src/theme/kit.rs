//! The kit's theme, derived from ours.

use gpui_kit::base::input::CursorBlink;
use gpui_kit::component::scroll::ScrollbarMode;
use gpui_kit::component::{self, ThemeColor, ThemeMode};
use gpui_kit::{Anchor, App, Hsla, px};

use super::{ActiveTheme as _, REM, Theme};

/// Updates the kit's colours, fonts, radius and scale, and redraws every window.
pub(super) fn follow(cx: &mut App) {
    if !cx.has_global::<component::Theme>() {
        return;
    }
    let theme = cx.theme().clone();
    let mode = if theme.is_dark() {
        ThemeMode::Dark
    } else {
        ThemeMode::Light
    };
    // Changing the mode loads the kit's own colours, so it must come first.
    if component::Theme::global(cx).mode != mode {
        component::Theme::change(mode, None, cx);
    }
    component::Theme::update(cx, |kit| {
        kit.font_family = theme.fonts.ui_family.clone();
        kit.font_size = px(REM * theme.scale());
        kit.mono_font_family = theme.fonts.code_family.clone();
        kit.mono_font_size = theme.code_size();
        kit.radius = px(4.0);
        kit.radius_lg = px(6.0);
        kit.shadow = true;
        // A blinking caret would redraw the whole window twice a second.
        kit.cursor_blink = CursorBlink::steady();
        // Fading scrollbars redraw the window for half a second; steady ones do not.
        kit.scrollbar_mode = ScrollbarMode::Always;
        // Notifications appear above the status bar and fit into the smallest window.
        kit.notification.placement = Anchor::BottomRight;
        kit.notification.margins.bottom = px(36.0 * theme.scale());
        kit.notification.width = px(328.0);
        colors(&mut kit.colors, &theme);
    });
}

/// Blends a colour over an opaque one.
fn blend_over(above: Hsla, below: Hsla) -> Hsla {
    below.blend(above)
}

fn colors(kit: &mut ThemeColor, theme: &Theme) {
    grounds(kit, theme);
    controls(kit, theme);
    states(kit, theme);
    lists(kit, theme);
}

fn grounds(kit: &mut ThemeColor, theme: &Theme) {
    let c = &theme.colors;
    kit.background = c.surface;
    kit.foreground = c.text;
    kit.border = c.border;
    kit.window_border = c.border;
    kit.overlay = c.scrim;
    kit.popover = c.raised;
    kit.popover_foreground = c.text;
    kit.muted = blend_over(c.hover, c.sunken);
    kit.muted_foreground = c.muted;
    kit.accent = blend_over(c.hover, c.raised);
    kit.accent_foreground = c.text;
    kit.ring = c.focus;
    kit.caret = c.caret;
    kit.selection = c.selection;
    kit.drag_border = c.accent;
    kit.drop_target = c.selected;
    kit.title_bar = c.sunken;
    kit.title_bar_border = c.border;
    kit.status_bar = c.sunken;
    kit.status_bar_border = c.border;
    kit.sidebar = c.raised;
    kit.sidebar_foreground = c.text;
    kit.sidebar_border = c.border;
    kit.sidebar_accent = blend_over(c.selected, c.raised);
    kit.sidebar_accent_foreground = c.text;
    kit.sidebar_primary = c.accent;
    kit.sidebar_primary_foreground = c.accent_text;
    kit.skeleton = blend_over(c.hover, c.raised);
    kit.group_box = c.raised;
    kit.group_box_foreground = c.text;
    kit.accordion = c.surface;
    kit.description_list_label = c.raised;
    kit.description_list_label_foreground = c.muted;
}

fn controls(kit: &mut ThemeColor, theme: &Theme) {
    let c = &theme.colors;
    let pressed = blend_over(c.selected, c.raised);
    let hover = blend_over(c.hover, c.raised);
    kit.input = c.border_strong;
    kit.button = c.raised;
    kit.button_foreground = c.text;
    kit.button_hover = hover;
    kit.button_active = pressed;
    kit.secondary = c.raised;
    kit.secondary_foreground = c.text;
    kit.secondary_hover = hover;
    kit.secondary_active = pressed;
    kit.button_secondary = c.raised;
    kit.button_secondary_foreground = c.text;
    kit.button_secondary_hover = hover;
    kit.button_secondary_active = pressed;
    let accent_hover = blend_over(c.hover, c.accent);
    kit.primary = c.accent;
    kit.primary_foreground = c.accent_text;
    kit.primary_hover = accent_hover;
    kit.primary_active = accent_hover;
    kit.button_primary = c.accent;
    kit.button_primary_foreground = c.accent_text;
    kit.button_primary_hover = accent_hover;
    kit.button_primary_active = accent_hover;
    kit.link = c.link;
    kit.link_hover = c.link;
    kit.link_active = c.link;
    kit.switch = c.border_strong;
    kit.switch_thumb = c.surface;
    kit.slider_bar = c.accent;
    kit.slider_thumb = c.surface;
    kit.progress_bar = c.accent;
    kit.scrollbar = c.surface.opacity(0.0);
    kit.scrollbar_thumb = c.scrollbar;
    kit.scrollbar_thumb_hover = c.scrollbar_hover;
}

fn states(kit: &mut ThemeColor, theme: &Theme) {
    let c = &theme.colors;
    let letters = c.surface;
    let hover = |color| blend_over(c.hover, color);
    kit.danger = c.error;
    kit.danger_foreground = letters;
    kit.danger_hover = hover(c.error);
    kit.danger_active = hover(c.error);
    kit.button_danger = c.error;
    kit.button_danger_foreground = letters;
    kit.button_danger_hover = hover(c.error);
    kit.button_danger_active = hover(c.error);
    kit.warning = c.warning;
    kit.warning_foreground = letters;
    kit.warning_hover = hover(c.warning);
    kit.warning_active = hover(c.warning);
    kit.button_warning = c.warning;
    kit.button_warning_foreground = letters;
    kit.button_warning_hover = hover(c.warning);
    kit.button_warning_active = hover(c.warning);
    kit.info = c.info;
    kit.info_foreground = letters;
    kit.info_hover = hover(c.info);
    kit.info_active = hover(c.info);
    kit.button_info = c.info;
    kit.button_info_foreground = letters;
    kit.button_info_hover = hover(c.info);
    kit.button_info_active = hover(c.info);
    kit.success = c.success;
    kit.success_foreground = letters;
    kit.success_hover = hover(c.success);
    kit.success_active = hover(c.success);
    kit.button_success = c.success;
    kit.button_success_foreground = letters;
    kit.button_success_hover = hover(c.success);
    kit.button_success_active = hover(c.success);
    [
        kit.chart_1,
        kit.chart_2,
        kit.chart_3,
        kit.chart_4,
        kit.chart_5,
    ] = [
        theme.agents[0],
        theme.agents[1],
        theme.agents[2],
        theme.agents[3],
        theme.agents[4],
    ];
    kit.chart_bullish = c.added;
    kit.chart_bearish = c.removed;
    kit.chart_grid = c.border;
}

fn lists(kit: &mut ThemeColor, theme: &Theme) {
    let c = &theme.colors;
    kit.list = c.surface;
    kit.list_even = c.surface;
    kit.list_head = c.raised;
    kit.list_hover = c.hover;
    kit.list_active = c.selected;
    kit.list_active_border = c.focus;
    kit.table = c.surface;
    kit.table_even = c.surface;
    kit.table_head = c.raised;
    kit.table_head_foreground = c.muted;
    kit.table_foot = c.raised;
    kit.table_foot_foreground = c.muted;
    kit.table_hover = c.hover;
    kit.table_active = c.selected;
    kit.table_active_border = c.focus;
    kit.table_row_border = c.border;
    kit.tab = c.sunken;
    kit.tab_foreground = c.muted;
    kit.tab_active = c.surface;
    kit.tab_active_foreground = c.text;
    kit.tab_bar = c.sunken;
    kit.tab_bar_segmented = c.sunken;
}
