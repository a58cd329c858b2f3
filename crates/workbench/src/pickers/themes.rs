//! Theme picker: previews the selected theme until one is confirmed or the picker is dismissed.

use gpui_kit::{App, Context, SharedString, Task, Window};
use serde_json::Value;
use settings::{Appearance, ThemeDefinition};
use ui::picker::{AfterConfirm, ConfirmKind, FooterHint, Picker, PickerDelegate, PickerRow};
use ui::{ActiveTheme as _, Icon};

use crate::configuration::Configuration;
use crate::error::Error;

/// Picker delegate for themes.
pub(crate) struct Themes {
    themes: Vec<ThemeDefinition>,
    before: ThemeDefinition,
    found: Vec<usize>,
}

impl Themes {
    /// Lists the available themes and remembers the current theme. Dismissing the picker restores
    /// this theme.
    pub(crate) fn new(cx: &mut App) -> Self {
        let themes = Configuration::of(cx).read(cx).library().themes().to_vec();
        Self {
            found: (0..themes.len()).collect(),
            themes,
            before: cx.theme().source().clone(),
        }
    }

    /// Returns the theme in a row of the list; `None` if there is none.
    fn theme(&self, ix: usize) -> Option<&ThemeDefinition> {
        self.themes.get(*self.found.get(ix)?)
    }
}

impl PickerDelegate for Themes {
    type Found = (Vec<usize>, bool);

    fn name(&self) -> SharedString {
        "Themes".into()
    }

    fn placeholder(&self) -> SharedString {
        "Choose a theme".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        _: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let wanted = query.to_lowercase();
        let fits = |theme: &ThemeDefinition| theme.name.to_lowercase().contains(&wanted);
        let found = self
            .themes
            .iter()
            .enumerate()
            .filter(|(_, theme)| fits(theme));
        Task::ready((found.map(|(index, _)| index).collect(), wanted.is_empty()))
    }

    fn accept(&mut self, (found, is_whole): Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = found;
        let current = self
            .themes
            .iter()
            .position(|theme| theme.name == self.before.name);
        current.filter(|_| is_whole).unwrap_or(0)
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let Some(theme) = self.theme(ix) else {
            return PickerRow::default();
        };
        let (icon, word) = match theme.appearance {
            Appearance::Dark => (Icon::Moon, "dark"),
            Appearance::Light => (Icon::Sun, "light"),
        };
        let row = PickerRow::new(theme.name.clone()).start(icon).detail(word);
        if theme.name == self.before.name {
            row.end_text("now")
        } else {
            row
        }
    }

    fn selected(&mut self, ix: usize, _: &mut Window, cx: &mut Context<Picker<Self>>) {
        if let Some(theme) = self.theme(ix).cloned() {
            ui::set_theme(&theme, cx);
            cx.refresh_windows();
        }
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let Some(theme) = self.theme(ix).cloned() else {
            return AfterConfirm::Stay;
        };
        let (mode, key) = match theme.appearance {
            Appearance::Dark => ("dark", "dark"),
            Appearance::Light => ("light", "light"),
        };
        let name = Value::String(theme.name.clone());
        Configuration::of(cx).update(cx, |configuration, cx| {
            let named = configuration.write_setting(&["theme", key], name, cx);
            cx.spawn(async move |this, cx| {
                named.await?;
                let mode = Value::String(mode.to_owned());
                let write = this.update(cx, |this, cx| {
                    this.write_setting(&["theme", "mode"], mode, cx)
                });
                match write {
                    Ok(write) => write.await,
                    Err(_) => Ok::<(), Error>(()),
                }
            })
            .detach();
        });
        AfterConfirm::Close
    }

    fn cancelled(&mut self, _: &mut Window, cx: &mut Context<Picker<Self>>) {
        ui::set_theme(&self.before, cx);
        cx.refresh_windows();
    }

    fn footer(&self) -> Vec<FooterHint> {
        vec![
            FooterHint::new(ui::picker::Confirm, "keep it"),
            FooterHint::new(ui::picker::Cancel, "back to the one before"),
        ]
    }
}
