//! The login keychain of macOS. macOS asks the user the first time that this program reads an
//! entry.

use security_framework::passwords::get_generic_password;

use super::{SERVICE, key_of, refusal};
use crate::error::Error;
use crate::keys::{Secret, SystemSecrets};

/// Returns the key of an account; `None` if it has none.
///
/// # Errors
/// Access was refused, or the entry is not a key.
pub(in crate::keys) async fn find(
    _secrets: &SystemSecrets,
    account: &str,
) -> Result<Option<Secret>, Error> {
    let account = account.to_owned();
    let read = tokio::task::spawn_blocking(move || {
        get_generic_password(SERVICE, &account).map(zeroize::Zeroizing::new)
    });
    match read.await {
        Ok(Ok(value)) => key_of(&value).map(Some),
        Ok(Err(error)) => refusal(error.code()).map_or(Ok(None), Err),
        Err(error) => Err(Error::Keychain(format!(
            "the keychain cannot be read: {error}"
        ))),
    }
}
