//! The command palette: the actions that the focused view or its window handles, with their keys and help texts.

mod matching;
pub(crate) mod synonyms;

use std::collections::HashSet;
use std::sync::Arc;

use base::Platform;
use gpui_kit::{
    Action, App, AppContext as _, Context, DismissEvent, OwnedMenuItem, SharedString, Task, Window,
};
use matching::{FoundCommand, find};
use ui::ActivePlatform as _;
use ui::picker::{AfterConfirm, ConfirmKind, Picker, PickerDelegate, PickerRow};

use crate::action_names::{human_name, in_lines};
use crate::workbench::Workbench;
use crate::{menus, window_registry};

/// An action as listed in the palette.
#[derive(Clone, Debug)]
pub(crate) struct CommandEntry {
    /// Action name, such as `editor::MoveRowsUp`.
    pub action: &'static str,
    /// Label, such as `Editor: Move Lines Up`.
    pub name: String,
    /// Help text of the action.
    pub doc: String,
    /// Key binding in the focused context.
    pub keys: Option<SharedString>,
}

/// Picker delegate that runs the chosen action in the previously focused view.
pub(crate) struct CommandPalette {
    entries: Arc<Vec<CommandEntry>>,
    /// Number of leading entries that were used recently.
    recent: usize,
    found: Vec<FoundCommand>,
    /// Whether the query is empty and all entries are listed.
    is_whole: bool,
}

/// Namespaces of the toolkit's internal controls, useless elsewhere.
const INTERNAL: [&str; 9] = [
    "input::",
    "ui::",
    "root::",
    "dock::",
    "number_input::",
    "diff::",
    "inspector::",
    "picker::",
    "zed::",
];

impl CommandPalette {
    /// Lists every command that does something in the focused view, recently used ones first.
    pub(crate) fn new(window: &mut Window, cx: &mut Context<Workbench>) -> Self {
        let available = window.available_actions(cx);
        let available: HashSet<&str> = available.iter().map(|action| action.name()).collect();
        let mut entries = entries(window, cx);
        entries.retain(|entry| available.contains(entry.action));
        let recent = window_registry::recent_commands(cx);
        let (entries, recent) = in_order(entries, &recent, cx.platform());
        Self {
            entries: Arc::new(entries),
            recent,
            found: Vec::new(),
            is_whole: true,
        }
    }
}

#[cfg(test)]
impl CommandPalette {
    /// Returns the label of a row, or an empty string for a row that is not listed.
    pub(crate) fn name_at(&self, ix: usize) -> &str {
        self.found
            .get(ix)
            .map_or("", |found| &self.entries[found.index].name)
    }
}

/// Sorts the entries: recently used ones first, then those of the menus in menu order, then the
/// others, those for agents last. Also returns the number of recently used ones.
fn in_order(
    entries: Vec<CommandEntry>,
    recent: &[String],
    platform: Platform,
) -> (Vec<CommandEntry>, usize) {
    let menus = menu_actions(platform);
    let place = |entry: &CommandEntry| {
        let recent = recent.iter().position(|name| name == entry.action);
        let in_menu = menus.iter().position(|name| *name == entry.action);
        let is_for_agents = entry.action.starts_with("agents::");
        let last = usize::MAX;
        (
            recent.unwrap_or(last),
            in_menu.unwrap_or(last),
            is_for_agents,
        )
    };
    let mut entries = entries;
    entries.sort_by_key(place);
    let is_recent = |entry: &&CommandEntry| recent.iter().any(|name| name == entry.action);
    let recent = entries.iter().filter(is_recent).count();
    (entries, recent)
}

fn menu_actions(platform: Platform) -> Vec<&'static str> {
    let menus = menus::menus(platform).into_iter();
    let items = menus.flat_map(|menu| menu.owned().items);
    items
        .filter_map(|item| match item {
            OwnedMenuItem::Action { action, .. } => Some(action.name()),
            _ => None,
        })
        .collect()
}

/// Returns every action the user can run, sorted by name. Skips internal actions and actions that
/// need an argument.
pub(crate) fn entries(window: &Window, cx: &App) -> Vec<CommandEntry> {
    let platform = cx.platform();
    let docs = cx.action_documentation();
    let names = cx.all_action_names().iter().copied();
    let mut entries: Vec<CommandEntry> = names
        .filter(|name| !INTERNAL.iter().any(|prefix| name.starts_with(prefix)))
        .filter(|name| menus::is_offered(name, platform))
        // An action that needs an argument cannot be run from the palette.
        .filter_map(|name| Some((name, cx.build_action(name, None).ok()?)))
        .map(|(name, action)| CommandEntry {
            action: name,
            name: human_name(name),
            doc: docs
                .get(name)
                .map(|doc| in_lines(&doc.trim().replace('\n', " ")))
                .unwrap_or_default(),
            keys: keys_of(action.as_ref(), window, cx),
        })
        .collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// Returns the key binding of an action in the focused context, or else in any.
fn keys_of(action: &dyn Action, window: &Window, cx: &App) -> Option<SharedString> {
    ui::keys_here(action, window, cx).or_else(|| ui::keys_anywhere(action, cx))
}

impl PickerDelegate for CommandPalette {
    type Found = (Vec<FoundCommand>, bool);

    fn name(&self) -> SharedString {
        "Commands".into()
    }

    fn placeholder(&self) -> SharedString {
        "Run a command".into()
    }

    fn search(
        &mut self,
        query: &str,
        _: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> Task<Self::Found> {
        let (entries, query) = (self.entries.clone(), query.to_owned());
        cx.background_spawn(async move { (find(&query, &entries), query.trim().is_empty()) })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        (self.found, self.is_whole) = found;
        0
    }

    fn sections(&self) -> Vec<(usize, SharedString)> {
        if self.is_whole && self.recent > 0 {
            vec![
                (0, "Recently used".into()),
                (self.recent, "All commands".into()),
            ]
        } else {
            Vec::new()
        }
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let Some(found) = self.found.get(ix) else {
            return PickerRow::default();
        };
        let entry = &self.entries[found.index];
        PickerRow::new(entry.name.clone())
            .matches(found.matched.iter().copied())
            .detail(entry.doc.clone())
            .prose()
            .keys(entry.keys.clone())
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: ConfirmKind,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> AfterConfirm {
        let name = self.found.get(ix).map(|it| self.entries[it.index].action);
        let action = name.and_then(|name| cx.build_action(name, None).ok());
        let Some(action) = action else {
            return AfterConfirm::Stay;
        };
        window_registry::note_command(action.name(), cx);
        // Dismissing the picker first restores the focus, so the action is dispatched to the right
        // view.
        cx.emit(DismissEvent);
        window.defer(cx, move |window, cx| window.dispatch_action(action, cx));
        AfterConfirm::Close
    }

    fn nothing_found(&self, _: &str) -> SharedString {
        "No matching commands".into()
    }

    fn status(&self) -> Option<SharedString> {
        Some(match self.found.len() {
            1 => "1 command".into(),
            count => format!("{count} commands").into(),
        })
    }
}
