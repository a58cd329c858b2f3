//! Signing in to a server over OAuth: in the user's browser, with a local redirect page.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, CredentialStore,
    StoredCredentials,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::config::OAuthClient;
use super::error::causes;
use super::tls::install_tls;
use super::user::{BrowserPage, McpUser, TokenStore};
use crate::error::Error;

/// Time the user has to sign in.
const SIGN_IN_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The path of the redirect URI.
const REDIRECT_PATH: &str = "/callback";

/// Maximum length of the redirect request, in bytes.
const MAX_REQUEST_LEN: u64 = 16 * 1024;

type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

/// The tokens of one server, in the form of the protocol's crate.
struct ServerTokens {
    url: String,
    tokens: Arc<dyn TokenStore>,
}

impl CredentialStore for ServerTokens {
    fn load<'a, 'b>(&'a self) -> Pending<'b, Option<StoredCredentials>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let text = self.tokens.load(&self.url).await.map_err(not_stored)?;
            // Tokens of an older version that cannot be parsed require a new sign-in.
            Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
        })
    }

    fn save<'a, 'b>(&'a self, credentials: StoredCredentials) -> Pending<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let text = serde_json::to_string(&credentials);
            let text = text.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
            let saved = self.tokens.save(&self.url, Some(text)).await;
            saved.map_err(not_stored)
        })
    }

    fn clear<'a, 'b>(&'a self) -> Pending<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let cleared = self.tokens.save(&self.url, None).await;
            cleared.map_err(not_stored)
        })
    }
}

fn not_stored(error: Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

/// Returns the manager that authorizes requests to `url`. Returns `None` if the user has not signed
/// in before. Fails if the stored tokens cannot be read or are unusable.
pub(super) async fn signed_in(
    url: &str,
    tokens: &Arc<dyn TokenStore>,
) -> Result<Option<AuthorizationManager>, Error> {
    let unreadable = |error| {
        Error::SignIn(format!(
            "the tokens of your earlier sign-in cannot be read: {error}"
        ))
    };
    let unusable = |error: AuthError| {
        Error::SignIn(format!(
            "your earlier sign-in cannot be used: {}",
            causes(&error)
        ))
    };
    if tokens.load(url).await.map_err(unreadable)?.is_none() {
        return Ok(None);
    }
    let mut manager = manager(url, tokens).await.map_err(unusable)?;
    let found = match discover(&mut manager, url, None).await {
        Ok(()) => manager.initialize_from_store().await,
        Err(error) => Err(error),
    };
    Ok(found.map_err(unusable)?.then_some(manager))
}

/// Returns a manager without tokens.
async fn unsigned(url: &str) -> Result<AuthorizationManager, AuthError> {
    install_tls();
    // The user configured a server on their own machine; remote servers must not redirect us into
    // the local network.
    if is_local(url) {
        AuthorizationManager::new_allowing_private_addresses(url).await
    } else {
        AuthorizationManager::new(url).await
    }
}

/// Returns a manager that keeps the server's tokens in `tokens`. Loads none yet.
async fn manager(
    url: &str,
    tokens: &Arc<dyn TokenStore>,
) -> Result<AuthorizationManager, AuthError> {
    let mut manager = unsigned(url).await?;
    manager.set_credential_store(ServerTokens {
        url: url.to_owned(),
        tokens: tokens.clone(),
    });
    Ok(manager)
}

/// Discovers the authorization server.
///
/// Servers of the specification of 2025-03-26 have no protected-resource metadata: their host
/// provides authorization-server metadata, possibly with an issuer elsewhere or none, or nothing at
/// all, in which case the default paths at the root of the host apply. An issuer that the host
/// names must confirm it in its own metadata.
async fn discover(
    manager: &mut AuthorizationManager,
    url: &str,
    challenge: Option<&str>,
) -> Result<(), AuthError> {
    let mut found = manager.resolve_metadata_from_challenge(challenge).await;
    if let Err(AuthError::AuthorizationServerMissingIssuer { expected_issuer }) = &found
        && is_same_host(expected_issuer, url)
    {
        manager.set_allow_missing_issuer(true);
        found = manager.resolve_metadata_from_challenge(challenge).await;
    }
    if let Err(AuthError::AuthorizationServerMismatch {
        expected_issuer,
        received_issuer,
    }) = &found
        && is_same_host(expected_issuer, url)
        && (is_local(url) || !is_local(received_issuer))
    {
        let issuer = unsigned(received_issuer).await?;
        let own = issuer.resolve_metadata().await?;
        if own.source.is_discovered() {
            manager.set_metadata(own.metadata);
            return Ok(());
        }
    }
    manager.set_metadata(found?.metadata);
    Ok(())
}

/// Returns whether two URLs have the same scheme, host and port.
fn is_same_host(one: &str, other: &str) -> bool {
    let root = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        let host = rest.split(['/', '?', '#']).next()?;
        Some(format!("{scheme}://{host}").to_lowercase())
    };
    root(one).is_some() && root(one) == root(other)
}

/// Returns whether the host of a URL is this machine.
fn is_local(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|local| {
        host.strip_prefix(local)
            .is_some_and(|port| port.is_empty() || port.starts_with(':'))
    })
}

/// Runs the sign-in in the user's browser and stores the tokens. `challenge` is the challenge that
/// the server sent, if any. Waits a few minutes for the user. Fails if the user declines or takes
/// longer.
pub(super) async fn sign_in(
    server: &str,
    url: &str,
    client: &OAuthClient,
    challenge: Option<&str>,
    user: &dyn McpUser,
    tokens: &Arc<dyn TokenStore>,
) -> Result<(), Error> {
    let failed = |error: AuthError| Error::SignIn(format!("signing in failed: {}", causes(&error)));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await;
    let no_port = |error: io::Error| Error::SignIn(format!("no port for the redirect: {error}"));
    let listener = listener.map_err(no_port)?;
    let port = listener.local_addr().map_err(no_port)?.port();
    let redirect = format!("http://127.0.0.1:{port}{REDIRECT_PATH}");
    let mut request = AuthorizationRequest::new(redirect.clone())
        .with_client_name("Burin")
        .with_initial_scope_selection();
    if let Some(id) = &client.id {
        request = request.with_preregistered_client(id);
    }
    if let Some(secret) = &client.secret {
        request = request.with_client_secret(secret);
    }
    if let Some(document) = &client.document {
        request = request.with_client_metadata_url(document);
    }
    let mut manager = manager(url, tokens).await.map_err(failed)?;
    discover(&mut manager, url, challenge)
        .await
        .map_err(failed)?;
    let session = AuthorizationSession::new(manager, request).await;
    let session = session.map_err(|(_, error)| failed(error))?;
    let page = BrowserPage {
        server: server.to_owned(),
        url: session.get_authorization_url().to_owned(),
        why: format!("The server \"{server}\" wants you to sign in."),
    };
    if !user.open(page).await {
        let text = "the page to sign in was not opened";
        return Err(Error::SignIn(text.to_owned()));
    }
    let redirected = tokio::time::timeout(SIGN_IN_TIMEOUT, wait_for_redirect(&listener)).await;
    let minutes = SIGN_IN_TIMEOUT.as_secs() / 60;
    let target =
        redirected.map_err(|_| Error::SignIn(format!("no sign-in within {minutes} minutes")))??;
    let found = session
        .handle_callback_url(&format!("http://127.0.0.1:{port}{target}"))
        .await;
    found.map(drop).map_err(failed)
}

/// Waits for the redirect and returns its path and query.
async fn wait_for_redirect(listener: &TcpListener) -> Result<String, Error> {
    loop {
        let accepted = listener.accept().await;
        let unreachable =
            |error| Error::SignIn(format!("the browser cannot be redirected here: {error}"));
        let (stream, _) = accepted.map_err(unreachable)?;
        // Browsers also request icons, and other programs may connect.
        if let Some(target) = redirect_target(stream).await {
            return Ok(target);
        }
    }
}

/// Answers one request, and returns its target if it is the redirect.
async fn redirect_target(stream: TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream.take(MAX_REQUEST_LEN));
    let mut line = String::new();
    let timeout = Duration::from_secs(5);
    tokio::time::timeout(timeout, reader.read_line(&mut line))
        .await
        .ok()?
        .ok()?;
    let target = line.strip_prefix("GET ")?.split(' ').next()?.to_owned();
    let is_ours = target
        .strip_prefix(REDIRECT_PATH)
        .is_some_and(|rest| rest.starts_with('?'));
    let (status, text) = if is_ours {
        ("200 OK", "You are signed in. This page can be closed.")
    } else {
        ("404 Not Found", "There is nothing here.")
    };
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{text}"
    );
    let mut stream = reader.into_inner().into_inner();
    stream.write_all(answer.as_bytes()).await.ok()?;
    stream.shutdown().await.ok();
    is_ours.then_some(target)
}

#[cfg(test)]
mod tests;
