//! The options and commands that an external agent offers, as stored.

use serde::{Deserialize, Serialize};

/// An option of an external agent, such as its mode, its model or its effort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentOption {
    /// The id of the option.
    pub id: String,
    /// The name for display.
    pub name: String,
    /// The subject of the option.
    #[serde(default)]
    pub kind: AgentOptionKind,
    /// The id of the current value.
    pub now: String,
    /// The possible values.
    pub values: Vec<AgentOptionValue>,
}

/// The subject of an option of an external agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentOptionKind {
    /// The model that answers.
    Model,
    /// The mode in which the agent works.
    Mode,
    /// The effort of the model's reasoning.
    Effort,
    /// Any other subject.
    #[default]
    Other,
}

/// A value of an option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentOptionValue {
    /// The id of the value.
    pub id: String,
    /// The name for display.
    pub name: String,
    /// The explanation of the value; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
}

/// A command of an external agent, written `/name` at the start of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentCommandName {
    /// The name, without the slash.
    pub name: String,
    /// The purpose of the command.
    pub about: String,
}
