//! Version 1 of the protocol: its types from and into `words`.
//!
//! What came into the protocol later than this was written is `None`, or the nearest thing that is known.

use agent_client_protocol::v1::schema as v1;
use agent_client_protocol::v1::schema::{
    ContentBlock, EmbeddedResourceResource, PermissionOptionKind, PlanEntryPriority,
    PlanEntryStatus, SessionConfigKind, SessionConfigOptionCategory, SessionConfigSelectOptions,
    SessionUpdate, StopReason, ToolCallContent, ToolCallStatus, ToolKind,
};

use super::words::{
    CallContent, CallKind, CallState, CallUpdate, Chosen, ConfigOption, LeaveChoice, LeaveKind,
    Mode, Modes, OptionAbout, OptionValue, Piece, Place, PlanItem, PlanState, SessionInfo,
    SignInMethod, SignInTerminal, SlashCommand, TurnEnd, Update, Usage, Voice,
};

mod into;

pub(super) use into::{
    block, leave_option, mode_state, option, permission_call, session_info, set_value, stop_reason,
    update,
};

pub(super) fn piece(block: ContentBlock) -> Option<Piece> {
    Some(match block {
        ContentBlock::Text(text) => Piece::Text(text.text),
        ContentBlock::Image(image) => Piece::Image {
            media_type: image.mime_type,
            data: image.data,
        },
        ContentBlock::Audio(audio) => Piece::Audio {
            media_type: audio.mime_type,
            data: audio.data,
        },
        ContentBlock::ResourceLink(link) => Piece::Link {
            uri: link.uri,
            name: link.title.unwrap_or(link.name),
        },
        ContentBlock::Resource(resource) => match resource.resource {
            EmbeddedResourceResource::TextResourceContents(it) => Piece::Resource {
                uri: it.uri,
                text: Some(it.text),
            },
            EmbeddedResourceResource::BlobResourceContents(it) => Piece::Resource {
                uri: it.uri,
                text: None,
            },
            _ => return None,
        },
        _ => return None,
    })
}

/// What an update says; `None` where it says nothing that is known.
pub(super) fn told(update: SessionUpdate) -> Option<Update> {
    let said = |voice, chunk: v1::ContentChunk| {
        Some(Update::Said {
            voice,
            id: chunk.message_id.map(|id| id.to_string()),
            piece: piece(chunk.content)?,
        })
    };
    Some(match update {
        SessionUpdate::UserMessageChunk(chunk) => said(Voice::Person, chunk)?,
        SessionUpdate::AgentMessageChunk(chunk) => said(Voice::Agent, chunk)?,
        SessionUpdate::AgentThoughtChunk(chunk) => said(Voice::Thought, chunk)?,
        SessionUpdate::ToolCall(call) => Update::Call(whole_call(call)),
        SessionUpdate::ToolCallUpdate(call) => Update::Call(part_of_call(call)),
        SessionUpdate::Plan(plan) => {
            Update::Plan(plan.entries.into_iter().map(plan_item).collect())
        }
        SessionUpdate::AvailableCommandsUpdate(it) => {
            Update::Commands(it.available_commands.into_iter().map(command).collect())
        }
        SessionUpdate::CurrentModeUpdate(it) => Update::Mode(it.current_mode_id.to_string()),
        SessionUpdate::ConfigOptionUpdate(it) => Update::Options(options(it.config_options)),
        SessionUpdate::SessionInfoUpdate(it) => match it.title.is_undefined() {
            true => return None,
            false => Update::Title(it.title.value().cloned()),
        },
        SessionUpdate::UsageUpdate(it) => Update::Usage(Usage {
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
            summary: Some(piece(it.content)?.text()),
        },
        _ => return None,
    })
}

fn whole_call(call: v1::ToolCall) -> CallUpdate {
    CallUpdate {
        id: call.tool_call_id.to_string(),
        title: Some(call.title),
        kind: Some(kind(call.kind)),
        state: Some(state(call.status)),
        content: (!call.content.is_empty()).then(|| contents(call.content)),
        places: (!call.locations.is_empty()).then(|| places(call.locations)),
        input: call.raw_input,
        output: call.raw_output,
    }
}

pub(super) fn part_of_call(call: v1::ToolCallUpdate) -> CallUpdate {
    let fields = call.fields;
    CallUpdate {
        id: call.tool_call_id.to_string(),
        title: fields.title,
        kind: fields.kind.map(kind),
        state: fields.status.map(state),
        content: fields.content.map(contents),
        places: fields.locations.map(places),
        input: fields.raw_input,
        output: fields.raw_output,
    }
}

fn contents(all: Vec<ToolCallContent>) -> Vec<CallContent> {
    let one = |content| {
        Some(match content {
            ToolCallContent::Content(it) => CallContent::Piece(piece(it.content)?),
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

fn places(all: Vec<v1::ToolCallLocation>) -> Vec<Place> {
    let place = |it: v1::ToolCallLocation| Place {
        path: it.path,
        line: it.line,
    };
    all.into_iter().map(place).collect()
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

fn state(status: ToolCallStatus) -> CallState {
    match status {
        ToolCallStatus::InProgress => CallState::Running,
        ToolCallStatus::Completed => CallState::Done,
        ToolCallStatus::Failed => CallState::Failed,
        _ => CallState::Pending,
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

pub(super) fn modes(state: v1::SessionModeState) -> Modes {
    let mode = |mode: v1::SessionMode| Mode {
        id: mode.id.to_string(),
        name: mode.name,
        description: mode.description,
    };
    Modes {
        all: state.available_modes.into_iter().map(mode).collect(),
        now: state.current_mode_id.to_string(),
    }
}

/// All options of a kind that is known.
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

fn values(all: Vec<v1::SessionConfigSelectOption>) -> Vec<Mode> {
    let value = |it: v1::SessionConfigSelectOption| Mode {
        id: it.value.to_string(),
        name: it.name,
        description: it.description,
    };
    all.into_iter().map(value).collect()
}

pub(super) fn chosen(value: v1::SessionConfigOptionValue) -> Option<Chosen> {
    match value {
        v1::SessionConfigOptionValue::Boolean { value } => Some(Chosen::Truth(value)),
        v1::SessionConfigOptionValue::ValueId { value } => Some(Chosen::One(value.to_string())),
        _ => None,
    }
}

pub(super) fn leave_choice(option: v1::PermissionOption) -> LeaveChoice {
    LeaveChoice {
        id: option.option_id.to_string(),
        name: option.name,
        kind: match option.kind {
            PermissionOptionKind::AllowOnce => LeaveKind::AllowOnce,
            PermissionOptionKind::AllowAlways => LeaveKind::AllowAlways,
            PermissionOptionKind::RejectAlways => LeaveKind::RejectAlways,
            // A kind that is not known must not allow anything.
            _ => LeaveKind::RejectOnce,
        },
    }
}

pub(super) fn turn_end(reason: StopReason) -> TurnEnd {
    match reason {
        StopReason::EndTurn => TurnEnd::Done,
        StopReason::MaxTokens => TurnEnd::TooLong,
        StopReason::MaxTurnRequests => TurnEnd::TooMany,
        StopReason::Refusal => TurnEnd::Refused,
        StopReason::Cancelled => TurnEnd::Stopped,
        other => TurnEnd::Failed(format!(
            "the turn ended for a reason that is not known: {other:?}"
        )),
    }
}

pub(super) fn listed(info: v1::SessionInfo) -> SessionInfo {
    SessionInfo {
        id: info.session_id.to_string(),
        folder: info.cwd,
        title: info.title,
        updated: info.updated_at,
    }
}

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
