//! Application commands: settings, zoom, about.

use base::AbsPath;
use gpui_kit::{AppContext as _, Context, Div, InteractiveElement as _, Stateful, Window};
use host::Files;
use project::{Binary, Document};
use serde_json::Value;
use text::{EditKind, EditOrigin, Timestamp};
use ui::{ActivePlatform as _, ActiveSettings as _};

use super::Workbench;
use crate::actions::app::{
    About, OpenDefaultKeymap, OpenDefaultSettings, OpenKeymap, OpenSettings, OpenThemesFolder,
};
use crate::actions::file::CompareWithDisk;
use crate::actions::view::{ResetZoom, ShowMenu, ZoomIn, ZoomOut};
use crate::configuration::{Configuration, base_keymap};
use crate::documents::Documents;
use crate::open_options::OpenOptions;
use crate::pickers::commands;
use crate::pickers::commands::CommandEntry;

/// Registers the actions of this module.
pub(super) fn with_actions(element: Stateful<Div>, cx: &mut Context<Workbench>) -> Stateful<Div> {
    element
        .on_action(cx.listener(show_about))
        .on_action(cx.listener(open_settings))
        .on_action(cx.listener(open_default_settings))
        .on_action(cx.listener(open_keymap))
        .on_action(cx.listener(open_default_keymap))
        .on_action(cx.listener(open_themes_folder))
        .on_action(cx.listener(zoom_in))
        .on_action(cx.listener(zoom_out))
        .on_action(cx.listener(reset_zoom))
        .on_action(cx.listener(show_menu))
        .on_action(cx.listener(compare_with_disk))
        .on_action(cx.listener(super::install::install_command))
}

/// Initial content of a new settings file.
const NEW_SETTINGS: &str = "// Your settings. What you leave out keeps its default; see \u{201c}App: Open Default Settings\u{201d}.\n{\n  \"$schema\": \"./schemas/settings.json\"\n}\n";
/// Initial content of a new keymap file.
const NEW_KEYMAP: &str = "// Your key bindings; they win over the built-in ones. See \u{201c}App: Open Default Keymap\u{201d}.\n[\n  {\n    \"context\": \"Workbench\",\n    \"bindings\": {\n    }\n  }\n]\n";
/// Step of the zoom factor.
const ZOOM_STEP: f32 = 0.1;

/// Writes the JSON schemas next to the configuration files, for editors that validate by schema. A
/// failed write does not prevent opening the file.
fn write_schemas(files: &dyn Files, folder: &AbsPath, actions: &[CommandEntry]) {
    let actions = actions
        .iter()
        .map(|entry| (entry.action, entry.doc.as_str()));
    let schemas = [
        ("settings.json", settings::settings_schema()),
        ("keymap.json", settings::keymap_schema(actions)),
        ("theme.json", settings::theme_schema()),
    ];
    let written = files.create_folder(folder).and_then(|()| {
        schemas.iter().try_for_each(|(name, schema)| {
            let text = format!("{schema:#}\n");
            files.write_private(&folder.join(name), text.as_bytes())
        })
    });
    if let Err(error) = written {
        log::warn!("{error}");
    }
}

fn show_about(
    workbench: &mut Workbench,
    _: &About,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let sentence = format!(
        "Burin {}, under Apache-2.0 or MIT",
        env!("CARGO_PKG_VERSION")
    );
    workbench.tell("about", sentence, window, cx);
}

fn open_settings(
    workbench: &mut Workbench,
    _: &OpenSettings,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let path = Configuration::settings_path(&workbench.services);
    open_or_create(workbench, path, NEW_SETTINGS, window, cx);
}

fn open_keymap(
    workbench: &mut Workbench,
    _: &OpenKeymap,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let path = Configuration::keymap_path(&workbench.services);
    open_or_create(workbench, path, NEW_KEYMAP, window, cx);
}

/// Opens a configuration file; a missing one starts with `text` and is created when saved.
pub(super) fn open_or_create(
    workbench: &mut Workbench,
    path: AbsPath,
    text: &'static str,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let files = workbench.services.files.clone();
    let (wanted, config) = (path.clone(), workbench.services.dirs.config.clone());
    let actions = commands::entries(window, cx);
    let exists = cx.background_spawn(async move {
        // If the folder cannot be created, saving the file reports it.
        let folder = wanted.parent().unwrap_or_else(|| config.clone());
        files.create_folder(&folder).ok();
        write_schemas(files.as_ref(), &config.join("schemas"), &actions);
        files.exists(&wanted)
    });
    cx.spawn_in(window, async move |this, cx| {
        let exists = exists.await;
        let opened = this.update_in(cx, |this, window, cx| {
            if exists || Documents::of_path(&path, cx).is_some() {
                this.open_path(path, OpenOptions::lasting(), window, cx);
                return;
            }
            let mut document = Document::new_at(path);
            let at = Timestamp(this.services.clock.wall_ms());
            let origin = EditOrigin::new(text::Author::User, EditKind::Other, at);
            document
                .buffer_mut()
                .replace(base::Span::default(), text, &origin);
            let document = Documents::add(document, cx);
            let pane = this.layout.active_pane();
            this.open_document_in(document, pane, OpenOptions::lasting(), window, cx);
        });
        opened.ok();
    })
    .detach();
}

fn open_default_settings(
    workbench: &mut Workbench,
    _: &OpenDefaultSettings,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    show_builtin(
        workbench,
        "default settings.json",
        settings::builtin::DEFAULT_SETTINGS.to_owned(),
        window,
        cx,
    );
}

fn open_default_keymap(
    workbench: &mut Workbench,
    _: &OpenDefaultKeymap,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let (name, text) = base_keymap(cx.settings(), cx.platform());
    show_builtin(workbench, name, text.to_owned(), window, cx);
    if cx.settings().vim.enabled {
        let (name, text) = settings::builtin::VIM_KEYMAP;
        show_builtin(workbench, name, text.to_owned(), window, cx);
    }
}

/// Shows a text of the program, from a copy in the cache folder.
pub(super) fn show_builtin(
    workbench: &mut Workbench,
    name: &str,
    text: String,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let (files, cache) = (
        workbench.services.files.clone(),
        workbench.services.dirs.cache.clone(),
    );
    let path = cache.join("builtin").join(name);
    let target = path.clone();
    let write = cx.background_spawn(async move {
        files.create_folder(&cache.join("builtin"))?;
        files.write_private(&target, text.as_bytes())
    });
    cx.spawn_in(window, async move |this, cx| {
        let written = write.await;
        let shown = this.update_in(cx, |this, window, cx| match written {
            Ok(()) => this.open_path(
                path,
                OpenOptions {
                    binary: Binary::Refuse,
                    ..OpenOptions::lasting()
                },
                window,
                cx,
            ),
            Err(error) => this.report_error(error.to_string(), window, cx),
        });
        shown.ok();
    })
    .detach();
}

fn open_themes_folder(
    workbench: &mut Workbench,
    _: &OpenThemesFolder,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let path = Configuration::themes_path(&workbench.services);
    let files = workbench.services.files.clone();
    let made = path.clone();
    let make = cx.background_spawn(async move { files.create_folder(&made) });
    cx.spawn(async move |_, cx| {
        if make.await.is_ok() {
            cx.update(|cx| cx.reveal_path(path.as_path()));
        }
    })
    .detach();
}

fn zoom_in(_: &mut Workbench, _: &ZoomIn, _: &mut Window, cx: &mut Context<Workbench>) {
    set_zoom(cx.settings().window.zoom + ZOOM_STEP, cx);
}

fn zoom_out(_: &mut Workbench, _: &ZoomOut, _: &mut Window, cx: &mut Context<Workbench>) {
    set_zoom(cx.settings().window.zoom - ZOOM_STEP, cx);
}

fn reset_zoom(_: &mut Workbench, _: &ResetZoom, _: &mut Window, cx: &mut Context<Workbench>) {
    set_zoom(1.0, cx);
}

pub(super) fn show_menu(
    workbench: &mut Workbench,
    _: &ShowMenu,
    window: &mut Window,
    cx: &mut Context<Workbench>,
) {
    workbench
        .title
        .update(cx, |title, cx| title.toggle_menu(window, cx));
}

fn compare_with_disk(
    workbench: &mut Workbench,
    _: &CompareWithDisk,
    _: &mut Window,
    cx: &mut Context<Workbench>,
) {
    let editor = workbench
        .active_item()
        .and_then(|item| item.editor().cloned());
    if let Some(editor) = editor {
        editor.update(cx, |editor, cx| editor.set_comparing(true, cx));
    }
}

fn set_zoom(zoom: f32, cx: &mut Context<Workbench>) {
    // Rounded, so that the file contains 1.1 and not 1.1000000238.
    let zoom = (f64::from(zoom.clamp(0.5, 3.0)) * 10.0).round() / 10.0;
    Configuration::of(cx).update(cx, |configuration, cx| {
        let writing = configuration.write_setting(&["window", "zoom"], Value::from(zoom), cx);
        writing.detach();
    });
}
