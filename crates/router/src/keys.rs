//! Keys: where they come from, and a type that does not show them.
//!
//! Invariant: a key is never part of a text that is shown, logged or recorded; `Secret::mask` takes it out of
//! whatever others wrote.
//! Start at `Keys::find`.

mod keychain;
mod secret;
mod vault;

use std::time::Duration;

use serde::Deserialize;

pub use keychain::Platform;
pub use secret::Secret;
pub use vault::{Output, SystemVault, Vault};

/// How long a program may take to tell a key. It may ask the person to unlock something.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a key is found.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeySource {
    /// In a variable of the environment.
    Environment(String),
    /// In the system's keychain, under the provider's id.
    Keychain,
    /// Told by a program: its name and its arguments. The first line that it prints is the key.
    Command(Vec<String>),
    /// In the settings, as it is.
    Value(Secret),
}

/// A key and where it was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The key.
    pub secret: Secret,
    /// Where it was, in words, such as `ANTHROPIC_API_KEY`.
    pub place: String,
}

/// Looks for keys.
pub struct Keys<'a> {
    /// The world they are in.
    pub vault: &'a dyn Vault,
    /// Whose keychain it is.
    pub platform: Platform,
}

impl Keys<'_> {
    /// The first key that the sources have for a provider; `Ok(None)` if none has one. Fails with a sentence
    /// if a source that was named on purpose cannot be read.
    pub async fn find(
        &self,
        provider: &str,
        sources: &[KeySource],
    ) -> Result<Option<Found>, String> {
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
                return Ok(Some(Found { secret, place }));
            }
        }
        Ok(None)
    }

    /// Puts a key into the system's keychain under a provider's id.
    pub async fn store(&self, provider: &str, secret: &Secret) -> Result<(), String> {
        let Some(call) = keychain::store(self.platform, provider, secret) else {
            return Err(
                "this system has no keychain that we know; use a variable of the environment"
                    .to_owned(),
            );
        };
        let told = self
            .vault
            .run(&call.words, Some(call.input), PATIENCE)
            .await;
        told.map(|_| ()).map_err(|why| {
            format!("the keychain did not take the key ({why}); use a variable of the environment")
        })
    }

    fn environment(&self, name: &str) -> Option<(Secret, String)> {
        let value = self.vault.environment(name)?;
        Some((Secret::new(value), name.to_owned()))
    }

    async fn command(&self, words: &[String]) -> Result<(Secret, String), String> {
        let Some(program) = words.first() else {
            return Err(
                "the command that tells the key is empty; write its name and its arguments"
                    .to_owned(),
            );
        };
        // Its arguments may hold a secret: only the program is named.
        match self.vault.run(words, None, PATIENCE).await {
            Ok(output) => Ok((output.first_line(), format!("the command {program}"))),
            Err(why) => Err(format!(
                "the command {program}, which tells the key, failed: {why}"
            )),
        }
    }

    /// Whatever stands in the way, an absent keychain is no key.
    async fn keychain(&self, provider: &str) -> Option<(Secret, String)> {
        let words = keychain::look_up(self.platform, provider)?;
        match self.vault.run(&words, None, PATIENCE).await {
            Ok(output) => Some((output.first_line(), "the keychain".to_owned())),
            Err(why) => {
                log::debug!("no key of {provider} in the keychain: {why}");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
