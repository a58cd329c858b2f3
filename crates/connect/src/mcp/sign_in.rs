//! Signing in to a server over OAuth: in the person's browser, with a page of ours that it comes back to.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, CredentialStore,
    StoredCredentials,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::call::causes;
use super::config::Client;
use super::dial::install_tls;
use super::people::{Page, Person, Tokens};

/// How long the person may take.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// Where the browser comes back to.
const PLACE: &str = "/callback";

/// The longest address that a browser may come back with, in bytes.
const LONGEST: u64 = 16 * 1024;

type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

/// Tokens of one server, as the protocol's crate wants them kept.
struct Store {
    url: String,
    tokens: Arc<dyn Tokens>,
}

impl CredentialStore for Store {
    fn load<'a, 'b>(&'a self) -> Pending<'b, Option<StoredCredentials>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let text = self.tokens.load(&self.url).await;
            // What an older version kept and is not understood any more means signing in anew.
            Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
        })
    }

    fn save<'a, 'b>(&'a self, credentials: StoredCredentials) -> Pending<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let failed = |why: String| AuthError::CredentialStoreError(why);
            let text = serde_json::to_string(&credentials);
            let text = text.map_err(|error| failed(error.to_string()))?;
            self.tokens
                .keep(&self.url, Some(text))
                .await
                .map_err(failed)
        })
    }

    fn clear<'a, 'b>(&'a self) -> Pending<'b, ()>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let cleared = self.tokens.keep(&self.url, None).await;
            cleared.map_err(AuthError::CredentialStoreError)
        })
    }
}

/// What keeps the requests to a server signed, where the person signed in before.
pub(super) async fn signed_in(url: &str, tokens: &Arc<dyn Tokens>) -> Option<AuthorizationManager> {
    tokens.load(url).await?;
    let mut manager = manager(url, tokens).await.ok()?;
    let found = match discover(&mut manager, url, None).await {
        Ok(()) => manager.initialize_from_store().await,
        Err(error) => Err(error),
    };
    match found {
        Ok(true) => Some(manager),
        Ok(false) => None,
        Err(error) => {
            log::warn!("the tokens for {url} are of no use: {}", causes(&error));
            None
        }
    }
}

async fn unsigned(url: &str) -> Result<AuthorizationManager, AuthError> {
    install_tls();
    // The person's own machine is where they said the server is; others may not send us into their network.
    match is_local(url) {
        true => AuthorizationManager::new_allowing_private_addresses(url).await,
        false => AuthorizationManager::new(url).await,
    }
}

async fn manager(url: &str, tokens: &Arc<dyn Tokens>) -> Result<AuthorizationManager, AuthError> {
    let mut manager = unsigned(url).await?;
    manager.set_credential_store(Store {
        url: url.to_owned(),
        tokens: tokens.clone(),
    });
    Ok(manager)
}

/// Finds where the person signs in to a server.
///
/// Servers of the specification of 2025-03-26 have no metadata of their own as a protected resource: their host has
/// that of an authorization server, which may name an issuer elsewhere, or none, or there is nothing and the usual
/// paths at the root of the host are meant. An issuer that the host names has to say the same about itself.
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

/// Whether two addresses have the same scheme, host and port.
fn is_same_host(one: &str, other: &str) -> bool {
    let root = |url: &str| {
        let (scheme, rest) = url.split_once("://")?;
        let host = rest.split(['/', '?', '#']).next()?;
        Some(format!("{scheme}://{host}").to_lowercase())
    };
    root(one).is_some() && root(one) == root(other)
}

fn is_local(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|local| {
        host.strip_prefix(local)
            .is_some_and(|port| port.is_empty() || port.starts_with(':'))
    })
}

/// Lets the person sign in; afterwards their tokens are kept. The error is a sentence.
pub(super) async fn sign_in(
    server: &str,
    url: &str,
    client: &Client,
    challenge: Option<&str>,
    person: &dyn Person,
    tokens: &Arc<dyn Tokens>,
) -> Result<(), String> {
    let failed = |error: AuthError| format!("signing in failed: {}", causes(&error));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await;
    let listener = listener.map_err(|error| format!("no port to come back to: {error}"))?;
    let port = listener.local_addr().map(|address| address.port());
    let port = port.map_err(|error| format!("no port to come back to: {error}"))?;
    let redirect = format!("http://127.0.0.1:{port}{PLACE}");
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
    let page = Page {
        server: server.to_owned(),
        url: session.get_authorization_url().to_owned(),
        why: format!("The server \"{server}\" wants you to sign in."),
    };
    if !person.open(page).await {
        return Err("the page to sign in was not opened".to_owned());
    }
    let back = tokio::time::timeout(PATIENCE, came_back(&listener)).await;
    let minutes = PATIENCE.as_secs() / 60;
    let place = back.map_err(|_| format!("nobody signed in within {minutes} minutes"))??;
    let found = session
        .handle_callback_url(&format!("http://127.0.0.1:{port}{place}"))
        .await;
    found.map(drop).map_err(failed)
}

/// Waits for the browser; tells the path and query it came back with.
async fn came_back(listener: &TcpListener) -> Result<String, String> {
    loop {
        let accepted = listener.accept().await;
        let (stream, _) =
            accepted.map_err(|error| format!("the browser cannot come back: {error}"))?;
        // Browsers also ask for icons, and others may knock.
        if let Some(place) = place_asked(stream).await {
            return Ok(place);
        }
    }
}

async fn place_asked(stream: TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream.take(LONGEST));
    let mut line = String::new();
    let patience = Duration::from_secs(5);
    tokio::time::timeout(patience, reader.read_line(&mut line))
        .await
        .ok()?
        .ok()?;
    let place = line.strip_prefix("GET ")?.split(' ').next()?.to_owned();
    let is_ours = place
        .strip_prefix(PLACE)
        .is_some_and(|rest| rest.starts_with('?'));
    let (status, text) = match is_ours {
        true => ("200 OK", "You are signed in. This page can be closed."),
        false => ("404 Not Found", "There is nothing here."),
    };
    let length = text.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{text}"
    );
    let mut stream = reader.into_inner().into_inner();
    stream.write_all(answer.as_bytes()).await.ok()?;
    stream.shutdown().await.ok();
    is_ours.then_some(place)
}

#[cfg(test)]
mod tests;
