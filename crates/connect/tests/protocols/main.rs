//! Both protocols against other programs. One binary, because linking takes time.

/// The path under which the shared files import the error.
mod error {
    pub(crate) use connect::Error;
}

mod hosting;
mod servers;
mod serving;
