//! Executor of `filesystem.read`, `filesystem.stat` and `filesystem.list`: reads below one directory that an operator names.
//!
//! Invariant: every path is opened relative to that directory, and the kernel lets none leave it: not by `..`, not by a symbolic
//! link, not by one of the process file system. Only regular files are read, and only their beginnings.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use rustix::fs::{Dir, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, openat2};

use super::file_events::FileEvents;
use super::{ToolTasks, spec};
use crate::domain::{Moment, Outcome, SessionId, Span, ToolName, ToolSpec};
use crate::edn::{Map, Value};
use crate::engine::Invocation;
use crate::port::{Executor, Listening, Returned, Stirred};

/// The three tools.
pub struct FileTools {
    tasks: Arc<ToolTasks>,
    root: Arc<OwnedFd>,
    specs: Arc<[ToolSpec]>,
    /// `None` where the system has none.
    events: Option<Arc<FileEvents>>,
}

impl FileTools {
    /// Makes the tools for a directory.
    ///
    /// # Errors
    /// The error of the operating system if it is no directory, or cannot be opened.
    pub fn new(tasks: Arc<ToolTasks>, root: &Path) -> io::Result<FileTools> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH;
        let root = Arc::new(rustix::fs::open(root, flags, Mode::empty())?);
        let specs = [(READ, READ_DOES), (STAT, STAT_DOES), (LIST, LIST_DOES)]
            .map(|(name, does)| spec(name, does, SCHEMA));
        // Without them changes are noticed at the next look.
        let events = FileEvents::start(&tasks.handle).ok();
        Ok(FileTools { tasks, root, specs: specs.into_iter().flatten().collect(), events })
    }
}

impl Executor for FileTools {
    fn specs(&self, _session: &SessionId) -> Arc<[ToolSpec]> {
        Arc::clone(&self.specs)
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        let root = Arc::clone(&self.root);
        let (tool, args) = (invocation.tool, invocation.args);
        self.tasks.begin(&invocation.id, returned, async move {
            // A disk may take its time, and must not hold up the others.
            let read = tokio::task::spawn_blocking(move || {
                let path = path(&args)?;
                match tool.as_str() {
                    READ => read(&root, &path),
                    STAT => stat(&root, &path),
                    _ => list(&root, &path),
                }
            });
            match read.await {
                Ok(Ok(value)) => Outcome::of_value(value.into(), 0, Span::ZERO),
                Ok(Err(error)) => Outcome::of_error(error, Span::ZERO),
                Err(_) => Outcome::of_error("reading has failed", Span::ZERO),
            }
        });
    }

    fn cancel(&self, id: &str) {
        self.tasks.cancel(id);
    }

    fn listen(
        &self,
        tool: &ToolName,
        args: &Value,
        stirred: Stirred,
    ) -> Result<Option<Box<dyn Listening>>, &'static str> {
        let events = Arc::clone(self.events.as_ref().ok_or("this system has no file events")?);
        let path = path(args).map_err(|_| "the path is missing, too long, or has a zero byte")?;
        let (root, is_list) = (Arc::clone(&self.root), tool.as_str() == LIST);
        let (begun, beginning) = sync_channel(1);
        // A disk may take its time, and the caller must not wait for it. A listener that comes too late is dropped.
        self.tasks.handle.spawn_blocking(move || {
            let (directory, name) = if is_list { (&*path, None) } else { in_directory(&path) };
            let opened = open(&root, directory, OFlags::PATH | OFlags::DIRECTORY);
            let opened = opened.map_err(|_| "the directory does not exist or cannot be opened");
            let _ = begun.send(opened.and_then(|(opened, _)| events.listen(&opened, name, stirred)));
        });
        beginning.recv_timeout(PATIENCE).unwrap_or(Err("the disk is too slow")).map(Some)
    }
}

fn path(args: &Value) -> Result<String, String> {
    let args = args.as_map().cloned().unwrap_or_default();
    let path = args.text("path").or_else(|| args.keyword("path")).and_then(Value::as_str);
    match path {
        Some(path) if path.len() <= PATH_BYTES && !path.contains('\0') => Ok(path.to_owned()),
        Some(_) => Err("path is too long, or holds a zero byte".to_owned()),
        None => Err("path is required, a string".to_owned()),
    }
}

/// The directory that has the entry of a path, and its name there; a path without such a name is a directory itself.
fn in_directory(path: &str) -> (&str, Option<&str>) {
    let (directory, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", path));
    match name {
        "" | "." | ".." => (path, None),
        name => (directory, Some(name)),
    }
}

/// Opens what is below the directory. What is no regular file or directory is not waited for.
fn open(root: &OwnedFd, path: &str, how: OFlags) -> Result<(OwnedFd, Stat), String> {
    let flags = OFlags::CLOEXEC | how;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let path = if path.is_empty() { "." } else { path };
    // The kernel checks while it resolves the path, so no link can be swapped in between.
    let opened = openat2(root, path, flags, Mode::empty(), resolve).map_err(|error| told(&error.into()))?;
    let stat = fstat(&opened).map_err(|error| told(&error.into()))?;
    Ok((opened, stat))
}

/// An error without the path: that one the caller has.
fn told(error: &io::Error) -> String {
    match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
        Some(rustix::io::Errno::XDEV) => "the path leaves the directory".to_owned(),
        Some(rustix::io::Errno::LOOP) => "the path goes over a symbolic link".to_owned(),
        Some(_) | None => error.to_string(),
    }
}

fn read(root: &OwnedFd, path: &str) -> Result<Map, String> {
    // Without blocking: a pipe would hold up the thread until a writer opens it.
    let (opened, stat) = open(root, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    // One more than is shown, to know whether there is more.
    let mut beginning = File::from(opened).take(CONTENT_BYTES + 1);
    beginning.read_to_end(&mut bytes).map_err(|error| told(&error))?;
    let max = usize::try_from(CONTENT_BYTES).unwrap_or(usize::MAX);
    let is_cut = bytes.len() > max;
    bytes.truncate(max);
    let content = match std::str::from_utf8(&bytes) {
        Ok(text) if text.contains('\0') => return Err("it is no text: it has zero bytes".to_owned()),
        Ok(text) => text,
        Err(error) if is_cut && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return Err("it is no UTF-8 text".to_owned()),
    };
    Ok(Map::new()
        .with("content", content)
        .with("size", stat.st_size)
        .with("modified_at", modified(&stat))
        .with("truncated", is_cut))
}

fn stat(root: &OwnedFd, path: &str) -> Result<Map, String> {
    let (_, stat) = open(root, path, OFlags::PATH)?;
    let kind = kind(FileType::from_raw_mode(stat.st_mode));
    Ok(Map::new().with("kind", kind).with("size", stat.st_size).with("modified_at", modified(&stat)))
}

fn list(root: &OwnedFd, path: &str) -> Result<Map, String> {
    let (opened, _) = open(root, path, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let entries = Dir::read_from(&opened).map_err(|error| told(&error.into()))?;
    let (mut found, mut is_cut) = (Vec::new(), false);
    for entry in entries {
        let entry = entry.map_err(|error| told(&error.into()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "." || name == ".." {
            continue;
        }
        // Cut before the sort, so the file system's order decides which entries are listed.
        if found.len() == ENTRIES {
            is_cut = true;
            break;
        }
        found.push((name, kind(entry.file_type())));
    }
    // In an order of their own, so that an equal directory is an equal answer.
    found.sort_unstable();
    let entry = |(name, kind): (String, &str)| Value::from(Map::new().with("name", name).with("kind", kind));
    let entries: Vec<Value> = found.into_iter().map(entry).collect();
    Ok(Map::new().with("entries", entries).with("truncated", is_cut))
}

fn kind(file: FileType) -> &'static str {
    match file {
        FileType::RegularFile => "file",
        FileType::Directory => "directory",
        FileType::Symlink => "link",
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => "other",
    }
}

fn modified(stat: &Stat) -> Value {
    let nanos = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    Moment::new(stat.st_mtime, nanos).map_or(Value::Nil, |moment| moment.to_string().into())
}

const READ: &str = "filesystem.read";
const STAT: &str = "filesystem.stat";
const LIST: &str = "filesystem.list";
const READ_DOES: &str =
    "Reads the beginning of a text file below the directory that the operator has opened.";
const STAT_DOES: &str = "Says the kind, the size and the time of the last change of what is at a path.";
const LIST_DOES: &str = "Lists a directory.";
const SCHEMA: &str = r#"{"type":"object","additionalProperties":false,"required":["path"],"properties":{
    "path":{"type":"string","description":"relative to the opened directory","examples":["logs/build.txt"]}}}"#;
/// Longest path. The kernel's own bound.
const PATH_BYTES: usize = 4_096;
/// Bytes of a file that are read. With what is said of it the whole is within the bound on outcomes.
const CONTENT_BYTES: u64 = 49_152;
/// Entries of a directory that are listed.
const ENTRIES: usize = 500;
/// How long a directory has to be opened before it is listened to.
const PATIENCE: Duration = Duration::from_millis(100);
