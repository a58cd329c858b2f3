//! API keys: their sources, and a type that hides them.
//!
//! Invariant: a key never appears in text that is shown, logged or recorded; `Secret::mask` removes
//! it from text of other origin. Start at `Keys::find`.

mod keychain;
mod secret;
mod secret_source;

use std::time::Duration;

use serde::Deserialize;

use crate::error::Error;

pub use secret::Secret;
pub use secret_source::{ProgramOutput, SecretSource, SystemSecrets};

/// Timeout for a program that prints a key. It may ask the user to unlock something.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// Source of a key, as the settings or the built-in table name it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeySource {
    /// An environment variable with this name.
    Environment(String),
    /// The system keychain, under the provider's id.
    Keychain,
    /// A program with its arguments. The first line of its output is the key.
    Command(Vec<String>),
    /// The settings, in clear text.
    Value(Secret),
}

/// A key with its source.
#[derive(Clone, Debug)]
pub struct ResolvedKey {
    /// The key in clear text.
    pub secret: Secret,
    /// Description of the source, such as `ANTHROPIC_API_KEY`.
    pub source: String,
}

/// Looks up keys in their sources.
pub struct Keys<'a> {
    /// Access to the environment and to programs.
    pub secrets: &'a dyn SecretSource,
}

impl Keys<'_> {
    /// Returns the first key among a provider's sources; `Ok(None)` if none has one.
    ///
    /// # Errors
    /// A key command cannot be run or fails, or no source has a key and the keychain refused one.
    pub async fn find(
        &self,
        provider: &str,
        sources: &[KeySource],
    ) -> Result<Option<ResolvedKey>, Error> {
        let mut refused = None;
        for source in sources {
            let found = match source {
                KeySource::Environment(name) => self.environment(name),
                KeySource::Value(secret) => Some((secret.clone(), "the settings".to_owned())),
                KeySource::Command(command) => Some(self.command(command).await?),
                KeySource::Keychain => {
                    let found = self.secrets.keychain(provider).await;
                    let found = found.unwrap_or_else(|error| {
                        refused = Some(error);
                        None
                    });
                    found.map(|secret| (secret, "the keychain".to_owned()))
                }
            };
            if let Some((secret, source)) = found
                && !secret.is_empty()
            {
                return Ok(Some(ResolvedKey { secret, source }));
            }
        }
        refused.map_or(Ok(None), Err)
    }

    /// Returns the value of the environment variable `name` as a key, and `name` as its source;
    /// `None` if the variable is unset or not UTF-8. The key may be empty.
    fn environment(&self, name: &str) -> Option<(Secret, String)> {
        let value = self.secrets.environment(name)?;
        Some((Secret::new(value), name.to_owned()))
    }

    /// Runs `command`, a program and its arguments, and returns the first line of its output as a
    /// key (empty if there is no output), with the name of the source. Fails if `command` is empty
    /// or the program fails or times out; the error names the program, never its arguments.
    async fn command(&self, command: &[String]) -> Result<(Secret, String), Error> {
        let Some(program) = command.first() else {
            return Err(Error::EmptyKeyCommand);
        };
        // The arguments may contain a secret: only the program is named.
        match self.secrets.run(command, COMMAND_TIMEOUT).await {
            Ok(output) => Ok((output.first_line(), format!("the command {program}"))),
            Err(error) => Err(Error::KeyCommand {
                program: program.clone(),
                cause: error.to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
