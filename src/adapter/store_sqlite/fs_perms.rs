//! File system checks: a directory and files that only this user can access, on a local disk.

use std::fs::{self, DirBuilder, File, Metadata, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::process::geteuid;

use super::fault::OpenFault;

/// Creates the directory if needed, and refuses one that others can access or that is on a network
/// file system.
pub(super) fn take_directory(dir: &Path) -> Result<(), OpenFault> {
    let unusable = |error| OpenFault::io(dir, &error);
    make_directory(dir).map_err(unusable)?;
    // The link itself, not what it leads to, which somebody else could replace.
    let found = fs::symlink_metadata(dir).map_err(unusable)?;
    if found.is_symlink() {
        return Err(OpenFault::NotOurs {
            path: dir.to_owned(),
            why: "it is a link; name the directory itself".into(),
        });
    }
    is_this_users(dir, &found)?;
    if found.mode() & 0o077 != 0 {
        // An empty directory can be made private. In one that has files, others may have put them
        // there.
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

/// Creates a directory and its parents, and flushes its entry. The entry is flushed even if the
/// directory exists, because the process that created it may have ended before it could.
pub(crate) fn make_directory(dir: &Path) -> std::io::Result<()> {
    let above = match dir.parent() {
        Some(above) if above.as_os_str().is_empty() => Path::new("."),
        Some(above) => above,
        None => return Ok(()),
    };
    if !dir.is_dir() {
        make_directory(above)?;
        let made = DirBuilder::new().mode(0o700).create(dir);
        // Another process may have created it at the same time.
        made.or_else(|error| if dir.is_dir() { Ok(()) } else { Err(error) })?;
    }
    // A parent that we may not open belongs to somebody else, who is responsible for it; and some
    // file systems cannot flush directories.
    let is_theirs = |kind| kind == ErrorKind::PermissionDenied || kind == ErrorKind::InvalidInput;
    flush_directory(above).or_else(|error| if is_theirs(error.kind()) { Ok(()) } else { Err(error) })
}

/// Refuses a path that is not a regular file, or that others can access; returns whether it exists.
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

/// Opens a file that is created for its owner alone, and never through a symbolic link.
pub(crate) fn open_file(path: &Path, flags: OFlags) -> std::io::Result<File> {
    // A link could lead out of the directory, and a program that the daemon starts must not inherit the file.
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Flushes a directory, so that its entries survive a loss of power.
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

/// Returns the kind of network file system that the directory is on, if the system reports it; one
/// behind FUSE is not visible.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn network(dir: &Path) -> std::io::Result<Option<&'static str>> {
    let found = rustix::fs::statfs(dir)?.f_type;
    // The magic number has 32 bits, whatever type the platform stores it in.
    let found = u64::try_from(found).unwrap_or_default() & 0xffff_ffff;
    Ok(NETWORKS.iter().find(|(number, _)| *number == found).map(|(_, name)| *name))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn network(_: &Path) -> std::io::Result<Option<&'static str>> {
    Ok(None)
}

/// Magic numbers of network file systems. Source: statfs(2), linux/magic.h.
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
