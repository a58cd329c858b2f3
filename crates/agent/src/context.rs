//! The prompt besides the conversation: packs, instructions, skills, the environment header,
//! mentions.
//!
//! Knows: files through `host`, the state of the repository through `git`. Must not know: wire
//! formats, turns.
//! Invariant: text added to a prompt never changes; later changes are appended.
//! Invariant: project text is added automatically only if the user trusts the project.
//! Invariant: every added text names its origin.
//! Start at `SessionOpening::begin`, which builds the start of a session and the `PromptContext` that
//! continues it.

mod attach;
mod front_matter;
mod guides;
mod header;
mod instructions;
mod mentions;
mod opening;
mod pack;
mod project;
mod reading;
mod session_excerpt;
mod skill_tool;
mod skills;
mod sources;

pub use attach::{CodeLocations, symbols};
pub use guides::{NamedContext, guides, named_context};
pub use header::{Header, OpenFiles, SessionEnvironment, ShownProblems, date};
pub use instructions::{Instructions, ProjectRule, RuleUse};
pub use mentions::{Mention, MentionKind, mentions};
pub use opening::{
    MentionContents, PromptAdditions, PromptContext, SessionOpening, TrustedFolders,
};
pub use pack::{AgentRole, PromptPack, mode_text, summary_prompt};
pub use project::{EnvironmentProvider, ProjectContexts};
pub use session_excerpt::session_excerpt;
pub use skill_tool::SkillTool;
pub use skills::{Skill, Skills};
