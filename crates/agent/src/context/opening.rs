//! The start of a session's prompt, and later additions to it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use base::AbsPath;
use model::{LineNumbers, Profile};

use super::attach::{CODEBASE, CodeLocations, diff_text, locations_text, path_text};
use super::header::{Header, SessionEnvironment};
use super::instructions::{InstructionLimits, Instructions, RuleUse, framed};
use super::mentions::{Mention, MentionKind, mentions};
use super::pack::{AgentRole, PromptPack, mode_text};
use super::reading::truncate;
use super::skills::Skills;
use super::sources;
use crate::prompt_sources::{PromptSource, SourceText};
use crate::record::{PromptOrigin, PromptPosition, SessionMode, SessionRecord};
use crate::services::SessionServices;

/// Decides which folders the user trusts, so that their instructions, skills and rules are read.
#[derive(Clone)]
pub struct TrustedFolders(Arc<dyn Fn(&AbsPath) -> bool + Send + Sync>);

/// Everything needed to build the start of a session.
pub struct SessionOpening<'a> {
    /// Files, the clock, unsaved texts.
    pub sources: &'a SessionServices,
    /// Root folder of the session.
    pub root: &'a AbsPath,
    /// Profile of the session's first model. Another model that takes over later keeps the same
    /// prompt.
    pub profile: &'a Profile,
    /// Offered tools: own name, and name offered to the model.
    pub tools: Vec<(String, String)>,
    /// Role of the agent: for the user or for another agent.
    pub role: AgentRole,
    /// Initial mode of the session.
    pub mode: SessionMode,
    /// Whether the user trusts the project. If not, its instructions and skills are not read.
    pub is_trusted: bool,
    /// Burin's settings folder, with the user's own instructions, rules and skills.
    pub config: Option<AbsPath>,
    /// Environment that only the creator of the session knows.
    pub surroundings: SessionEnvironment,
}

/// Additions to the prompt at one point of the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptAdditions {
    /// `SessionRecord::Joined` entries, in order.
    pub records: Vec<SessionRecord>,
    /// Messages for the user about text that could not be added.
    pub problems: Vec<String>,
}

/// Contents of the mentions of a prompt that were read before its additions are made.
#[derive(Clone, Copy, Debug, Default)]
pub struct MentionContents<'a> {
    /// The result of `symbols` for the prompt.
    pub code: &'a [CodeLocations],
    /// The texts that only the running program has.
    pub sources: &'a [SourceText],
}

/// Prompt state of a session, from which later additions follow. It can be rebuilt from the
/// records.
#[derive(Clone, Debug)]
pub struct PromptContext {
    root: AbsPath,
    tools: Vec<(String, String)>,
    numbers: LineNumbers,
    limits: InstructionLimits,
    is_trusted: bool,
    instructions: Instructions,
    skills: Skills,
    header: Header,
    /// Paths of the instructions and rules already added.
    joined: BTreeSet<String>,
}

impl TrustedFolders {
    /// Trusts the folders that `judge` accepts.
    pub fn new(judge: impl Fn(&AbsPath) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(judge))
    }

    /// Trusts every folder, for runs that a user starts deliberately.
    pub fn all() -> Self {
        Self::new(|_| true)
    }

    /// Trusts no folder at all.
    pub fn none() -> Self {
        Self::new(|_| false)
    }

    /// Returns whether this folder is trusted. Every call asks the judge again.
    pub fn is_trusted(&self, folder: &AbsPath) -> bool {
        (self.0)(folder)
    }
}

impl fmt::Debug for TrustedFolders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trust")
    }
}

impl SessionOpening<'_> {
    /// Builds the start of a session: the system prompt blocks, then the header before the first
    /// message. Reads files and queries git: call it on a background thread.
    ///
    /// The most stable parts come first for prompt caching: the pack, shared by all sessions of a
    /// profile; the instructions, shared by all sessions of a project; then the session's own
    /// parts.
    pub fn build(&self) -> (PromptContext, PromptAdditions) {
        let mut context = self.context();
        let mut joining = PromptAdditions::default();
        let pack = PromptPack::of(self.profile);
        let origin = PromptOrigin::Pack {
            name: pack.name.to_owned(),
        };
        let text = pack.text(self.profile, self.role, &self.tools);
        joining.push(PromptPosition::System, origin, text);
        context.join_instructions(&mut joining);
        context.join_lists(&mut joining);
        let now = self.header();
        joining.push(
            PromptPosition::BeforePrompt,
            PromptOrigin::Header,
            now.text(),
        );
        context.header = now;
        if self.mode != SessionMode::Build {
            joining.records.push(context.mode(self.mode));
        }
        joining
            .problems
            .extend(context.instructions.problems.clone());
        joining.problems.extend(context.skills.problems.clone());
        (context, joining)
    }

    /// Restores the context of a resumed session from its records. This adds nothing: rules and
    /// skills that changed meanwhile take effect with the next prompt.
    pub fn resume<'a>(
        &self,
        records: impl IntoIterator<Item = &'a SessionRecord>,
    ) -> PromptContext {
        let mut context = self.context();
        let mut headers: Vec<&str> = Vec::new();
        for record in records {
            let SessionRecord::Joined { origin, text, .. } = record else {
                continue;
            };
            match origin {
                PromptOrigin::Rules { path } => {
                    context.joined.insert(path.clone());
                }
                PromptOrigin::Header => headers.push(text),
                _ => {}
            }
        }
        context.header = Header::of_texts(headers).unwrap_or_default();
        context
    }

    fn context(&self) -> PromptContext {
        let files = self.sources.files.as_ref();
        let limits = InstructionLimits::of(self.profile.context.0);
        let config = self.config.as_ref();
        PromptContext {
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
        Header::gather(self.root, self.sources.clock.wall_ms(), &self.surroundings)
    }
}

impl PromptContext {
    /// Returns the additions before a user message: changes of the environment and the mentioned
    /// items, whose contents `read` has as far as they are not files. Reads files and queries git:
    /// call it on a background thread.
    pub fn prompt(
        &mut self,
        sources: &SessionServices,
        surroundings: &SessionEnvironment,
        text: &str,
        read: MentionContents<'_>,
    ) -> PromptAdditions {
        let mut joining = PromptAdditions::default();
        let now = Header::gather(&self.root, sources.clock.wall_ms(), surroundings);
        if let Some(change) = now.change_since(&self.header) {
            joining.push(PromptPosition::BeforePrompt, PromptOrigin::Header, change);
        }
        self.header = now;
        if let Some(prompt) = PromptSource::server_prompt(text) {
            joining.join_source(&prompt, read.sources);
        }
        let mut told: BTreeSet<String> = BTreeSet::new();
        for mention in mentions(text) {
            // A repeated mention is added once.
            if told.insert(text[mention.at.clone()].to_owned()) {
                self.join_mention(&mut joining, sources, &mention, read);
            }
        }
        joining
    }

    /// Returns the additions after results that read or changed files: instructions of their
    /// folders, and rules with matching globs. Paths are relative to the root. Reads files: call it
    /// on a background thread.
    pub fn touched(&mut self, sources: &SessionServices, paths: &[String]) -> PromptAdditions {
        let mut joining = PromptAdditions::default();
        for path in paths {
            self.join_for_path(&mut joining, sources, PromptPosition::AfterResults, path);
        }
        joining
    }

    /// Returns the message to the model on a change of mode.
    pub fn mode(&self, mode: SessionMode) -> SessionRecord {
        SessionRecord::Joined {
            place: PromptPosition::BeforePrompt,
            origin: PromptOrigin::Harness,
            text: mode_text(mode, &self.tools),
        }
    }

    /// Returns the skills of the session.
    pub fn skills(&self) -> &Skills {
        &self.skills
    }

    /// Returns the instructions and rules of the session.
    pub fn instructions(&self) -> &Instructions {
        &self.instructions
    }

    fn join_instructions(&mut self, joining: &mut PromptAdditions) {
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
            joining.push(PromptPosition::System, PromptOrigin::Rules { path }, text);
        }
    }

    fn join_lists(&self, joining: &mut PromptAdditions) {
        if let Some(text) = self.instructions.offers() {
            let path = "list of rules".to_owned();
            joining.push(PromptPosition::System, PromptOrigin::Rules { path }, text);
        }
        let tool = self.tools.iter().find(|(own, _)| own == "skill");
        if let Some((_, offered)) = tool
            && let Some(text) = self.skills.list(offered)
        {
            let name = "list of skills".to_owned();
            joining.push(PromptPosition::System, PromptOrigin::Skill { name }, text);
        }
    }

    fn join_mention(
        &mut self,
        joining: &mut PromptAdditions,
        sources: &SessionServices,
        mention: &Mention,
        read: MentionContents<'_>,
    ) {
        let (what, text) = match &mention.kind {
            MentionKind::Name { name, lines } => {
                return self.join_named(joining, sources, name, *lines, read.code);
            }
            MentionKind::Diff => {
                let text = diff_text(sources, &self.root);
                ("diff".to_owned(), text.map_err(|error| error.to_string()))
            }
            MentionKind::Terminal => {
                let which = "choose one of the terminals in the list after @terminal";
                ("terminal".to_owned(), Err(which.to_owned()))
            }
            MentionKind::Codebase => {
                let found = read.code.iter().find(|found| found.name == CODEBASE);
                let text = found.map(locations_text);
                let none = "there is no code index, so @codebase has no results";
                ("codebase".to_owned(), text.ok_or_else(|| none.to_owned()))
            }
            MentionKind::Web { url } => {
                let fetch = self.tools.iter().find(|(own, _)| own == "fetch");
                let text = match fetch {
                    Some((_, tool)) => Ok(format!(
                        "The user refers to {url}: read it with `{tool}`.\n"
                    )),
                    None => Err(format!("{url} cannot be read: no web tool is available")),
                };
                (url.clone(), text)
            }
            MentionKind::Source(source) => return joining.join_source(source, read.sources),
        };
        match text {
            Ok(text) => joining.push(
                PromptPosition::BeforePrompt,
                PromptOrigin::Mention { what },
                text,
            ),
            Err(problem) => joining.problems.push(problem),
        }
    }

    /// Resolves a name as a file or folder, else a rule, else a skill, else a symbol; otherwise
    /// adds nothing.
    fn join_named(
        &mut self,
        joining: &mut PromptAdditions,
        sources: &SessionServices,
        name: &str,
        lines: Option<(u32, u32)>,
        found: &[CodeLocations],
    ) {
        let before = PromptPosition::BeforePrompt;
        let what = match lines {
            Some((first, last)) => format!("{name}:{first}-{last}"),
            None => name.to_owned(),
        };
        match path_text(sources, &self.root, name, lines, self.numbers) {
            Some(Ok(text)) => {
                self.join_for_path(joining, sources, before, name);
                return joining.push(before, PromptOrigin::Mention { what }, text);
            }
            Some(Err(error)) => return joining.problems.push(error.to_string()),
            None => {}
        }
        let rule_name = name.strip_suffix(".mdc").unwrap_or(name);
        if let Some(rule) = self.instructions.rule(rule_name) {
            // A rule mentioned by name is added again even if it was added before.
            let (path, text) = (rule.path.clone(), framed(&rule.path, &rule.text));
            self.joined.insert(path.clone());
            return joining.push(before, PromptOrigin::Rules { path }, text);
        }
        if let Some(skill) = self.skills.named(name) {
            return match skill.body(sources.files.as_ref()) {
                Ok(body) => {
                    let name = skill.name.clone();
                    let body = truncate(&body, 20_000, "SKILL.md");
                    let newline = if body.ends_with('\n') { "" } else { "\n" };
                    let text = format!("<skill name=\"{name}\">\n{body}{newline}</skill>\n");
                    joining.push(before, PromptOrigin::Skill { name }, text);
                }
                Err(error) => joining.problems.push(error.to_string()),
            };
        }
        if let Some(found) = found.iter().find(|found| found.name == name) {
            return joining.push(
                before,
                PromptOrigin::Mention { what },
                locations_text(found),
            );
        }
        if lines.is_some() || name.contains('/') {
            joining
                .problems
                .push(format!("there is no {name} in {}", self.root));
        }
    }

    fn join_for_path(
        &mut self,
        joining: &mut PromptAdditions,
        sources: &SessionServices,
        place: PromptPosition,
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
            .filter(|rule| rule.matches(path) && !self.joined.contains(&rule.path))
            .map(|rule| (rule.path.clone(), rule.text.clone()));
        let texts: Vec<(String, String)> = nested.texts.into_iter().chain(fitting).collect();
        for (path, text) in texts {
            let text = framed(&path, &text);
            self.joined.insert(path.clone());
            joining.push(place, PromptOrigin::Rules { path }, text);
        }
    }
}

impl PromptAdditions {
    /// Adds the text of a source, or the problem that it cannot be read.
    fn join_source(&mut self, source: &PromptSource, read: &[SourceText]) {
        let Some(read) = read.iter().find(|it| it.source == *source) else {
            return;
        };
        match &read.text {
            Ok(text) => self.push(
                PromptPosition::BeforePrompt,
                PromptOrigin::Mention {
                    what: source.label(),
                },
                sources::framed(source, text),
            ),
            Err(error) => self.problems.push(error.to_string()),
        }
    }

    fn push(&mut self, place: PromptPosition, origin: PromptOrigin, text: String) {
        self.records.push(SessionRecord::Joined {
            place,
            origin,
            text,
        });
    }
}

#[cfg(test)]
mod tests;
