//! The options of a session: its mode, its model, and the slash commands that a prompt can begin
//! with.

use std::collections::BTreeSet;

use agent::context::Skills;
use agent::record;
use connect::acp::protocol::{
    AgentMode, AgentModes, ConfigOption, OptionAbout, OptionValue, SlashCommand,
};

use runtime::agent_services::SelectableModel;
use runtime::models::setup::DEMO;

/// The id of the configuration option for the model.
pub(crate) const MODEL: &str = "model";
/// The id of the configuration option for the mode.
pub(crate) const MODE: &str = "mode";
/// The name of the slash command that compacts the conversation.
pub(crate) const COMPACT: &str = "compact";

const ALL: [record::SessionMode; 3] = [
    record::SessionMode::Build,
    record::SessionMode::Plan,
    record::SessionMode::Ask,
];

/// Returns the protocol's id of a mode.
pub(crate) fn mode_id(mode: record::SessionMode) -> &'static str {
    match mode {
        record::SessionMode::Build => "build",
        record::SessionMode::Plan => "plan",
        record::SessionMode::Ask => "ask",
    }
}

/// Returns the mode with this id of the protocol, or `None` if the id is unknown.
pub(crate) fn mode_named(id: &str) -> Option<record::SessionMode> {
    ALL.into_iter().find(|mode| mode_id(*mode) == id)
}

/// Returns all modes, with `now` as the current one.
pub(crate) fn modes(now: record::SessionMode) -> AgentModes {
    AgentModes {
        all: ALL.map(mode_value).to_vec(),
        now: mode_id(now).to_owned(),
    }
}

fn mode_value(mode: record::SessionMode) -> AgentMode {
    let (name, description) = match mode {
        record::SessionMode::Build => ("Build", "Carries out the task."),
        record::SessionMode::Plan => ("Plan", "Looks and writes a plan; changes nothing else."),
        record::SessionMode::Ask => ("Ask", "Answers questions; changes nothing."),
    };
    value(mode_id(mode), name, description)
}

fn value(id: &str, name: &str, description: &str) -> AgentMode {
    AgentMode {
        id: id.to_owned(),
        name: name.to_owned(),
        description: (!description.is_empty()).then(|| description.to_owned()),
    }
}

/// Returns all options of a session with their current values.
pub(crate) fn options(
    models: &[SelectableModel],
    model: &str,
    mode: record::SessionMode,
) -> Vec<ConfigOption> {
    let option = |id: &str, name: &str, about, now: &str, all| ConfigOption {
        id: id.to_owned(),
        name: name.to_owned(),
        description: None,
        about,
        value: OptionValue::One {
            now: now.to_owned(),
            all,
        },
    };
    let modes = ALL.map(mode_value).to_vec();
    let all = model_values(models, model);
    vec![
        option(MODE, "Mode", OptionAbout::Mode, mode_id(mode), modes),
        option(MODEL, "Model", OptionAbout::Model, model, all),
    ]
}

/// Returns the models that can be chosen, always including the current one.
fn model_values(models: &[SelectableModel], now: &str) -> Vec<AgentMode> {
    let mut all = vec![value("auto", "Auto", "The router chooses for each task.")];
    let mut known: BTreeSet<&str> = ["auto", DEMO].into();
    for model in models {
        if known.insert(&model.id) {
            let description = match (model.is_local, model.has_tools) {
                (true, true) => "Runs on this machine.",
                (false, true) => "",
                (true, false) => "Runs on this machine; may be unable to call tools.",
                (false, false) => "May be unable to call tools.",
            };
            all.push(value(&model.id, &model.id, description));
        }
    }
    let script = "A script for a sample project; needs no key.";
    all.push(value(DEMO, "Demo", script));
    if !known.contains(now) {
        all.insert(0, value(now, now, ""));
    }
    all
}

/// Returns the slash commands of a session's prompts: compaction, the modes, and one for each
/// skill.
pub(crate) fn commands(skills: &Skills) -> Vec<SlashCommand> {
    let command = |name: &str, description: &str, hint: Option<&str>| SlashCommand {
        name: name.to_owned(),
        description: description.to_owned(),
        hint: hint.map(str::to_owned),
    };
    let mut all = vec![command(COMPACT, "Compacts the conversation.", None)];
    let modes = [
        (
            record::SessionMode::Build,
            "Switches to build mode.",
            "what to do",
        ),
        (
            record::SessionMode::Plan,
            "Goes on in plan mode.",
            "what to plan",
        ),
        (
            record::SessionMode::Ask,
            "Goes on in ask mode.",
            "what to answer",
        ),
    ];
    all.extend(modes.map(|(mode, text, hint)| command(mode_id(mode), text, Some(hint))));
    for skill in &skills.skills {
        // Built-in commands take precedence over skills.
        if all.iter().all(|known| known.name != skill.name) {
            all.push(command(
                &skill.name,
                &skill.description,
                Some("what to use it for"),
            ));
        }
    }
    all
}
