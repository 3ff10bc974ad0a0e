//! Building a [`Reveille`].

use std::sync::Arc;

use super::deliveries::Fanout;
use super::error::Error;
use super::scheduler::Reveille;
use crate::adapter::{ClockOs, EntropyOs, HostLocal, HostTapped, system_zones};
use crate::calendar::Zones;
use crate::domain::{Channel, ExecutorKind, GuardPolicy, Message, Primitives, SessionId};
use crate::port::{Courier, Executor, Guard, Host, Store};
use crate::runtime::{AttachOptions, Parts, Runtime, WithoutStore};
use crate::service::Service;

/// The parts of a scheduler that differ from program to program. Everything has a default.
#[derive(Default)]
pub struct Builder {
    store: Stores,
    host: Option<Arc<dyn Host>>,
    on_delivery: Option<Listener>,
    guard: Option<Arc<dyn Guard>>,
    policy: Option<Option<Arc<GuardPolicy>>>,
    channels: Option<(Arc<dyn Courier>, Vec<Channel>)>,
    executors: Vec<Arc<dyn Executor>>,
    zone: Option<Box<str>>,
    primitives: Primitives,
}

/// Called with each delivery.
type Listener = Box<dyn Fn(&SessionId, &Message) + Send + Sync>;

#[derive(Default)]
enum Stores {
    #[default]
    None,
    #[cfg(feature = "sqlite")]
    Sqlite(std::path::PathBuf),
    Given(Arc<dyn Store>),
}

impl Reveille {
    /// A scheduler with a store, a host, a guard or channels.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// Persists durable schedules and sessions in one SQLite file in this directory, which is created if it does not exist. One
    /// process at a time can have it open.
    #[cfg(feature = "sqlite")]
    #[must_use]
    pub fn sqlite(self, dir: impl Into<std::path::PathBuf>) -> Builder {
        Builder { store: Stores::Sqlite(dir.into()), ..self }
    }

    /// Persists durable schedules and sessions in a store of your own.
    #[must_use]
    pub fn store(self, store: Arc<dyn Store>) -> Builder {
        Builder { store: Stores::Given(store), ..self }
    }

    /// Runs sessions on a host of your own: it receives every prompt. The default host stores transcripts in memory.
    #[must_use]
    pub fn host(self, host: impl Host + 'static) -> Builder {
        Builder { host: Some(Arc::new(host)), ..self }
    }

    /// Calls `listener` with each message that was delivered, on the delivering thread: it must return at once.
    #[must_use]
    pub fn on_delivery(self, listener: impl Fn(&SessionId, &Message) + Send + Sync + 'static) -> Builder {
        Builder { on_delivery: Some(Box::new(listener)), ..self }
    }

    /// The guard's policy, in force before anything is delivered; `None` for no policy. Without this call a stored policy stays.
    #[must_use]
    pub fn guard_policy(self, policy: Option<GuardPolicy>) -> Builder {
        Builder { policy: Some(policy.map(Arc::new)), ..self }
    }

    /// Asks this guard about runs, where the policy requires it.
    #[must_use]
    pub fn guard(self, guard: impl Guard + 'static) -> Builder {
        Builder { guard: Some(Arc::new(guard)), ..self }
    }

    /// Opens channels, and sends through this courier what goes out by them.
    #[must_use]
    pub fn channels(self, courier: impl Courier + 'static, channels: Vec<Channel>) -> Builder {
        Builder { channels: Some((Arc::new(courier), channels)), ..self }
    }

    /// Adds an executor, whose tools sessions can have called. Tools that sessions may call with their own tokens say so
    /// (`ToolSpec::agents`). Can be called several times; two executors with a tool of one name are an error of `start`.
    #[must_use]
    pub fn executor(mut self, executor: impl Executor + 'static) -> Builder {
        self.executors.push(Arc::new(executor));
        self
    }

    /// The zone of times that name none, such as `every day at 9`: a name of the time zone database, or an offset. The machine's
    /// zone if left out.
    #[must_use]
    pub fn zone(self, zone: impl Into<Box<str>>) -> Builder {
        Builder { zone: Some(zone.into()), ..self }
    }

    /// Switches families of tools on that exist only where somebody asked for them.
    #[must_use]
    pub fn primitives(self, primitives: Primitives) -> Builder {
        Builder { primitives, ..self }
    }

    /// Starts the scheduler. Schedules that an earlier process left in the store go on from here.
    ///
    /// # Errors
    /// [`Error::Primitives`] if the scheduler is on without watchers; [`Error::Zone`] if nobody knows the zone;
    /// [`Error::Tools`] if two executors offer tools of one name; `Error::Open` if the SQLite store cannot be opened;
    /// [`Error::Store`] if the store cannot be loaded; [`Error::Refused`] if the guard's policy is not accepted;
    /// [`Error::System`] if the operating system has no thread or no randomness.
    pub fn start(self) -> Result<Reveille, Error> {
        self.primitives.check()?;
        let zones = system_zones();
        let zones = match self.zone {
            Some(zone) => zones.with_configured(&zone)?,
            None => zones,
        };
        let deliveries = Arc::<Fanout>::default();
        let local = self.host.unwrap_or_else(|| Arc::new(HostLocal::new()));
        let (receivers, on_delivery) = (Arc::clone(&deliveries), self.on_delivery);
        let host = HostTapped::new(local, move |session: &SessionId, message: &Message| {
            // Before the callback: a program's own code may take long or panic, and must not keep the message from receivers.
            receivers.publish(session, message);
            if let Some(listener) = &on_delivery {
                listener(session, message);
            }
        });
        let runtime = Runtime::start(system_parts(Arc::new(host), zones)?)?;
        let handle = runtime.handle();
        handle.tools().switch(self.primitives);
        // Before the store: loaded runs may be due, and then they meet the guard and the channels at once.
        if let Some(guard) = self.guard {
            handle.outside().set_guard(guard);
        }
        if let Some((courier, channels)) = self.channels {
            handle.outside().open_channels(courier, channels);
        }
        for executor in self.executors {
            handle.tools().add_executor(ExecutorKind::Operator, executor)?;
        }
        let store: Option<Arc<dyn Store>> = match self.store {
            Stores::None => None,
            Stores::Given(store) => Some(store),
            #[cfg(feature = "sqlite")]
            Stores::Sqlite(dir) => {
                let options = crate::adapter::StoreOptions::new(dir, handle.now().wall);
                let store = crate::adapter::StoreSqlite::open(options)?;
                Some(Arc::new(store))
            }
        };
        match store {
            Some(store) => {
                handle
                    .attach_store(store, AttachOptions { policy: self.policy, ..AttachOptions::default() })?;
            }
            None => {
                // Without a store there is no run yet, so the policy is still in force before the first one.
                if let Some(policy) = self.policy {
                    super::scheduler::set_policy(handle, policy)?;
                }
            }
        }
        let service = Service::new(handle.clone());
        Ok(Reveille::new(runtime, service, deliveries))
    }
}

/// The parts of an engine on this machine: the system's clocks and randomness, and these zones.
pub(crate) fn system_parts(local: Arc<dyn Host>, zones: Zones) -> std::io::Result<Parts> {
    Ok(Parts {
        clock: Arc::new(ClockOs),
        entropy: Arc::new(EntropyOs::new()?),
        local,
        zones: Arc::new(zones),
        without_store: WithoutStore::Reject,
        journal: None,
    })
}
