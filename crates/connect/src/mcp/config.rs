//! Configuration of the servers: the `mcpServers` object that many editors share, in the user's
//! settings and in the project.

use std::collections::BTreeMap;
use std::time::Duration;

use base::AbsPath;
use host::Files;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::variables::{Expansion, Variables};

/// Paths of a project's server files, in ascending precedence.
const PROJECT_FILES: [&str; 3] = [".cursor/mcp.json", ".mcp.json", ".burin/mcp.json"];

/// Maximum size of a server file, in bytes.
const MAX_FILE_LEN: u64 = 1 << 20;

/// The configuration of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerEntry {
    /// The unique name of the server.
    pub name: String,
    /// The source of the entry.
    pub origin: ServerOrigin,
    /// The entry as written, without variable expansion: the text that a user approves.
    pub written: Value,
    /// A hash of the entry as written, to which an approval is bound.
    pub fingerprint: ServerFingerprint,
    /// Whether the user disabled it.
    pub is_disabled: bool,
    /// Time a new session waits for it, if configured; also extends the time it has to initialize.
    pub startup: Option<Duration>,
    /// The transport, with all variables expanded, or the reason the entry cannot be used.
    pub reach: Result<ServerTransport, Error>,
}

/// The source of an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServerOrigin {
    /// The user, in their settings or for this run.
    User,
    /// The project, and thus anyone who can push to it. Runs only after approval.
    Project {
        /// The file that contains the entry.
        file: AbsPath,
    },
}

/// SHA-256 of an entry with sorted keys, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerFingerprint(pub String);

/// The transport of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerTransport {
    /// A process that communicates over its pipes.
    Process {
        /// The program: a name looked up in `PATH`, or a path.
        command: String,
        /// The arguments of the program.
        arguments: Vec<String>,
        /// Additions to the minimal environment of every process.
        environment: Variables,
        /// The folder it runs in; by default the workspace.
        folder: AbsPath,
    },
    /// A server with streamable HTTP.
    Http {
        /// The URL of the server.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
        /// The OAuth client, for servers that require a sign-in without dynamic registration.
        client: OAuthClient,
    },
}

/// A registered OAuth client, possibly empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuthClient {
    /// The client id that the operator assigned.
    pub id: Option<String>,
    /// The client secret that belongs to it.
    pub secret: Option<String>,
    /// The https URL of a client metadata document, for servers that support those.
    pub document: Option<String>,
}

/// A defect of the configuration, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpConfigProblem(pub String);

/// An entry as written in the file. Unknown keys are ignored.
#[derive(Deserialize)]
struct RawServerEntry {
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, Scalar>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default, alias = "serverUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    auth: RawOAuthClient,
    #[serde(default)]
    disabled: bool,
    /// Timeout in seconds; the second name is Codex's.
    #[serde(default, rename = "startupTimeout", alias = "startup_timeout_sec")]
    startup_timeout: Option<f64>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

/// The OAuth client, with the keys of other editors.
#[derive(Default, Deserialize)]
struct RawOAuthClient {
    #[serde(rename = "CLIENT_ID")]
    id: Option<String>,
    #[serde(rename = "CLIENT_SECRET")]
    secret: Option<String>,
    #[serde(rename = "CLIENT_METADATA_URL")]
    document: Option<String>,
}

/// The value of a variable: numbers may be written without quotes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(serde_json::Number),
    Truth(bool),
}

/// Collects the servers of the user (`user_servers`, the `mcpServers` object itself) and of the project
/// in `workspace`. An entry of the project replaces the user's entry with the same name, and needs
/// approval.
pub fn gather(
    user_servers: Option<&Value>,
    workspace: &AbsPath,
    files: &dyn Files,
    variables: &Variables,
) -> (Vec<ServerEntry>, Vec<McpConfigProblem>) {
    let mut found = BTreeMap::new();
    let mut problems = Vec::new();
    if let Some(user_servers) = user_servers {
        let (entries, more) = parse(user_servers, &ServerOrigin::User, workspace, variables);
        problems.extend(more);
        found.extend(entries.into_iter().map(|entry| (entry.name.clone(), entry)));
    }
    for name in PROJECT_FILES {
        let file = workspace.join(name);
        let text = match files.read(&file, MAX_FILE_LEN) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.is_not_found() => continue,
            Err(error) => {
                problems.push(McpConfigProblem(format!(
                    "The servers of the project: {error}."
                )));
                continue;
            }
        };
        let (entries, more) = parse_text(&text, &file, workspace, variables);
        problems.extend(more);
        found.extend(entries.into_iter().map(|entry| (entry.name.clone(), entry)));
    }
    (found.into_values().collect(), problems)
}

/// Parses one server file of a project.
fn parse_text(
    text: &str,
    file: &AbsPath,
    workspace: &AbsPath,
    variables: &Variables,
) -> (Vec<ServerEntry>, Vec<McpConfigProblem>) {
    let shown = file.as_path().display();
    let value: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value) => value,
        Err(error) => {
            let problem =
                McpConfigProblem(format!("{shown} is not JSON: {error}. Correct it there."));
            return (Vec::new(), vec![problem]);
        }
    };
    let Some(servers) = value.get("mcpServers") else {
        let problem = McpConfigProblem(format!(
            "{shown} has no `mcpServers`. Put the servers below it."
        ));
        return (Vec::new(), vec![problem]);
    };
    let origin = ServerOrigin::Project { file: file.clone() };
    parse(servers, &origin, workspace, variables)
}

/// Parses an `mcpServers` object of this origin, with `${…}` expressions resolved from `variables`
/// and `workspace`. An invalid entry becomes a problem and is left out.
pub fn parse(
    servers: &Value,
    origin: &ServerOrigin,
    workspace: &AbsPath,
    variables: &Variables,
) -> (Vec<ServerEntry>, Vec<McpConfigProblem>) {
    let source = match origin {
        ServerOrigin::User => "your settings".to_owned(),
        ServerOrigin::Project { file } => file.as_path().display().to_string(),
    };
    let Value::Object(servers) = servers else {
        let problem = McpConfigProblem(format!(
            "`mcpServers` in {source} is not an object of names."
        ));
        return (Vec::new(), vec![problem]);
    };
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for (name, value) in servers {
        let written = match RawServerEntry::deserialize(value) {
            Ok(written) => written,
            Err(error) => {
                let text = format!("The server \"{name}\" in {source} is invalid: {error}.");
                problems.push(McpConfigProblem(text));
                continue;
            }
        };
        let expansion = Expansion {
            variables,
            workspace,
        };
        entries.push(ServerEntry {
            name: name.clone(),
            origin: origin.clone(),
            written: value.clone(),
            fingerprint: ServerFingerprint::of(name, value),
            is_disabled: written.disabled,
            startup: written.startup(),
            reach: written.reach(&expansion),
        });
    }
    (entries, problems)
}

impl RawServerEntry {
    /// Returns the startup timeout, at most ten minutes.
    fn startup(&self) -> Option<Duration> {
        let seconds = self.startup_timeout.filter(|it| it.is_finite())?;
        Some(Duration::from_secs_f64(seconds.clamp(0.0, 600.0)))
    }

    /// Expands the variables of the entry and returns the way to reach its server. Fails if a
    /// variable has no value, or if the entry has not exactly one of a command and a supported URL.
    fn reach(self, expansion: &Expansion<'_>) -> Result<ServerTransport, Error> {
        let kind = self.kind.as_deref().unwrap_or("");
        let invalid = |text: &str| Err(Error::Configuration(text.to_owned()));
        match (self.command, self.url) {
            (_, Some(_)) if kind == "sse" => invalid(
                "it uses the old HTTP+SSE transport, which is not supported; use the address \
                 of its streamable HTTP",
            ),
            (Some(_), Some(_)) => invalid("it has both a command and a url; keep one"),
            (None, None) => invalid("it has neither a command nor a url"),
            (Some(command), None) => {
                let mut environment = Variables::new();
                for (name, value) in self.env {
                    environment.insert(name, expansion.expand(&value.text())?);
                }
                let arguments = self.args.iter().map(|text| expansion.expand(text));
                let folder = match self.cwd {
                    Some(folder) => expansion.workspace.join(expansion.expand(&folder)?),
                    None => expansion.workspace.clone(),
                };
                Ok(ServerTransport::Process {
                    command: expansion.expand(&command)?,
                    arguments: arguments.collect::<Result<_, _>>()?,
                    environment,
                    folder,
                })
            }
            (None, Some(url)) => {
                let mut headers = BTreeMap::new();
                for (name, value) in self.headers {
                    headers.insert(name, expansion.expand(&value)?);
                }
                let url = expansion.expand(&url)?;
                if !url.starts_with("https://") && !url.starts_with("http://") {
                    return invalid(&format!("its url {url} is neither http nor https"));
                }
                let read = |text: Option<String>| text.map(|it| expansion.expand(&it)).transpose();
                let client = OAuthClient {
                    id: read(self.auth.id)?,
                    secret: read(self.auth.secret)?,
                    document: read(self.auth.document)?,
                };
                Ok(ServerTransport::Http {
                    url,
                    headers,
                    client,
                })
            }
        }
    }
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Scalar::Text(text) => text.clone(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Truth(truth) => truth.to_string(),
        }
    }
}

impl ServerFingerprint {
    /// Hashes an entry and its name, independent of the order of keys.
    pub fn of(name: &str, entry: &Value) -> Self {
        let mut hash = Sha256::new();
        hash.update(Value::from(name).to_string());
        hash.update(sorted(entry).to_string());
        let digits = hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Self(digits)
    }
}

/// Returns the value with the keys of every object sorted.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let map: BTreeMap<_, _> = map
                .iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            map.into_iter()
                .map(|(key, value)| (key.clone(), value))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

impl ServerTransport {
    /// Returns the command line or URL, as shown to the user for approval.
    pub fn summary(&self) -> String {
        match self {
            ServerTransport::Process {
                command, arguments, ..
            } => {
                let words = std::iter::once(command).chain(arguments);
                words.map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            ServerTransport::Http { url, .. } => url.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
