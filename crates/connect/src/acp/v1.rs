//! Converts between the types of version 1 and `protocol`.
//!
//! Values added to the protocol later become `None`, or the closest known value.

use agent_client_protocol::v1::schema as v1;
use agent_client_protocol::v1::schema::{
    ContentBlock, EmbeddedResourceResource, PermissionOptionKind, PlanEntryPriority,
    PlanEntryStatus, SessionConfigKind, SessionConfigOptionCategory, SessionConfigSelectOptions,
    SessionUpdate, StopReason, ToolCallContent, ToolCallStatus, ToolKind,
};

use super::protocol::{
    AgentMode, AgentModes, CallContent, CallKind, CallLocation, CallStatus, CallUpdate,
    ConfigOption, ContextUsage, MessageContent, OptionAbout, OptionChoice, OptionValue,
    PermissionChoice, PermissionChoiceKind, PlanItem, PlanState, PromptStop, SessionInfo,
    SignInMethod, SignInTerminal, SlashCommand, Update, Voice,
};

mod into;

pub(super) use into::{
    block, mode_state, option, permission_call, permission_option, session_info, set_value,
    stop_reason, update,
};

/// Converts a content block. Returns `None` for an unknown kind.
pub(super) fn from_content_block(block: ContentBlock) -> Option<MessageContent> {
    Some(match block {
        ContentBlock::Text(text) => MessageContent::Text(text.text),
        ContentBlock::Image(image) => MessageContent::Image {
            media_type: image.mime_type,
            data: image.data,
        },
        ContentBlock::Audio(audio) => MessageContent::Audio {
            media_type: audio.mime_type,
            data: audio.data,
        },
        ContentBlock::ResourceLink(link) => MessageContent::Link {
            uri: link.uri,
            name: link.title.unwrap_or(link.name),
        },
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(it) => MessageContent::Resource {
                uri: it.uri,
                text: Some(it.text),
            },
            EmbeddedResourceResource::BlobResourceContents(it) => MessageContent::Resource {
                uri: it.uri,
                text: None,
            },
            _ => return None,
        },
        _ => return None,
    })
}

/// Converts an update; `None` for unknown kinds.
pub(super) fn from_session_update(update: SessionUpdate) -> Option<Update> {
    let message = |voice, chunk: v1::ContentChunk| {
        Some(Update::Said {
            voice,
            id: chunk.message_id.map(|id| id.to_string()),
            piece: from_content_block(chunk.content)?,
        })
    };
    Some(match update {
        SessionUpdate::UserMessageChunk(chunk) => message(Voice::User, chunk)?,
        SessionUpdate::AgentMessageChunk(chunk) => message(Voice::Agent, chunk)?,
        SessionUpdate::AgentThoughtChunk(chunk) => message(Voice::Thought, chunk)?,
        SessionUpdate::ToolCall(call) => Update::Call(new_call(call)),
        SessionUpdate::ToolCallUpdate(call) => Update::Call(call_update(call)),
        SessionUpdate::Plan(plan) => {
            Update::Plan(plan.entries.into_iter().map(plan_item).collect())
        }
        SessionUpdate::AvailableCommandsUpdate(it) => {
            Update::Commands(it.available_commands.into_iter().map(command).collect())
        }
        SessionUpdate::CurrentModeUpdate(it) => Update::Mode(it.current_mode_id.to_string()),
        SessionUpdate::ConfigOptionUpdate(it) => Update::Options(options(it.config_options)),
        SessionUpdate::SessionInfoUpdate(it) => {
            if it.title.is_undefined() {
                return None;
            } else {
                Update::Title(it.title.value().cloned())
            }
        }
        SessionUpdate::UsageUpdate(it) => Update::Usage(ContextUsage {
            used: it.used,
            size: it.size,
            cost: it.cost.map(|cost| (cost.amount, cost.currency)),
        }),
        SessionUpdate::Notice(it) => Update::Notice {
            is_warning: !matches!(it.severity, v1::NoticeSeverity::Info),
            text: match it.description {
                Some(description) => format!("{}: {description}", it.title),
                None => it.title,
            },
        },
        SessionUpdate::CompactionUpdate(it) => Update::Compaction {
            id: it.compaction_id.to_string(),
            is_over: it.status != v1::CompactionStatus::InProgress,
            summary: None,
        },
        SessionUpdate::CompactionSummaryChunk(it) => Update::Compaction {
            id: it.compaction_id.to_string(),
            is_over: false,
            summary: Some(from_content_block(it.content)?.text()),
        },
        _ => return None,
    })
}

fn new_call(call: v1::ToolCall) -> CallUpdate {
    CallUpdate {
        id: call.tool_call_id.to_string(),
        title: Some(call.title),
        kind: Some(kind(call.kind)),
        state: Some(state(call.status)),
        content: (!call.content.is_empty()).then(|| contents(call.content)),
        places: (!call.locations.is_empty()).then(|| from_locations(call.locations)),
        input: call.raw_input,
        output: call.raw_output,
    }
}

/// Converts the state of a tool call.
pub(super) fn call_update(call: v1::ToolCallUpdate) -> CallUpdate {
    let fields = call.fields;
    CallUpdate {
        id: call.tool_call_id.to_string(),
        title: fields.title,
        kind: fields.kind.map(kind),
        state: fields.status.map(state),
        content: fields.content.map(contents),
        places: fields.locations.map(from_locations),
        input: fields.raw_input,
        output: fields.raw_output,
    }
}

fn contents(all: Vec<ToolCallContent>) -> Vec<CallContent> {
    let one = |content| {
        Some(match content {
            ToolCallContent::Content(it) => CallContent::Piece(from_content_block(it.content)?),
            ToolCallContent::Diff(it) => CallContent::Diff {
                path: it.path,
                old: it.old_text,
                new: it.new_text,
            },
            ToolCallContent::Terminal(it) => CallContent::Terminal(it.terminal_id.to_string()),
            _ => return None,
        })
    };
    all.into_iter().filter_map(one).collect()
}

fn from_locations(all: Vec<v1::ToolCallLocation>) -> Vec<CallLocation> {
    let location = |it: v1::ToolCallLocation| CallLocation {
        path: it.path,
        line: it.line,
    };
    all.into_iter().map(location).collect()
}

fn kind(kind: ToolKind) -> CallKind {
    match kind {
        ToolKind::Read => CallKind::Read,
        ToolKind::Edit => CallKind::Edit,
        ToolKind::Delete => CallKind::Delete,
        ToolKind::Move => CallKind::Move,
        ToolKind::Search => CallKind::Search,
        ToolKind::Execute => CallKind::Execute,
        ToolKind::Think => CallKind::Think,
        ToolKind::Fetch => CallKind::Fetch,
        ToolKind::SwitchMode => CallKind::SwitchMode,
        _ => CallKind::Other,
    }
}

fn state(status: ToolCallStatus) -> CallStatus {
    match status {
        ToolCallStatus::InProgress => CallStatus::Running,
        ToolCallStatus::Completed => CallStatus::Done,
        ToolCallStatus::Failed => CallStatus::Failed,
        _ => CallStatus::Pending,
    }
}

fn plan_item(entry: v1::PlanEntry) -> PlanItem {
    PlanItem {
        text: entry.content,
        state: match entry.status {
            PlanEntryStatus::InProgress => PlanState::Doing,
            PlanEntryStatus::Completed => PlanState::Done,
            _ => PlanState::Open,
        },
        is_urgent: entry.priority == PlanEntryPriority::High,
    }
}

fn command(command: v1::AvailableCommand) -> SlashCommand {
    let hint = match command.input {
        Some(v1::AvailableCommandInput::Unstructured(input)) => Some(input.hint),
        _ => None,
    };
    SlashCommand {
        name: command.name,
        description: command.description,
        hint,
    }
}

/// Converts the modes of a session.
pub(super) fn modes(state: v1::SessionModeState) -> AgentModes {
    let mode = |mode: v1::SessionMode| AgentMode {
        id: mode.id.to_string(),
        name: mode.name,
        description: mode.description,
    };
    AgentModes {
        all: state.available_modes.into_iter().map(mode).collect(),
        now: state.current_mode_id.to_string(),
    }
}

/// Converts all options of a known kind and leaves out the others.
pub(super) fn options(all: Vec<v1::SessionConfigOption>) -> Vec<ConfigOption> {
    let one = |option: v1::SessionConfigOption| {
        let value = match option.kind {
            SessionConfigKind::Boolean(it) => OptionValue::Truth(it.current_value),
            SessionConfigKind::Select(it) => OptionValue::One {
                now: it.current_value.to_string(),
                all: match it.options {
                    SessionConfigSelectOptions::Ungrouped(all) => values(all),
                    SessionConfigSelectOptions::Grouped(groups) => groups
                        .into_iter()
                        .flat_map(|group| values(group.options))
                        .collect(),
                    _ => Vec::new(),
                },
            },
            _ => return None,
        };
        Some(ConfigOption {
            id: option.id.to_string(),
            name: option.name,
            description: option.description,
            about: match option.category {
                Some(SessionConfigOptionCategory::Model) => OptionAbout::Model,
                Some(SessionConfigOptionCategory::Mode) => OptionAbout::Mode,
                Some(SessionConfigOptionCategory::ThoughtLevel) => OptionAbout::Thought,
                _ => OptionAbout::Other,
            },
            value,
        })
    };
    all.into_iter().filter_map(one).collect()
}

fn values(all: Vec<v1::SessionConfigSelectOption>) -> Vec<AgentMode> {
    let value = |it: v1::SessionConfigSelectOption| AgentMode {
        id: it.value.to_string(),
        name: it.name,
        description: it.description,
    };
    all.into_iter().map(value).collect()
}

/// Converts a new value of an option. Returns `None` for an unknown kind.
pub(super) fn chosen(value: v1::SessionConfigOptionValue) -> Option<OptionChoice> {
    match value {
        v1::SessionConfigOptionValue::Boolean { value } => Some(OptionChoice::Truth(value)),
        v1::SessionConfigOptionValue::ValueId { value } => {
            Some(OptionChoice::One(value.to_string()))
        }
        _ => None,
    }
}

/// Converts a possible answer. An answer of an unknown kind counts as a rejection of this one call.
pub(super) fn permission_choice(option: v1::PermissionOption) -> PermissionChoice {
    PermissionChoice {
        id: option.option_id.to_string(),
        name: option.name,
        kind: match option.kind {
            PermissionOptionKind::AllowOnce => PermissionChoiceKind::AllowOnce,
            PermissionOptionKind::AllowAlways => PermissionChoiceKind::AllowAlways,
            PermissionOptionKind::RejectAlways => PermissionChoiceKind::RejectAlways,
            // An unknown kind must not grant a permission.
            _ => PermissionChoiceKind::RejectOnce,
        },
    }
}

/// Converts the reason a turn ended.
pub(super) fn turn_end(reason: StopReason) -> PromptStop {
    match reason {
        StopReason::EndTurn => PromptStop::Done,
        StopReason::MaxTokens => PromptStop::TooLong,
        StopReason::MaxTurnRequests => PromptStop::TooMany,
        StopReason::Refusal => PromptStop::Refused,
        StopReason::Cancelled => PromptStop::Stopped,
        other => PromptStop::Failed(format!("the turn ended for an unknown reason: {other:?}")),
    }
}

/// Converts an entry of a list of sessions.
pub(super) fn listed(info: v1::SessionInfo) -> SessionInfo {
    SessionInfo {
        id: info.session_id.to_string(),
        folder: info.cwd,
        title: info.title,
        updated: info.updated_at,
    }
}

/// Converts a method of signing in.
pub(super) fn sign_in_method(method: v1::AuthMethod) -> SignInMethod {
    let terminal = match &method {
        v1::AuthMethod::Terminal(it) => {
            let env = it
                .env
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()));
            Some(SignInTerminal {
                arguments: it.args.clone(),
                environment: env.collect(),
            })
        }
        _ => None,
    };
    SignInMethod {
        id: method.id().to_string(),
        name: method.name().to_owned(),
        description: method.description().map(str::to_owned),
        terminal,
    }
}
