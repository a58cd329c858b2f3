//! Parses theme files into themes.

use std::collections::BTreeMap;

use super::terminal::{self, terminal_color_names, terminal_colors};
use super::tokens::{COLOR_TOKENS, Colors, SYNTAX_NAMES, is_required};
use super::{AGENTS, Appearance, SyntaxStyle, ThemeDefinition};
use crate::builtin;
use crate::color::Rgba;
use crate::document::{self, Member, NodeValue, SpannedValue};
use crate::problem::{ConfigProblem, SourceText};
use crate::suggest;

/// Parses a theme; `source` is the file's name in problems. Missing values
/// come from Burin's own theme and are reported, as invalid ones are.
///
/// Returns `None` if the text is not JSONC or lacks a name or an appearance.
pub fn parse_theme(source: &str, text: &str) -> (Option<ThemeDefinition>, Vec<ConfigProblem>) {
    let origin = SourceText::new(source, text);
    let mut reader = ThemeReader {
        origin: &origin,
        palette: BTreeMap::new(),
        problems: Vec::new(),
    };
    let theme = match document::parse(&origin) {
        Ok(Some(root)) => reader.theme(&root),
        Ok(None) => {
            reader
                .problems
                .push(origin.problem(&(0..0), "this theme is empty"));
            None
        }
        Err(problem) => {
            reader.problems.push(problem);
            None
        }
    };
    (theme, reader.problems)
}

const KEYS: [&str; 7] = [
    "$schema",
    "name",
    "appearance",
    "palette",
    "colors",
    "agents",
    "syntax",
];

struct ThemeReader<'a> {
    origin: &'a SourceText<'a>,
    /// Named colours of the theme.
    palette: BTreeMap<String, Rgba>,
    problems: Vec<ConfigProblem>,
}

impl ThemeReader<'_> {
    /// Parses a theme and adds the problems found. Returns `None` if it is not an object or lacks a
    /// valid name or appearance.
    fn theme(&mut self, root: &SpannedValue) -> Option<ThemeDefinition> {
        let Some(members) = root.as_object() else {
            self.problem(
                root,
                format!("a theme is an object {{ … }}, found {}", root.kind()),
            );
            return None;
        };
        for member in members {
            if !KEYS.contains(&member.key.as_str()) {
                let hint = suggest::hint(&member.key, KEYS);
                let message = format!("unknown key \"{}\" in a theme{hint}", member.key);
                self.problems
                    .push(self.origin.problem(&member.key_span, message));
            }
        }
        let find = |key: &str| {
            members
                .iter()
                .rev()
                .find(|member| member.key == key)
                .map(|it| &it.value)
        };
        let name = self.name(root, find("name"));
        let appearance = self.appearance(root, find("appearance"));
        if let Some(palette) = find("palette") {
            self.read_palette(palette);
        }
        let (name, appearance) = (name?, appearance?);
        let base = builtin_base(appearance, self.origin.text);
        let colors = self.colors(root, find("colors"), base.as_ref());
        let agents = self.agents(root, find("agents"), base.as_ref());
        let syntax = self.syntax(root, find("syntax"), base.as_ref());
        let own = self.terminal(find("colors"));
        let terminal = terminal_colors(&own, &colors, &syntax, appearance);
        Some(ThemeDefinition {
            name,
            appearance,
            colors,
            terminal,
            agents,
            syntax,
        })
    }

    /// Returns the theme's name, trimmed. Adds a problem and returns `None` if it is missing, empty
    /// or no text. `root` is the theme, to which a missing name is attributed.
    fn name(&mut self, root: &SpannedValue, node: Option<&SpannedValue>) -> Option<String> {
        match node.and_then(SpannedValue::as_str).map(str::trim) {
            Some(name) if !name.is_empty() => Some(name.to_owned()),
            _ => {
                self.problem(node.unwrap_or(root), "a theme needs a \"name\"".to_owned());
                None
            }
        }
    }

    /// Returns whether the theme is light or dark. Adds a problem and returns `None` if that is
    /// missing or invalid. `root` is the theme, to which a missing value is attributed.
    fn appearance(
        &mut self,
        root: &SpannedValue,
        node: Option<&SpannedValue>,
    ) -> Option<Appearance> {
        match node.and_then(SpannedValue::as_str) {
            Some("light") => Some(Appearance::Light),
            Some("dark") => Some(Appearance::Dark),
            _ => {
                let message = "a theme needs an \"appearance\": \"light\" or \"dark\"".to_owned();
                self.problem(node.unwrap_or(root), message);
                None
            }
        }
    }

    fn read_palette(&mut self, node: &SpannedValue) {
        for member in self.members(node, "palette") {
            if let Some(color) = self.color(&member.value) {
                self.palette.insert(member.key.clone(), color);
            }
        }
    }

    fn colors(
        &mut self,
        root: &SpannedValue,
        node: Option<&SpannedValue>,
        base: Option<&ThemeDefinition>,
    ) -> Colors<Rgba> {
        let members = self.section(root, node, "colors");
        let known = || COLOR_TOKENS.iter().map(|(name, _)| *name);
        let mut found: BTreeMap<&str, Rgba> = BTreeMap::new();
        for member in &members {
            if known().any(|name| name == member.key) {
                if let Some(color) = self.color(&member.value) {
                    found.insert(member.key.as_str(), color);
                }
            } else if !member.key.starts_with(terminal::PREFIX)
                && terminal::own_name(&member.key).is_none()
            {
                self.unknown(member, "colour", known());
            }
        }
        self.missing(
            node.unwrap_or(root),
            "colours",
            known().filter(|name| !found.contains_key(name)),
        );
        let base = base.map(|theme| &theme.colors);
        Colors::build(|name| {
            found
                .get(name)
                .or_else(|| base.and_then(|colors| colors.get(name)))
                .copied()
                .unwrap_or(FALLBACK_COLOR)
        })
    }

    fn agents(
        &mut self,
        root: &SpannedValue,
        node: Option<&SpannedValue>,
        base: Option<&ThemeDefinition>,
    ) -> [Rgba; AGENTS] {
        let mut agents = base.map_or([FALLBACK_COLOR; AGENTS], |theme| theme.agents);
        match node.and_then(SpannedValue::as_array) {
            Some(nodes) if nodes.len() == AGENTS => {
                for (agent, node) in agents.iter_mut().zip(nodes) {
                    *agent = self.color(node).unwrap_or(*agent);
                }
            }
            _ => self.problem(
                node.unwrap_or(root),
                format!("\"agents\" is a list of {AGENTS} colours"),
            ),
        }
        agents
    }

    fn syntax(
        &mut self,
        root: &SpannedValue,
        node: Option<&SpannedValue>,
        base: Option<&ThemeDefinition>,
    ) -> BTreeMap<String, SyntaxStyle> {
        let members = self.section(root, node, "syntax");
        let mut styles = BTreeMap::new();
        for member in &members {
            if !SYNTAX_NAMES.contains(&member.key.as_str()) {
                self.unknown(member, "kind of syntax", SYNTAX_NAMES.iter().copied());
            } else if let Some(style) = self.style(&member.value) {
                styles.insert(member.key.clone(), style);
            }
        }
        let missing: Vec<&str> = SYNTAX_NAMES
            .iter()
            .copied()
            .filter(|name| is_required(name) && !styles.contains_key(*name))
            .collect();
        for name in &missing {
            let style = base.and_then(|theme| theme.syntax.get(*name));
            styles.extend(style.map(|style| ((*name).to_owned(), *style)));
        }
        self.missing(node.unwrap_or(root), "syntax styles", missing.into_iter());
        styles
    }

    /// Returns the colours of terminals in the section `colors`, by their own names.
    fn terminal(&mut self, node: Option<&SpannedValue>) -> BTreeMap<String, Rgba> {
        let mut found = BTreeMap::new();
        for member in node.and_then(SpannedValue::as_object).unwrap_or_default() {
            match terminal::own_name(&member.key) {
                Some(name) => {
                    let color = self.color(&member.value);
                    found.extend(color.map(|color| (name, color)));
                }
                None if member.key.starts_with(terminal::PREFIX) => {
                    let known: Vec<String> = terminal_color_names().collect();
                    self.unknown(member, "colour", known.iter().map(String::as_str));
                }
                None => {}
            }
        }
        found
    }

    /// Parses a colour, or `{ "color", "bold", "italic", "underline", "strikethrough" }`.
    fn style(&mut self, node: &SpannedValue) -> Option<SyntaxStyle> {
        let plain = |color| SyntaxStyle {
            color,
            bold: false,
            italic: false,
            underline: false,
            strikethrough: false,
        };
        let Some(members) = node.as_object() else {
            return self.color(node).map(plain);
        };
        let Some(color) = members.iter().find(|member| member.key == "color") else {
            self.problem(node, "a style needs a \"color\"".to_owned());
            return None;
        };
        let mut style = plain(self.color(&color.value)?);
        for member in members {
            let flag = match member.key.as_str() {
                "bold" => &mut style.bold,
                "italic" => &mut style.italic,
                "underline" => &mut style.underline,
                "strikethrough" => &mut style.strikethrough,
                "color" => continue,
                _ => {
                    let known = ["color", "bold", "italic", "underline", "strikethrough"];
                    self.unknown(member, "part of a style", known.into_iter());
                    continue;
                }
            };
            match member.value.value {
                NodeValue::Bool(value) => *flag = value,
                _ => self.problem(
                    &member.value,
                    format!("expected true or false, found {}", member.value.kind()),
                ),
            }
        }
        Some(style)
    }

    /// Parses `#rrggbb[aa]`, a name from the palette, or either with `/percent` for opacity.
    fn color(&mut self, node: &SpannedValue) -> Option<Rgba> {
        let Some(text) = node.as_str() else {
            self.problem(
                node,
                format!(
                    "expected a colour such as \"#1f6feb\", found {}",
                    node.kind()
                ),
            );
            return None;
        };
        let (name, percent) = match text.split_once('/') {
            Some((name, percent)) => (name.trim(), Some(percent.trim())),
            None => (text.trim(), None),
        };
        let Some(mut color) = Rgba::parse(name).or_else(|| self.palette.get(name).copied()) else {
            let hint = suggest::hint(name, self.palette.keys().map(String::as_str));
            let message = format!(
                "\"{name}\" is not a colour: write #rrggbb, #rrggbbaa or a name from the palette{hint}"
            );
            self.problem(node, message);
            return None;
        };
        if let Some(percent) = percent {
            match percent.trim_end_matches('%').parse::<u32>() {
                Ok(percent @ 0..=100) => {
                    color.a = u8::try_from((percent * 255 + 50) / 100).unwrap_or(u8::MAX);
                }
                _ => {
                    self.problem(
                        node,
                        format!("\"{percent}\" is not an opacity from 0 to 100"),
                    );
                    return None;
                }
            }
        }
        Some(color)
    }

    fn section(
        &mut self,
        root: &SpannedValue,
        node: Option<&SpannedValue>,
        name: &str,
    ) -> Vec<Member> {
        match node {
            Some(node) => self.members(node, name),
            None => {
                self.problem(root, format!("a theme needs \"{name}\": {{ … }}"));
                Vec::new()
            }
        }
    }

    fn members(&mut self, node: &SpannedValue, name: &str) -> Vec<Member> {
        match node.as_object() {
            Some(members) => members.to_vec(),
            None => {
                self.problem(
                    node,
                    format!("\"{name}\" is an object {{ … }}, found {}", node.kind()),
                );
                Vec::new()
            }
        }
    }

    fn unknown<'k>(&mut self, member: &Member, what: &str, known: impl Iterator<Item = &'k str>) {
        let hint = suggest::hint(&member.key, known);
        let message = format!("unknown {what} \"{}\"{hint}", member.key);
        self.problems
            .push(self.origin.problem(&member.key_span, message));
    }

    /// Reports all missing names as one problem, so that an incomplete theme is not flooded with
    /// problems.
    fn missing<'k>(
        &mut self,
        node: &SpannedValue,
        what: &str,
        names: impl Iterator<Item = &'k str>,
    ) {
        let names: Vec<&str> = names.collect();
        if !names.is_empty() {
            self.problem(
                node,
                format!(
                    "missing {what}, taken from Burin's own theme: {}",
                    names.join(", ")
                ),
            );
        }
    }

    fn problem(&mut self, node: &SpannedValue, message: String) {
        self.problems.push(self.origin.problem(&node.span, message));
    }
}

/// The colour if even the built-in theme lacks one, which a test rules out.
const FALLBACK_COLOR: Rgba = Rgba::from_hex(0xff_00_ff);

/// Returns the theme that supplies missing colours.
const fn base_theme(appearance: Appearance) -> (&'static str, &'static str) {
    match appearance {
        Appearance::Dark => builtin::THEMES[0],
        Appearance::Light => builtin::THEMES[1],
    }
}

/// Returns the theme that supplies missing values; the built-in themes have none.
fn builtin_base(appearance: Appearance, text: &str) -> Option<ThemeDefinition> {
    let (name, base) = base_theme(appearance);
    if base == text {
        None
    } else {
        parse_theme(name, base).0
    }
}
