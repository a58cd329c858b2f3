//! The handshake with a hosted agent: initialization and the choice of the session.

use std::path::PathBuf;

use agent_client_protocol as acp;
use agent_client_protocol::UntypedMessage;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema as v1;
use serde_json::Value;

use super::{AgentDescription, AgentLaunch, SessionStart};
use crate::acp::protocol::{AgentMode, AgentModes, ConfigOption, OptionAbout, OptionValue};
use crate::acp::v1 as convert;
use crate::mcp::{ServerEntry, ServerTransport};

/// The id of the option that represents the models of agents without config options.
pub(super) const LEGACY_MODELS: &str = "burin-models";

/// Builds the first request: our name and capabilities.
pub(super) fn initialize_request(start: &AgentLaunch) -> v1::InitializeRequest {
    let files = v1::FileSystemCapabilities::new()
        .read_text_file(true)
        .write_text_file(true);
    let options = v1::SessionConfigOptionsCapabilities::new()
        .boolean(v1::BooleanConfigOptionCapabilities::new());
    let session = v1::ClientSessionCapabilities::new()
        .config_options(options)
        .compaction(v1::CompactionCapabilities::new())
        .notices(v1::NoticeCapabilities::new());
    let elicitation = v1::ElicitationCapabilities::new()
        .form(v1::ElicitationFormCapabilities::new())
        .url(v1::ElicitationUrlCapabilities::new());
    let mut auth = v1::AuthCapabilities::new().terminal(start.signs_in_by_terminal);
    if !start.auth_meta.is_empty() {
        auth = auth.meta(start.auth_meta.clone());
    }
    let able = v1::ClientCapabilities::new()
        .fs(files)
        .terminal(start.terminals.is_some())
        .session(session)
        .elicitation(elicitation)
        .auth(auth);
    let program = v1::Implementation::new("burin", env!("CARGO_PKG_VERSION"));
    v1::InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(able)
        .client_info(program.title("Burin".to_owned()))
}

/// Describes the agent for the host, from its first response.
pub(super) fn describe_agent(
    hello: &v1::InitializeResponse,
    start: &AgentLaunch,
) -> AgentDescription {
    let able = &hello.agent_capabilities;
    let program = hello.agent_info.as_ref();
    AgentDescription {
        name: program.map_or_else(
            || start.name.clone(),
            |it| it.title.clone().unwrap_or_else(|| it.name.clone()),
        ),
        version: program.map_or_else(String::new, |it| it.version.clone()),
        loads: able.load_session,
        resumes: resumes(able),
        lists: able.session_capabilities.list.is_some(),
        sees: able.prompt_capabilities.image,
        methods: hello
            .auth_methods
            .iter()
            .cloned()
            .map(convert::sign_in_method)
            .collect(),
    }
}

/// Builds the request for the session to open. Its response stays untyped: older agents return
/// members that today's protocol does not define.
pub(super) fn session(
    start: &AgentLaunch,
    able: &v1::AgentCapabilities,
) -> Result<UntypedMessage, acp::Error> {
    let root = start.root.as_path().to_owned();
    let servers: Vec<_> = start
        .servers
        .iter()
        .filter_map(|it| server(it, able))
        .collect();
    match &start.session {
        SessionStart::Resume(id) => resume(id, root, servers),
        SessionStart::Load(id) => load(id, root, servers),
        SessionStart::Continue(id) if resumes(able) => resume(id, root, servers),
        SessionStart::Continue(id) if able.load_session => load(id, root, servers),
        SessionStart::New | SessionStart::Continue(_) => UntypedMessage::new(
            "session/new",
            v1::NewSessionRequest::new(root).mcp_servers(servers),
        ),
    }
}

fn load(
    id: &str,
    root: PathBuf,
    servers: Vec<v1::McpServer>,
) -> Result<UntypedMessage, acp::Error> {
    let request = v1::LoadSessionRequest::new(id.to_owned(), root).mcp_servers(servers);
    UntypedMessage::new("session/load", request)
}

fn resume(
    id: &str,
    root: PathBuf,
    servers: Vec<v1::McpServer>,
) -> Result<UntypedMessage, acp::Error> {
    let request = v1::ResumeSessionRequest::new(id.to_owned(), root).mcp_servers(servers);
    UntypedMessage::new("session/resume", request)
}

fn resumes(able: &v1::AgentCapabilities) -> bool {
    able.session_capabilities.resume.is_some()
}

/// Whether the agent can go on with a stored session.
pub(super) fn continues(able: &v1::AgentCapabilities) -> bool {
    resumes(able) || able.load_session
}

/// Converts a server for an agent. `None` if it is disabled or its configuration is invalid, or if
/// it needs HTTP and the agent does not support that.
fn server(entry: &ServerEntry, able: &v1::AgentCapabilities) -> Option<v1::McpServer> {
    if entry.is_disabled {
        return None;
    }
    match entry.reach.as_ref().ok()? {
        ServerTransport::Process {
            command,
            arguments,
            environment,
            ..
        } => {
            let variable = |(name, value): (&String, &String)| {
                v1::EnvVariable::new(name.clone(), value.clone())
            };
            let server = v1::McpServerStdio::new(entry.name.clone(), command.clone())
                .args(arguments.clone())
                .env(environment.iter().map(variable).collect());
            Some(v1::McpServer::Stdio(server))
        }
        ServerTransport::Http { url, headers, .. } => {
            let header = |(name, value): (&String, &String)| {
                v1::HttpHeader::new(name.clone(), value.clone())
            };
            let server = v1::McpServerHttp::new(entry.name.clone(), url.clone())
                .headers(headers.iter().map(header).collect());
            able.mcp_capabilities
                .http
                .then_some(v1::McpServer::Http(server))
        }
    }
}

/// Returns the modes in the response to a session request, or `None` if the response has no modes.
pub(super) fn modes(began: &Value) -> Option<AgentModes> {
    let state = began.get("modes")?.clone();
    serde_json::from_value(state).ok().map(convert::modes)
}

/// Returns the options of a session; the models of agents without config options become one.
pub(super) fn options(began: &Value) -> Vec<ConfigOption> {
    let options = began.get("configOptions").cloned();
    let options = options.and_then(|it| serde_json::from_value(it).ok());
    let mut options = options.map(convert::options).unwrap_or_default();
    if options
        .iter()
        .all(|option| option.about != OptionAbout::Model)
    {
        options.extend(legacy_models(began));
    }
    options
}

/// Returns the models of an agent without config options as an option; `None` if its response names
/// no models or no current one.
fn legacy_models(began: &Value) -> Option<ConfigOption> {
    let models = began.get("models")?;
    let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
    let model = |value: &Value| {
        let id = text(value, "modelId")?;
        Some(AgentMode {
            name: text(value, "name").unwrap_or_else(|| id.clone()),
            description: text(value, "description"),
            id,
        })
    };
    let all: Vec<_> = models
        .get("availableModels")?
        .as_array()?
        .iter()
        .filter_map(model)
        .collect();
    Some(ConfigOption {
        id: LEGACY_MODELS.to_owned(),
        name: "Model".to_owned(),
        description: None,
        about: OptionAbout::Model,
        value: OptionValue::One {
            now: text(models, "currentModelId")?,
            all,
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn models_of_older_agents_are_an_option() {
        let began = json!({ "sessionId": "s", "models": {
            "currentModelId": "b",
            "availableModels": [{ "modelId": "a", "name": "A" }, { "modelId": "b" }, { "name": "x" }]
        } });
        let options = options(&began);
        assert_eq!(options.len(), 1);
        assert_eq!(options[0].about, OptionAbout::Model);
        let OptionValue::One { now, all } = &options[0].value else {
            panic!("{options:?}");
        };
        assert_eq!(
            (now.as_str(), all.len(), all[1].name.as_str()),
            ("b", 2, "b")
        );
    }

    #[test]
    fn any_session_response_is_accepted() {
        for began in [
            json!(null),
            json!({ "models": 3 }),
            json!({ "modes": [], "configOptions": 1 }),
        ] {
            assert!(options(&began).is_empty());
            assert_eq!(modes(&began), None);
        }
    }
}
