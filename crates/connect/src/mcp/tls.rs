//! The TLS provider of the HTTP clients.

use std::sync::Once;

/// Installs the program's TLS provider, unless one is installed.
pub(super) fn install_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        let provider = rustls::crypto::ring::default_provider();
        if provider.install_default().is_err() {
            log::debug!("TLS has its provider already");
        }
    });
}
