//! Built-in themes are complete and have enough contrast; mistakes in others are reported.

use super::tokens::{SYNTAX_NAMES, is_required};
use super::{Appearance, ThemeDefinition, parse_theme};
use crate::builtin::THEMES;
use crate::color::{Rgba, contrast};

fn themes() -> Vec<ThemeDefinition> {
    THEMES
        .iter()
        .map(|(file, text)| parse_theme(file, text).0.unwrap())
        .collect()
}

fn at_least(theme: &ThemeDefinition, what: &str, above: Rgba, below: Rgba, wanted: f64) {
    let ratio = contrast(above, below);
    assert!(
        ratio >= wanted,
        "{}: {what} {above} on {below} has {ratio:.2}, wanted {wanted}",
        theme.name
    );
}

#[test]
fn there_are_enough_of_each_kind() {
    let light = themes()
        .iter()
        .filter(|theme| theme.appearance == Appearance::Light)
        .count();
    let dark = themes().len() - light;
    assert!(light >= 4 && dark >= 5, "{light} light, {dark} dark");
}

#[test]
fn every_theme_styles_every_kind_of_syntax() {
    for theme in themes() {
        for name in SYNTAX_NAMES {
            assert!(theme.syntax(name).is_some(), "{}: {name}", theme.name);
            assert!(
                !is_required(name) || theme.syntax.contains_key(*name),
                "{}: {name}",
                theme.name
            );
        }
    }
}

#[test]
fn letters_can_be_read_on_every_ground() {
    for theme in themes() {
        let c = theme.colors;
        for (name, ground) in [
            ("surface", c.surface),
            ("raised", c.raised),
            ("sunken", c.sunken),
        ] {
            at_least(&theme, &format!("text on {name}"), c.text, ground, 4.5);
            at_least(&theme, &format!("muted on {name}"), c.muted, ground, 4.5);
            at_least(
                &theme,
                &format!("disabled on {name}"),
                c.disabled,
                ground,
                3.0,
            );
            at_least(&theme, &format!("link on {name}"), c.link, ground, 4.5);
            at_least(
                &theme,
                &format!("focus ring on {name}"),
                c.focus,
                ground,
                3.0,
            );
            for (what, color) in [
                ("added", c.added),
                ("changed", c.changed),
                ("removed", c.removed),
                ("conflict", c.conflict),
                ("error", c.error),
                ("warning", c.warning),
                ("info", c.info),
                ("success", c.success),
            ] {
                at_least(&theme, &format!("{what} on {name}"), color, ground, 4.5);
            }
            for (what, row) in [("hover", c.hover), ("selected", c.selected)] {
                at_least(
                    &theme,
                    &format!("text on {what} {name}"),
                    c.text,
                    row.blend_over(ground),
                    4.5,
                );
                at_least(
                    &theme,
                    &format!("muted on {what} {name}"),
                    c.muted,
                    row.blend_over(ground),
                    3.0,
                );
            }
        }
        at_least(
            &theme,
            "letters on the accent",
            c.accent_text,
            c.accent,
            4.5,
        );
        at_least(&theme, "ignored", c.ignored, c.raised, 3.0);
        at_least(&theme, "line numbers", c.line_number, c.surface, 3.0);
        at_least(&theme, "the caret", c.caret, c.surface, 3.0);
    }
}

#[test]
fn code_can_be_read_on_whatever_lies_behind_it() {
    for theme in themes() {
        let c = theme.colors;
        for name in SYNTAX_NAMES {
            let color = theme.syntax(name).unwrap().color;
            let comment = name.starts_with("comment");
            at_least(
                &theme,
                name,
                color,
                c.surface,
                if comment { 3.0 } else { 4.5 },
            );
            at_least(
                &theme,
                name,
                color,
                c.current_line.blend_over(c.surface),
                if comment { 3.0 } else { 4.5 },
            );
        }
        for (what, ground) in [
            ("a selection", c.selection),
            ("an inactive selection", c.selection_inactive),
            ("a match", c.find_match),
            ("the match one stands at", c.find_match_active),
            ("a bracket", c.bracket_match),
            ("an added line", c.added_ground),
            ("a removed line", c.removed_ground),
        ] {
            at_least(
                &theme,
                &format!("text on {what}"),
                c.text,
                ground.blend_over(c.surface),
                4.5,
            );
            for name in ["keyword", "string", "function", "type", "number"] {
                let color = theme.syntax(name).unwrap().color;
                at_least(
                    &theme,
                    &format!("{name} on {what}"),
                    color,
                    ground.blend_over(c.surface),
                    2.8,
                );
            }
        }
        let shown = contrast(c.selection.blend_over(c.surface), c.surface);
        assert!(
            shown >= 1.15,
            "{}: a selection is seen ({shown:.2})",
            theme.name
        );
    }
}

#[test]
fn terminal_colours_can_be_read() {
    for theme in themes() {
        let terminal = theme.terminal;
        at_least(
            &theme,
            "terminal text",
            terminal.foreground,
            terminal.background,
            4.5,
        );
        at_least(
            &theme,
            "terminal cursor",
            terminal.cursor,
            terminal.background,
            3.0,
        );
        // Black on a dark ground and white on a light one are meant to be faint; drawing raises their contrast.
        for ix in (1..7).chain(8..15) {
            let color = terminal.ansi[ix];
            let what = format!("terminal colour {ix}");
            at_least(&theme, &what, color, terminal.background, 4.5);
        }
    }
}

#[test]
fn terminal_colours_have_the_names_of_other_editors() {
    let (_, base) = THEMES[0];
    let own = "\"terminal.ansi.red\": \"#ff0001\", \"terminal.ansiBrightRed\": \"#ff0002\",
        \"terminalCursor.foreground\": \"#ff0003\", \"terminal.ansi.rd\": \"#ff0004\",";
    let text = base.replace("\"colors\": {", &format!("\"colors\": {{ {own}"));
    let text: String = text
        .lines()
        .filter(|line| !line.starts_with("    \"terminal."))
        .map(|line| format!("{line}\n"))
        .collect();
    let (theme, problems) = parse_theme("mine.json", &text);
    let terminal = theme.unwrap().terminal;
    assert_eq!(terminal.ansi[1], Rgba::from_hex(0xff_00_01));
    assert_eq!(terminal.ansi[9], Rgba::from_hex(0xff_00_02));
    assert_eq!(terminal.cursor, Rgba::from_hex(0xff_00_03));
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(shown[0].contains("did you mean \"terminal.ansi.red\"?"));
}

#[test]
fn high_contrast_means_it() {
    for theme in themes()
        .iter()
        .filter(|theme| theme.name.starts_with("High Contrast"))
    {
        for name in SYNTAX_NAMES {
            at_least(
                theme,
                name,
                theme.syntax(name).unwrap().color,
                theme.colors.surface,
                7.0,
            );
        }
        at_least(theme, "text", theme.colors.text, theme.colors.surface, 15.0);
        at_least(
            theme,
            "border",
            theme.colors.border,
            theme.colors.surface,
            4.0,
        );
    }
}

#[test]
fn agents_differ_in_hue_and_in_lightness() {
    for theme in themes() {
        for (ix, one) in theme.agents.iter().enumerate() {
            at_least(
                &theme,
                &format!("agent {}", ix + 1),
                *one,
                theme.colors.surface,
                3.0,
            );
            for (jx, other) in theme.agents.iter().enumerate().skip(ix + 1) {
                let turn = (hue(*one) - hue(*other)).abs();
                let hue = turn.min(360.0 - turn);
                let pair = format!(
                    "{}: agents {} {one} and {} {other}",
                    theme.name,
                    ix + 1,
                    jx + 1
                );
                assert!(hue >= 12.0, "{pair} differ in hue by {hue:.0}°");
                let ratio = contrast(*one, *other);
                assert!(ratio >= 1.1, "{pair} differ in lightness by {ratio:.2}");
            }
        }
    }
}

#[test]
fn problems_are_reported_and_other_entries_apply() {
    let (_, base) = THEMES[0];
    let text = base
        .replace("\"hover\": \"text/7\"", "\"hoover\": \"text/7\"")
        .replace("\"border\": \"line\"", "\"border\": \"lime\"")
        .replace("\"surface\": \"#16181d\"", "\"surface\": \"#16181\"")
        .replace(
            "\"keyword\": \"violet\"",
            "\"keyword\": { \"color\": \"violet\", \"bald\": true }",
        );
    let (theme, problems) = parse_theme("mine.json", &text);
    let shown = problems
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    for part in [
        "mine.json:8:16: \"#16181\" is not a colour",
        "unknown colour \"hoover\"; did you mean \"hover\"?",
        "\"lime\" is not a colour: write #rrggbb, #rrggbbaa or a name from the palette; did you mean \"line\"?",
        "unknown part of a style \"bald\"; did you mean \"bold\"?",
        "missing colours, taken from Burin's own theme: surface, border, hover",
    ] {
        assert!(shown.contains(part), "{part}\nin\n{shown}");
    }
    let theme = theme.unwrap();
    let (ours, _) = parse_theme("burin-dark.json", base);
    assert_eq!(
        theme.colors.border,
        ours.unwrap().colors.border,
        "gaps are filled"
    );
}

#[test]
fn a_theme_without_a_name_is_none() {
    for text in [
        "",
        "{",
        "[]",
        "{}",
        "{ \"name\": \"X\" }",
        "{ \"name\": \"\", \"appearance\": \"dark\" }",
    ] {
        let (theme, problems) = parse_theme("mine.json", text);
        assert!(theme.is_none() && !problems.is_empty(), "{text}");
    }
    let (theme, problems) = parse_theme(
        "mine.json",
        "{ \"name\": \"X\", \"appearance\": \"light\" }",
    );
    assert_eq!(theme.unwrap().name, "X", "a sketch is filled up");
    assert!(problems.len() >= 3 && problems.len() < 8);
}

/// Returns the hue in degrees, from 0 to 360; 0 for grey.
fn hue(color: Rgba) -> f64 {
    let [r, g, b] = [color.r, color.g, color.b].map(f64::from);
    let max = r.max(g).max(b);
    let spread = max - r.min(g).min(b);
    if spread == 0.0 {
        return 0.0;
    }
    let sector = if max == r {
        ((g - b) / spread).rem_euclid(6.0)
    } else if max == g {
        (b - r) / spread + 2.0
    } else {
        (r - g) / spread + 4.0
    };
    sector * 60.0
}

#[test]
fn hue_is_an_angle() {
    assert!((hue(Rgba::from_hex(0xff_00_00)) - 0.0).abs() < 0.1);
    assert!((hue(Rgba::from_hex(0x00_ff_00)) - 120.0).abs() < 0.1);
    assert!((hue(Rgba::from_hex(0x00_00_ff)) - 240.0).abs() < 0.1);
}
