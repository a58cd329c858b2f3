//! Settings in layers: what comes with the program ← the user's ← the project's.
//!
//! Invariant: a mistake costs no more than it must: with a syntax error the layer's last good values stay,
//! with a value that does not fit that key's last good value stays.
//! Invariant: a project can change how text is edited, but not what belongs to the person: windows, keys,
//! themes, and when files are written.

use crate::builtin;
use crate::document::{self, Member, Node};
use crate::places::{Origin, Problem};
use crate::section::KeyPath;
use crate::settings::{LANGUAGES, SetError, Settings, unknown_section};

/// Whose settings a text holds; later ones win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Came with the program.
    Default,
    /// The user's own.
    User,
    /// The open folder's, which may come from a stranger.
    Project,
}

/// The layers as last read, and the settings they make.
#[derive(Debug)]
pub struct Store {
    layers: Vec<Layer>,
    settings: Settings,
}

#[derive(Debug)]
struct Layer {
    source: Source,
    assignments: Vec<Assignment>,
    problems: Vec<Problem>,
}

/// A key whose value has been read once with success.
#[derive(Clone, Debug)]
struct Assignment {
    path: KeyPath,
    value: Node,
}

impl Default for Store {
    fn default() -> Self {
        Self::new()
    }
}

impl Store {
    /// Holds the settings that come with the program.
    pub fn new() -> Self {
        let mut store = Self {
            layers: Vec::new(),
            settings: Settings::default(),
        };
        store.set_layer(Source::Default, "default.json", builtin::DEFAULT_SETTINGS);
        store
    }

    /// Reads a layer anew; `name` is what problems call the file. An empty text empties the layer.
    pub fn set_layer(&mut self, source: Source, name: &str, text: &str) {
        let at = self.layers.partition_point(|layer| layer.source < source);
        if self
            .layers
            .get(at)
            .is_none_or(|layer| layer.source != source)
        {
            let layer = Layer {
                source,
                assignments: Vec::new(),
                problems: Vec::new(),
            };
            self.layers.insert(at, layer);
        }
        let layer = &mut self.layers[at];
        let (assignments, problems) =
            read_layer(source, &Origin { source: name, text }, &layer.assignments);
        layer.assignments = assignments;
        layer.problems = problems;
        self.settings = combine(&self.layers);
    }

    /// The settings of all layers together.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What was not understood when each layer was last read.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.layers.iter().flat_map(|layer| &layer.problems)
    }
}

/// Settings from texts `(whose, name, text)`, over what comes with the program.
pub fn parse(layers: &[(Source, &str, &str)]) -> (Settings, Vec<Problem>) {
    let mut store = Store::new();
    for (source, name, text) in layers {
        store.set_layer(*source, name, text);
    }
    let problems = store.problems().cloned().collect();
    (store.settings, problems)
}

/// The good assignments of a text, and what was wrong with the others.
fn read_layer(
    source: Source,
    origin: &Origin<'_>,
    last: &[Assignment],
) -> (Vec<Assignment>, Vec<Problem>) {
    let root = match document::parse(origin) {
        Ok(Some(root)) => root,
        Ok(None) => return (Vec::new(), Vec::new()),
        Err(mut problem) => {
            problem
                .message
                .push_str("; until this is mended the last good settings stay");
            return (last.to_vec(), vec![problem]);
        }
    };
    let mut reader = LayerReader {
        source,
        origin,
        last,
        good: Vec::new(),
        problems: Vec::new(),
    };
    match root.as_object() {
        Some(sections) => reader.sections(sections),
        None => reader.problem(
            &root,
            format!("settings are an object {{ … }}, found {}", root.kind()),
        ),
    }
    (reader.good, reader.problems)
}

struct LayerReader<'a> {
    source: Source,
    origin: &'a Origin<'a>,
    last: &'a [Assignment],
    good: Vec<Assignment>,
    problems: Vec<Problem>,
}

impl LayerReader<'_> {
    fn sections(&mut self, sections: &[Member]) {
        for section in sections {
            let name = section.key.as_str();
            if name == "$schema" {
                continue;
            }
            let Some(members) = section.value.as_object() else {
                // A bare key at the top is told where it belongs; a section needs its braces.
                let known = Settings::keys().any(|info| info.section == name) || name == LANGUAGES;
                let message = if known {
                    format!(
                        "\"{name}\" is a section and takes an object {{ … }}, found {}",
                        section.value.kind()
                    )
                } else {
                    unknown_section(name)
                };
                self.problems
                    .push(self.origin.problem(&section.key_span, message));
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
            self.problems.push(
                self.origin
                    .problem(&section.key_span, unknown_section(name)),
            );
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
                    &language.value,
                    format!(
                        "settings of a language are an object {{ … }}, found {}",
                        language.value.kind()
                    ),
                ),
            }
        }
    }

    /// Takes `prefix.member` when its value fits the key of that name in `section`.
    fn assign(&mut self, prefix: &[&str], section: &str, member: &Member) {
        let path: KeyPath = prefix
            .iter()
            .copied()
            .chain([member.key.as_str()])
            .map(str::to_owned)
            .collect();
        if self.source == Source::Project && !project_may_set(section, &member.key) {
            let message = format!(
                "\"{}\" is yours to choose: a project cannot set it; put it into your own settings",
                path.join(".")
            );
            self.problems
                .push(self.origin.problem(&member.key_span, message));
            return;
        }
        match Settings::default().set(section, &member.key, &member.value) {
            Ok(()) => self.good.push(Assignment {
                path,
                value: member.value.clone(),
            }),
            Err(SetError::Unknown(message)) => {
                self.problems
                    .push(self.origin.problem(&member.key_span, message));
            }
            Err(SetError::Bad(message)) => {
                self.problem(&member.value, format!("{}: {message}", path.join(".")));
                self.good.extend(
                    self.last
                        .iter()
                        .find(|assignment| assignment.path == path)
                        .cloned(),
                );
            }
        }
    }

    fn problem(&mut self, node: &Node, message: String) {
        self.problems.push(self.origin.problem(&node.span, message));
    }
}

/// Whether a folder's settings may set a key: only what shapes text and search in it.
fn project_may_set(section: &str, key: &str) -> bool {
    match section {
        // A stranger's project must not feed the clipboard or hide what it contains from the eye.
        "editor" => !matches!(
            key,
            "font_family" | "font_fallbacks" | "font_size" | "middle_click_paste"
        ),
        "files" => key == "exclude",
        // Nor send what is found to somebody.
        "search" => key != "second_look",
        _ => false,
    }
}

fn combine(layers: &[Layer]) -> Settings {
    let mut settings = Settings::default();
    let all = || layers.iter().flat_map(|layer| &layer.assignments);
    for Assignment { path, value } in all() {
        if let [section, key] = path.as_slice()
            && settings.set(section, key, value).is_err()
        {
            base::never!("{section}.{key} was read once and does not fit now");
        }
    }
    // A language's own value wins over a general one, whichever layer each comes from.
    for Assignment { path, value } in all() {
        if let [_, language, key] = path.as_slice() {
            let general = &settings.editor;
            let editor = settings
                .languages
                .entry(language.clone())
                .or_insert_with(|| general.clone());
            if !matches!(editor.set(key, value), Some(Ok(()))) {
                base::never!("languages.{language}.{key} was read once and does not fit now");
            }
        }
    }
    settings
}

#[cfg(test)]
mod tests;
