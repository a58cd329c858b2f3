//! The beginning of a session's prompt, and what joins it later.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use base::AbsPath;
use model::{LineNumbers, Profile};

use super::attach::{CODEBASE, Found, diff_text, path_text, places_text};
use super::header::{Header, Surroundings};
use super::instructions::{Instructions, Limits, RuleUse, framed};
use super::mentions::{Mention, MentionKind, mentions};
use super::pack::{Pack, Post, mode_text};
use super::reading::cut;
use super::skills::Skills;
use crate::record::{Mode, Origin, PromptPlace, Record};
use crate::sources::Sources;

/// Which folders the person trusts.
#[derive(Clone)]
pub struct Trust(Arc<dyn Fn(&AbsPath) -> bool + Send + Sync>);

/// What a session begins with.
pub struct Opening<'a> {
    /// Files, the clock, open texts.
    pub sources: &'a Sources,
    /// The folder that the session works below.
    pub root: &'a AbsPath,
    /// Of the model that the session begins with. Another model that takes over later goes on with the same words.
    pub profile: &'a Profile,
    /// The tools on offer: their own names and the names by which this model is offered them.
    pub tools: Vec<(String, String)>,
    /// For whom it works.
    pub post: Post,
    /// How it works at first.
    pub mode: Mode,
    /// Whether the person trusts the project: without, none of its instructions and skills are read.
    pub is_trusted: bool,
    /// Burin's folder of settings, where the person's own instructions, rules and skills lie.
    pub config: Option<AbsPath>,
    /// What only whoever starts the session knows.
    pub surroundings: Surroundings,
}

/// What joins the prompt at some moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Joining {
    /// `Record::Joined` entries, in the order in which they join.
    pub records: Vec<Record>,
    /// What could not join, in sentences for the person.
    pub problems: Vec<String>,
}

/// What a session knows of its prompt, to say what joins next. The records say all of it.
#[derive(Clone, Debug)]
pub struct Context {
    root: AbsPath,
    tools: Vec<(String, String)>,
    numbers: LineNumbers,
    limits: Limits,
    is_trusted: bool,
    instructions: Instructions,
    skills: Skills,
    header: Header,
    /// Paths of instructions and rules that joined.
    joined: BTreeSet<String>,
}

impl Trust {
    /// Trusts what `judge` says.
    pub fn new(judge: impl Fn(&AbsPath) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(judge))
    }

    /// Trusts everything: for runs that a person starts on purpose in a folder.
    pub fn all() -> Self {
        Self::new(|_| true)
    }

    /// Trusts nothing.
    pub fn none() -> Self {
        Self::new(|_| false)
    }

    /// Whether this folder is trusted.
    pub fn of(&self, folder: &AbsPath) -> bool {
        (self.0)(folder)
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trust")
    }
}

impl Opening<'_> {
    /// The beginning: the blocks of the system prompt, then the header in front of the first message. Reads files
    /// and asks git: belongs on a background thread.
    ///
    /// The stable comes first: the pack, which all sessions of a profile share; the instructions, which all
    /// sessions of a project share; and only then what is this session's own.
    pub fn begin(&self) -> (Context, Joining) {
        let mut context = self.context();
        let mut joining = Joining::default();
        let pack = Pack::of(self.profile);
        let origin = Origin::Pack {
            name: pack.name.to_owned(),
        };
        let text = pack.text(self.profile, self.post, &self.tools);
        joining.push(PromptPlace::System, origin, text);
        context.join_instructions(&mut joining);
        context.join_lists(&mut joining);
        let now = self.header();
        joining.push(PromptPlace::BeforePrompt, Origin::Header, now.text());
        context.header = now;
        if self.mode != Mode::Build {
            joining.records.push(context.mode(self.mode));
        }
        joining
            .problems
            .extend(context.instructions.problems.clone());
        joining.problems.extend(context.skills.problems.clone());
        (context, joining)
    }

    /// The context of a session that is opened again, from its records. Nothing joins anew by that: rules and
    /// skills that came or went meanwhile count from the next prompt on.
    pub fn resume<'a>(&self, records: impl IntoIterator<Item = &'a Record>) -> Context {
        let mut context = self.context();
        let mut headers: Vec<&str> = Vec::new();
        for record in records {
            let Record::Joined { origin, text, .. } = record else {
                continue;
            };
            match origin {
                Origin::Rules { path } => {
                    context.joined.insert(path.clone());
                }
                Origin::Header => headers.push(text),
                _ => {}
            }
        }
        context.header = Header::of_texts(headers).unwrap_or_default();
        context
    }

    fn context(&self) -> Context {
        let files = self.sources.files.as_ref();
        let limits = Limits::of(self.profile.context.0);
        let config = self.config.as_ref();
        Context {
            root: self.root.clone(),
            tools: self.tools.clone(),
            numbers: self.profile.line_numbers,
            limits,
            is_trusted: self.is_trusted,
            instructions: Instructions::find(files, self.root, self.is_trusted, config, limits),
            skills: Skills::find(files, self.root, self.is_trusted, config),
            header: Header::default(),
            joined: BTreeSet::new(),
        }
    }

    fn header(&self) -> Header {
        Header::now(self.root, self.sources.clock.wall_ms(), &self.surroundings)
    }
}

impl Context {
    /// What joins in front of a message of the person: what changed around the project, and what they mention.
    /// `found` is what `symbols` found for this text; `terminal` is what the terminal shows, where there is one.
    /// Reads files and asks git: belongs on a background thread.
    pub fn prompt(
        &mut self,
        sources: &Sources,
        surroundings: &Surroundings,
        text: &str,
        found: &[Found],
        terminal: Option<&str>,
    ) -> Joining {
        let mut joining = Joining::default();
        let now = Header::now(&self.root, sources.clock.wall_ms(), surroundings);
        if let Some(change) = now.change_since(&self.header) {
            joining.push(PromptPlace::BeforePrompt, Origin::Header, change);
        }
        self.header = now;
        let mut told: BTreeSet<String> = BTreeSet::new();
        for mention in mentions(text) {
            // The same thing said twice joins once.
            if told.insert(text[mention.at.clone()].to_owned()) {
                self.join_mention(&mut joining, sources, &mention, found, terminal);
            }
        }
        joining
    }

    /// What joins behind results because files were read or changed: instructions of their folders, and rules
    /// whose globs they fit. Paths are relative to the root. Reads files: belongs on a background thread.
    pub fn touched(&mut self, sources: &Sources, paths: &[String]) -> Joining {
        let mut joining = Joining::default();
        for path in paths {
            self.join_for_path(&mut joining, sources, PromptPlace::AfterResults, path);
        }
        joining
    }

    /// What the model is told when the session works in another way from now on.
    pub fn mode(&self, mode: Mode) -> Record {
        Record::Joined {
            place: PromptPlace::BeforePrompt,
            origin: Origin::Harness,
            text: mode_text(mode, &self.tools),
        }
    }

    /// The skills of the session.
    pub fn skills(&self) -> &Skills {
        &self.skills
    }

    /// The instructions and rules of the session.
    pub fn instructions(&self) -> &Instructions {
        &self.instructions
    }

    fn join_instructions(&mut self, joining: &mut Joining) {
        let always = self.instructions.rules.iter().filter_map(|rule| {
            let is_always = rule.usage == RuleUse::Always;
            is_always.then(|| (rule.path.clone(), rule.text.clone()))
        });
        let texts: Vec<(String, String)> = self
            .instructions
            .texts
            .iter()
            .cloned()
            .chain(always)
            .collect();
        for (path, text) in texts {
            let text = framed(&path, &text);
            self.joined.insert(path.clone());
            joining.push(PromptPlace::System, Origin::Rules { path }, text);
        }
    }

    fn join_lists(&self, joining: &mut Joining) {
        if let Some(text) = self.instructions.offers() {
            let path = "list of rules".to_owned();
            joining.push(PromptPlace::System, Origin::Rules { path }, text);
        }
        let tool = self.tools.iter().find(|(own, _)| own == "skill");
        if let Some((_, offered)) = tool
            && let Some(text) = self.skills.list(offered)
        {
            let name = "list of skills".to_owned();
            joining.push(PromptPlace::System, Origin::Skill { name }, text);
        }
    }

    fn join_mention(
        &mut self,
        joining: &mut Joining,
        sources: &Sources,
        mention: &Mention,
        found: &[Found],
        terminal: Option<&str>,
    ) {
        let (what, text) = match &mention.kind {
            MentionKind::Name { name, lines } => {
                return self.join_name(joining, sources, name, *lines, found);
            }
            MentionKind::Diff => ("diff".to_owned(), diff_text(sources, &self.root)),
            MentionKind::Terminal => {
                let text = terminal.ok_or_else(|| "there is no terminal to mention".to_owned());
                let text = text.map(|text| {
                    let text = cut(text, 20_000, "the terminal");
                    format!("<terminal>\n{text}\n</terminal>\n")
                });
                ("terminal".to_owned(), text)
            }
            MentionKind::Codebase => {
                let found = found.iter().find(|found| found.name == CODEBASE);
                let text = found.map(places_text);
                let none = "there is no index of the code, so @codebase brings nothing";
                ("codebase".to_owned(), text.ok_or_else(|| none.to_owned()))
            }
            MentionKind::Web { url } => {
                let fetch = self.tools.iter().find(|(own, _)| own == "fetch");
                let text = match fetch {
                    Some((_, tool)) => Ok(format!(
                        "The person points at {url}: read it with `{tool}`.\n"
                    )),
                    None => Err(format!(
                        "{url} cannot be read: there is no tool for the web"
                    )),
                };
                (url.clone(), text)
            }
        };
        match text {
            Ok(text) => joining.push(PromptPlace::BeforePrompt, Origin::Mention { what }, text),
            Err(problem) => joining.problems.push(problem),
        }
    }

    /// A name is a file or folder, else a rule, else a skill, else a symbol, else nothing.
    fn join_name(
        &mut self,
        joining: &mut Joining,
        sources: &Sources,
        name: &str,
        lines: Option<(u32, u32)>,
        found: &[Found],
    ) {
        let before = PromptPlace::BeforePrompt;
        let what = match lines {
            Some((first, last)) => format!("{name}:{first}-{last}"),
            None => name.to_owned(),
        };
        match path_text(sources, &self.root, name, lines, self.numbers) {
            Some(Ok(text)) => {
                self.join_for_path(joining, sources, before, name);
                return joining.push(before, Origin::Mention { what }, text);
            }
            Some(Err(problem)) => return joining.problems.push(problem),
            None => {}
        }
        let rule_name = name.strip_suffix(".mdc").unwrap_or(name);
        if let Some(rule) = self.instructions.rule(rule_name) {
            // Asked for by name, it is said again even where it joined before.
            let (path, text) = (rule.path.clone(), framed(&rule.path, &rule.text));
            self.joined.insert(path.clone());
            return joining.push(before, Origin::Rules { path }, text);
        }
        if let Some(skill) = self.skills.named(name) {
            return match skill.body(sources.files.as_ref()) {
                Ok(body) => {
                    let name = skill.name.clone();
                    let body = cut(&body, 20_000, "SKILL.md");
                    let newline = if body.ends_with('\n') { "" } else { "\n" };
                    let text = format!("<skill name=\"{name}\">\n{body}{newline}</skill>\n");
                    joining.push(before, Origin::Skill { name }, text);
                }
                Err(problem) => joining.problems.push(problem),
            };
        }
        if let Some(found) = found.iter().find(|found| found.name == name) {
            return joining.push(before, Origin::Mention { what }, places_text(found));
        }
        if lines.is_some() || name.contains('/') {
            joining
                .problems
                .push(format!("there is no {name} in {}", self.root));
        }
    }

    fn join_for_path(
        &mut self,
        joining: &mut Joining,
        sources: &Sources,
        place: PromptPlace,
        path: &str,
    ) {
        if !self.is_trusted {
            return;
        }
        let absolute = self.root.join(path);
        let files = sources.files.as_ref();
        let nested = Instructions::nested(files, &self.root, &absolute, self.limits, &self.joined);
        joining.problems.extend(nested.problems);
        let rules = self.instructions.rules.iter();
        let fitting = rules
            .filter(|rule| rule.fits(path) && !self.joined.contains(&rule.path))
            .map(|rule| (rule.path.clone(), rule.text.clone()));
        let texts: Vec<(String, String)> = nested.texts.into_iter().chain(fitting).collect();
        for (path, text) in texts {
            let text = framed(&path, &text);
            self.joined.insert(path.clone());
            joining.push(place, Origin::Rules { path }, text);
        }
    }
}

impl Joining {
    fn push(&mut self, place: PromptPlace, origin: Origin, text: String) {
        self.records.push(Record::Joined {
            place,
            origin,
            text,
        });
    }
}

#[cfg(test)]
mod tests;
