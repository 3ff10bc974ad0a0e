//! The data directory: ours alone, and one daemon's at a time.
//!
//! Invariants: the directory is 0700 and every file in it 0600 from its first moment on; a token is there completely or
//! not at all; a second daemon is told who the first one is.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};

use super::fault::Fault;
use crate::adapter::{flush_directory, make_directory};
use crate::runtime::Token;

/// A data directory that this process has to itself.
pub(super) struct DataDir {
    path: PathBuf,
    lock: File,
}

impl DataDir {
    /// Takes the directory, and makes it where it is not there.
    ///
    /// # Errors
    /// [`Fault::Taken`] by another daemon, [`Fault::Io`] where it is not ours or cannot be used.
    pub(super) fn take(path: &Path) -> Result<DataDir, Fault> {
        let unusable =
            |error| Fault::io(format!("the data directory {} cannot be used", path.display()), error);
        make_directory(path).map_err(unusable)?;
        close_to_others(path).map_err(unusable)?;
        let mut lock = open_private(&path.join(LOCK), OFlags::CREATE | OFlags::RDWR).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => {
                let mut taken = DataDir { path: path.to_owned(), lock };
                // Before anything else: what stands there is the name of whoever had it last.
                taken.write_lock(&format!("process {}", std::process::id())).map_err(unusable)?;
                Ok(taken)
            }
            Err(TryLockError::Error(error)) => Err(unusable(error)),
            Err(TryLockError::WouldBlock) => {
                // A holder that does not say who it is is one all the same.
                let holder = holder(&mut lock).unwrap_or_else(|| "another daemon".to_owned());
                Err(Fault::Taken(format!("{} is in use by {holder}", path.display())))
            }
        }
    }

    /// Leaves word of who has the directory.
    ///
    /// # Errors
    /// What the system says when it cannot be written.
    pub(super) fn sign(&mut self, address: &str) -> io::Result<()> {
        self.write_lock(&format!("process {} at {address}", std::process::id()))
    }

    fn write_lock(&mut self, holder: &str) -> io::Result<()> {
        self.lock.rewind()?;
        // One write, and no moment at which nobody is named.
        let line = format!("{holder}\n");
        self.lock.write_all(line.as_bytes())?;
        self.lock.set_len(line.len() as u64)
    }

    /// The token of that name; a fresh one where there is none.
    ///
    /// # Errors
    /// [`Fault::Io`] for one that cannot be read or written, or that others can read.
    pub(super) fn token(&self, name: &str, fresh: impl FnOnce() -> Token) -> Result<Token, Fault> {
        let path = self.path.join(name);
        let unusable = |error| Fault::io(format!("the token {} cannot be used", path.display()), error);
        let token = match read_token(&path) {
            Ok(token) => token,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let token = fresh();
                self.write(name, &token).map_err(unusable)?;
                token
            }
            Err(error) => return Err(unusable(error)),
        };
        // Also for one that was found: whoever wrote it may have ended before it could.
        flush_directory(&self.path).map_err(unusable)?;
        Ok(token)
    }

    /// Writes beside the name and renames: whoever reads it reads all of it.
    fn write(&self, name: &str, token: &Token) -> io::Result<()> {
        let draft = self.path.join(format!(".{name}"));
        // Left over from a start that broke off; the lock is ours, so it is nobody's.
        let _ = fs::remove_file(&draft);
        let mut file = open_private(&draft, OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY)?;
        writeln!(file, "{}", token.reveal())?;
        file.sync_all()?;
        fs::rename(&draft, self.path.join(name))
    }
}

/// Who has the lock. Whoever has just taken it writes its name next: for that moment nobody stands there, or the one before.
#[expect(
    clippy::disallowed_methods,
    reason = "another process is about to write, and nothing here has a clock yet"
)]
fn holder(lock: &mut File) -> Option<String> {
    for _ in 0..LOOKS {
        let mut text = String::new();
        lock.rewind().ok()?;
        lock.read_to_string(&mut text).ok()?;
        let holder = text.trim();
        let number = holder.strip_prefix("process ").and_then(|rest| rest.split(' ').next()?.parse().ok());
        let process = number.and_then(Pid::from_raw);
        if process.is_some_and(|process| test_kill_process(process) != Err(Errno::SRCH)) {
            return Some(holder.to_owned());
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    None
}

/// Reads a token that only its owner can read.
///
/// # Errors
/// What the system says, and `PermissionDenied` for a file that others could have read or written.
pub(super) fn read_token(path: &Path) -> io::Result<Token> {
    let mut file = open_private(path, OFlags::RDONLY)?;
    let found = file.metadata()?;
    if found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
        let message = "it must be this user's, with mode 0600; remove it to get a fresh one";
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    let mut text = String::new();
    (&mut file).take(4_096).read_to_string(&mut text)?;
    let text = text.trim();
    if text.is_empty() {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is empty; remove it to get a fresh one"));
    }
    Ok(Token::from_text(text))
}

/// A directory of ours that nobody has used yet is closed to others; one that holds something must be closed already,
/// because somebody else may have put it there.
fn close_to_others(path: &Path) -> io::Result<()> {
    let found = fs::metadata(path)?;
    if found.uid() != geteuid().as_raw() {
        let message = format!("it belongs to user {}", found.uid());
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    if found.mode() & 0o077 == 0 {
        return Ok(());
    }
    if fs::read_dir(path)?.next().is_some() {
        let message = format!("others can reach it (mode {:04o}); chmod 700 it", found.mode() & 0o7777);
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Opens a file that is made for its owner alone, and never through a link.
fn open_private(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// The operator's token, in the data directory.
pub(super) const OPERATOR_TOKEN: &str = "operator.token";
/// The token of those who may only look.
pub(super) const OBSERVER_TOKEN: &str = "observer.token";
const LOCK: &str = "reveille.lock";
/// How often the holder of the lock is looked for, a second in all.
const LOOKS: u32 = 50;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
