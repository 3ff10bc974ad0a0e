//! An engine that touches nothing: its clock, its randomness and its hosts are simulated, and the same each time.

use std::sync::{Arc, LazyLock};

use reveille::adapter::HostLocal;
use reveille::calendar::Zones;
use reveille::domain::{BootTime, Caller, HostId, Moment, Now, SessionConfig, SessionId};
use reveille::runtime::Handle;
use reveille::testkit::{Behaviour, History, SimClock, SimEntropy, SimHost, Stage};

/// The bundled time zones, sorted once.
pub(super) static ZONES: LazyLock<Arc<Zones>> = LazyLock::new(|| Arc::new(Zones::bundled()));

/// An engine, and what it stands on.
pub(super) struct Scene {
    pub(super) handle: Handle,
    pub(super) stage: Stage,
}

impl Scene {
    /// An engine with nothing in it, on Wednesday 22 April 2026 at 13:00 UTC.
    pub(super) fn empty() -> Scene {
        let boot = BootTime::from_nanos(3_600_000_000_000);
        let clock = SimClock::starting_at(Now { wall: moment("2026-04-22T13:00:00Z"), boot });
        let stage = Stage {
            clock: Arc::new(clock),
            entropy: Arc::new(SimEntropy::seeded(20_260_422)),
            zones: Arc::clone(&ZONES),
            history: History::new(),
        };
        // It notes what reaches it, which the laws want to know.
        let local = SimHost::new(&stage, HostId::LOCAL).over(Arc::new(HostLocal::new()));
        local.behave(&[(Behaviour::Prompt, 1)]);
        let handle = Handle::new(stage.parts(Arc::new(local)));
        Scene { handle, stage }
    }

    /// The same with the sessions `main` and `other`.
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

/// The callers that see different things: an operator, and the session `main`.
pub(super) fn callers() -> [Caller; 2] {
    [Caller::OPERATOR, Caller::session(session("main"))]
}

pub(super) fn session(id: &str) -> SessionId {
    SessionId::new(id).expect("an id")
}

pub(super) fn moment(text: &str) -> Moment {
    Moment::parse(text).expect("an instant")
}
