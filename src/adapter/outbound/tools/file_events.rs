//! Events of files, by inotify: who listens hears that a file or the entries of a directory may have changed.
//!
//! What lives elsewhere: which paths may be looked at (`file.rs`). Invariants: directories are listened to and never what is
//! below them, so that a file that is replaced by another one is heard of; events that the kernel has dropped are not made up
//! for; what listens is called outside the lock.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::port::{Listening, Stirred};

/// What hears of events.
pub(super) struct FileEvents {
    inotify: Arc<OwnedFd>,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// The listeners by the kernel's number of their directory, and by their own.
    directories: BTreeMap<i32, BTreeMap<u64, Listener>>,
    last: u64,
}

struct Listener {
    /// The entry of the directory that it is about; `None` for which entries there are.
    name: Option<Box<[u8]>>,
    stirred: Stirred,
}

/// A listener, until it is dropped.
struct FileListening {
    events: Arc<FileEvents>,
    directory: i32,
    number: u64,
}

impl FileEvents {
    /// Begins to read events on this runtime.
    ///
    /// # Errors
    /// The error of the operating system if it has no events of files, or no room for a further reader of them.
    pub(super) fn start(runtime: &Handle) -> io::Result<Arc<FileEvents>> {
        let inotify = Arc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?);
        let events = Arc::new(FileEvents { inotify: Arc::clone(&inotify), table: Mutex::default() });
        let _entered = runtime.enter();
        #[expect(
            deprecated,
            reason = "the other one is unsafe, for types that change their descriptor: this one keeps its own"
        )]
        let source = AsyncFd::new(inotify)?;
        drop(runtime.spawn(read(source, Arc::downgrade(&events))));
        Ok(events)
    }

    /// Listens to an entry of an open directory, or to which entries it has.
    ///
    /// # Errors
    /// What prevents it, in words.
    pub(super) fn listen(
        self: &Arc<FileEvents>,
        directory: &OwnedFd,
        name: Option<&str>,
        stirred: Stirred,
    ) -> Result<Box<dyn Listening>, &'static str> {
        // The kernel takes a path only. This one leads to what is open, whatever its name is by now.
        let path = format!("/proc/self/fd/{}", directory.as_raw_fd());
        // Under the lock: another listener may be the last one to leave the same directory.
        let mut table = self.table();
        let directory = inotify::add_watch(&*self.inotify, path, EVENTS).map_err(|error| match error {
            Errno::NOSPC | Errno::NOMEM => "the system has no room for more file events",
            _ => "the system has no file events there",
        })?;
        table.last += 1;
        let number = table.last;
        let name = name.map(|name| name.as_bytes().into());
        table.directories.entry(directory).or_default().insert(number, Listener { name, stirred });
        Ok(Box::new(FileListening { events: Arc::clone(self), directory, number }))
    }

    /// Reads events, and returns who has to hear of them, each once, however many there are; and whether there are no more for
    /// now.
    fn heard(&self) -> (Vec<Stirred>, bool) {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut reader = Reader::new(&*self.inotify, &mut buffer);
        let (mut heard, mut table, mut count) = (BTreeMap::new(), self.table(), 0);
        // What is in the buffer is lost with it, so it is read to its end.
        while count < EVENTS_AT_ONCE || !reader.is_buffer_empty() {
            count += 1;
            let Ok(event) = reader.next() else { return (heard.into_values().collect(), true) };
            let Some(listeners) = table.directories.get(&event.wd()) else { continue };
            let (events, name) = (event.events(), event.file_name().map(std::ffi::CStr::to_bytes));
            let is_heard = |listener: &&Listener| match &listener.name {
                None => events.intersects(ENTRIES),
                // An event without a name is about the directory itself, and so about each of its entries.
                Some(own) => name.is_none_or(|name| *name == **own),
            };
            let hearing = listeners.iter().filter(|(_, listener)| is_heard(listener));
            heard.extend(hearing.map(|(number, listener)| (*number, Arc::clone(&listener.stirred))));
            if events.contains(ReadFlags::IGNORED) {
                // The directory is gone, and the kernel's number with it.
                table.directories.remove(&event.wd());
            }
        }
        (heard.into_values().collect(), false)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic elsewhere cannot leave it inconsistent: each change is one insert or removal.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listening for FileListening {
    fn is_live(&self) -> bool {
        let table = self.events.table();
        table.directories.get(&self.directory).is_some_and(|listeners| listeners.contains_key(&self.number))
    }
}

impl Drop for FileListening {
    fn drop(&mut self) {
        let mut table = self.events.table();
        let Some(listeners) = table.directories.get_mut(&self.directory) else { return };
        listeners.remove(&self.number);
        if listeners.is_empty() {
            table.directories.remove(&self.directory);
            // It fails if the directory is gone already.
            let _ = inotify::remove_watch(&*self.events.inotify, self.directory);
        }
    }
}

/// Reads events for as long as somebody can listen.
async fn read(source: AsyncFd<Arc<OwnedFd>>, events: Weak<FileEvents>) {
    while let Ok(mut ready) = source.readable().await {
        // Before the reading: what comes from now on makes it ready again.
        ready.clear_ready();
        let mut is_all = false;
        while !is_all {
            let Some(events) = events.upgrade() else { return };
            let (heard, is_last) = events.heard();
            is_all = is_last;
            heard.iter().for_each(|stirred| stirred());
            // A file can be written to thousands of times a second. What comes meanwhile is read together.
            let _ = timeout(PAUSE, pending::<Infallible>()).await;
        }
    }
}

/// What can change an entry, or a directory itself.
const EVENTS: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);
/// What changes which entries there are.
const ENTRIES: ReadFlags = ReadFlags::CREATE
    .union(ReadFlags::DELETE)
    .union(ReadFlags::MOVED_FROM)
    .union(ReadFlags::MOVED_TO)
    .union(ReadFlags::DELETE_SELF)
    .union(ReadFlags::MOVE_SELF)
    .union(ReadFlags::IGNORED);
/// Room for some dozens of events with long names.
const BUFFER_BYTES: usize = 16_384;
/// Events that are read before who listens is called.
const EVENTS_AT_ONCE: usize = 1_024;
const PAUSE: Duration = Duration::from_millis(20);
