//! A directory and files that are ours alone, on a disk of this machine.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

use super::fault::OpenFault;

/// Makes the directory where it is not there, and refuses one that others can reach or that is on another machine.
pub(super) fn take_directory(dir: &Path) -> Result<(), OpenFault> {
    let unusable = |error| OpenFault::io(dir, &error);
    make_directory(dir).map_err(unusable)?;
    let found = fs::metadata(dir).map_err(unusable)?;
    is_this_users(dir, &found)?;
    if found.mode() & 0o077 != 0 {
        // Nobody has used an empty one; in one that holds something, somebody else may have put it there.
        if fs::read_dir(dir).map_err(unusable)?.next().is_some() {
            let why = format!("others can reach it (mode {:04o}); chmod 700 it", found.mode() & 0o7777);
            return Err(OpenFault::NotOurs { path: dir.to_owned(), why });
        }
        fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(unusable)?;
    }
    match network(dir).map_err(unusable)? {
        Some(kind) => Err(OpenFault::Network { dir: dir.to_owned(), kind }),
        None => Ok(()),
    }
}

/// Makes a directory and those above it, and flushes its name also where an earlier process made it: that one may have ended
/// before it could.
pub(crate) fn make_directory(dir: &Path) -> std::io::Result<()> {
    let above = match dir.parent() {
        Some(above) if above.as_os_str().is_empty() => Path::new("."),
        Some(above) => above,
        None => return Ok(()),
    };
    if !dir.is_dir() {
        make_directory(above)?;
        let made = DirBuilder::new().mode(0o700).create(dir);
        // Somebody else may have been quicker.
        made.or_else(|error| if dir.is_dir() { Ok(()) } else { Err(error) })?;
    }
    // Where somebody may not look, somebody else sees to the directory; and some file systems flush none.
    let is_theirs = |kind| kind == ErrorKind::PermissionDenied || kind == ErrorKind::InvalidInput;
    flush_directory(above).or_else(|error| if is_theirs(error.kind()) { Ok(()) } else { Err(error) })
}

/// Refuses a file that others could read or write, or that is none; whether there is one.
pub(super) fn check_file(path: &Path) -> Result<bool, OpenFault> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(false) };
    is_this_users(path, &found)?;
    let why = if !found.is_file() {
        "it is no file".to_owned()
    } else if found.mode() & 0o077 != 0 {
        format!("others can reach it (mode {:04o}); chmod 600 it", found.mode() & 0o7777)
    } else {
        return Ok(true);
    };
    Err(OpenFault::NotOurs { path: path.to_owned(), why })
}

/// Opens a file that is made for its owner alone, and never through a link.
pub(super) fn open_file(path: &Path, flags: OFlags) -> std::io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Makes the directory's entries survive the loss of power.
pub(crate) fn flush_directory(dir: &Path) -> std::io::Result<()> {
    File::open(dir)?.sync_all()
}

fn is_this_users(path: &Path, found: &Metadata) -> Result<(), OpenFault> {
    if found.uid() == geteuid().as_raw() {
        return Ok(());
    }
    let why = format!("it belongs to user {}", found.uid());
    Err(OpenFault::NotOurs { path: path.to_owned(), why })
}

/// The network file system that the directory is on, where the system tells: one behind FUSE cannot be told.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn network(dir: &Path) -> std::io::Result<Option<&'static str>> {
    let found = rustix::fs::statfs(dir)?.f_type;
    // 32 bits, whatever type the platform wraps them in.
    let found = u64::try_from(found).unwrap_or_default() & 0xffff_ffff;
    Ok(NETWORKS.iter().find(|(number, _)| *number == found).map(|(_, name)| *name))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn network(_: &Path) -> std::io::Result<Option<&'static str>> {
    Ok(None)
}

/// Source: statfs(2), linux/magic.h.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NETWORKS: [(u64, &str); 13] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9P"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "kAFS"),
    (0x00c3_6400, "Ceph"),
    (0x7375_7245, "Coda"),
    (0x564c, "NCP"),
    (0x0bd0_0bd0, "Lustre"),
    (0x1983_0326, "BeeGFS"),
    (0x4750_4653, "GPFS"),
];
