//! API keys: their sources, and a type that hides them.
//!
//! Invariant: a key never appears in text that is shown, logged or recorded; `Secret::mask` removes
//! it from text of other origin. Start at `Keys::find`.

mod keychain;
mod secret;
mod secret_source;

use std::time::Duration;

use serde::Deserialize;

pub use keychain::Platform;
pub use secret::Secret;
pub use secret_source::{ProgramOutput, SecretSource, SystemSecrets};

/// Timeout for a program that prints a key. It may ask the user to unlock something.
const PATIENCE: Duration = Duration::from_secs(60);

/// Source of a key.
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
    pub vault: &'a dyn SecretSource,
    /// Platform of the keychain.
    pub platform: Platform,
}

impl Keys<'_> {
    /// Returns the first key among a provider's sources; `Ok(None)` if none has one. Fails with a
    /// sentence if an explicitly configured source cannot be read.
    pub async fn find(
        &self,
        provider: &str,
        sources: &[KeySource],
    ) -> Result<Option<ResolvedKey>, String> {
        for source in sources {
            let found = match source {
                KeySource::Environment(name) => self.environment(name),
                KeySource::Value(secret) => Some((secret.clone(), "the settings".to_owned())),
                KeySource::Command(words) => Some(self.command(words).await?),
                KeySource::Keychain => self.keychain(provider).await,
            };
            if let Some((secret, place)) = found
                && !secret.is_empty()
            {
                return Ok(Some(ResolvedKey {
                    secret,
                    source: place,
                }));
            }
        }
        Ok(None)
    }

    /// Stores a key in the system keychain under a provider's id.
    pub async fn store(&self, provider: &str, secret: &Secret) -> Result<(), String> {
        let Some(call) = keychain::store(self.platform, provider, secret) else {
            return Err(
                "this system has no supported keychain; use an environment variable".to_owned(),
            );
        };
        let told = self
            .vault
            .run(&call.words, Some(call.input), PATIENCE)
            .await;
        told.map(|_| ()).map_err(|why| {
            format!("the keychain did not store the key ({why}); use an environment variable")
        })
    }

    fn environment(&self, name: &str) -> Option<(Secret, String)> {
        let value = self.vault.environment(name)?;
        Some((Secret::new(value), name.to_owned()))
    }

    async fn command(&self, words: &[String]) -> Result<(Secret, String), String> {
        let Some(program) = words.first() else {
            return Err("the key command is empty; set its name and its arguments".to_owned());
        };
        // The arguments may contain a secret: only the program is named.
        match self.vault.run(words, None, PATIENCE).await {
            Ok(output) => Ok((output.first_line(), format!("the command {program}"))),
            Err(why) => Err(format!("the key command {program} failed: {why}")),
        }
    }

    /// Reads from the keychain; any error counts as an absent key.
    async fn keychain(&self, provider: &str) -> Option<(Secret, String)> {
        let words = keychain::look_up(self.platform, provider)?;
        match self.vault.run(&words, None, PATIENCE).await {
            Ok(output) => Some((output.first_line(), "the keychain".to_owned())),
            Err(why) => {
                log::debug!("no key for {provider} in the keychain: {why}");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
