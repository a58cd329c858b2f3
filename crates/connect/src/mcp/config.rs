//! Which servers there are: the `mcpServers` object that many editors share, from the person's settings and from
//! the project.

use std::collections::BTreeMap;
use std::time::Duration;

use base::AbsPath;
use host::Files;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::variables::{Expansion, Variables};

/// Where a project may keep its servers, the weakest first.
const PROJECT_FILES: [&str; 3] = [".cursor/mcp.json", ".mcp.json", ".burin/mcp.json"];

/// The largest file of servers that is read, in bytes.
const LARGEST_FILE: u64 = 1 << 20;

/// A server as it is configured.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerEntry {
    /// The name it has among the others.
    pub name: String,
    /// Who wrote the entry.
    pub origin: Origin,
    /// The entry as it is written, no variable replaced: what a person who approves it has to see.
    pub written: Value,
    /// A hash of the entry as it is written: an approval holds for exactly this.
    pub fingerprint: Fingerprint,
    /// The person does not want it now.
    pub is_disabled: bool,
    /// How long a session that begins waits for it, where the entry says so.
    pub startup: Option<Duration>,
    /// How it is reached, with every variable replaced; a sentence where that cannot be.
    pub reach: Result<Reach, String>,
}

/// Who wrote an entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The person, in their settings or for this one run.
    Person,
    /// The project: anybody who can push to it. Nothing runs without an approval.
    Project {
        /// The file.
        file: AbsPath,
    },
}

/// SHA-256 of an entry with sorted keys, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub String);

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// A process that speaks over its pipes.
    Process {
        /// The program: a name looked up in `PATH`, or a path.
        command: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// What it finds in its environment beside the little that every process needs.
        environment: Variables,
        /// The folder it runs in; the workspace where none is named.
        folder: AbsPath,
    },
    /// A server that speaks streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// What every request carries.
        headers: BTreeMap<String, String>,
        /// As whom we sign in, where the server wants that and does not register us by itself.
        client: Client,
    },
}

/// As whom we sign in to a server: what its operator gave the person, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// The id that the operator gave.
    pub id: Option<String>,
    /// The secret that belongs to it.
    pub secret: Option<String>,
    /// The https address of a document that describes us, for servers that read such.
    pub document: Option<String>,
}

/// A complaint about a configuration, as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(pub String);

/// An entry as people write it. Unknown keys are others' business.
#[derive(Deserialize)]
struct Written {
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
    auth: WrittenClient,
    #[serde(default)]
    disabled: bool,
    /// Seconds; the second name is Codex's.
    #[serde(default, rename = "startupTimeout", alias = "startup_timeout_sec")]
    startup_timeout: Option<f64>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

/// As whom to sign in, in the words of other editors.
#[derive(Default, Deserialize)]
struct WrittenClient {
    #[serde(rename = "CLIENT_ID")]
    id: Option<String>,
    #[serde(rename = "CLIENT_SECRET")]
    secret: Option<String>,
    #[serde(rename = "CLIENT_METADATA_URL")]
    document: Option<String>,
}

/// A value of a variable: people write numbers without quotes.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Number(serde_json::Number),
    Truth(bool),
}

/// The servers of the person (`theirs`, the `mcpServers` object itself) and of the project that lies in
/// `workspace`. An entry of the project takes the place of one of the person's with the same name, and waits for
/// its approval.
pub fn gather(
    theirs: Option<&Value>,
    workspace: &AbsPath,
    files: &dyn Files,
    variables: &Variables,
) -> (Vec<ServerEntry>, Vec<Problem>) {
    let mut found = BTreeMap::new();
    let mut problems = Vec::new();
    if let Some(theirs) = theirs {
        let (entries, complaints) = parse(theirs, &Origin::Person, workspace, variables);
        problems.extend(complaints);
        found.extend(entries.into_iter().map(|entry| (entry.name.clone(), entry)));
    }
    for name in PROJECT_FILES {
        let file = workspace.join(name);
        let text = match files.read(&file, LARGEST_FILE) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.is_not_found() => continue,
            Err(error) => {
                problems.push(Problem(format!("The servers of the project: {error}.")));
                continue;
            }
        };
        let (entries, complaints) = parse_text(&text, &file, workspace, variables);
        problems.extend(complaints);
        found.extend(entries.into_iter().map(|entry| (entry.name.clone(), entry)));
    }
    (found.into_values().collect(), problems)
}

/// The servers of one file of a project.
fn parse_text(
    text: &str,
    file: &AbsPath,
    workspace: &AbsPath,
    variables: &Variables,
) -> (Vec<ServerEntry>, Vec<Problem>) {
    let shown = file.as_path().display();
    let value: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value) => value,
        Err(error) => {
            let problem = Problem(format!("{shown} is not JSON: {error}. Correct it there."));
            return (Vec::new(), vec![problem]);
        }
    };
    let Some(servers) = value.get("mcpServers") else {
        let problem = Problem(format!(
            "{shown} has no `mcpServers`. Put the servers below it."
        ));
        return (Vec::new(), vec![problem]);
    };
    let origin = Origin::Project { file: file.clone() };
    parse(servers, &origin, workspace, variables)
}

/// The servers of an `mcpServers` object. An entry that makes no sense becomes a problem.
pub fn parse(
    servers: &Value,
    origin: &Origin,
    workspace: &AbsPath,
    variables: &Variables,
) -> (Vec<ServerEntry>, Vec<Problem>) {
    let place = match origin {
        Origin::Person => "your settings".to_owned(),
        Origin::Project { file } => file.as_path().display().to_string(),
    };
    let Value::Object(servers) = servers else {
        let problem = Problem(format!(
            "`mcpServers` in {place} is not an object of names."
        ));
        return (Vec::new(), vec![problem]);
    };
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    for (name, value) in servers {
        let written = match Written::deserialize(value) {
            Ok(written) => written,
            Err(error) => {
                let text = format!("The server \"{name}\" in {place} makes no sense: {error}.");
                problems.push(Problem(text));
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
            fingerprint: Fingerprint::of(name, value),
            is_disabled: written.disabled,
            startup: written.startup(),
            reach: written.reach(&expansion),
        });
    }
    (entries, problems)
}

impl Written {
    /// How long is waited for it: at most ten minutes.
    fn startup(&self) -> Option<Duration> {
        let seconds = self.startup_timeout.filter(|it| it.is_finite())?;
        Some(Duration::from_secs_f64(seconds.clamp(0.0, 600.0)))
    }

    fn reach(self, expansion: &Expansion<'_>) -> Result<Reach, String> {
        let kind = self.kind.as_deref().unwrap_or("");
        match (self.command, self.url) {
            (_, Some(_)) if kind == "sse" => Err(
                "it speaks the old HTTP+SSE transport, which is not spoken here; use the address \
                 of its streamable HTTP"
                    .to_owned(),
            ),
            (Some(_), Some(_)) => Err("it has both a command and a url; keep one".to_owned()),
            (None, None) => Err("it has neither a command nor a url".to_owned()),
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
                Ok(Reach::Process {
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
                    return Err(format!("its url {url} is neither http nor https"));
                }
                let read = |text: Option<String>| text.map(|it| expansion.expand(&it)).transpose();
                let client = Client {
                    id: read(self.auth.id)?,
                    secret: read(self.auth.secret)?,
                    document: read(self.auth.document)?,
                };
                Ok(Reach::Http {
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

impl Fingerprint {
    /// Of an entry and its name, whatever the order of its keys.
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

/// The same with the keys of every object in order.
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

impl Reach {
    /// What is run or reached, in one line, for whoever approves it.
    pub fn line(&self) -> String {
        match self {
            Reach::Process {
                command, arguments, ..
            } => {
                let words = std::iter::once(command).chain(arguments);
                words.map(String::as_str).collect::<Vec<_>>().join(" ")
            }
            Reach::Http { url, .. } => url.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
