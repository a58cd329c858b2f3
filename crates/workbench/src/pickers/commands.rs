//! The command palette: every action of the program by its name, with its keys and what it does.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use gpui_kit::{Action, App, AppContext as _, Context, FocusHandle, SharedString, Task, Window};
use project::fuzzy::{self, Kind};
use ui::picker::{After, Picker, PickerDelegate, PickerRow, Taken};

use super::byte_offsets;
use crate::action_names::human_name;
use crate::workbench::Workbench;

/// One action as the palette shows it.
#[derive(Clone, Debug)]
pub(crate) struct CommandEntry {
    /// `editor::MoveRowsUp`.
    pub action: &'static str,
    /// `Editor: Move Rows Up`.
    pub name: String,
    /// What it does, in a sentence.
    pub doc: String,
    /// Its keys where the keyboard was.
    pub keys: Option<SharedString>,
}

/// Chooses an action and runs it where the keyboard was.
pub(crate) struct Commands {
    entries: Arc<Vec<CommandEntry>>,
    found: Vec<(usize, Vec<usize>)>,
    focus: Option<FocusHandle>,
}

/// Namespaces of the toolkit's own controls: they mean nothing outside them.
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

impl Commands {
    pub(crate) fn new(window: &mut Window, cx: &mut Context<Workbench>) -> Self {
        let focus = window.focused(cx);
        Self {
            entries: Arc::new(entries(window, cx)),
            found: Vec::new(),
            focus,
        }
    }
}

/// Every action that a person can run, by name.
pub(crate) fn entries(window: &Window, cx: &App) -> Vec<CommandEntry> {
    let docs = cx.action_documentation();
    let names = cx.all_action_names().iter().copied();
    let mut entries: Vec<CommandEntry> = names
        .filter(|name| !INTERNAL.iter().any(|prefix| name.starts_with(prefix)))
        // An action that needs an argument has nothing to be run with.
        .filter_map(|name| Some((name, cx.build_action(name, None).ok()?)))
        .map(|(name, action)| CommandEntry {
            action: name,
            name: human_name(name),
            doc: docs
                .get(name)
                .map(|doc| doc.trim().replace('\n', " "))
                .unwrap_or_default(),
            keys: keys_of(action.as_ref(), window, cx),
        })
        .collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// The keys of an action where the keyboard is, or else anywhere.
fn keys_of(action: &dyn Action, window: &Window, cx: &App) -> Option<SharedString> {
    if let Some(keys) = ui::keys_here(action, window, cx) {
        return Some(keys);
    }
    let keymap = cx.key_bindings();
    let keymap = keymap.borrow();
    let binding = keymap.bindings_for_action(action).last();
    binding.map(ui::keys_text)
}

impl PickerDelegate for Commands {
    type Found = Vec<(usize, Vec<usize>)>;

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
        cx.background_spawn(async move {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
            let ranked = fuzzy::rank(
                &query,
                &names,
                Kind::Text,
                names.len(),
                &AtomicBool::new(false),
            );
            let marked = |index: usize| {
                let name = names[index];
                byte_offsets(name, &fuzzy::positions(&query, name, Kind::Text))
            };
            ranked
                .into_iter()
                .map(|ranked| (ranked.index, marked(ranked.index)))
                .collect()
        })
    }

    fn accept(&mut self, found: Self::Found, _: &mut Context<Picker<Self>>) -> usize {
        self.found = found;
        0
    }

    fn count(&self) -> usize {
        self.found.len()
    }

    fn row(&self, ix: usize, _: &App) -> PickerRow {
        let Some((index, matched)) = self.found.get(ix) else {
            return PickerRow::default();
        };
        let entry = &self.entries[*index];
        PickerRow::new(entry.name.clone())
            .matches(matched.iter().copied())
            .detail(entry.doc.clone())
            .prose()
            .keys(entry.keys.clone())
    }

    fn confirm(
        &mut self,
        ix: usize,
        _: Taken,
        window: &mut Window,
        cx: &mut Context<Picker<Self>>,
    ) -> After {
        let action = self
            .found
            .get(ix)
            .and_then(|(index, _)| cx.build_action(self.entries[*index].action, None).ok());
        let Some(action) = action else {
            return After::Stay;
        };
        // The picker goes first and gives the keyboard back; then the action finds its place.
        if let Some(focus) = &self.focus {
            focus.focus(window, cx);
        }
        window.defer(cx, move |window, cx| window.dispatch_action(action, cx));
        After::Close
    }

    fn nothing_found(&self, _: &str) -> SharedString {
        "No command has such a name".into()
    }

    fn status(&self) -> Option<SharedString> {
        Some(format!("{} commands", self.found.len()).into())
    }
}
