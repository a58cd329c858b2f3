//! A provider that refuses a part of a request is asked again without it, so that no picture, tool or option ends a
//! session for good. What is left out is written down, stays out, and is named to the model and to the person.

use std::collections::BTreeSet;

use model::{Failure, FailureClass, RefusedPart, ToolSpec};

use super::session::{Halt, Session};
use crate::record::{Omission, Record};
use crate::transcript::SentPicture;

/// Tools that a provider takes that says there are too many and not how many it takes.
const MANY_TOOLS: [usize; 4] = [128, 64, 32, 16];
/// Names that one sentence lists.
const NAMED: usize = 12;

/// What the model that is asked does not take, beside parts of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Omitted {
    tools: BTreeSet<String>,
    most_tools: Option<usize>,
    /// Members of the body.
    pub(super) members: BTreeSet<String>,
    /// The model's window in tokens, where it is smaller than its profile says.
    pub(super) window: Option<u64>,
}

impl Omitted {
    /// Takes the next record. Another model may take what the one before did not.
    pub(super) fn apply(&mut self, record: &Record) {
        match record {
            Record::Switched { .. } => *self = Self::default(),
            Record::Omitted { what, .. } => match what {
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

    /// Takes the tools out that are not offered.
    pub(super) fn filter(&self, specs: &mut Vec<(String, ToolSpec)>) {
        specs.retain(|(_, spec)| !self.tools.contains(&spec.name));
        if let Some(most) = self.most_tools {
            specs.truncate(most);
        }
    }
}

/// Something to be left out: what, what the model reads in its place, and the sentence for the person.
struct Left {
    what: Omission,
    text: String,
    sentence: String,
}

impl Session {
    /// Leaves out what the provider refused. Whether there was anything to leave out, so that asking again may help.
    pub(super) async fn omit_refused(&mut self, failure: &Failure) -> Result<bool, Halt> {
        let left = self.refused_parts(failure);
        self.omit(left).await
    }

    async fn omit(&mut self, left: Vec<Left>) -> Result<bool, Halt> {
        if left.is_empty() {
            return Ok(false);
        }
        let mut records = Vec::with_capacity(left.len() * 2);
        for Left {
            what,
            text,
            sentence,
        } in left
        {
            records.push(Record::Omitted { what, text });
            records.push(Record::Noted { text: sentence });
        }
        self.write(records).await?;
        self.offer();
        Ok(true)
    }

    fn refused_parts(&self, failure: &Failure) -> Vec<Left> {
        let said = &failure.message;
        match &failure.part {
            Some(RefusedPart::Image { is_any: true, .. }) => self.every_picture(said),
            Some(RefusedPart::Image { named, .. }) => {
                let pictures = self.transcript.pictures();
                let is_named = |it: &&SentPicture| named.contains(&it.bytes);
                let found: Vec<&SentPicture> = pictures.iter().filter(is_named).collect();
                match found.is_empty() {
                    true => suspect(&pictures).into_iter().collect(),
                    false => found,
                }
                .into_iter()
                .map(|picture| left_picture(picture, said))
                .collect()
            }
            Some(RefusedPart::Tool { name }) => self.refused_tools(name.as_deref(), said),
            Some(RefusedPart::ToolCount { most }) => self.too_many_tools(*most, said),
            Some(RefusedPart::Reasoning) => self.thoughts(said),
            Some(RefusedPart::Member { name }) => self.member(name, said),
            None => self.unnamed(failure),
        }
    }

    fn every_picture(&self, said: &str) -> Vec<Left> {
        if self.transcript.pictures().is_empty() {
            return Vec::new();
        }
        vec![Left {
            what: Omission::Images,
            text: "[A picture was left out here: this model does not see pictures.]".to_owned(),
            sentence: format!(
                "The pictures of this conversation are left out from here on. The provider refused them: {said}"
            ),
        }]
    }

    fn refused_tools(&self, name: Option<&str>, said: &str) -> Vec<Left> {
        let offered = self.offered.specs.iter();
        let is_refused = |own: &str, offered: &str| match name {
            Some(name) => offered == name,
            // Our own schemas are known to be taken; those of servers are not.
            None => own.starts_with("mcp__"),
        };
        let refused = offered.filter(|(own, spec)| is_refused(own, &spec.name));
        let left = refused.map(|(_, spec)| Left {
            what: Omission::Tool {
                name: spec.name.clone(),
            },
            text: String::new(),
            sentence: format!(
                "The tool {} is left out from here on. The provider refused it: {said}",
                spec.name
            ),
        });
        left.collect()
    }

    fn too_many_tools(&self, most: Option<usize>, said: &str) -> Vec<Left> {
        let count = self.offered.specs.len();
        let fewer = || MANY_TOOLS.into_iter().find(|most| *most < count);
        let Some(most) = most.filter(|most| *most < count).or_else(fewer) else {
            return Vec::new();
        };
        let beyond = self.offered.specs[most..].iter();
        let names: Vec<&str> = beyond.map(|(_, spec)| spec.name.as_str()).collect();
        vec![Left {
            what: Omission::ToolsBeyond { most },
            text: String::new(),
            sentence: format!(
                "{} of {count} tools are left out from here on, since the model takes {most}: {}. Fewer MCP servers \
                 leave more room. The provider said: {said}",
                names.len(),
                listed(&names)
            ),
        }]
    }

    fn thoughts(&self, said: &str) -> Vec<Left> {
        if !self.transcript.has_thoughts() {
            return Vec::new();
        }
        vec![Left {
            what: Omission::Reasoning,
            text: String::new(),
            sentence: format!(
                "The model's earlier thoughts are left out from here on. The provider refused them: {said}"
            ),
        }]
    }

    fn member(&self, name: &str, said: &str) -> Vec<Left> {
        if self.omitted.members.contains(name) {
            return Vec::new();
        }
        vec![Left {
            what: Omission::Member {
                name: name.to_owned(),
            },
            text: String::new(),
            sentence: format!(
                "The option {name} is not sent from here on. The provider refused it: {said}"
            ),
        }]
    }

    /// A refusal that names no part: a picture that came since the last answer is the only part that no provider
    /// has taken yet and that a conversation can do without.
    fn unnamed(&self, failure: &Failure) -> Vec<Left> {
        let is_about_body = matches!(failure.status, Some(400 | 413 | 415 | 422));
        if failure.class != FailureClass::InvalidRequest || !is_about_body {
            return Vec::new();
        }
        let pictures = self.transcript.pictures();
        let newest = pictures.iter().rev().find(|picture| picture.is_new);
        let left = newest.map(|picture| left_picture(picture, &failure.message));
        left.into_iter().collect()
    }

    /// Leaves every picture out, where one was sent: what a conversation that is too long can miss last.
    pub(super) async fn omit_pictures(&mut self, why: &str) -> Result<bool, Halt> {
        let pictures = self.transcript.pictures();
        let left = pictures.iter().map(|picture| left_picture(picture, why));
        let left = left.collect();
        self.omit(left).await
    }
}

/// The picture that is most likely the refused one: the newest.
fn suspect(pictures: &[SentPicture]) -> Option<&SentPicture> {
    let newest = pictures.iter().rev().find(|picture| picture.is_new);
    newest.or_else(|| pictures.last())
}

fn left_picture(picture: &SentPicture, said: &str) -> Left {
    let name = &picture.name;
    Left {
        what: Omission::Image {
            hash: picture.hash.clone(),
        },
        text: format!("[The {name} was left out: the provider refused it.]"),
        sentence: format!("The {name} is left out from here on. The provider refused it: {said}"),
    }
}

/// Names in a sentence; of many, the first.
fn listed(names: &[&str]) -> String {
    match names.len().checked_sub(NAMED) {
        Some(more @ 1..) => format!("{} and {more} more", names[..NAMED].join(", ")),
        _ => names.join(", "),
    }
}
