//! The data directory: private to its user, and locked by one daemon at a time.
//!
//! Invariants: the directory is 0700 and every file in it 0600 from its creation on; a token file
//! is complete or absent; a second daemon is told which process holds the lock; the lock file names an address only
//! while its holder listens there.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};

use crate::adapter::{flush_directory, make_directory, open_file};
use crate::app::fault::AppFault;
use crate::limits::TOKEN_CHARS_MIN;
use crate::runtime::Token;
use crate::surface::http::CalendarKey;

/// A data directory that this process has locked.
pub(in crate::app) struct DataDir {
    path: PathBuf,
    lock: File,
}

impl DataDir {
    /// Locks the directory; creates it if it does not exist.
    ///
    /// # Errors
    /// [`AppFault::Taken`] if another daemon has it, [`AppFault::Io`] if it is not ours or not usable.
    pub(in crate::app) fn take(path: &Path) -> Result<DataDir, AppFault> {
        let unusable =
            |error| AppFault::io(format!("the data directory {} cannot be used", path.display()), error);
        // In this order: a lock file in a directory that others can write could be replaced.
        make_directory(path).map_err(unusable)?;
        close_to_others(path).map_err(unusable)?;
        let mut lock = open_file(&path.join(LOCK), OFlags::CREATE | OFlags::RDWR).map_err(unusable)?;
        match try_lock(&lock) {
            Ok(()) => {
                let mut taken = DataDir { path: path.to_owned(), lock };
                // Written at once: until then the file names the former holder.
                taken.write_lock(&format!("process {}", std::process::id())).map_err(unusable)?;
                Ok(taken)
            }
            Err(TryLockError::Error(error)) => Err(unusable(error)),
            Err(TryLockError::WouldBlock) => {
                // The lock is held even if its holder has not written its name.
                let holder = holder(&mut lock).unwrap_or_else(|| "another daemon".to_owned());
                Err(AppFault::Taken(format!("{} is in use by {holder}", path.display())))
            }
        }
    }

    /// Writes this process and its address into the lock file.
    ///
    /// # Errors
    /// The operating system's error if the file cannot be written.
    pub(in crate::app) fn sign(&mut self, address: &str) -> io::Result<()> {
        self.write_lock(&format!("process {} at {address}", std::process::id()))
    }

    /// Removes the address from the lock file, before the port is free for others.
    pub(in crate::app) fn unsign(&mut self) {
        // A failure leaves the address there until the lock is free, which is soon.
        let _ = self.write_lock(&format!("process {}", std::process::id()));
    }

    fn write_lock(&mut self, holder: &str) -> io::Result<()> {
        self.lock.rewind()?;
        // One write, then the truncation: a reader always finds a name.
        let line = format!("{holder}\n");
        self.lock.write_all(line.as_bytes())?;
        self.lock.set_len(line.len() as u64)
    }

    /// Reads the token of this name; generates and stores one if there is none.
    ///
    /// # Errors
    /// [`AppFault::Io`] for a token file that cannot be read or written, or that others can read.
    pub(in crate::app) fn token(&self, name: &str, fresh: impl FnOnce() -> Token) -> Result<Token, AppFault> {
        let path = self.path.join(name);
        let unusable = |error| AppFault::io(format!("the token {} cannot be used", path.display()), error);
        let token = match read_token(&path) {
            Ok(token) => token,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let token = fresh();
                write_token(&self.path, name, &token).map_err(unusable)?;
                token
            }
            Err(error) => return Err(unusable(error)),
        };
        // Also for an existing token: the process that renamed it may have died before the flush.
        flush_directory(&self.path).map_err(unusable)?;
        Ok(token)
    }

    /// Reads the key of links to calendars, and generates one at the first start. The next key takes its place in the file.
    ///
    /// # Errors
    /// As [`DataDir::token`].
    pub(in crate::app) fn calendar_key(
        &self,
        fresh: impl FnOnce() -> Token,
    ) -> Result<CalendarKey, AppFault> {
        let key = self.token(CALENDAR_KEY, fresh)?;
        let directory = self.path.clone();
        Ok(CalendarKey::new(key, move |next| {
            write_token(&directory, CALENDAR_KEY, next)?;
            flush_directory(&directory)
        }))
    }
}

/// Writes a temporary file and renames it, so that a reader sees all of it or nothing.
fn write_token(directory: &Path, name: &str, token: &Token) -> io::Result<()> {
    let draft = directory.join(format!(".{name}"));
    // A leftover of an interrupted start. We hold the lock, so no other process uses it.
    let _ = fs::remove_file(&draft);
    let mut file = open_file(&draft, OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY)?;
    writeln!(file, "{}", token.reveal())?;
    // Before the rename, which could otherwise become durable first and leave an empty token.
    file.sync_all()?;
    fs::rename(&draft, directory.join(name))
}

/// Locks the file for this process. Clients hold the lock for an instant, to see whether it is free.
fn try_lock(lock: &File) -> Result<(), TryLockError> {
    for _ in 0..CLIENT_LOOKS {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => pause(),
            locked => return locked,
        }
    }
    lock.try_lock()
}

/// The name of the lock's holder. A new holder writes its name right after locking; until then the
/// file is empty or names the former holder, so retry for a while.
fn holder(lock: &mut File) -> Option<String> {
    for _ in 0..LOOKS {
        let mut text = String::new();
        lock.rewind().ok()?;
        lock.read_to_string(&mut text).ok()?;
        let holder = Holder { line: text.trim().to_owned() };
        // Only a live process can be the holder: a dead one's name is a leftover.
        if holder.process().is_some_and(|process| test_kill_process(process) != Err(Errno::SRCH)) {
            return Some(holder.line);
        }
        pause();
    }
    None
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process is about to write, and nothing here has a clock yet"
)]
fn pause() {
    thread::sleep(BETWEEN_LOOKS);
}

/// What a daemon writes into the lock file of its data directory: `process ID at ADDRESS`.
#[derive(PartialEq, Eq)]
pub(in crate::app) struct Holder {
    line: String,
}

impl Holder {
    fn process(&self) -> Option<Pid> {
        let rest = self.line.strip_prefix("process ")?;
        Pid::from_raw(rest.split(' ').next()?.parse().ok()?)
    }

    /// Host and port at which to reach it, while it serves there.
    pub(in crate::app) fn authority(&self) -> Option<String> {
        let (_, address) = self.line.split_once(" at http://")?;
        let mut address: SocketAddr = address.parse().ok()?;
        // Nobody can connect to "every address of this machine".
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
            IpAddr::V4(_) | IpAddr::V6(_) => {}
        }
        Some(address.to_string())
    }
}

/// The daemon of a data directory: the process that holds its lock, if it is a live one of this user.
///
/// # Errors
/// The operating system's error; `PermissionDenied` for a lock file that others could have written.
pub(in crate::app) fn holder_of(directory: &Path) -> io::Result<Option<Holder>> {
    let mut lock = match open_file(&directory.join(LOCK), OFlags::RDONLY | OFlags::NONBLOCK) {
        Ok(lock) => lock,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let found = lock.metadata()?;
    if !found.is_file() || found.uid() != geteuid().as_raw() || found.mode() & 0o022 != 0 {
        let message = "it must be this user's regular file, with mode 0600";
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    let mut text = String::new();
    (&mut lock).take(4_096).read_to_string(&mut text)?;
    let holder = Holder { line: text.trim().to_owned() };
    // A process that may not be signalled is another user's, which has the number of one that is gone.
    if holder.process().is_none_or(|process| test_kill_process(process).is_err()) {
        return Ok(None);
    }
    // Asked last, because a daemon that starts at this instant would find the lock taken.
    match lock.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Ok(Some(holder)),
        // The file is closed with this function, and the lock is free again.
        Ok(()) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Reads a token file that only its owner can access.
///
/// # Errors
/// The operating system's error; `PermissionDenied` for a file that others could have read or
/// written.
pub(in crate::app) fn read_token(path: &Path) -> io::Result<Token> {
    // Without blocking: a pipe of that name would hold up the start until somebody writes into it.
    let mut file = open_file(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
    // Checked on the open file, not on the path, which could be swapped in between.
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            "it is not a regular file; remove it to get a fresh one",
        ));
    }
    if found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
        let message = "it must be this user's, with mode 0600; remove it to get a fresh one";
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    let mut text = String::new();
    // Far more than a token: a wrong file must not be read whole.
    (&mut file).take(4_096).read_to_string(&mut text)?;
    let text = text.trim();
    if (text.chars().count() as u64) < TOKEN_CHARS_MIN.value {
        let message = format!(
            "its token has fewer than {} characters; remove it to get a fresh one",
            TOKEN_CHARS_MIN.value
        );
        return Err(io::Error::new(ErrorKind::InvalidData, message));
    }
    Ok(Token::from_text(text))
}

/// Restricts a directory to its owner. A directory that contains files must be restricted already:
/// others may have put them there.
fn close_to_others(path: &Path) -> io::Result<()> {
    let found = fs::metadata(path)?;
    if found.uid() != geteuid().as_raw() {
        let message = format!("it belongs to user {}", found.uid());
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    if found.mode() & 0o077 == 0 {
        return Ok(());
    }
    // Files in an open directory may have been read or replaced, so only an empty one is closed silently.
    if fs::read_dir(path)?.next().is_some() {
        let message = format!("others can reach it (mode {:04o}); chmod 700 it", found.mode() & 0o7777);
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Replaces the content of a file that only its owner can access. A process that is killed meanwhile leaves the old content or
/// the new, and no part of either.
pub(in crate::app) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file = open_file(&draft, OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY)?;
    file.write_all(text.as_bytes())?;
    fs::rename(&draft, path)
}

/// Creates a file that only its owner can access, and refuses one that is there already.
pub(in crate::app) fn create_private(path: &Path) -> io::Result<File> {
    open_file(path, OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY)
}

/// The file name of the operator's token.
pub(in crate::app) const OPERATOR_TOKEN: &str = "operator.token";
/// The file name of the token of hosts.
pub(in crate::app) const HOST_TOKEN: &str = "host.token";
/// The file name of the read-only token.
pub(in crate::app) const OBSERVER_TOKEN: &str = "observer.token";
/// The file name of the key of links to calendars.
const CALENDAR_KEY: &str = "calendar.key";
const LOCK: &str = "reveille.lock";
/// How often the lock file is read to find its holder: for one second in all.
const LOOKS: u32 = 50;
/// How often a new daemon tries again, because a client may be looking.
const CLIENT_LOOKS: u32 = 3;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    /// Who reads the old content goes on reading it: nothing is cut off under a reader, or by a kill.
    #[test]
    fn a_private_file_is_replaced_as_a_whole() {
        let directory = std::env::temp_dir().join(format!("reveille-note-{}", std::process::id()));
        fs::create_dir(&directory).expect("a directory");
        let path = directory.join("note.edn");
        write_private(&path, "the old one\n").expect("it is written");
        let mut old = File::open(&path).expect("it is there");
        write_private(&path, "new\n").expect("it is replaced");
        let mut text = String::new();
        old.read_to_string(&mut text).expect("it can still be read");
        assert_eq!(
            (text.as_str(), fs::read_to_string(&path).expect("text").as_str()),
            ("the old one\n", "new\n")
        );
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 1, "nothing unfinished is left");
        fs::remove_dir_all(&directory).expect("it is ours");
    }
}
