//! Settings, key bindings and themes: read at the start, watched, and put in force when they change.
//!
//! Invariant: whatever the files say, there are settings, keys and a theme in force; a file with a
//! mistake keeps the last good values, and what is wrong stands in `problems`.
//! Must not know: windows. Start at `Configuration::start`.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::AbsPath;
use gpui_kit::{App, AppContext as _, Context, Entity, EventEmitter, Global, Task};
use host::{Files, WatchEvent, WatchRequest, Watcher};
use settings::{Keymap, Problem, Settings, Source, Store, builtin, parse_keymap, set_key};
use ui::ThemeLibrary;

use crate::services::Services;

/// The files people edit, and what became of them.
pub struct Configuration {
    services: Services,
    store: Store,
    library: ThemeLibrary,
    keymap: Keymap,
    problems: BTreeMap<Part, Vec<Problem>>,
    theme_problem: Option<String>,
    watcher: Option<Watcher>,
    _watch: Option<Task<()>>,
}

/// What the problems belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// `settings.json` and a folder's own settings.
    Settings,
    /// `keymap.json`.
    Keymap,
    /// `themes/*.json`.
    Themes,
}

/// Something was read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigurationEvent {
    /// Settings, keys or themes are in force anew.
    Changed(Part),
    /// Files that lie in no open folder may have changed; `None` where it is not known which.
    Files(Option<Vec<AbsPath>>),
    /// A setting could not be written; the sentence says why.
    NotWritten(String),
}

impl EventEmitter<ConfigurationEvent> for Configuration {}

struct Handle(Entity<Configuration>);

impl Global for Handle {}

/// A file that people edit is no larger than this.
const LIMIT: u64 = 4 << 20;

/// The texts of the files, as read in the background.
struct Texts {
    settings: Option<String>,
    keymap: Option<String>,
    themes: Vec<(String, String)>,
    unreadable: Vec<(Part, Problem)>,
}

impl Configuration {
    /// Reads the files, puts them in force and watches them. Blocks on a few small files, so that
    /// the first frame already looks right.
    pub fn start(cx: &mut App) -> Entity<Self> {
        let services = Services::of(cx);
        let texts = read(services.files.as_ref(), &services.dirs.config);
        let this = cx.new(|cx| {
            let mut this = Self {
                services,
                store: Store::new(),
                library: ThemeLibrary::builtin(),
                keymap: Keymap::default(),
                problems: BTreeMap::new(),
                theme_problem: None,
                watcher: None,
                _watch: None,
            };
            this.take(texts, cx);
            this.watch(cx);
            this
        });
        cx.set_global(Handle(this.clone()));
        this
    }

    /// The configuration of this program.
    pub fn of(cx: &App) -> Entity<Self> {
        cx.global::<Handle>().0.clone()
    }

    /// Where the user's settings stand.
    pub fn settings_path(services: &Services) -> AbsPath {
        services.dirs.config.join("settings.json")
    }

    /// Where the user's key bindings stand.
    pub fn keymap_path(services: &Services) -> AbsPath {
        services.dirs.config.join("keymap.json")
    }

    /// Where the user's own themes stand.
    pub fn themes_path(services: &Services) -> AbsPath {
        services.dirs.config.join("themes")
    }

    /// The themes to choose from.
    pub fn library(&self) -> &ThemeLibrary {
        &self.library
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        self.store.settings()
    }

    /// What is wrong with the files now, as sentences with a place.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problems.values().flatten()
    }

    /// What is wrong with one of them.
    pub fn problems_of(&self, part: Part) -> &[Problem] {
        self.problems.get(&part).map_or(&[], Vec::as_slice)
    }

    /// A sentence when the settings name a theme that is not there.
    pub fn theme_problem(&self) -> Option<&str> {
        self.theme_problem.as_deref()
    }

    /// Draws with what the settings ask for, after the system's appearance changed or a preview.
    pub fn apply_theme(&mut self, cx: &mut Context<Self>) {
        let sentence = self.library.apply(self.store.settings(), cx);
        self.theme_problem = sentence.map(|sentence| sentence.to_string());
    }

    /// Takes the settings of the folder in front, whose text may come from a stranger.
    pub fn set_project_settings(&mut self, name: &str, text: &str, cx: &mut Context<Self>) {
        self.store.set_layer(Source::Project, name, text);
        self.settings_changed(cx);
    }

    /// Changes one key of the user's settings and writes the file; comments stay, and so does a link in its place.
    /// A failure is reported by the window in front, and the settings stay as they were.
    pub fn write_setting(
        &mut self,
        path: &[&str],
        value: serde_json::Value,
        cx: &mut Context<Self>,
    ) -> Task<Result<(), String>> {
        let file = Self::settings_path(&self.services);
        let files = self.services.files.clone();
        let recovery = self.services.dirs.recovery();
        let keys: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
        let write: Task<Result<String, String>> = cx.background_spawn(async move {
            let text = read_text(files.as_ref(), &file)?.unwrap_or_default();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let text = set_key(&text, &keys, Some(&value)).map_err(|error| error.to_string())?;
            if let Some(folder) = file.parent() {
                files
                    .create_folder(&folder)
                    .map_err(|error| error.to_string())?;
            }
            let written = files.write_through(&file, text.as_bytes(), &recovery);
            written.map_err(|error| error.to_string())?;
            Ok(text)
        });
        cx.spawn(async move |this, cx| {
            let written = write.await;
            let taken = this.update(cx, |this, cx| match &written {
                Ok(text) => this.take_settings(text, cx),
                Err(sentence) => {
                    this.apply_theme(cx);
                    cx.emit(ConfigurationEvent::NotWritten(sentence.clone()));
                }
            });
            taken.map_err(|_| "the program is ending".to_owned())?;
            written.map(drop)
        })
    }

    fn watch(&mut self, cx: &mut Context<Self>) {
        let request = WatchRequest {
            root: self.services.dirs.config.clone(),
            ignore: Arc::new(|_, _| false),
        };
        // Without a watch the files are still read at the next start.
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
                let told = this.update(cx, |_, cx| cx.emit(ConfigurationEvent::Files(files)));
                if told.is_err() {
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

    /// Also watches files that lie in no open folder.
    pub fn set_visible(&self, paths: Vec<AbsPath>) {
        if let Some(watcher) = &self.watcher {
            watcher.set_visible(paths);
        }
    }

    fn take(&mut self, texts: Texts, cx: &mut Context<Self>) {
        let (library, problems) = ThemeLibrary::with_own(&texts.themes);
        self.library = library;
        self.problems.insert(Part::Themes, problems);
        // A file that cannot be read now keeps what it said before.
        if let Some(text) = &texts.settings {
            self.take_settings(text, cx);
        }
        if let Some(text) = &texts.keymap {
            self.take_keymap(text, cx);
        }
        for (part, problem) in texts.unreadable {
            self.problems.entry(part).or_default().push(problem);
            cx.emit(ConfigurationEvent::Changed(part));
        }
        cx.emit(ConfigurationEvent::Changed(Part::Themes));
    }

    fn take_settings(&mut self, text: &str, cx: &mut Context<Self>) {
        self.store.set_layer(Source::User, "settings.json", text);
        self.settings_changed(cx);
    }

    fn settings_changed(&mut self, cx: &mut Context<Self>) {
        let problems = self.store.problems().cloned().collect();
        self.problems.insert(Part::Settings, problems);
        ui::set_settings(Arc::new(self.store.settings().clone()), cx);
        self.apply_theme(cx);
        self.bind_keys(cx);
        cx.emit(ConfigurationEvent::Changed(Part::Settings));
    }

    fn take_keymap(&mut self, text: &str, cx: &mut Context<Self>) {
        let (keymap, problems) = parse_keymap("keymap.json", text);
        // A file that is no keymap at all, for a comma too many, keeps the last good bindings.
        let is_broken = keymap.blocks.is_empty() && !problems.is_empty();
        if !is_broken {
            self.keymap = keymap;
        }
        self.problems.insert(Part::Keymap, problems);
        self.bind_keys(cx);
        cx.emit(ConfigurationEvent::Changed(Part::Keymap));
    }

    fn bind_keys(&mut self, cx: &mut Context<Self>) {
        let (name, text) = base_keymap(self.store.settings());
        let (base, mut found) = parse_keymap(name, text);
        found.extend(ui::install_keymaps(&[base, self.keymap.clone()], cx));
        let problems = self.problems.entry(Part::Keymap).or_default();
        for problem in found {
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
}

/// Name and text of the key bindings to start from.
pub(crate) fn base_keymap(settings: &Settings) -> (&'static str, &'static str) {
    let system = if cfg!(target_os = "macos") {
        builtin::KeymapSystem::Mac
    } else {
        builtin::KeymapSystem::Linux
    };
    builtin::keymap(settings.keymap.base, system)
}

fn read(files: &dyn Files, config: &AbsPath) -> Texts {
    let mut unreadable = Vec::new();
    let mut text = |name: &str, part| match read_text(files, &config.join(name)) {
        Ok(text) => Some(text.unwrap_or_default()),
        Err(message) => {
            unreadable.push((part, unreadable_problem(name, message)));
            None
        }
    };
    let settings = text("settings.json", Part::Settings);
    let keymap = text("keymap.json", Part::Keymap);
    let mut themes = Vec::new();
    if let Ok(listing) = files.list(&config.join("themes")) {
        for entry in listing.entries {
            let name = format!("themes/{}", entry.path.name());
            if !name.ends_with(".json") && !name.ends_with(".jsonc") {
                continue;
            }
            match read_text(files, &entry.path) {
                Ok(text) => themes.push((name, text.unwrap_or_default())),
                Err(message) => {
                    unreadable.push((Part::Themes, unreadable_problem(&name, message)));
                }
            }
        }
    }
    Texts {
        settings,
        keymap,
        themes,
        unreadable,
    }
}

/// The text of a file, or nothing where there is no file.
fn read_text(files: &dyn Files, path: &AbsPath) -> Result<Option<String>, String> {
    match files.read(path, LIMIT) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| format!("cannot read {path}: it is not UTF-8; save it as UTF-8")),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn unreadable_problem(source: &str, message: String) -> Problem {
    Problem {
        source: source.to_owned(),
        line: 1,
        column: 1,
        message,
    }
}
