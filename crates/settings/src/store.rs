//! Layered settings: built-in ← user ← project.
//!
//! Invariant: errors are contained: after a syntax error, the layer's last valid values stay; after
//! an invalid value, that key's last valid value stays.
//! Invariant: a project can change text editing, but not what belongs to the user: windows, keys,
//! themes, and autosave.

use std::ops::Range;

use crate::builtin;
use crate::document::{self, Member, SpannedValue};
use crate::problem::{ConfigProblem, SourceText};
use crate::section::KeyPath;
use crate::settings::{LANGUAGES, SetError, Settings, unknown_section};

/// The end of the message about a layer that cannot be parsed.
const LAST_STAY: &str = "; until this is fixed, the last good settings stay";

/// Origin of a layer of settings; later ones take precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingsSource {
    /// Built-in settings of Burin.
    Default,
    /// The user's settings file.
    User,
    /// The open folder's settings, which are untrusted.
    Project,
}

/// The parsed layers of settings (built-in, user, project) and the settings that result from them.
#[derive(Debug)]
pub struct SettingsStore {
    layers: Vec<SettingsLayer>,
    settings: Settings,
}

#[derive(Debug)]
struct SettingsLayer {
    source: SettingsSource,
    assignments: Vec<SettingAssignment>,
    problems: Vec<LayerProblem>,
}

/// A problem with the part of a layer that it leaves out.
#[derive(Clone, Debug)]
struct LayerProblem {
    /// The key of that part, or its beginning; empty for the whole layer.
    path: KeyPath,
    problem: ConfigProblem,
}

/// A key with its last valid value.
#[derive(Clone, Debug)]
struct SettingAssignment {
    path: KeyPath,
    value: SpannedValue,
}

impl Default for SettingsStore {
    fn default() -> Self {
        Self::new()
    }
}

impl SettingsStore {
    /// Creates a store with the built-in settings.
    pub fn new() -> Self {
        let mut store = Self {
            layers: Vec::new(),
            settings: Settings::default(),
        };
        store.set_layer(
            SettingsSource::Default,
            "default.json",
            builtin::DEFAULT_SETTINGS,
        );
        store
    }

    /// Parses the text of a layer, in place of its earlier text, and combines all layers again.
    /// `name` is the file's name in problems. An empty text clears the layer. Invalid parts are
    /// left out and reported by `problems`.
    pub fn set_layer(&mut self, source: SettingsSource, name: &str, text: &str) {
        let at = self.layers.partition_point(|layer| layer.source < source);
        if self
            .layers
            .get(at)
            .is_none_or(|layer| layer.source != source)
        {
            let layer = SettingsLayer {
                source,
                assignments: Vec::new(),
                problems: Vec::new(),
            };
            self.layers.insert(at, layer);
        }
        let layer = &mut self.layers[at];
        let (assignments, problems) =
            read_layer(source, &SourceText::new(name, text), &layer.assignments);
        layer.assignments = assignments;
        layer.problems = problems;
        self.settings = combine(&self.layers);
    }

    /// Returns the settings of all layers combined; later layers override key by key.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Iterates over the problems of all layers.
    pub fn problems(&self) -> impl Iterator<Item = &ConfigProblem> {
        let problems = self.layers.iter().flat_map(|layer| &layer.problems);
        problems.map(|it| &it.problem)
    }

    /// Returns the first problem of a layer that leaves out the key at `path`, a key below it, or a part of the
    /// layer that would contain it. A `*` in `path` matches every key. The message does not mention earlier values, which
    /// may stay.
    pub fn problem_at(&self, source: SettingsSource, path: &[&str]) -> Option<ConfigProblem> {
        let layers = self.layers.iter().filter(|layer| layer.source == source);
        let mut problems = layers.flat_map(|layer| &layer.problems);
        let is_equal = |(own, key): (&String, &&str)| *key == "*" || own == key;
        let found = problems.find(|it| it.path.iter().zip(path).all(is_equal));
        let mut problem = found?.problem.clone();
        if let Some(message) = problem.message.strip_suffix(LAST_STAY) {
            problem.message = message.to_owned();
        }
        Some(problem)
    }
}

impl Settings {
    /// Returns the built-in settings from `default.json`, without any layer of the user.
    pub fn builtin() -> Self {
        parse(&[]).0
    }
}

/// Combines layers `(source, name, text)` on top of the built-in settings. Never fails: invalid
/// parts are left out and returned as problems.
pub fn parse(layers: &[(SettingsSource, &str, &str)]) -> (Settings, Vec<ConfigProblem>) {
    let mut store = SettingsStore::new();
    for (source, name, text) in layers {
        store.set_layer(*source, name, text);
    }
    let problems = store.problems().cloned().collect();
    (store.settings, problems)
}

/// Returns the valid assignments of a text, and the problems of the others.
fn read_layer(
    source: SettingsSource,
    origin: &SourceText<'_>,
    last: &[SettingAssignment],
) -> (Vec<SettingAssignment>, Vec<LayerProblem>) {
    let root = match document::parse(origin) {
        Ok(Some(root)) => root,
        Ok(None) => return (Vec::new(), Vec::new()),
        Err(mut problem) => {
            problem.message.push_str(LAST_STAY);
            let path = Vec::new();
            return (last.to_vec(), vec![LayerProblem { path, problem }]);
        }
    };
    let mut reader = LayerReader {
        source,
        origin,
        last,
        valid: Vec::new(),
        problems: Vec::new(),
    };
    match root.as_object() {
        Some(sections) => reader.sections(sections),
        None => reader.problem(
            &[""; 0],
            &root.span,
            format!("settings are an object {{ … }}, found {}", root.kind()),
        ),
    }
    (reader.valid, reader.problems)
}

struct LayerReader<'a> {
    source: SettingsSource,
    origin: &'a SourceText<'a>,
    last: &'a [SettingAssignment],
    valid: Vec<SettingAssignment>,
    problems: Vec<LayerProblem>,
}

impl LayerReader<'_> {
    fn sections(&mut self, sections: &[Member]) {
        for section in sections {
            let name = section.key.as_str();
            if name == "$schema" {
                continue;
            }
            let Some(members) = section.value.as_object() else {
                // For a bare key at the top, the problem names its section; a section needs its
                // braces.
                let known = Settings::keys().any(|info| info.section == name) || name == LANGUAGES;
                let message = if known {
                    format!(
                        "\"{name}\" is a section and takes an object {{ … }}, found {}",
                        section.value.kind()
                    )
                } else {
                    unknown_section(name)
                };
                self.problem(&[name], &section.key_span, message);
                continue;
            };
            match name {
                LANGUAGES => self.languages(members),
                _ => self.section(name, section, members),
            }
        }
    }

    fn section(&mut self, name: &str, section: &Member, members: &[Member]) {
        if !Settings::keys().any(|info| info.section == name) {
            self.problem(&[name], &section.key_span, unknown_section(name));
            return;
        }
        for member in members {
            self.assign(&[name], name, member);
        }
    }

    fn languages(&mut self, languages: &[Member]) {
        for language in languages {
            match language.value.as_object() {
                Some(members) => {
                    for member in members {
                        self.assign(&[LANGUAGES, &language.key], "editor", member);
                    }
                }
                None => self.problem(
                    &[LANGUAGES, &language.key],
                    &language.value.span,
                    format!(
                        "settings of a language are an object {{ … }}, found {}",
                        language.value.kind()
                    ),
                ),
            }
        }
    }

    /// Adds `prefix.member` if its value is valid for that key of `section`.
    fn assign(&mut self, prefix: &[&str], section: &str, member: &Member) {
        let path: KeyPath = prefix
            .iter()
            .copied()
            .chain([member.key.as_str()])
            .map(str::to_owned)
            .collect();
        if self.source == SettingsSource::Project && !project_may_set(section, &member.key) {
            let message = format!(
                "\"{}\" is yours to choose: a project cannot set it; put it into your own settings",
                path.join(".")
            );
            self.problem(&path, &member.key_span, message);
            return;
        }
        match Settings::default().set(section, &member.key, &member.value) {
            Ok(()) => self.valid.push(SettingAssignment {
                path,
                value: member.value.clone(),
            }),
            Err(SetError::Unknown(message)) => self.problem(&path, &member.key_span, message),
            Err(SetError::Invalid(error)) => {
                let message = format!("{}: {error}", path.join("."));
                self.problem(&path, &member.value.span, message);
                self.valid.extend(
                    self.last
                        .iter()
                        .find(|assignment| assignment.path == path)
                        .cloned(),
                );
            }
        }
    }

    /// Adds a problem at `span` that leaves out the part of the layer at `path`.
    fn problem<K: AsRef<str>>(&mut self, path: &[K], span: &Range<usize>, message: String) {
        let path = path.iter().map(|key| key.as_ref().to_owned()).collect();
        let problem = self.origin.problem(span, message);
        self.problems.push(LayerProblem { path, problem });
    }
}

/// Returns whether a project's settings may set a key: only those for editing text and for search.
fn project_may_set(section: &str, key: &str) -> bool {
    match section {
        // An untrusted project must not read the clipboard or hide its own content.
        "editor" => !matches!(
            key,
            "font_family" | "font_fallbacks" | "font_size" | "middle_click_paste"
        ),
        "files" => key == "exclude",
        // An untrusted project must not send search results to a remote model.
        "search" => key != "second_look",
        // A server starts only in a folder that the user trusts.
        "lsp" => key == "servers",
        _ => false,
    }
}

fn combine(layers: &[SettingsLayer]) -> Settings {
    let mut settings = Settings::default();
    let all = || layers.iter().flat_map(|layer| &layer.assignments);
    for SettingAssignment { path, value } in all() {
        if let [section, key] = path.as_slice()
            && settings.set(section, key, value).is_err()
        {
            base::never!("{section}.{key} was valid once and is not any more");
        }
    }
    // A language's value takes precedence over a general one, regardless of their layers.
    for SettingAssignment { path, value } in all() {
        if let [_, language, key] = path.as_slice() {
            let general = &settings.editor;
            let editor = settings
                .languages
                .entry(language.clone())
                .or_insert_with(|| general.clone());
            if !matches!(editor.set(key, value), Some(Ok(()))) {
                base::never!("languages.{language}.{key} was valid once and is not any more");
            }
        }
    }
    settings
}

#[cfg(test)]
mod tests;
