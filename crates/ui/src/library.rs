//! The available themes: built-in and custom ones.

use gpui_kit::{App, SharedString, WindowAppearance};
use settings::{
    Appearance, ConfigProblem, Settings, ThemeDefinition, ThemeMode, builtin, parse_theme,
};

/// Themes by name. A custom theme replaces a built-in one of the same name.
#[derive(Clone, Debug, Default)]
pub struct ThemeLibrary {
    themes: Vec<ThemeDefinition>,
}

impl ThemeLibrary {
    /// Returns the built-in themes.
    pub fn builtin() -> Self {
        Self::with_own(&[]).0
    }

    /// Returns the built-in and custom themes. `files` holds the file name and the text of each
    /// custom theme. Leaves out an invalid file and reports it.
    pub fn with_own(files: &[(String, String)]) -> (Self, Vec<ConfigProblem>) {
        let mut library = Self::default();
        let mut problems = Vec::new();
        let own = files
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()));
        for (name, text) in builtin::THEMES.iter().copied().chain(own) {
            let (theme, found) = parse_theme(name, text);
            problems.extend(found);
            if let Some(theme) = theme {
                library.themes.retain(|known| known.name != theme.name);
                library.themes.push(theme);
            }
        }
        (library, problems)
    }

    /// Returns all themes in display order.
    pub fn themes(&self) -> &[ThemeDefinition] {
        &self.themes
    }

    /// Returns the theme with exactly this name, or `None` if there is no such theme.
    pub fn get(&self, name: &str) -> Option<&ThemeDefinition> {
        self.themes.iter().find(|theme| theme.name == name)
    }

    /// Returns the theme that the settings choose for the mode. The mode `System` follows `system`.
    /// If the theme's name is unknown, returns the first theme of the same appearance. Returns
    /// `None` if the library has no theme of that appearance.
    pub fn choose(
        &self,
        settings: &Settings,
        system: WindowAppearance,
    ) -> Option<&ThemeDefinition> {
        let dark = match settings.theme.mode {
            ThemeMode::Light => false,
            ThemeMode::Dark => true,
            ThemeMode::System => matches!(
                system,
                WindowAppearance::Dark | WindowAppearance::VibrantDark
            ),
        };
        let (name, appearance) = if dark {
            (&settings.theme.dark, Appearance::Dark)
        } else {
            (&settings.theme.light, Appearance::Light)
        };
        self.get(name).or_else(|| {
            self.themes
                .iter()
                .find(|theme| theme.appearance == appearance)
        })
    }

    /// Applies the theme chosen by the settings; returns a message if its name is unknown.
    pub fn apply(&self, settings: &Settings, cx: &mut App) -> Option<SharedString> {
        // macOS draws the window's border and its native menus in this appearance.
        cx.set_window_appearance(match settings.theme.mode {
            ThemeMode::System => None,
            ThemeMode::Light => Some(WindowAppearance::Light),
            ThemeMode::Dark => Some(WindowAppearance::Dark),
        });
        let theme = self.choose(settings, cx.window_appearance())?;
        crate::set_theme(theme, cx);
        let wanted = [&settings.theme.light, &settings.theme.dark];
        let unknown = wanted.into_iter().find(|name| self.get(name).is_none())?;
        Some(
            format!(
                "there is no theme \"{unknown}\"; \"{}\" is used instead",
                theme.name
            )
            .into(),
        )
    }
}
