//! What somebody outside of a daemon did and saw: written down while it happens, whole and judged at the end.
//!
//! Every home has one. Whatever starts or ends a daemon there, makes a schedule, hosts a session or sets the clock writes a
//! line into it, so that every run has its history, whatever else it looks at. `HISTORY_DIR=/tmp/histories` keeps those that were
//! judged, and one that is not clean is kept anyway: `just check-history FILE` reads them again. Work that lives in memory only
//! is left out: it goes by the boot clock and ends with its process, which its own tests look at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reveille::domain::RunId;
use reveille_checker::{Bounds, Event, Moment, Report, Span, check_within, read, write};

use crate::faults::faketime::shown;
use crate::harness::ask::slot_of;
use crate::harness::ledger::Ledger;

pub(crate) struct Diary {
    home: PathBuf,
    file: File,
}

impl Diary {
    /// The diary of a home; begun where there is none.
    pub(crate) fn of(home: &Path) -> Diary {
        let file = File::options().create(true).append(true).open(home.join(NAME)).expect("our home");
        Diary { home: home.to_owned(), file }
    }

    /// The one of the home whose daemon listens there.
    pub(crate) fn beside(socket: &Path) -> Diary {
        let home = socket.parent().and_then(Path::parent).expect("a socket in a data directory in a home");
        Diary::of(home)
    }

    /// What the daemon's wall clock shows.
    pub(crate) fn now(&self) -> Moment {
        shown(&self.home)
    }

    /// Writes down what is seen now: nobody sets the clock between the look at it and the line.
    pub(crate) fn note_now(&self, event: impl FnOnce(Moment) -> Event) {
        let _still = still();
        self.note(event(self.now()));
    }

    /// Lines of several writers do not mix: each is one write.
    pub(crate) fn note(&self, event: Event) {
        (&self.file).write_all(write(&[event]).as_bytes()).expect("room for a line");
    }

    /// No history tells of this one.
    pub(crate) fn leave_out(&self, schedule: &str) {
        (&self.file).write_all(format!("{LEFT_OUT}{schedule}\n").as_bytes()).expect("room for a line");
    }

    /// All that happened, in its order; what the log on disk says of slots that were not delivered comes last.
    fn history(&self, log: Option<&Ledger>) -> Vec<Event> {
        let text = fs::read_to_string(self.home.join(NAME)).expect("it was begun");
        let left_out = text.lines().filter_map(|line| line.strip_prefix(LEFT_OUT));
        let left_out: BTreeSet<&str> = left_out.collect();
        let is_left_out = |event: &Event| {
            let Event::Receive { schedule, .. } = event else { return false };
            left_out.contains(schedule.as_str())
        };
        let mut events = read(&text).expect("what we wrote");
        events.retain(|event| !is_left_out(event));
        drop_unseen_jumps(&mut events);
        last_words(&mut events);
        let received: BTreeSet<String> = events.iter().filter_map(received_run).collect();
        let mut events = with_waits(events);
        add_lives(&mut events, log);
        // Whoever was told of something writes it down a moment later. Within one reading of the clock its time is its place.
        for stretch in events.split_mut(|event| matches!(event, Event::Jump { .. })) {
            stretch.sort_by_key(|event| (event.at(), rank(event)));
        }
        events.extend(log.into_iter().flat_map(|log| not_delivered(log, &received)));
        events
    }

    /// The checker's word on all of it, until now or, where the daemon is gone, until its end.
    pub(crate) fn assert_clean(&self, log: Option<&Ledger>, prompt: Duration) -> Report {
        let mut events = self.history(log);
        events.push(Event::End { at: self.now() });
        let prompt = Span::from_nanos(u64::try_from(prompt.as_nanos()).expect("it fits"));
        let report = check_within(&events, Bounds { prompt });
        let name = self.home.file_name().and_then(|name| name.to_str()).expect("UTF-8");
        let kept = history_dir().unwrap_or_else(|| self.home.clone()).join(format!("{name}.jsonl"));
        if history_dir().is_some() || !report.is_clean() {
            let head = format!("# just check-history FILE {}\n", prompt.millis());
            fs::write(&kept, head + &write(&events))
                .expect("HISTORY_DIR is a directory that we may write to");
        }
        assert!(report.is_clean(), "{}, within {prompt:?}: {report}", kept.display());
        report
    }
}

/// While this is held, no clock is set.
pub(crate) fn still() -> MutexGuard<'static, ()> {
    CLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A clock that goes ahead while no process looks at it is time that passes while there is none.
fn drop_unseen_jumps(events: &mut Vec<Event>) {
    let mut is_up = false;
    events.retain(|event| {
        is_up = matches!(event, Event::Up { .. }) || is_up && !matches!(event, Event::Down { .. });
        is_up || !matches!(event, Event::Jump { at, to } if at < to)
    });
}

/// What a dead process had sent is read after its death, and is written down before or after that: it is dead from then on.
fn last_words(events: &mut [Event]) {
    let mut down: Option<usize> = None;
    let mut heard: Option<Moment> = None;
    for place in 0..events.len() {
        if let Event::Receive { at, .. } = events[place] {
            heard = heard.max(Some(at));
        }
        if let Event::Down { at } = &mut events[place] {
            *at = heard.map_or(*at, |heard| heard.max(*at));
            down = Some(place);
        } else if matches!(events[place], Event::Up { .. } | Event::Jump { .. }) {
            (down, heard) = (None, None);
        } else if let Event::Receive { at: received, .. } = events[place]
            && let Some(Event::Down { at }) = down.map(|down| &mut events[down])
        {
            *at = received.max(*at);
        }
    }
}

/// Lives that were over before anybody could ask them when they began: the log knows of those too.
fn add_lives(events: &mut Vec<Event>, log: Option<&Ledger>) {
    let known: BTreeSet<Moment> = events.iter().filter_map(up).collect();
    let more = log.map_or(&[][..], |log| &log.awakenings).iter().filter(|at| !known.contains(at));
    let more: Vec<Event> = more.map(|at| Event::Up { at: *at }).collect();
    let jumps = events.iter().any(|event| matches!(event, Event::Jump { .. }));
    assert!(more.is_empty() || !jumps, "nobody knows where these belong: {more:?}");
    events.extend(more);
}

/// What comes due before its harness is back waits for it, as it does for a session at work. And while a session gets one
/// delivery after another, what waits for it waits its turn; in which order, is judged apart.
fn with_waits(events: Vec<Event>) -> Vec<Event> {
    let hosted: BTreeSet<String> = events.iter().filter_map(idle_session).collect();
    let mut told = Vec::with_capacity(events.len());
    let mut last: BTreeMap<String, Moment> = BTreeMap::new();
    for event in events {
        if let Event::Receive { at, session: Some(session), .. } = &event {
            let before = last.insert(session.clone(), *at);
            if let Some(before) = before.filter(|one| one <= at && at.since(*one) <= AT_ONCE) {
                told.push(Event::Busy { at: before, session: session.clone() });
                told.push(Event::Idle { at: *at, session: session.clone() });
            }
        } else if let Event::Down { at } = event {
            last.clear();
            told.extend(hosted.iter().map(|session| Event::Busy { at, session: session.clone() }));
        } else if matches!(event, Event::Jump { .. }) {
            last.clear();
        }
        told.push(event);
    }
    told
}

/// What the log says of slots that nobody received.
fn not_delivered(log: &Ledger, received: &BTreeSet<String>) -> Vec<Event> {
    let mut events = Vec::new();
    for (id, account) in &log.accounts {
        events.extend(account.skips.iter().cloned());
        for (run, ends) in account.runs.iter().filter(|(run, _)| !received.contains(*run)) {
            let slot = slot_of(&RunId::parse(run).expect("an id"));
            if let Some((how, Some(reason))) = ends.first()
                && ["run/failed", "run/cancelled"].contains(&how.as_str())
            {
                let (schedule, reason) = (id.clone(), reason.clone());
                events.push(Event::Skip { schedule, from: slot, until: slot, count: 1, reason });
            }
        }
    }
    events
}

/// At one moment: what was done comes before what was received, and a process dies after its last word.
fn rank(event: &Event) -> u8 {
    u8::from(matches!(event, Event::Receive { .. })) + 2 * u8::from(matches!(event, Event::Down { .. }))
}

fn up(event: &Event) -> Option<Moment> {
    if let Event::Up { at } = event { Some(*at) } else { None }
}

fn idle_session(event: &Event) -> Option<String> {
    if let Event::Idle { session, .. } = event { Some(session.clone()) } else { None }
}

fn received_run(event: &Event) -> Option<String> {
    if let Event::Receive { run, .. } = event { Some(run.clone()) } else { None }
}

#[expect(clippy::disallowed_methods, reason = "where histories are kept is said in the environment")]
fn history_dir() -> Option<PathBuf> {
    std::env::var("HISTORY_DIR").ok().map(PathBuf::from)
}

static CLOCKS: Mutex<()> = Mutex::new(());
const NAME: &str = "diary.jsonl";
const LEFT_OUT: &str = "# in memory only: ";
/// How long after one delivery the next may come, where it is the next in the queue.
const AT_ONCE: Span = Span::from_millis(1_000);
