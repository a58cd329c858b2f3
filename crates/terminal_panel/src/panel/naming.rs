//! Renaming a tab, and the titles of tabs.

use gpui_kit::component::input::{InputEvent, InputState};
use gpui_kit::{
    App, AppContext as _, Context, Entity, Focusable as _, SharedString, Subscription, Window,
};

use super::{PanelTab, TerminalPanel};
use crate::actions::RenameTerminal;

/// Most characters of a name.
const MAX_NAME: usize = 80;

/// The field for the name of a tab.
pub(super) struct TabNaming {
    pub(super) tab: u64,
    pub(super) field: Entity<InputState>,
    _events: Subscription,
}

/// Returns the name that the user typed, within limits; `None` without text.
pub(super) fn clean_name(name: &str) -> Option<String> {
    let name: String = name.trim().chars().take(MAX_NAME).collect();
    Some(name).filter(|name| !name.is_empty())
}

impl PanelTab {
    /// Returns the title of the tab with its note.
    pub(super) fn title_with_note(&self, cx: &App) -> SharedString {
        let mut notes = self.panes.iter();
        match notes.find_map(|pane| pane.view.read(cx).note.clone()) {
            Some(note) => format!("{} \u{b7} {note}", self.title(cx)).into(),
            None => self.title(cx),
        }
    }

    /// Returns the title of the tab: its name, or the titles of its terminals.
    pub(super) fn title(&self, cx: &App) -> SharedString {
        if let Some(name) = &self.name {
            return name.clone().into();
        }
        let titles: Vec<SharedString> = self
            .panes
            .iter()
            .map(|pane| pane.view.read(cx).title())
            .collect();
        titles.join(" | ").into()
    }
}

impl TerminalPanel {
    /// Handler of an action: shows a field with the title of the shown tab.
    pub(super) fn rename(
        &mut self,
        _: &RenameTerminal,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(tab) = self.tabs.get(self.active) else {
            return;
        };
        let (id, title) = (tab.id, tab.title(cx));
        let field = cx.new(|cx| InputState::new(window, cx).placeholder("Name of the terminal"));
        field.update(cx, |field, cx| {
            field.set_value(title, window, cx);
            field.focus(window, cx);
            field.select_all(window, cx);
        });
        let events = cx.subscribe_in(&field, window, Self::on_naming);
        self.naming = Some(TabNaming {
            tab: id,
            field,
            _events: events,
        });
        cx.notify();
    }

    fn on_naming(
        &mut self,
        field: &Entity<InputState>,
        event: &InputEvent,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        match event {
            InputEvent::PressEnter { .. } => {
                let name = field.read(cx).value();
                self.finish_naming(Some(&name), window, cx);
            }
            InputEvent::Blur => self.finish_naming(None, window, cx),
            InputEvent::Change | InputEvent::Focus => {}
        }
    }

    /// Closes the field. An empty name returns to the title of the program.
    pub(super) fn finish_naming(
        &mut self,
        name: Option<&str>,
        window: &mut Window,
        cx: &mut Context<Self>,
    ) {
        let Some(naming) = self.naming.take() else {
            return;
        };
        let had_focus = naming.field.read(cx).focus_handle(cx).is_focused(window);
        if let Some(name) = name
            && let Some(tab) = self.tabs.iter_mut().find(|tab| tab.id == naming.tab)
        {
            tab.name = clean_name(name);
        }
        if had_focus {
            self.focus_handle(cx).focus(window, cx);
        }
        self.panes_changed(cx);
    }
}
