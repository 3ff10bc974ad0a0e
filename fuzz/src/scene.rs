//! A simulated engine for fuzz targets: clock, randomness and hosts are deterministic.

use std::sync::{Arc, LazyLock};

use reveille::adapter::HostLocal;
use reveille::calendar::Zones;
use reveille::domain::{BootTime, Caller, HostId, Moment, Now, SessionConfig, SessionId};
use reveille::runtime::Handle;
use reveille::testkit::{Behaviour, History, SimClock, SimEntropy, SimHost, Stage};

/// The bundled time zones, loaded once for all inputs.
pub(super) static ZONES: LazyLock<Arc<Zones>> = LazyLock::new(|| Arc::new(Zones::bundled()));

/// An engine and its simulated surroundings.
pub(super) struct Scene {
    pub(super) handle: Handle,
    pub(super) stage: Stage,
}

impl Scene {
    /// An empty engine, on Wednesday 22 April 2026 at 13:00 UTC.
    pub(super) fn empty() -> Scene {
        let boot = BootTime::from_nanos(3_600_000_000_000);
        let clock = SimClock::starting_at(Now { wall: moment("2026-04-22T13:00:00Z"), boot });
        let stage = Stage {
            clock: Arc::new(clock),
            entropy: Arc::new(SimEntropy::seeded(20_260_422)),
            zones: Arc::clone(&ZONES),
            history: History::new(),
        };
        // A simulated host in front of the real one records deliveries, which the laws need.
        let local = SimHost::new(&stage, HostId::LOCAL).over(Arc::new(HostLocal::new()));
        local.behave(&[(Behaviour::Prompt, 1)]);
        let handle = Handle::new(stage.parts(Arc::new(local)));
        Scene { handle, stage }
    }

    /// An engine with the sessions `main` and `other`.
    pub(super) fn new() -> Scene {
        let scene = Scene::empty();
        for id in ["main", "other"] {
            let opened =
                scene.handle.open_session(Some(session(id)), HostId::LOCAL, SessionConfig::default());
            opened.expect("nothing is open yet");
        }
        scene
    }
}

/// Two callers with different views: an operator, and the session `main`.
pub(super) fn callers() -> [Caller; 2] {
    [Caller::OPERATOR, Caller::session(session("main"))]
}

pub(super) fn session(id: &str) -> SessionId {
    SessionId::new(id).expect("an id")
}

pub(super) fn moment(text: &str) -> Moment {
    Moment::parse(text).expect("an instant")
}
