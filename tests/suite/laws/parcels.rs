//! What goes outside again is the parcel of the first attempt.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reveille::domain::{
    Channel, ChannelKind, Failure, HostId, Phase, Reason, Route, SessionConfig, Settings, Span, Target, When,
};
use reveille::engine::{NewSchedule, Parcel};
use reveille::port::{Carried, Clock, Courier};
use reveille::runtime::Handle;
use reveille::testkit::{Reception, Seen, SimHost, Stage};

use super::{observe, session};

/// Who carries something else each time, and has not brought it the first time.
struct Careless {
    stage: Stage,
    parcels: AtomicU32,
}

impl Courier for Careless {
    fn carry(&self, parcel: Parcel, carried: Carried) {
        let number = self.parcels.fetch_add(1, Ordering::Relaxed);
        let (run, session, text) = (parcel.run, parcel.session, format!("parcel {number}").into());
        let reception = Reception { host: HostId::LOCAL, run, phase: Phase::Outside, session, text };
        self.stage.history.note(self.stage.clock.now(), Seen::Received(reception));
        let lost = Failure::new(Phase::Outside, Reason::HostRefused, "it fell out of the bag");
        carried(if number == 0 { Err(lost) } else { Ok(()) });
    }
}

#[test]
fn what_goes_out_again_has_to_be_the_same() {
    let stage = Stage::seeded(7);
    let handle = Handle::new(stage.parts(Arc::new(SimHost::new(&stage, HostId::LOCAL))));
    let (name, kind) = ("pager", ChannelKind::Webhook);
    let channel =
        Channel { name: name.into(), kind, goes_to: "somewhere".into(), agents: true, agents_manage: false };
    let courier = Careless { stage: stage.clone(), parcels: AtomicU32::new(0) };
    assert!(handle.outside().open_channels(Arc::new(courier), vec![channel]));
    let opened = handle.open_session(Some(session("home")), HostId::LOCAL, SessionConfig::default());
    assert!(opened.is_ok(), "{opened:?}");
    let route = Route { channel: name.into(), conversation: "room".into(), thread: None };
    let settings = Some(Box::new(Settings { target: Target::Route(Box::new(route)), ..Settings::PLAIN }));
    let new = NewSchedule::message(session("home"), When::After(Span::ZERO), "a word");
    handle.schedule(NewSchedule { settings, ..new }).expect("there is room");
    handle.run_due();
    let so_far = stage.history.after(0);
    assert!(observe(&so_far).is_ok(), "once is once");
    stage.clock.advance(Span::from_millis(5_000));
    handle.run_due();
    let broken = observe(&stage.history.after(0)).expect_err("it is another parcel");
    assert_eq!(broken.law, "a_parcel_is_the_same_at_each_attempt");
}
