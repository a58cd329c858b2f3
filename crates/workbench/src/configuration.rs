//! Settings, key bindings and themes: loaded at startup, watched, and applied when they change.
//!
//! Invariant: settings, keys and a theme are always in force, even if the files are broken. A file
//! with a mistake keeps its last good values, and the mistake is listed in `problems`.
//! Must not know: windows. Start at `Configuration::start`.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{AbsPath, Platform};
use gpui_kit::{App, AppContext as _, Context, Entity, EventEmitter, Global, Task};
use host::{Files, WatchEvent, WatchRequest, Watcher};
use settings::{
    ConfigProblem, Keymap, Settings, SettingsSource, SettingsStore, builtin, parse_keymap, set_key,
};
use ui::{ActivePlatform as _, ThemeLibrary};

use crate::error::Error;
use crate::menus;
use crate::path_entry;
use crate::services::Services;
use crate::snippet_library::SnippetLibrary;

/// The configuration files and their parsed contents.
pub struct Configuration {
    services: Services,
    store: SettingsStore,
    library: ThemeLibrary,
    snippets: SnippetLibrary,
    keymap: Keymap,
    problems: BTreeMap<ConfigSource, Vec<ConfigProblem>>,
    theme_problem: Option<String>,
    watcher: Option<Watcher>,
    _watch: Option<Task<()>>,
    /// Reads the `.vimrc`.
    _vimrc: Option<Task<()>>,
}

/// Kind of configuration file that a problem belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigSource {
    /// The user's `settings.json` and the project settings of a folder.
    Settings,
    /// Key bindings from `keymap.json`.
    Keymap,
    /// Custom themes from `themes/*.json`.
    Themes,
    /// Snippets from `snippets/*.json` and `snippets/*.code-snippets`.
    Snippets,
    /// The `.vimrc` that the settings name.
    Vimrc,
}

/// A change to the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigurationEvent {
    /// Settings, keys or themes were applied again.
    Changed(ConfigSource),
    /// Files outside every open folder may have changed; `None` if the paths are unknown.
    Files(Option<Vec<AbsPath>>),
    /// Writing a setting failed; the string is the error message.
    NotWritten(String),
}

impl EventEmitter<ConfigurationEvent> for Configuration {}

struct ConfigurationHandle(Entity<Configuration>);

impl Global for ConfigurationHandle {}

/// Largest size of a configuration file, in bytes.
const LIMIT: u64 = 4 << 20;

/// Contents of the files, as read in the background.
struct ConfigTexts {
    settings: Option<String>,
    keymap: Option<String>,
    themes: Vec<(String, String)>,
    snippets: Vec<(String, String)>,
    unreadable: Vec<(ConfigSource, ConfigProblem)>,
}

impl Configuration {
    /// Reads the files, applies them and watches them. Blocks on a few small files, so that the
    /// first frame already has the right appearance.
    pub fn start(cx: &mut App) -> Entity<Self> {
        let services = Services::of(cx);
        let texts = read(services.files.as_ref(), &services.dirs.config);
        let this = cx.new(|cx| {
            let mut this = Self {
                services,
                store: SettingsStore::new(),
                library: ThemeLibrary::builtin(),
                snippets: SnippetLibrary::default(),
                keymap: Keymap::default(),
                problems: BTreeMap::new(),
                theme_problem: None,
                watcher: None,
                _watch: None,
                _vimrc: None,
            };
            this.take(texts, cx);
            this.watch(cx);
            this
        });
        cx.set_global(ConfigurationHandle(this.clone()));
        if cx.platform() == Platform::MacOs {
            // Key equivalents are those of the layout.
            cx.on_keyboard_layout_change(|cx| {
                Self::of(cx).update(cx, |this, cx| this.bind_keys(cx));
            })
            .detach();
        }
        this
    }

    /// Returns the configuration of this process. Panics if `start` has not run.
    pub fn of(cx: &App) -> Entity<Self> {
        cx.global::<ConfigurationHandle>().0.clone()
    }

    /// Returns the path of the user's settings file.
    pub fn settings_path(services: &Services) -> AbsPath {
        services.dirs.config.join("settings.json")
    }

    /// Returns the path of the user's key bindings.
    pub fn keymap_path(services: &Services) -> AbsPath {
        services.dirs.config.join("keymap.json")
    }

    /// Returns the folder of the user's custom themes.
    pub fn themes_path(services: &Services) -> AbsPath {
        services.dirs.config.join("themes")
    }

    /// Returns the folder of the user's snippets.
    pub fn snippets_path(services: &Services) -> AbsPath {
        services.dirs.config.join("snippets")
    }

    /// Returns the user's snippets.
    pub(crate) fn snippets(&self) -> &SnippetLibrary {
        &self.snippets
    }

    /// Returns the available themes.
    pub fn library(&self) -> &ThemeLibrary {
        &self.library
    }

    /// Returns the settings in force.
    pub fn settings(&self) -> &Settings {
        self.store.settings()
    }

    /// Iterates over the current problems in all files, each with its position.
    pub fn problems(&self) -> impl Iterator<Item = &ConfigProblem> {
        self.problems.values().flatten()
    }

    /// Returns the current problems of one kind of file. Returns an empty slice if the files are
    /// valid.
    pub fn problems_of(&self, part: ConfigSource) -> &[ConfigProblem] {
        self.problems.get(&part).map_or(&[], Vec::as_slice)
    }

    /// Returns a message if the settings name a theme that does not exist.
    pub fn theme_problem(&self) -> Option<&str> {
        self.theme_problem.as_deref()
    }

    /// Applies the theme from the settings again, after a preview or a change of the system's
    /// appearance.
    pub fn apply_theme(&mut self, cx: &mut Context<Self>) {
        let sentence = self.library.apply(self.store.settings(), cx);
        self.theme_problem = sentence.map(|sentence| sentence.to_string());
    }

    /// Sets the project settings of the active folder. The text is untrusted.
    pub fn set_project_settings(&mut self, name: &str, text: &str, cx: &mut Context<Self>) {
        self.store.set_layer(SettingsSource::Project, name, text);
        self.settings_changed(cx);
    }

    /// Changes one key of the user's settings and writes the file, keeping comments and symlinks.
    /// If that fails, the active window reports the error and the settings stay unchanged.
    pub fn write_setting(
        &mut self,
        path: &[&str],
        value: serde_json::Value,
        cx: &mut Context<Self>,
    ) -> Task<Result<(), Error>> {
        let file = Self::settings_path(&self.services);
        let files = self.services.files.clone();
        let recovery = self.services.dirs.recovery();
        let keys: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
        let write: Task<Result<String, Error>> = cx.background_spawn(async move {
            let text = read_text(files.as_ref(), &file)?.unwrap_or_default();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let text = set_key(&text, &keys, Some(&value))?;
            if let Some(folder) = file.parent() {
                files.create_folder(&folder)?;
            }
            files.write_through(&file, text.as_bytes(), &recovery)?;
            Ok(text)
        });
        cx.spawn(async move |this, cx| {
            let written = write.await;
            let updated = this.update(cx, |this, cx| match &written {
                Ok(text) => this.take_settings(text, cx),
                Err(error) => {
                    this.apply_theme(cx);
                    cx.emit(ConfigurationEvent::NotWritten(error.to_string()));
                }
            });
            updated.map_err(|_| Error::Ending)?;
            written.map(drop)
        })
    }

    fn watch(&mut self, cx: &mut Context<Self>) {
        let request = WatchRequest {
            root: self.services.dirs.config.clone(),
            ignore: Arc::new(|_, _| false),
        };
        // Without a watcher, the files are still read at the next start.
        let Ok(watcher) = self.services.files.watch(request) else {
            return;
        };
        let events = watcher.events.clone();
        self.watcher = Some(watcher);
        self._watch = Some(cx.spawn(async move |this, cx| {
            while let Ok(event) = events.recv().await {
                let files = match event {
                    WatchEvent::Ready | WatchEvent::Problem(_) => continue,
                    WatchEvent::Changed(paths) => Some(paths),
                    WatchEvent::Rescan(_) => None,
                };
                let updated = this.update(cx, |_, cx| cx.emit(ConfigurationEvent::Files(files)));
                if updated.is_err() {
                    break;
                }
                let Ok(services) = this.read_with(cx, |this, _| this.services.clone()) else {
                    break;
                };
                let reading = async move { read(services.files.as_ref(), &services.dirs.config) };
                let texts = cx.background_spawn(reading).await;
                if this.update(cx, |this, cx| this.take(texts, cx)).is_err() {
                    break;
                }
            }
        }));
    }

    /// Also watches these files, which lie outside of all open folders. Replaces the earlier list.
    pub fn set_visible(&self, paths: Vec<AbsPath>) {
        if let Some(watcher) = &self.watcher {
            watcher.set_visible(paths);
        }
    }

    fn take(&mut self, texts: ConfigTexts, cx: &mut Context<Self>) {
        let (library, problems) = ThemeLibrary::with_own(&texts.themes);
        self.library = library;
        self.problems.insert(ConfigSource::Themes, problems);
        let (snippets, problems) = SnippetLibrary::parse(&texts.snippets);
        self.snippets = snippets;
        self.problems.insert(ConfigSource::Snippets, problems);
        // A file that is unreadable for now keeps its last contents.
        if let Some(text) = &texts.keymap {
            self.read_keymap(text);
        }
        // The keys are bound once.
        match (&texts.settings, &texts.keymap) {
            (Some(text), _) => self.take_settings(text, cx),
            (None, Some(_)) => self.bind_keys(cx),
            (None, None) => {}
        }
        if texts.keymap.is_some() {
            cx.emit(ConfigurationEvent::Changed(ConfigSource::Keymap));
        }
        for (part, problem) in texts.unreadable {
            self.problems.entry(part).or_default().push(problem);
            cx.emit(ConfigurationEvent::Changed(part));
        }
        cx.emit(ConfigurationEvent::Changed(ConfigSource::Themes));
        cx.emit(ConfigurationEvent::Changed(ConfigSource::Snippets));
    }

    fn take_settings(&mut self, text: &str, cx: &mut Context<Self>) {
        self.store
            .set_layer(SettingsSource::User, "settings.json", text);
        self.settings_changed(cx);
    }

    fn settings_changed(&mut self, cx: &mut Context<Self>) {
        let problems = self.store.problems().cloned().collect();
        self.problems.insert(ConfigSource::Settings, problems);
        ui::set_settings(Arc::new(self.store.settings().clone()), cx);
        self.apply_theme(cx);
        self.bind_keys(cx);
        self.configure_vim(cx);
        cx.emit(ConfigurationEvent::Changed(ConfigSource::Settings));
    }

    /// Applies the settings of Vim's keys, and the `.vimrc` that they name. Does nothing while the
    /// keys are off.
    fn configure_vim(&mut self, cx: &mut Context<Self>) {
        let settings = self.store.settings().vim.clone();
        if !settings.enabled {
            self.problems.remove(&ConfigSource::Vimrc);
            self._vimrc = None;
            return;
        }
        let path = settings.vimrc.trim().to_owned();
        if path.is_empty() {
            self.problems.remove(&ConfigSource::Vimrc);
            editor::configure_vim(&settings, None, cx);
            return;
        }
        let services = &self.services;
        let file = path_entry::resolve(&path, &services.dirs.config, services.home.as_ref());
        let files = services.files.clone();
        let reading = cx.background_spawn(async move { read_text(files.as_ref(), &file) });
        self._vimrc = Some(cx.spawn(async move |this, cx| {
            let read = reading.await;
            // The program may be ending.
            this.update(cx, |this, cx| this.take_vimrc(&path, read, cx))
                .ok();
        }));
    }

    fn take_vimrc(
        &mut self,
        path: &str,
        read: Result<Option<String>, Error>,
        cx: &mut Context<Self>,
    ) {
        let settings = self.store.settings().vim.clone();
        let problem = |line: u32, message: String| ConfigProblem {
            source: path.to_owned(),
            line,
            column: 1,
            message,
        };
        let problems = match read {
            Ok(Some(text)) => {
                let found = editor::configure_vim(&settings, Some(&text), cx);
                found
                    .into_iter()
                    .map(|found| problem(found.line, found.message))
                    .collect()
            }
            Ok(None) => vec![problem(1, "there is no such file".to_owned())],
            Err(error) => vec![problem(1, error.to_string())],
        };
        self.problems.insert(ConfigSource::Vimrc, problems);
        cx.emit(ConfigurationEvent::Changed(ConfigSource::Vimrc));
    }

    /// Reads the user's keymap; `bind_keys` applies it.
    fn read_keymap(&mut self, text: &str) {
        let (keymap, problems) = parse_keymap("keymap.json", text);
        // A file that fails to parse entirely, for example for a stray comma, keeps the last good
        // bindings.
        let is_broken = keymap.blocks.is_empty() && !problems.is_empty();
        if !is_broken {
            self.keymap = keymap;
        }
        self.problems.insert(ConfigSource::Keymap, problems);
    }

    fn bind_keys(&mut self, cx: &mut Context<Self>) {
        let (name, text) = base_keymap(self.store.settings(), cx.platform());
        let (base, mut found) = parse_keymap(name, text);
        let mut keymaps = vec![base];
        if self.store.settings().vim.enabled {
            let (name, text) = builtin::VIM_KEYMAP;
            let (keymap, problems) = parse_keymap(name, text);
            keymaps.push(keymap);
            found.extend(problems);
        }
        keymaps.push(self.keymap.clone());
        found.extend(ui::install_keymaps(&keymaps, cx));
        let problems = self.problems.entry(ConfigSource::Keymap).or_default();
        for problem in found {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        menus::refresh(cx);
    }
}

/// Returns the name and JSON text of the built-in base keymap that the settings choose, in the
/// version for a platform.
pub(crate) fn base_keymap(settings: &Settings, platform: Platform) -> (&'static str, &'static str) {
    builtin::keymap(settings.keymap.base, platform)
}

fn read(files: &dyn Files, config: &AbsPath) -> ConfigTexts {
    let mut unreadable = Vec::new();
    let mut text = |name: &str, part| match read_text(files, &config.join(name)) {
        Ok(text) => Some(text.unwrap_or_default()),
        Err(error) => {
            unreadable.push((part, unreadable_problem(name, error.to_string())));
            None
        }
    };
    let settings = text("settings.json", ConfigSource::Settings);
    let keymap = text("keymap.json", ConfigSource::Keymap);
    let mut folder = |name: &str, extensions: &[&str], part| {
        let (texts, problems) = read_folder(files, config, name, extensions);
        unreadable.extend(problems.into_iter().map(|problem| (part, problem)));
        texts
    };
    let themes = folder("themes", &[".json", ".jsonc"], ConfigSource::Themes);
    let snippets = folder(
        "snippets",
        &[".json", ".jsonc", ".code-snippets"],
        ConfigSource::Snippets,
    );
    ConfigTexts {
        settings,
        keymap,
        themes,
        snippets,
        unreadable,
    }
}

/// Reads the files of a folder of the configuration that have one of these extensions. Returns their
/// names with the folder's and their texts, and the problems of unreadable ones.
fn read_folder(
    files: &dyn Files,
    config: &AbsPath,
    folder: &str,
    extensions: &[&str],
) -> (Vec<(String, String)>, Vec<ConfigProblem>) {
    let (mut texts, mut problems) = (Vec::new(), Vec::new());
    let Ok(listing) = files.list(&config.join(folder)) else {
        return (texts, problems);
    };
    for entry in listing.entries {
        let name = format!("{folder}/{}", entry.path.name());
        if !extensions.iter().any(|extension| name.ends_with(extension)) {
            continue;
        }
        match read_text(files, &entry.path) {
            Ok(text) => texts.push((name, text.unwrap_or_default())),
            Err(error) => problems.push(unreadable_problem(&name, error.to_string())),
        }
    }
    (texts, problems)
}

/// Reads a file; `None` if it does not exist.
fn read_text(files: &dyn Files, path: &AbsPath) -> Result<Option<String>, Error> {
    match files.read(path, LIMIT) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| Error::NotUtf8(path.clone())),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn unreadable_problem(source: &str, message: String) -> ConfigProblem {
    ConfigProblem {
        source: source.to_owned(),
        line: 1,
        column: 1,
        message,
    }
}
