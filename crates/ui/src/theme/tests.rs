//! The theme in force follows what is set, and the kit follows it.

use gpui_kit::{TestAppContext, component, px};

use super::{ActiveTheme as _, dp, set_fonts, set_theme};

fn theme(file: &str) -> settings::ThemeDefinition {
    let (_, text) = settings::builtin::THEMES
        .iter()
        .find(|(name, _)| *name == file)
        .unwrap();
    settings::parse_theme(file, text).0.unwrap()
}

#[gpui_kit::test]
fn the_kit_follows(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(base::Platform::Linux, cx);
        assert_eq!(cx.theme().name, "Burin Dark");
        for file in ["burin-light.json", "burin-dark.json", "paper.json"] {
            set_theme(&theme(file), cx);
            let ours = cx.theme().clone();
            let kit = component::Theme::global(cx);
            assert_eq!(kit.is_dark(), ours.is_dark(), "{file}");
            assert_eq!(kit.background, ours.colors.surface, "{file}");
            assert_eq!(kit.tokens.popover.color, ours.colors.raised, "{file}");
            assert_eq!(kit.font_family, "Inter", "{file}");
        }
    });
}

#[gpui_kit::test]
fn zoom_scales_everything(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(base::Platform::Linux, cx);
        let before = cx.theme().generation;
        let mut fonts = cx.theme().fonts.clone();
        fonts.zoom = 2.0;
        set_fonts(fonts, cx);
        assert_eq!(cx.theme().code_size(), px(28.0));
        assert!(cx.theme().generation > before);
        let rem = component::Theme::global(cx).font_size;
        assert!((dp(13.0).to_pixels(rem) - px(26.0)).abs() < px(0.01));
    });
}

#[gpui_kit::test]
fn a_kind_of_syntax_falls_back_to_its_first_part(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(base::Platform::Linux, cx);
        let theme = cx.theme();
        assert_eq!(theme.syntax("function.method"), theme.syntax("function"));
        assert_ne!(theme.syntax("comment"), theme.syntax("keyword"));
        assert_eq!(theme.syntax("nothing.of.the.kind"), None);
    });
}

#[gpui_kit::test]
fn movement_follows_the_settings(cx: &mut TestAppContext) {
    cx.update(|cx| {
        gpui_kit::init(cx);
        crate::init(base::Platform::Linux, cx);
        assert!(!cx.reduce_motion());
        let mut settings = settings::Settings::builtin();
        settings.ui.reduced_motion = settings::ReducedMotion::On;
        crate::set_settings(std::sync::Arc::new(settings), cx);
        assert!(cx.reduce_motion());
    });
}
