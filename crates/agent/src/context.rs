//! What a prompt consists of, besides the conversation: packs, instructions, skills, the header, mentions.
//!
//! Knows: files through `host`, the state of the repository through `git`. Must not know: models' wires, turns.
//! Invariant: what was joined to a prompt is never changed; what changes later is joined behind it.
//! Invariant: text of the project becomes part of a prompt by itself only where the person trusts the project.
//! Invariant: every text that joins says where it comes from.
//! Start at `Opening::begin`, which makes the beginning of a session and the `Context` that goes on with it.

mod attach;
mod front;
mod globs;
mod guides;
mod header;
mod instructions;
mod mentions;
mod opening;
mod pack;
mod project;
mod reading;
mod skill_tool;
mod skills;

pub use attach::{Found, symbols};
pub use guides::guides;
pub use header::{Header, OpenFiles, Surroundings, date};
pub use instructions::{Instructions, Rule, RuleUse};
pub use mentions::{Mention, MentionKind, mentions};
pub use opening::{Context, Joining, Opening, Trust};
pub use pack::{Pack, Post, mode_text, summary_prompt};
pub use project::{ProjectContexts, SurroundingsOf};
pub use skill_tool::SkillTool;
pub use skills::{Skill, Skills};
