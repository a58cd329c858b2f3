//! Connections that a fault can close with a TCP reset.

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

/// A listener on loopback whose connections can end with a reset.
#[derive(Debug)]
pub(crate) struct BreakableListener(pub(crate) TcpListener);

/// A connection that ends with a reset if its flag is set.
#[derive(Debug)]
pub(crate) struct ResettableStream {
    stream: TcpStream,
    reset: ResetFlag,
}

/// Whether a connection ends with a reset; shared with the handler of its request.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResetFlag(Arc<AtomicBool>);

impl ResetFlag {
    /// Makes the connection close with a reset.
    pub(crate) fn reset(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Listener for BreakableListener {
    type Io = ResettableStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (ResettableStream, SocketAddr) {
        loop {
            match self.0.accept().await {
                Ok((stream, address)) => {
                    // Events are small and must not wait for each other.
                    if stream.set_nodelay(true).is_ok() {
                        let reset = ResetFlag::default();
                        return (ResettableStream { stream, reset }, address);
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

impl Connected<IncomingStream<'_, BreakableListener>> for ResetFlag {
    fn connect_info(stream: IncomingStream<'_, BreakableListener>) -> Self {
        stream.io().reset.clone()
    }
}

impl Drop for ResettableStream {
    fn drop(&mut self) {
        if self.reset.0.load(Ordering::Acquire) {
            // If the option cannot be set, the connection is already gone.
            self.stream.set_zero_linger().ok();
        }
    }
}

impl AsyncRead for ResettableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ResettableStream {
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
        if self.reset.0.load(Ordering::Acquire) {
            // An orderly end first would hide the reset.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
