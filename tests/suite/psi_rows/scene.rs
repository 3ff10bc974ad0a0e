//! What a row is played on: a real handle, a simulated clock, simulated hosts, and the laws that watch.

use std::collections::BTreeMap;
use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::domain::{BootTime, Cursor, Fact, HostId, Moment, Now, Span};
use reveille::engine::State;
use reveille::port::{Clock, Host};
use reveille::runtime::{Handle, Subscription};
use reveille::testkit::{
    Laws, Seen, SimClock, SimHost, Stage, StateView, feed_tells_all, reads_change_nothing,
};

/// The built-in host, as rows call it.
pub(crate) const BUILT_IN: &str = "built-in";

/// One engine and everything around it.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    pub(crate) handle: Handle,
    pub(crate) hosts: BTreeMap<String, Arc<SimHost>>,
    /// The decisions from the first on; each `:events` step reads what is new to it.
    pub(crate) feed: Subscription,
    laws: Laws,
    seen: usize,
}

impl Scene {
    /// An engine whose wall clock shows `start`, or the testkit's own start.
    pub(crate) fn new(start: Option<Moment>) -> Scene {
        let mut stage = Stage::seeded(20_260_422);
        if let Some(wall) = start {
            let boot = BootTime::from_nanos(3_600_000_000_250);
            stage.clock = Arc::new(SimClock::starting_at(Now { wall, boot }));
        }
        let built_in = Arc::new(SimHost::new(&stage, HostId::LOCAL).over(Arc::new(HostLocal::new())));
        let handle = Handle::new(stage.parts(Arc::clone(&built_in) as Arc<dyn Host>));
        let feed = handle.subscribe(Cursor::START);
        let hosts = BTreeMap::from([(BUILT_IN.to_owned(), built_in)]);
        Scene { stage, handle, hosts, feed, laws: Laws::new(), seen: 0 }
    }

    /// The host of that name; it connects when it is first mentioned.
    pub(crate) fn host(&mut self, name: &str) -> Arc<SimHost> {
        if let Some(host) = self.hosts.get(name) {
            return Arc::clone(host);
        }
        let number = u32::try_from(self.hosts.len()).expect("a row has a few hosts");
        let host = SimHost::new(&self.stage, HostId::new(number)).over(Arc::new(HostLocal::new()));
        let host = Arc::new(host);
        let attached = self.handle.hosts().attach(Arc::clone(&host) as Arc<dyn Host>);
        assert_eq!(attached, host.number(), "hosts are numbered in the order in which they connect");
        self.hosts.insert(name.to_owned(), Arc::clone(&host));
        host
    }

    /// Lets time pass as the driver would: at every deadline on the way the engine has its turn.
    pub(crate) fn advance(&self, span: Span) {
        let target = self.stage.clock.now().boot.after(span);
        while let Some(next) = self.handle.run_due().filter(|next| *next <= target) {
            self.stage.clock.advance_to(next);
        }
        self.stage.clock.advance_to(target);
        self.handle.run_due();
    }

    /// Asks the laws about everything since the last time.
    pub(crate) fn judge(&mut self) -> Result<(), String> {
        for observation in self.stage.history.after(self.seen) {
            self.seen += 1;
            self.laws.observe(&observation).map_err(|broken| broken.to_string())?;
        }
        self.stand(false)
    }

    /// What else must hold at the end of a row.
    pub(crate) fn judge_all(&self) -> Result<(), String> {
        self.stand(true)?;
        reads_change_nothing(&self.handle).map_err(|broken| broken.to_string())?;
        let facts: Vec<Fact> =
            self.stage.history.after(0).into_iter().filter_map(|one| fact(one.seen)).collect();
        let decisions = self.handle.subscribe(Cursor::START).poll(usize::MAX).decisions;
        feed_tells_all(&facts, &decisions).map_err(|broken| broken.to_string())
    }

    fn stand(&self, deep: bool) -> Result<(), String> {
        let now = self.stage.clock.now();
        let ask = |state: &State| {
            let standing = StateView { state, now, turned: false, session_live_max: None };
            if deep { self.laws.stand_deep(&standing) } else { self.laws.stand(&standing) }
        };
        self.handle.view(ask).map_err(|broken| broken.to_string())
    }
}

fn fact(seen: Seen) -> Option<Fact> {
    if let Seen::Fact(fact) = seen { Some(fact) } else { None }
}
