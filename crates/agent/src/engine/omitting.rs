//! Retries a refused request without the refused part, so that no image, tool or option ends a
//! session for good. An omission is recorded, stays in effect, and is reported to the model and to
//! the user.

use std::collections::BTreeSet;

use model::{Failure, FailureClass, RefusedPart, ToolSpec};

use super::session::{SessionTask, TurnStop};
use crate::record::{Omission, SessionRecord};
use crate::transcript::SentPicture;

/// Tool counts to try for a provider that reports too many tools without naming its limit.
const TOOL_LIMIT_GUESSES: [usize; 4] = [128, 64, 32, 16];
/// Maximum number of names in one sentence.
const MAX_NAMED: usize = 12;

/// Options, tools and tokens that the current model does not accept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Omitted {
    tools: BTreeSet<String>,
    most_tools: Option<usize>,
    /// Members of the request body.
    pub(super) members: BTreeSet<String>,
    /// The model's window in tokens, if it is smaller than the profile's.
    pub(super) window: Option<u64>,
}

impl Omitted {
    /// Applies the next record. A switch of models resets the omissions.
    pub(super) fn apply(&mut self, record: &SessionRecord) {
        match record {
            SessionRecord::Switched { .. } => *self = Self::default(),
            SessionRecord::Omitted { what, .. } => match what {
                Omission::Tool { name } => {
                    self.tools.insert(name.clone());
                }
                Omission::ToolsBeyond { most } => self.most_tools = Some(*most),
                Omission::Member { name } => {
                    self.members.insert(name.clone());
                }
                Omission::Beyond { window } => self.window = Some(*window),
                Omission::Image { .. }
                | Omission::Images
                | Omission::Reasoning
                | Omission::Middle { .. } => {}
            },
            _ => {}
        }
    }

    /// Removes the tools that the model refused, and those beyond the number that it accepts.
    pub(super) fn filter(&self, specs: &mut Vec<(String, ToolSpec)>) {
        specs.retain(|(_, spec)| !self.tools.contains(&spec.name));
        if let Some(most) = self.most_tools {
            specs.truncate(most);
        }
    }
}

/// An omission: the part, the replacement text for the model, and the message for the user.
struct RequestOmission {
    what: Omission,
    text: String,
    sentence: String,
}

impl SessionTask {
    /// Omits what the provider refused. Returns whether there was anything to omit, so that a retry
    /// may succeed.
    pub(super) async fn omit_refused(&mut self, failure: &Failure) -> Result<bool, TurnStop> {
        let left = self.refused_parts(failure);
        self.omit(left).await
    }

    /// Records the omissions with a note for each, and updates the offered tools. Returns whether
    /// there were any; fails if they cannot be written.
    async fn omit(&mut self, left: Vec<RequestOmission>) -> Result<bool, TurnStop> {
        if left.is_empty() {
            return Ok(false);
        }
        let mut records = Vec::with_capacity(left.len() * 2);
        for RequestOmission {
            what,
            text,
            sentence,
        } in left
        {
            records.push(SessionRecord::Omitted { what, text });
            records.push(SessionRecord::Noted { text: sentence });
        }
        self.write(records).await?;
        self.update_tools();
        Ok(true)
    }

    fn refused_parts(&self, failure: &Failure) -> Vec<RequestOmission> {
        let said = &failure.message;
        match &failure.part {
            Some(RefusedPart::Image { is_any: true, .. }) => self.omit_all_pictures(said),
            Some(RefusedPart::Image { named, .. }) => {
                let pictures = self.transcript.pictures();
                let is_named = |it: &&SentPicture| named.contains(&it.bytes);
                let found: Vec<&SentPicture> = pictures.iter().filter(is_named).collect();
                if found.is_empty() {
                    suspect(&pictures).into_iter().collect()
                } else {
                    found
                }
                .into_iter()
                .map(|picture| picture_omission(picture, said))
                .collect()
            }
            Some(RefusedPart::Tool { name }) => self.refused_tools(name.as_deref(), said),
            Some(RefusedPart::ToolCount { most }) => self.too_many_tools(*most, said),
            Some(RefusedPart::Reasoning) => self.refused_thoughts(said),
            Some(RefusedPart::Member { name }) => self.refused_option(name, said),
            None => self.guess_refused_picture(failure),
        }
    }

    fn omit_all_pictures(&self, said: &str) -> Vec<RequestOmission> {
        if self.transcript.pictures().is_empty() {
            return Vec::new();
        }
        vec![RequestOmission {
            what: Omission::Images,
            text: "[An image was omitted here: this model does not accept images.]".to_owned(),
            sentence: format!(
                "The images of this conversation are omitted from here on. The provider refused them: {said}"
            ),
        }]
    }

    fn refused_tools(&self, name: Option<&str>, said: &str) -> Vec<RequestOmission> {
        let offered = self.offered.specs.iter();
        let is_refused = |own: &str, offered: &str| match name {
            Some(name) => offered == name,
            // Our own schemas are known to be valid; those of MCP servers are not.
            None => own.starts_with("mcp__"),
        };
        let refused = offered.filter(|(own, spec)| is_refused(own, &spec.name));
        let left = refused.map(|(_, spec)| RequestOmission {
            what: Omission::Tool {
                name: spec.name.clone(),
            },
            text: String::new(),
            sentence: format!(
                "The tool {} is omitted from here on. The provider refused it: {said}",
                spec.name
            ),
        });
        left.collect()
    }

    fn too_many_tools(&self, most: Option<usize>, said: &str) -> Vec<RequestOmission> {
        let count = self.offered.specs.len();
        let fewer = || TOOL_LIMIT_GUESSES.into_iter().find(|most| *most < count);
        let Some(most) = most.filter(|most| *most < count).or_else(fewer) else {
            return Vec::new();
        };
        let beyond = self.offered.specs[most..].iter();
        let names: Vec<&str> = beyond.map(|(_, spec)| spec.name.as_str()).collect();
        vec![RequestOmission {
            what: Omission::ToolsBeyond { most },
            text: String::new(),
            sentence: format!(
                "{} of {count} tools are omitted from here on, since the model accepts {most}: {}. Fewer MCP servers \
                 free more space. The provider said: {said}",
                names.len(),
                join_names(&names)
            ),
        }]
    }

    fn refused_thoughts(&self, said: &str) -> Vec<RequestOmission> {
        if !self.transcript.has_thoughts() {
            return Vec::new();
        }
        vec![RequestOmission {
            what: Omission::Reasoning,
            text: String::new(),
            sentence: format!(
                "The model's earlier thinking is omitted from here on. The provider refused them: {said}"
            ),
        }]
    }

    fn refused_option(&self, name: &str, said: &str) -> Vec<RequestOmission> {
        if self.omitted.members.contains(name) {
            return Vec::new();
        }
        vec![RequestOmission {
            what: Omission::Member {
                name: name.to_owned(),
            },
            text: String::new(),
            sentence: format!(
                "The option {name} is not sent from here on. The provider refused it: {said}"
            ),
        }]
    }

    /// Guesses the cause of a refusal that names no part: an image added since the last response is
    /// the only part that no provider has accepted yet and that is dispensable.
    fn guess_refused_picture(&self, failure: &Failure) -> Vec<RequestOmission> {
        let is_about_body = matches!(failure.status, Some(400 | 413 | 415 | 422));
        if failure.class != FailureClass::InvalidRequest || !is_about_body {
            return Vec::new();
        }
        let pictures = self.transcript.pictures();
        let newest = pictures.iter().rev().find(|picture| picture.is_new);
        let left = newest.map(|picture| picture_omission(picture, &failure.message));
        left.into_iter().collect()
    }

    /// Omits every image that was sent, as the last means against a conversation that is too long.
    /// `why` is recorded. Returns whether there was any.
    pub(super) async fn omit_pictures(&mut self, why: &str) -> Result<bool, TurnStop> {
        let pictures = self.transcript.pictures();
        let left = pictures
            .iter()
            .map(|picture| picture_omission(picture, why));
        let left = left.collect();
        self.omit(left).await
    }
}

/// Returns the image that is most likely the refused one: the newest.
fn suspect(pictures: &[SentPicture]) -> Option<&SentPicture> {
    let newest = pictures.iter().rev().find(|picture| picture.is_new);
    newest.or_else(|| pictures.last())
}

fn picture_omission(picture: &SentPicture, said: &str) -> RequestOmission {
    let name = &picture.name;
    RequestOmission {
        what: Omission::Image {
            hash: picture.hash.clone(),
        },
        text: format!("[The {name} was omitted: the provider refused it.]"),
        sentence: format!("The {name} is omitted from here on. The provider refused it: {said}"),
    }
}

/// Joins names in a sentence; of many, only the first ones.
fn join_names(names: &[&str]) -> String {
    match names.len().checked_sub(MAX_NAMED) {
        Some(more @ 1..) => format!("{} and {more} more", names[..MAX_NAMED].join(", ")),
        _ => names.join(", "),
    }
}
