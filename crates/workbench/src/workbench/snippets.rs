//! Snippets in the window: inserts one into the active text, and opens the user's files.

use std::rc::Rc;

use gpui_kit::{App, Context, Div, Entity, InteractiveElement as _, Stateful, Window};

use super::{Workbench, program};
use crate::actions::snippets::{Configure, Insert};
use crate::configuration::Configuration;
use crate::item::TabItem;
use crate::pickers::snippets::SnippetPicker;
use crate::server_items::ServerItems;
use crate::snippet_items::{SnippetItems, window_variables};

/// Initial content of a new file of snippets.
const NEW_SNIPPETS: &str = "// Your snippets, in the format of VS Code. In a body, $1 and ${2:default} are tab stops, $0 is\n// the final one, and $TM_FILENAME is a variable.\n{\n  // \"Loop\": {\n  //   \"prefix\": \"loop\",\n  //   \"body\": [\"for ${1:item} in ${2:items} {\", \"\\t$0\", \"}\"],\n  //   \"description\": \"A loop over items\"\n  // }\n}\n";

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(insert_snippet))
        .on_action(cx.listener(configure_snippets))
}

fn active_editor(workbench: &Workbench) -> Option<Entity<editor::Editor>> {
    workbench.active_item().and_then(TabItem::editor).cloned()
}

fn insert_snippet(
    workbench: &mut Workbench,
    _: &Insert,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let Some(editor) = active_editor(workbench) else {
        return;
    };
    let language = editor.read(cx).model().read(cx).language();
    let snippets = Configuration::of(cx)
        .read(cx)
        .snippets()
        .of_language(language);
    let before = editor.update(cx, |editor, cx| {
        let point = editor.caret_point(cx);
        let snapshot = editor.model().read(cx).snapshot();
        let start = snapshot.row_start(point.row);
        let row = base::Span::new(start, snapshot.offset_at(point));
        snapshot.text(row).into_owned()
    });
    let variables = variables(workbench, &editor, cx);
    let picker = SnippetPicker::new(editor.downgrade(), snippets, before, variables);
    workbench.pick(picker, window, cx);
}

/// Returns the variables that concern the window: its folder and the clipboard.
fn variables(
    workbench: &Workbench,
    editor: &Entity<editor::Editor>,
    cx: &App,
) -> Vec<(&'static str, String)> {
    let root = workbench.root(cx);
    let path = editor.read(cx).model().read(cx).document().path().cloned();
    window_variables(root.as_ref(), path.as_ref(), cx)
}

/// Sets the sources of completion items of a view.
pub(super) fn set_completion_sources(
    workbench: &Workbench,
    editor: &Entity<editor::Editor>,
    cx: &mut Context<Workbench>,
) {
    let root = workbench.root(cx);
    editor.update(cx, |editor, cx| {
        let model = editor.model().clone();
        let servers = ServerItems::new(model.downgrade());
        let snippets = SnippetItems::new(model, root);
        editor.set_completion_sources(vec![Rc::new(servers), Rc::new(snippets)], cx);
    });
}

fn configure_snippets(
    workbench: &mut Workbench,
    _: &Configure,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let editor = active_editor(workbench);
    let language = editor.and_then(|editor| editor.read(cx).model().read(cx).language());
    let name = language.map_or_else(
        || "global".to_owned(),
        |language| language.name().to_lowercase(),
    );
    let folder = Configuration::snippets_path(&workbench.services);
    let path = folder.join(format!("{name}.json"));
    program::open_or_create(workbench, path, NEW_SNIPPETS, window, cx);
}
