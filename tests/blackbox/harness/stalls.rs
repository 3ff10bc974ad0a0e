//! How long the machine itself withheld what the daemon needs: a little work and a flush, again and again, beside it.
//!
//! A bound on how late something may be says nothing on a machine that stands still for five seconds because another job
//! fills its disk. What this thread sees of that is added to the bound; on a quiet machine it sees nothing.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::harness::daemon::{Home, now};

pub(crate) struct Stalls {
    watch: Option<(Sender<()>, JoinHandle<Duration>)>,
}

impl Stalls {
    /// Begins to watch the disk of this directory, and the processors.
    pub(crate) fn watch(home: &Home) -> Stalls {
        let mut file = File::create(home.path().join("stalls")).expect("a file");
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || {
            let mut stalled = Duration::ZERO;
            loop {
                let began = now();
                let pause = ended.recv_timeout(PAUSE);
                file.seek(SeekFrom::Start(0)).expect("a file");
                file.write_all(&[0; 4096]).expect("room for a page");
                file.sync_data().expect("a disk");
                stalled += began.elapsed_here().saturating_sub(ALLOWED);
                if pause != Err(RecvTimeoutError::Timeout) {
                    return stalled;
                }
            }
        });
        Stalls { watch: Some((end, thread)) }
    }

    /// Ends the watch: the sum of what took longer than it may.
    pub(crate) fn end(&mut self) -> Duration {
        let (end, thread) = self.watch.take().expect("it is ended once");
        drop(end);
        thread.join().expect("it only writes")
    }
}

const PAUSE: Duration = Duration::from_millis(50);
/// A pause and a flush on a machine that works.
const ALLOWED: Duration = Duration::from_millis(250);
