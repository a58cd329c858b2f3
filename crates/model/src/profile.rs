//! Model profiles as data: supporting a new model needs no code.
//!
//! Knows: `assets/models/profiles.json` and the user's overrides as text. Must not know: where they
//! are.
//! Invariant: every field of a profile is set, by the entry `*` if by no other; defaults for
//! unknown models are conservative.
//!
//! The file contains `profiles`, a list of entries from general to specific. An entry has `match`,
//! a list of case-insensitive patterns over `provider/model` where `*` matches anything, and any
//! fields of `Profile`. A model's profile is built in this order, later ones overriding field by
//! field: the entry `*`, the facts of the price table, the other matching entries, the user's
//! matching entries.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Effort, ModelFacts, ModelId, TokenCount};

/// All profile entries, in override order: shipped entries, then the user's own. `resolve` combines
/// the entries that match a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profiles {
    entries: Vec<ProfileEntry>,
    /// The user's entries, which override everything else, the table included.
    own: Vec<ProfileEntry>,
}

#[derive(Clone, Debug, PartialEq)]
struct ProfileEntry {
    patterns: Vec<String>,
    fields: Map<String, Value>,
}

/// Capabilities and conventions of one model: strength, limits, the tool with which it edits, and
/// the optional features that requests may use. Made by `Profiles::resolve`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Strength of the model at hard work.
    pub tier: Tier,
    /// Whether the model supports tool calls. If unknown, users may choose it for an agent, but
    /// `auto` does not.
    pub tools: Option<bool>,
    /// Whether the model accepts images.
    pub vision: Option<bool>,
    /// Maximum size of an image in bytes, base64-encoded as it is sent.
    pub image_bytes: u64,
    /// Maximum width and height of an image in pixels.
    pub image_side: u32,
    /// Whether its provider has announced its withdrawal. Users may choose it; `auto` does not.
    pub deprecated: bool,
    /// Maximum tokens of prompt and answer together.
    pub context: TokenCount,
    /// Maximum output tokens of one answer.
    pub max_output: TokenCount,
    /// The tool with which it edits files.
    pub edit: EditTool,
    /// Format of line numbers in files that it reads.
    pub line_numbers: LineNumbers,
    /// Naming style of tools.
    pub tool_names: ToolNames,
    /// Name of the prompt pack.
    pub prompt_pack: String,
    /// Limits of its provider's JSON schemas.
    pub schema_quirks: Vec<SchemaQuirk>,
    /// Support for several calls in one message.
    pub parallel: ParallelTools,
    /// Whether a tool call can be forced.
    pub forced_tool: bool,
    /// Wire value for each reasoning effort; empty if none may be sent.
    pub efforts: BTreeMap<Effort, EffortSetting>,
    /// Whether it chooses its reasoning length, instead of following a budget.
    pub adaptive_thinking: bool,
    /// The part of its reasoning that is sent back to it.
    pub replay: ReasoningReplay,
    /// Whether sampling parameters such as temperature may be sent.
    pub sampling: bool,
    /// Whether the start of the answer may be prefilled.
    pub prefill: bool,
    /// Whether it verifies a predicted answer instead of generating the same text.
    pub predicted_output: bool,
    /// Whether system messages may occur within a conversation.
    pub mid_system: bool,
    /// Caching method for its prompts.
    pub cache: CacheStyle,
    /// Minimum tokens of a cached prefix.
    pub cache_min: TokenCount,
    /// Fill-in-the-middle method, if supported.
    pub fim: Option<FimFormat>,
    /// Next-edit prompt format, if supported.
    pub next_edit: Option<NextEditFormat>,
}

/// Strength of a model, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// For titles, summaries, classification.
    Small,
    /// Simple steps, answered quickly.
    Fast,
    /// Everyday work in code.
    Standard,
    /// Planning and hard problems.
    Strong,
}

/// The tool with which a model edits files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditTool {
    /// Replaces one text by another.
    StrReplace,
    /// Patches in the `*** Begin Patch` format.
    ApplyPatch,
    /// Lines addressed by number and hash.
    Hashline,
    /// SEARCH/REPLACE blocks in its text, for models with poor tool calls.
    SearchReplace,
    /// Rewrites the whole file.
    WholeFile,
}

/// Format of line numbers in files that a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineNumbers {
    /// Lines are not numbered.
    None,
    /// The number, right-aligned, and a tab.
    Tab,
    /// The format `L12: text`.
    Label,
    /// The format `12#ab:text`, with the line's hash.
    Hash,
}

/// Naming style of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolNames {
    /// Snake case, such as `read_file`.
    Snake,
    /// Single capitalized words: `Read`, `Edit`, `Bash`.
    Pascal,
}

/// A limit of a provider's JSON schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaQuirk {
    /// No `$ref`: definitions are inlined.
    InlineRefs,
    /// No `anyOf` and `oneOf`: only the first alternative is offered.
    NoAnyOf,
    /// No `format`, `pattern` and bounds: they move to the description.
    NoFormat,
    /// Every property is required, optional ones are nullable, and none may be added.
    Strict,
    /// The keyword `additionalProperties` is rejected.
    NoAdditionalProperties,
    /// The keyword `default` is rejected.
    NoDefault,
}

/// Support for several calls in one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParallelTools {
    /// Not requested, since the model confuses parallel calls.
    Never,
    /// Makes parallel calls without a hint.
    Allowed,
    /// Makes parallel calls if the prompt asks for them.
    Hinted,
}

/// The part of a model's reasoning that is sent back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningReplay {
    /// No reasoning is sent back.
    Never,
    /// Reasoning since the user's last message, while tools are called.
    SameTurn,
    /// All reasoning is sent back.
    Always,
}

/// Caching method for prompts: none, automatic, or by marks in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheStyle {
    /// No known prompt caching.
    None,
    /// The provider caches automatically.
    Automatic,
    /// The request marks the ends of cached prefixes.
    Breakpoints,
}

/// Wire value of a reasoning effort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EffortSetting {
    /// A keyword of the wire format.
    Word(String),
    /// Reasoning budget in tokens; zero disables reasoning.
    Budget(u64),
}

/// Format in which a model takes fill-in-the-middle requests: an endpoint of the provider, or the
/// control tokens of a model family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "each is named after the model family that introduced it"
)]
pub enum FimFormat {
    /// The provider has an endpoint that takes prefix and suffix.
    Endpoint,
    Qwen,
    Starcoder,
    CodeLlama,
    DeepseekCoder,
    Codestral,
    Glm,
    Granite,
    Mellum,
}

/// Prompt format of a model that predicts the next edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "each is named after the model that introduced it"
)]
pub enum NextEditFormat {
    Zeta1,
    Zeta2,
    Zeta21,
    Sweep,
    Mercury,
    Instinct,
}

impl Profiles {
    /// Parses `profiles.json` or the user's overrides in the same format. Entries that cannot be
    /// read and unknown fields are skipped and reported as problems.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let file: ProfileFile = match serde_json::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                problems.push(format!("the model profiles cannot be read: {error}"));
                return (Self::default(), problems);
            }
        };
        let mut entries = Vec::new();
        for (ix, value) in file.profiles.into_iter().enumerate() {
            match entry(value) {
                Ok(entry) => entries.push(entry),
                Err(error) => problems.push(format!("model profile {}: {error}", ix + 1)),
            }
        }
        let own = Vec::new();
        (Self { entries, own }, problems)
    }

    /// Adds the user's entries `own`, which override the existing entries and the facts of the
    /// price table.
    pub fn overlaid(mut self, own: Self) -> Self {
        self.own.extend(own.entries);
        self.own.extend(own.own);
        self
    }

    /// Returns a profile with these entries on top, as an experiment changes it; `None` if no entry matches the model,
    /// which is `provider/model` or `auto`.
    pub fn adapted(&self, model: &str, profile: &Profile) -> Option<Profile> {
        let name = model.to_lowercase();
        let all = self.entries.iter().chain(&self.own);
        let matching: Vec<&ProfileEntry> = all.filter(|entry| entry.matches(&name)).collect();
        if matching.is_empty() {
            return None;
        }
        let Ok(Value::Object(mut fields)) = serde_json::to_value(profile) else {
            return None;
        };
        for entry in matching {
            fields.extend(entry.fields.clone());
        }
        serde_json::from_value(Value::Object(fields)).ok()
    }

    /// Returns a model's profile: general entries, overridden by `facts` (from the price table or a
    /// local server), then by entries whose pattern matches the model, then by the user's own
    /// entries. Always succeeds; unknown models get conservative values.
    pub fn resolve(&self, model: &ModelId, facts: Option<&ModelFacts>) -> Profile {
        let name = model.to_string().to_lowercase();
        let mut fields = harmless();
        let (general, special): (Vec<_>, Vec<_>) =
            self.entries.iter().partition(|entry| entry.is_general());
        for entry in general {
            fields.extend(entry.fields.clone());
        }
        if let Some(facts) = facts {
            fields.extend(fields_from_facts(facts));
        }
        let above = special.into_iter().chain(&self.own);
        for entry in above.filter(|entry| entry.matches(&name)) {
            fields.extend(entry.fields.clone());
        }
        // Every field was validated when its entry was parsed, and `harmless` sets them all.
        serde_json::from_value(Value::Object(fields)).unwrap_or_else(|error| {
            base::never!("a profile with validated fields cannot be parsed: {error}");
            Profile::harmless()
        })
    }
}

impl Profile {
    /// Returns the conservative profile for an unknown model: small limits, no tools, no optional
    /// features.
    pub fn harmless() -> Self {
        Self {
            tier: Tier::Small,
            tools: None,
            vision: None,
            image_bytes: 5 << 20,
            image_side: 8_000,
            deprecated: false,
            context: TokenCount(8192),
            max_output: TokenCount(2048),
            edit: EditTool::StrReplace,
            line_numbers: LineNumbers::Tab,
            tool_names: ToolNames::Snake,
            prompt_pack: "generic".to_owned(),
            schema_quirks: Vec::new(),
            parallel: ParallelTools::Never,
            forced_tool: false,
            efforts: BTreeMap::new(),
            adaptive_thinking: false,
            replay: ReasoningReplay::Never,
            sampling: false,
            prefill: false,
            predicted_output: false,
            mid_system: false,
            cache: CacheStyle::None,
            cache_min: TokenCount(0),
            fim: None,
            next_edit: None,
        }
    }

    /// Returns the wire setting for an effort: its own setting, else the setting of the next lower
    /// effort, else the lowest one. Returns `None` if the model has no effort settings.
    pub fn effort(&self, effort: Effort) -> Option<&EffortSetting> {
        let lower = self.efforts.range(..=effort).next_back();
        lower
            .or_else(|| self.efforts.iter().next())
            .map(|(_, setting)| setting)
    }
}

impl ProfileEntry {
    /// Returns whether the entry applies to every model: one of its patterns is `*`.
    fn is_general(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern == "*")
    }

    /// Returns whether one of the patterns matches `provider/model`, which is given in lower case.
    fn matches(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| matches(pattern, name))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    profiles: Vec<Value>,
}

/// Validates an entry by overlaying it on a full profile, so that errors are found at parse time.
fn entry(value: Value) -> serde_json::Result<ProfileEntry> {
    let Value::Object(mut fields) = value else {
        return Err(serde_json::Error::custom("it is not an object"));
    };
    let patterns: Vec<String> = match fields.remove("match") {
        Some(patterns) => serde_json::from_value(patterns)?,
        None => return Err(serde_json::Error::custom("it has no `match`")),
    };
    let mut whole = harmless();
    whole.extend(fields.clone());
    serde_json::from_value::<Profile>(Value::Object(whole))?;
    Ok(ProfileEntry {
        patterns: patterns
            .iter()
            .map(|pattern| pattern.to_lowercase())
            .collect(),
        fields,
    })
}

fn harmless() -> Map<String, Value> {
    match serde_json::to_value(Profile::harmless()) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Converts a table row to profile fields.
fn fields_from_facts(facts: &ModelFacts) -> Map<String, Value> {
    let row = &facts.row;
    let mut fields = Map::new();
    let flags = [
        ("tools", row.tools),
        ("vision", row.vision),
        ("sampling", row.sampling),
        ("prefill", row.prefill),
        ("mid_system", row.mid_system),
        ("forced_tool", row.forced_tool),
        ("adaptive_thinking", row.adaptive_thinking),
        ("deprecated", row.deprecated.as_ref().map(|_| true)),
    ];
    let numbers = [
        ("context", row.context),
        ("max_output", row.output),
        ("cache_min", row.cache_min),
    ];
    for (name, flag) in flags {
        if let Some(flag) = flag {
            fields.insert(name.to_owned(), flag.into());
        }
    }
    for (name, number) in numbers {
        if let Some(number) = number {
            fields.insert(name.to_owned(), number.into());
        }
    }
    let efforts = row
        .efforts
        .iter()
        .filter_map(|word| Some((effort(word)?, word.as_str())));
    let efforts: Map<String, Value> = efforts
        .map(|(effort, word)| (effort.to_owned(), word.into()))
        .collect();
    if !efforts.is_empty() {
        fields.insert("efforts".to_owned(), efforts.into());
    }
    fields
}

/// Maps a provider's effort name to ours. Two names above `high` both map to `max`; the later,
/// higher one wins.
fn effort(word: &str) -> Option<&'static str> {
    Some(match word {
        "none" => "none",
        "minimal" => "minimal",
        "low" => "low",
        "medium" => "medium",
        "high" => "high",
        "xhigh" | "max" => "max",
        _ => return None,
    })
}

/// Matches `*` against any run of characters, slashes included. Linear in the name for each star.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests;
