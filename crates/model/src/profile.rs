//! How each model wants to be spoken to, as data: adding a model needs no code.
//!
//! Knows: `assets/models/profiles.json` and the person's overrides as text. Must not know: where they lie.
//! Invariant: every field of a profile is set, by the entry `*` if by no other; what nobody knows of a model is
//! what harms least.
//!
//! The file holds `profiles`, a list of entries from the general to the special. An entry has `match`, a list of
//! patterns over `provider/model` where `*` stands for anything and capitals do not count, and any fields of
//! `Profile`. A model's profile is laid in this order, the later winning field by field: the entry `*`, what the
//! price table knows, the other entries that match, the person's entries that match.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Effort, ModelFacts, ModelId, TokenCount};

/// All profiles, ready to be laid over one another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profiles {
    entries: Vec<Entry>,
    /// The person's, which lie above everything else, the table included.
    own: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    patterns: Vec<String>,
    fields: Map<String, Value>,
}

/// How to speak to one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// How good it is at hard work.
    pub tier: Tier,
    /// Whether it calls tools. Where nobody knows, a person may choose it for an agent, but `auto` does not.
    pub tools: Option<bool>,
    /// Whether it sees pictures.
    pub vision: Option<bool>,
    /// The most bytes that a picture may have in base64, as it is sent.
    pub image_bytes: u64,
    /// The most pixels that a picture may have along each side.
    pub image_side: u32,
    /// Whether its provider has named the day on which it is withdrawn. A person may choose it; `auto` does not.
    pub deprecated: bool,
    /// The tokens that prompt and answer may have together.
    pub context: TokenCount,
    /// The most that it writes in one answer.
    pub max_output: TokenCount,
    /// With which tool it edits files.
    pub edit: EditTool,
    /// How lines are numbered in what it reads.
    pub line_numbers: LineNumbers,
    /// The words of tools' names.
    pub tool_names: ToolNames,
    /// Which set of prompts it gets.
    pub prompt_pack: String,
    /// What its provider's schemas cannot say.
    pub schema_quirks: Vec<SchemaQuirk>,
    /// Several calls in one message.
    pub parallel: ParallelTools,
    /// Whether it can be made to call a tool.
    pub forced_tool: bool,
    /// What to send for how hard to think; empty where nothing may be sent.
    pub efforts: BTreeMap<Effort, EffortSetting>,
    /// Whether it thinks as long as it sees fit, instead of within a budget.
    pub adaptive_thinking: bool,
    /// Which of its thoughts go back to it.
    pub replay: ReasoningReplay,
    /// Whether temperature and the like may be sent.
    pub sampling: bool,
    /// Whether the beginning of an answer may be given.
    pub prefill: bool,
    /// Whether system messages may come in the middle of a conversation.
    pub mid_system: bool,
    /// How its prompts are cached.
    pub cache: CacheStyle,
    /// The fewest tokens that a cached prefix may have.
    pub cache_min: TokenCount,
    /// How a gap is to be filled, if it can.
    pub fim: Option<FimFormat>,
    /// How the next edit is asked for, if it can be.
    pub next_edit: Option<NextEditFormat>,
}

/// How good a model is, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Titles, summaries, classification.
    Small,
    /// Simple steps, quickly.
    Fast,
    /// Everyday work.
    Standard,
    /// Planning and hard problems.
    Strong,
}

/// With which tool a model edits files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditTool {
    /// One text replaced by another.
    StrReplace,
    /// Patches of the `*** Begin Patch` kind.
    ApplyPatch,
    /// Lines named by number and hash.
    Hashline,
    /// SEARCH/REPLACE blocks in its text, for models that call no tools well.
    SearchReplace,
    /// The whole file again.
    WholeFile,
}

/// How lines are numbered in what a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineNumbers {
    /// Not at all.
    None,
    /// The number, right-aligned, and a tab.
    Tab,
    /// `L12: text`.
    Label,
    /// `12#ab:text`, the hash being the line's.
    Hash,
}

/// The words of tools' names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolNames {
    /// `read_file`.
    Snake,
    /// `Read`, `Edit`, `Bash`.
    Pascal,
}

/// What a provider's schemas cannot say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaQuirk {
    /// No `$ref`: definitions are written out.
    InlineRefs,
    /// No `anyOf` and `oneOf`: the first alternative is offered.
    NoAnyOf,
    /// No `format`, `pattern` and bounds: they go into the description.
    NoFormat,
    /// Every property is required, optional ones may be null; nothing additional.
    Strict,
    /// No `additionalProperties`.
    NoAdditionalProperties,
    /// No `default`.
    NoDefault,
}

/// Several calls in one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParallelTools {
    /// Not asked for: it mixes them up.
    Never,
    /// It does so by itself.
    Allowed,
    /// It does so when the prompt asks for it.
    Hinted,
}

/// Which of its thoughts go back to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningReplay {
    /// None.
    Never,
    /// Those since the last message of the person, while it calls tools.
    SameTurn,
    /// All of them.
    Always,
}

/// How prompts are cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheStyle {
    /// Not that anyone knows.
    None,
    /// The provider does it by itself.
    Automatic,
    /// The request marks where cached prefixes end.
    Breakpoints,
}

/// What to send for an effort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EffortSetting {
    /// A word of the wire.
    Word(String),
    /// Tokens to think with; zero turns thinking off.
    Budget(u64),
}

/// How a gap is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "each is named for the family that brought it up"
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

/// How the next edit is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "each is named for the model that brought it up"
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
    /// Reads `profiles.json` or the person's overrides of the same form. An entry that cannot be read is left
    /// out and named among the problems; so is a field that no profile has.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let file: File = match serde_json::from_str(text) {
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

    /// Lays the person's entries above these.
    pub fn overlaid(mut self, own: Self) -> Self {
        self.own.extend(own.entries);
        self.own.extend(own.own);
        self
    }

    /// A model's profile. `facts` are what the price table, or a local server, says of it.
    pub fn resolve(&self, model: &ModelId, facts: Option<&ModelFacts>) -> Profile {
        let name = model.to_string().to_lowercase();
        let mut fields = harmless();
        let (general, special): (Vec<_>, Vec<_>) =
            self.entries.iter().partition(|entry| entry.is_general());
        for entry in general {
            fields.extend(entry.fields.clone());
        }
        if let Some(facts) = facts {
            fields.extend(known(facts));
        }
        let above = special.into_iter().chain(&self.own);
        for entry in above.filter(|entry| entry.matches(&name)) {
            fields.extend(entry.fields.clone());
        }
        // Every field was read once when its entry was, and `harmless` has them all.
        serde_json::from_value(Value::Object(fields)).unwrap_or_else(|error| {
            base::never!("a profile of known fields cannot be read: {error}");
            Profile::harmless()
        })
    }
}

impl Profile {
    /// What harms least, for a model that nobody knows: short, without tools, without anything optional.
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
            mid_system: false,
            cache: CacheStyle::None,
            cache_min: TokenCount(0),
            fim: None,
            next_edit: None,
        }
    }

    /// What to send for an effort: its own setting, or that of the nearest lower one, or of the lowest.
    pub fn effort(&self, effort: Effort) -> Option<&EffortSetting> {
        let lower = self.efforts.range(..=effort).next_back();
        lower
            .or_else(|| self.efforts.iter().next())
            .map(|(_, setting)| setting)
    }
}

impl Entry {
    fn is_general(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern == "*")
    }

    fn matches(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| matches(pattern, name))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    profiles: Vec<Value>,
}

/// Checks an entry by laying it over a whole profile, so that a mistake is found when it is read.
fn entry(value: Value) -> serde_json::Result<Entry> {
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
    Ok(Entry {
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

/// What a table's row says about fields of a profile.
fn known(facts: &ModelFacts) -> Map<String, Value> {
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

/// Our name for a provider's word. Two words above `high` are both called `max`; the later, higher one wins.
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

/// `*` stands for any run of characters, slashes included. Time is linear in the name for each star.
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
