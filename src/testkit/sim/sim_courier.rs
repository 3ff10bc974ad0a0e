//! A simulated courier for channels: sends at once, later, wrongly or never.
//!
//! Every parcel is recorded in the stage's history before anything else happens, as with a host.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::{Channel, ChannelKind, Failure, HostId, Phase, Reason, RunId, Span};
use crate::engine::Parcel;
use crate::port::{Carried, Clock, Courier};
use crate::testkit::history::{Reception, Seen};
use crate::testkit::sim::stage::Stage;

/// The channels that every world opens.
pub(in crate::testkit) fn channels() -> Vec<Channel> {
    let channel = |name: &str, kind, agents| Channel {
        name: name.into(),
        kind,
        goes_to: "somewhere".into(),
        agents,
        agents_manage: false,
    };
    vec![
        channel(CHANNELS[0], ChannelKind::Webhook, true),
        channel(CHANNELS[1], ChannelKind::Webhook, true),
        channel(CHANNELS[2], ChannelKind::Command, false),
    ]
}

/// The names of the channels, and one name that is never opened.
pub(in crate::testkit) const CHANNELS: [&str; 4] = ["pager", "mail", "printer", "nowhere"];

/// A simulated courier.
pub(in crate::testkit) struct SimCourier {
    stage: Stage,
    mood: Mutex<Mood>,
}

struct Mood {
    is_faultless: bool,
    /// Parcels without an answer yet.
    out: Vec<(RunId, Carried)>,
    /// Parcels that will never get an answer; the engine waits until they are overdue.
    lost: Vec<Carried>,
}

impl SimCourier {
    pub(in crate::testkit) fn new(stage: &Stage) -> SimCourier {
        let mood = Mood { is_faultless: false, out: Vec::new(), lost: Vec::new() };
        SimCourier { stage: stage.clone(), mood: Mutex::new(mood) }
    }

    /// Delivers every parcel at once from now on.
    pub(in crate::testkit) fn be_faultless(&self) {
        self.mood().is_faultless = true;
    }

    /// Answers one open parcel, chosen at random; returns its run.
    pub(in crate::testkit) fn answer_one(&self) -> Option<RunId> {
        let (run, carried) = {
            let mut mood = self.mood();
            let place = self.stage.entropy.below(mood.out.len() as u64);
            let place = usize::try_from(place).ok().filter(|place| *place < mood.out.len())?;
            mood.out.swap_remove(place)
        };
        let is_there = self.mood().is_faultless || !self.stage.entropy.one_in(4);
        carried(if is_there { Ok(()) } else { Err(self.any_failure()) });
        Some(run)
    }

    /// Drops all parcels: the process that waited for their answers is gone.
    pub(in crate::testkit) fn forget(&self) {
        let mut mood = self.mood();
        mood.out.clear();
        mood.lost.clear();
    }

    /// A random failure: refused (sometimes with a `Retry-After`), unknown, or channel disabled.
    fn any_failure(&self) -> Failure {
        let entropy = &self.stage.entropy;
        let failed = |reason: Reason, text: &str| Failure::new(Phase::Outside, reason, text);
        match entropy.below(12) {
            0 => failed(Reason::ChannelDisabled, "it wants nothing more").with_code(410),
            1..=3 => failed(Reason::ReceiptOverdue, "it said nothing in time"),
            4..=7 => {
                let longest = *entropy.pick(&[5_000, 600_000, 400_000_000]).unwrap_or(&5_000);
                let wait = Span::from_millis(entropy.below(longest));
                failed(Reason::HostRefused, "not now").with_code(503).with_wait(Some(wait))
            }
            _ => failed(Reason::HostRefused, "no").with_code(500),
        }
    }

    fn mood(&self) -> MutexGuard<'_, Mood> {
        // Never held across a call to the engine, so a simulated panic cannot poison it half
        // changed.
        self.mood.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Courier for SimCourier {
    fn carry(&self, parcel: Parcel, carried: Carried) {
        // Left out: the number of folded slots, which may grow between two attempts.
        let Parcel { run, route, cause, label, text, file, .. } = &parcel;
        let text = format!("{route:?} {cause:?} {label:?} {file:?} {text}").into();
        let (host, phase, session) = (HostId::LOCAL, Phase::Outside, parcel.session.clone());
        let reception = Reception { host, run: run.clone(), phase, session, text };
        // Recorded first: a panic or a lost answer below must not hide that the parcel went out.
        self.stage.history.note(self.stage.clock.now(), Seen::Received(reception));
        if self.mood().is_faultless {
            carried(Ok(()));
            return;
        }
        match self.stage.entropy.below(12) {
            0..=3 => carried(Ok(())),
            4..=5 => carried(Err(self.any_failure())),
            // No answer ever; the engine gives up after its deadline.
            6 => self.mood().lost.push(carried),
            7 => {
                // The answer is lost in a panic. `resume_unwind` runs no panic hook, so the output
                // stays clean.
                drop(carried);
                std::panic::resume_unwind(Box::new("a simulated courier panics"));
            }
            _ => self.mood().out.push((parcel.run, carried)),
        }
    }
}
