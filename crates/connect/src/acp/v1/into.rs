//! Converts from `protocol` to version 1.

use agent_client_protocol::v1::schema as v1;
use agent_client_protocol::v1::schema::{
    ContentBlock, EmbeddedResourceResource, PermissionOptionKind, PlanEntryPriority,
    PlanEntryStatus, SessionConfigOptionCategory, SessionUpdate, StopReason, ToolCallContent,
    ToolCallStatus, ToolKind,
};

use crate::error::Error;

use super::{
    AgentMode, AgentModes, CallContent, CallKind, CallStatus, CallUpdate, ConfigOption,
    MessageContent, OptionAbout, OptionChoice, OptionValue, PermissionChoice, PermissionChoiceKind,
    PlanItem, PlanState, PromptStop, SessionInfo, SlashCommand, Update, Voice,
};

/// Converts a part of a message.
pub(in crate::acp) fn block(piece: MessageContent) -> ContentBlock {
    match piece {
        MessageContent::Text(text) => ContentBlock::Text(v1::TextContent::new(text)),
        MessageContent::Image { media_type, data } => {
            ContentBlock::Image(v1::ImageContent::new(data, media_type))
        }
        MessageContent::Audio { media_type, data } => {
            ContentBlock::Audio(v1::AudioContent::new(data, media_type))
        }
        MessageContent::Link { uri, name } => {
            ContentBlock::ResourceLink(v1::ResourceLink::new(name, uri))
        }
        MessageContent::Resource { uri, text } => {
            let contents = v1::TextResourceContents::new(text.unwrap_or_default(), uri);
            let resource = EmbeddedResourceResource::TextResourceContents(contents);
            ContentBlock::Resource(v1::EmbeddedResource::new(resource))
        }
    }
}

/// Converts an update. A call that was not reported before is `is_new` and needs a title.
pub(in crate::acp) fn update(update: Update, is_new: bool) -> SessionUpdate {
    match update {
        Update::Said { voice, id, piece } => {
            let chunk = v1::ContentChunk::new(block(piece)).message_id(id.map(v1::MessageId::new));
            match voice {
                Voice::User => SessionUpdate::UserMessageChunk(chunk),
                Voice::Agent => SessionUpdate::AgentMessageChunk(chunk),
                Voice::Thought => SessionUpdate::AgentThoughtChunk(chunk),
            }
        }
        Update::Call(call) if is_new => SessionUpdate::ToolCall(new_call(call)),
        Update::Call(call) => SessionUpdate::ToolCallUpdate(permission_call(call)),
        Update::Plan(items) => {
            SessionUpdate::Plan(v1::Plan::new(items.into_iter().map(plan_entry).collect()))
        }
        Update::Commands(all) => {
            let all = all.into_iter().map(command).collect();
            SessionUpdate::AvailableCommandsUpdate(v1::AvailableCommandsUpdate::new(all))
        }
        Update::Mode(id) => SessionUpdate::CurrentModeUpdate(v1::CurrentModeUpdate::new(id)),
        Update::Options(all) => {
            let all = all.into_iter().map(option).collect();
            SessionUpdate::ConfigOptionUpdate(v1::ConfigOptionUpdate::new(all))
        }
        Update::Title(title) => {
            let info = v1::SessionInfoUpdate::new();
            SessionUpdate::SessionInfoUpdate(match title {
                Some(title) => info.title(title),
                None => info.title(None::<String>),
            })
        }
        Update::Usage(usage) => {
            let cost = usage
                .cost
                .map(|(amount, currency)| v1::Cost::new(amount, currency));
            SessionUpdate::UsageUpdate(v1::UsageUpdate::new(usage.used, usage.size).cost(cost))
        }
        Update::Notice { is_warning, text } => {
            let severity = if is_warning {
                v1::NoticeSeverity::Warning
            } else {
                v1::NoticeSeverity::Info
            };
            SessionUpdate::Notice(v1::Notice::new(severity, text))
        }
        Update::Compaction {
            id,
            summary: Some(summary),
            ..
        } => {
            let content = block(MessageContent::Text(summary));
            SessionUpdate::CompactionSummaryChunk(v1::CompactionSummaryChunk::new(id, content))
        }
        Update::Compaction { id, is_over, .. } => {
            let status = if is_over {
                v1::CompactionStatus::Completed
            } else {
                v1::CompactionStatus::InProgress
            };
            SessionUpdate::CompactionUpdate(v1::CompactionUpdate::new(id, status))
        }
    }
}

fn new_call(call: CallUpdate) -> v1::ToolCall {
    let title = call.title.unwrap_or_else(|| call.id.clone());
    v1::ToolCall::new(call.id, title)
        .kind(kind(call.kind.unwrap_or(CallKind::Other)))
        .status(status(call.state.unwrap_or(CallStatus::Pending)))
        .content(call.content.map(contents).unwrap_or_default())
        .locations(call.places.map(to_locations).unwrap_or_default())
        .raw_input(call.input)
        .raw_output(call.output)
}

/// Converts a call for a permission request.
pub(in crate::acp) fn permission_call(call: CallUpdate) -> v1::ToolCallUpdate {
    let id = call.id.clone();
    v1::ToolCallUpdate::new(id, call_fields(call))
}

fn call_fields(call: CallUpdate) -> v1::ToolCallUpdateFields {
    v1::ToolCallUpdateFields::new()
        .title(call.title)
        .kind(call.kind.map(kind))
        .status(call.state.map(status))
        .content(call.content.map(contents))
        .locations(call.places.map(to_locations))
        .raw_input(call.input)
        .raw_output(call.output)
}

fn contents(all: Vec<CallContent>) -> Vec<ToolCallContent> {
    let one = |content| match content {
        CallContent::Piece(piece) => ToolCallContent::Content(v1::Content::new(block(piece))),
        CallContent::Diff { path, old, new } => {
            ToolCallContent::Diff(v1::Diff::new(path, new).old_text(old))
        }
        CallContent::Terminal(id) => ToolCallContent::Terminal(v1::Terminal::new(id)),
    };
    all.into_iter().map(one).collect()
}

fn to_locations(all: Vec<super::CallLocation>) -> Vec<v1::ToolCallLocation> {
    let all = all.into_iter();
    all.map(|location| v1::ToolCallLocation::new(location.path).line(location.line))
        .collect()
}

fn kind(kind: CallKind) -> ToolKind {
    match kind {
        CallKind::Read => ToolKind::Read,
        CallKind::Edit => ToolKind::Edit,
        CallKind::Delete => ToolKind::Delete,
        CallKind::Move => ToolKind::Move,
        CallKind::Search => ToolKind::Search,
        CallKind::Execute => ToolKind::Execute,
        CallKind::Think => ToolKind::Think,
        CallKind::Fetch => ToolKind::Fetch,
        CallKind::SwitchMode => ToolKind::SwitchMode,
        CallKind::Other => ToolKind::Other,
    }
}

fn status(state: CallStatus) -> ToolCallStatus {
    match state {
        CallStatus::Pending => ToolCallStatus::Pending,
        CallStatus::Running => ToolCallStatus::InProgress,
        CallStatus::Done => ToolCallStatus::Completed,
        CallStatus::Failed => ToolCallStatus::Failed,
    }
}

fn plan_entry(item: PlanItem) -> v1::PlanEntry {
    let status = match item.state {
        PlanState::Open => PlanEntryStatus::Pending,
        PlanState::Doing => PlanEntryStatus::InProgress,
        PlanState::Done => PlanEntryStatus::Completed,
    };
    let priority = if item.is_urgent {
        PlanEntryPriority::High
    } else {
        PlanEntryPriority::Medium
    };
    v1::PlanEntry::new(item.text, priority, status)
}

fn command(command: SlashCommand) -> v1::AvailableCommand {
    let input = command.hint.map(|hint| {
        v1::AvailableCommandInput::Unstructured(v1::UnstructuredCommandInput::new(hint))
    });
    v1::AvailableCommand::new(command.name, command.description).input(input)
}

/// Converts the modes of a session.
pub(in crate::acp) fn mode_state(modes: AgentModes) -> v1::SessionModeState {
    let mode =
        |mode: AgentMode| v1::SessionMode::new(mode.id, mode.name).description(mode.description);
    v1::SessionModeState::new(modes.now, modes.all.into_iter().map(mode).collect())
}

/// Converts an option.
pub(in crate::acp) fn option(option: ConfigOption) -> v1::SessionConfigOption {
    let made = match option.value {
        OptionValue::Truth(value) => {
            v1::SessionConfigOption::boolean(option.id, option.name, value)
        }
        OptionValue::One { now, all } => {
            let value = |it: AgentMode| {
                v1::SessionConfigSelectOption::new(it.id, it.name).description(it.description)
            };
            let all: Vec<_> = all.into_iter().map(value).collect();
            v1::SessionConfigOption::select(option.id, option.name, now, all)
        }
    };
    let category = match option.about {
        OptionAbout::Model => Some(SessionConfigOptionCategory::Model),
        OptionAbout::Mode => Some(SessionConfigOptionCategory::Mode),
        OptionAbout::Thought => Some(SessionConfigOptionCategory::ThoughtLevel),
        OptionAbout::Other => None,
    };
    made.description(option.description).category(category)
}

/// Converts a new value of an option.
pub(in crate::acp) fn set_value(chosen: OptionChoice) -> v1::SessionConfigOptionValue {
    match chosen {
        OptionChoice::Truth(value) => v1::SessionConfigOptionValue::Boolean { value },
        OptionChoice::One(value) => v1::SessionConfigOptionValue::ValueId {
            value: v1::SessionConfigValueId::new(value),
        },
    }
}

/// Converts a possible answer.
pub(in crate::acp) fn permission_option(choice: PermissionChoice) -> v1::PermissionOption {
    let kind = match choice.kind {
        PermissionChoiceKind::AllowOnce => PermissionOptionKind::AllowOnce,
        PermissionChoiceKind::AllowAlways => PermissionOptionKind::AllowAlways,
        PermissionChoiceKind::RejectOnce => PermissionOptionKind::RejectOnce,
        PermissionChoiceKind::RejectAlways => PermissionOptionKind::RejectAlways,
    };
    v1::PermissionOption::new(choice.id, choice.name, kind)
}

/// Converts the end of a turn; fails for `PromptStop::Failed`.
pub(in crate::acp) fn stop_reason(end: PromptStop) -> Result<StopReason, Error> {
    Ok(match end {
        PromptStop::Done => StopReason::EndTurn,
        PromptStop::Stopped => StopReason::Cancelled,
        PromptStop::Refused => StopReason::Refusal,
        PromptStop::TooLong => StopReason::MaxTokens,
        PromptStop::TooMany => StopReason::MaxTurnRequests,
        PromptStop::Failed(why) => return Err(Error::TurnFailed(why)),
    })
}

/// Converts an entry of a list of sessions.
pub(in crate::acp) fn session_info(info: SessionInfo) -> v1::SessionInfo {
    v1::SessionInfo::new(info.id, info.folder)
        .title(info.title)
        .updated_at(info.updated)
}
