//! The Unix socket: serves the EDN stream protocol to processes of the same user, as the operator.
//!
//! Source: S06 of the threat model. Invariants: the socket never has a mode wider than 0600,
//! because it is bound under that mask, in a directory of this user alone; each client's user id is
//! checked all the same; nothing but a socket without a listener is ever replaced.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::Mode;
use rustix::process::{geteuid, umask};
use tokio::sync::watch;

use crate::limits;
use crate::surface::edn_stream::{Connection, Peer};
use crate::surface::http::app_state::AppState;
use crate::surface::http::connection::accept::ride_out;
use crate::surface::http::streams::Client;
use crate::surface::http::traffic::log_requests;

/// The reasons why a socket cannot be bound.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Other users can access its directory.
    #[error("{} must be a directory of this user with mode 0700, not {mode:04o} of user {owner}", directory.display())]
    OpenDirectory {
        /// The directory.
        directory: PathBuf,
        /// Its mode.
        mode: u32,
        /// Its owner.
        owner: u32,
    },
    /// The path exists and is not a socket.
    #[error("{} exists and is not a socket; remove it or choose another path", path.display())]
    Occupied {
        /// The path.
        path: PathBuf,
    },
    /// Another process listens there.
    #[error("another process listens on {}", path.display())]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// The operating system's error.
    #[error("no socket at {}: {error}", path.display())]
    System {
        /// The path.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
}

/// A bound socket; dropping it removes its file.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    inode: u64,
}

impl Socket {
    /// Binds a socket that only this user can use.
    ///
    /// The umask belongs to the whole process: files that other threads create meanwhile get fewer
    /// permissions, never more.
    ///
    /// # Errors
    /// [`SocketError`]; nothing is changed then, except that a socket without a listener may be
    /// removed.
    pub fn bind(path: &Path) -> Result<Socket, SocketError> {
        let system = |error| SocketError::System { path: path.to_owned(), error };
        // First, because in a directory of other users the path could be replaced between two steps.
        check_directory(path)?;
        clear(path)?;
        // Binding and then restricting would leave the socket open for a moment.
        let former = umask(Mode::from_raw_mode(0o177));
        let bound = UnixListener::bind(path);
        umask(former);
        let listener = bound.map_err(system)?;
        listener.set_nonblocking(true).map_err(system)?;
        // Remembered to recognise the file when it is removed.
        let inode = fs::symlink_metadata(path).map_err(system)?.ino();
        Ok(Socket { listener, path: path.to_owned(), inode })
    }

    /// The listener, for the current Tokio runtime.
    pub(in crate::surface::http) fn listener(&self) -> io::Result<tokio::net::UnixListener> {
        tokio::net::UnixListener::from_std(self.listener.try_clone()?)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Only the file that we created: another process may have replaced it.
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Accepts clients until the server stops.
pub(in crate::surface::http) async fn accept(
    app: Arc<AppState>,
    listener: tokio::net::UnixListener,
    mut stop: watch::Receiver<bool>,
) {
    loop {
        let accepted = tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            accepted = listener.accept() => accepted,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                ride_out(&error).await;
                continue;
            }
        };
        let is_ours = stream.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw());
        // A count of its own: clients over TCP, where sessions come in, cannot keep an operator out here.
        let has_room = (app.streams.local() as u64) < limits::SOCKET_STREAMS.value;
        if !is_ours || !has_room {
            let limit = limits::SOCKET_STREAMS.name;
            tracing::warn!(target: "reveille::socket", is_ours, has_room, limit, "a client was refused");
            continue;
        }
        // On an error the system has no descriptor left, and the client is dropped.
        let Ok(client) = stream.into_std().and_then(|stream| client(&app, stream)) else { continue };
        // Before its task begins: in a burst many are accepted before the first of them has begun.
        if let Some(number) = app.streams.enter(&client) {
            let app = Arc::clone(&app);
            tokio::spawn(async move {
                app.streams.carry_entered(number, client, app.times.token_recheck).await;
            });
        }
    }
}

fn client(app: &AppState, stream: UnixStream) -> io::Result<Client> {
    // The thread of the stream reads and writes with blocking calls.
    stream.set_nonblocking(false)?;
    let connection = Connection::new(app.service.clone(), Peer::Operator);
    let report = log_requests(connection.caller());
    Ok(Client {
        connection: connection.reporting(report),
        input: Box::new(stream.try_clone()?),
        output: Box::new(stream.try_clone()?),
        // An error means that the stream is closed already.
        hang_up: Arc::new(move |how| drop(stream.shutdown(how))),
        // The user id cannot change during the connection, so there is nothing to recheck.
        is_entitled: Box::new(|| true),
        is_local: true,
    })
}

fn check_directory(path: &Path) -> Result<(), SocketError> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let system = |error| SocketError::System { path: path.to_owned(), error };
    let found = fs::metadata(directory).map_err(system)?;
    let (mode, owner) = (found.mode() & 0o7777, found.uid());
    if found.is_dir() && owner == geteuid().as_raw() && mode & 0o077 == 0 {
        return Ok(());
    }
    Err(SocketError::OpenDirectory { directory: directory.to_owned(), mode, owner })
}

/// Removes a socket without a listener, left over from a process that was killed.
fn clear(path: &Path) -> Result<(), SocketError> {
    let system = |error| SocketError::System { path: path.to_owned(), error };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(system(error)),
        Ok(found) if !found.file_type().is_socket() => Err(SocketError::Occupied { path: path.to_owned() }),
        // Connecting is the only way to tell a stale socket from one in use.
        Ok(_) => match UnixStream::connect(path) {
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                fs::remove_file(path).map_err(system)
            }
            Err(error) => Err(system(error)),
            Ok(_) => Err(SocketError::InUse { path: path.to_owned() }),
        },
    }
}
