//! A simulated courier for channels: sends at once, later, wrongly or never.
//!
//! Every parcel is recorded in the stage's history before anything else happens, as with a host.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::domain::{Channel, ChannelKind, Failure, HostId, Phase, Reason, RunId, SessionId, Span};
use crate::engine::Parcel;
use crate::port::{Carried, Clock, Courier};
use crate::testkit::checks::budget_laws::{Sent, a_parcel_waits_while_a_bound_is_reached};
use crate::testkit::checks::law::LawResult;
use crate::testkit::history::{Reception, Seen};
use crate::testkit::sim::sim_places::{Place, Places};
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
    /// The places for what is on its way, where the world has them.
    places: Option<Places>,
    mood: Mutex<Mood>,
}

struct Mood {
    is_faultless: bool,
    /// Parcels without an answer yet.
    out: Vec<(RunId, Carried)>,
    /// What has a place, in the order of `out`, where the world has places.
    placed: Vec<(Sent, Place)>,
    /// What the laws have said of places so far.
    judged: LawResult,
    /// Parcels that will never get an answer; the engine waits until they are overdue.
    lost: Vec<Carried>,
}

impl SimCourier {
    /// A courier that carries any number of parcels at a time, or has places for them as the real one.
    pub(in crate::testkit) fn new(stage: &Stage, has_places: bool) -> SimCourier {
        let (out, placed, lost) = (Vec::new(), Vec::new(), Vec::new());
        let mood = Mood { is_faultless: false, out, placed, judged: Ok(()), lost };
        // Without channels there are no places that could be judged.
        let places = (has_places && cfg!(feature = "channels")).then(Places::new);
        SimCourier { stage: stage.clone(), places, mood: Mutex::new(mood) }
    }

    /// What the laws say of the places that parcels have got, or have not.
    pub(in crate::testkit) fn judgement(&self) -> LawResult {
        self.mood().judged.clone()
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
            if self.places.is_some() {
                // Its place is free before the engine hears of it.
                mood.placed.swap_remove(place);
            }
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
        mood.placed.clear();
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

    /// Gives a parcel a place until it is answered for. Returns whether it has one, or needs none.
    fn place(&self, places: &Places, parcel: &Parcel) -> bool {
        let family = (!parcel.is_operators).then(|| parcel.family.clone());
        let sent = Sent { family, channel: parcel.route.channel.clone() };
        let place = places.now(sent.family.as_ref().map(SessionId::as_str), &sent.channel);
        let has_place = place.is_some();
        let mut mood = self.mood();
        let out: Vec<&Sent> = mood.placed.iter().map(|(sent, _)| sent).collect();
        let judged = a_parcel_waits_while_a_bound_is_reached(&out, &sent, has_place);
        // The first breach is the one that is reported.
        if mood.judged.is_ok() {
            mood.judged = judged;
        }
        mood.placed.extend(place.map(|place| (sent, place)));
        has_place
    }

    fn mood(&self) -> MutexGuard<'_, Mood> {
        // Never held across a call to the engine, so a simulated panic cannot poison it half
        // changed.
        self.mood.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Courier for SimCourier {
    fn carry(&self, parcel: Parcel, carried: Carried) {
        let places = self.places.as_ref().filter(|_| !self.mood().is_faultless);
        if places.is_some_and(|places| !self.place(places, &parcel)) {
            let failure = Failure::new(Phase::Outside, Reason::OverBudget, "all places are taken");
            carried(Err(failure.with_wait(Some(Span::from_millis(30_000)))));
            return;
        }
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
        if places.is_some() {
            // What has a place is on its way for a while, so that places are used up.
            self.mood().out.push((parcel.run, carried));
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
