//! Connections that can be reset: a fault closes them without the usual farewell.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    extract::connect_info::Connected,
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
};

/// Accepts connections on loopback.
#[derive(Debug)]
pub(crate) struct Door(pub(crate) TcpListener);

/// A connection.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    fate: Fate,
}

/// Whether a connection ends with a reset; shared with whoever answers on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fate(Arc<AtomicBool>);

impl Fate {
    /// When the connection closes, the other side is told that it broke.
    pub(crate) fn reset(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Listener for Door {
    type Io = Socket;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Socket, SocketAddr) {
        loop {
            match self.0.accept().await {
                Ok((stream, address)) => {
                    // Events are small and must not wait for each other.
                    if stream.set_nodelay(true).is_ok() {
                        let fate = Fate::default();
                        return (Socket { stream, fate }, address);
                    }
                }
                // Out of descriptors, most likely: others must close first.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, Door>> for Fate {
    fn connect_info(stream: IncomingStream<'_, Door>) -> Self {
        stream.io().fate.clone()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.fate.0.load(Ordering::Acquire) {
            // Where the option cannot be set, the connection is gone already, which is what was wanted.
            self.stream.set_zero_linger().ok();
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.fate.0.load(Ordering::Acquire) {
            // An orderly end first would hide the reset.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
