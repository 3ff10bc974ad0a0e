//! The kit: which tools a session can have called, and who carries each call out.
//!
//! What lives elsewhere: what a handle asks of it (`tools`), calls under way (`calls`), who may call a tool (`service`).
//! Invariant: of two tools of one name, a session gets that of the executor whose kind comes first (`ExecutorKind`); only tools
//! of hosts may have the name of another.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::sync::{RwLock, UNPOISONED};
use crate::domain::{ExecutorKind, HostId, SessionId, ToolName, ToolSpec, nearest};
use crate::port::Executor;

/// The executors.
#[derive(Default)]
pub(super) struct Kit {
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    /// All but those of hosts.
    executors: Vec<Offerer>,
    hosts: BTreeMap<HostId, Offerer>,
    next: u32,
}

/// An executor with its place in the kit.
#[derive(Clone)]
pub(super) struct Offerer {
    pub(super) kind: ExecutorKind,
    /// Never given to another one.
    pub(super) number: u32,
    pub(super) executor: Arc<dyn Executor>,
}

/// Two executors offer tools of one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the tool {name} is offered twice: {} {}", .kinds[0].doc(), .kinds[1].doc())]
pub struct NameClash {
    /// The name.
    pub(crate) name: ToolName,
    /// What offers it: the one that was there first, and the one that was to be added.
    pub kinds: [ExecutorKind; 2],
}

/// The tools that one session can have called, as they are at one moment.
#[derive(Clone)]
pub struct SessionKit {
    /// In order of precedence.
    offers: Vec<(Offerer, Arc<[ToolSpec]>)>,
}

/// A tool, and who carries it out.
#[derive(Clone)]
pub struct KnownTool {
    /// What the tool is.
    pub spec: ToolSpec,
    /// Who carries it out.
    pub kind: ExecutorKind,
    pub(super) offerer: Offerer,
}

/// What a name leads to.
#[derive(Clone)]
pub enum Resolved {
    /// One tool.
    Known(Box<KnownTool>),
    /// Several tools, of which none has exactly this name.
    Ambiguous(Vec<ToolName>),
    /// No tool. The nearest names, if there are any.
    Unknown(Vec<ToolName>),
}

impl Kit {
    /// Adds an executor. A second one of Reveille's own tools takes the place of the first.
    pub(super) fn add(
        &self,
        kind: ExecutorKind,
        executor: Arc<dyn Executor>,
        to: &SessionId,
    ) -> Result<(), NameClash> {
        let offered = specs(&*executor, to);
        let mut table = self.table.write().expect(UNPOISONED);
        if kind == ExecutorKind::Own {
            table.executors.retain(|known| known.kind != ExecutorKind::Own);
        }
        for known in &table.executors {
            let specs = specs(&*known.executor, to);
            let names: BTreeSet<&ToolName> = specs.iter().map(|spec| &spec.name).collect();
            let twice = offered.iter().find(|spec| names.contains(&spec.name));
            if let Some(spec) = twice {
                return Err(NameClash { name: spec.name.clone(), kinds: [known.kind, kind] });
            }
        }
        let offerer = Offerer { kind, number: table.number(), executor };
        table.executors.push(offerer);
        // Kinds are in order of precedence, numbers in order of addition.
        table.executors.sort_by_key(|known| (known.kind, known.number));
        Ok(())
    }

    /// Puts the tools of a host in the place of those that it offered before. Returns the names by which its sessions get tools
    /// of others.
    pub(super) fn offer(&self, host: HostId, executor: Arc<dyn Executor>) -> Vec<ToolName> {
        let anyone = SessionId::of_nobody();
        let offered = specs(&*executor, &anyone);
        {
            let mut table = self.table.write().expect(UNPOISONED);
            let number = table.hosts.get(&host).map(|known| known.number);
            // The number stays with the host: the places and the counts of its calls are kept by it.
            let number = number.unwrap_or_else(|| table.number());
            table.hosts.insert(host, Offerer { kind: ExecutorKind::Host, number, executor });
        }
        let others = self.of_session(&anyone, None);
        let first = others.tools().filter(|(kind, _)| *kind < ExecutorKind::Host);
        let shadowing: BTreeSet<&ToolName> = first.map(|(_, spec)| &spec.name).collect();
        offered.iter().map(|spec| spec.name.clone()).filter(|name| shadowing.contains(name)).collect()
    }

    /// Takes the tools of a host away. Returns who carried them out.
    pub(super) fn withdraw(&self, host: HostId) -> Option<Offerer> {
        self.table.write().expect(UNPOISONED).hosts.remove(&host)
    }

    /// The tools for a session of this host.
    pub(super) fn of_session(&self, session: &SessionId, host: Option<HostId>) -> SessionKit {
        // Cloned, so that no executor is asked under the lock.
        let mut offerers = {
            let table = self.table.read().expect(UNPOISONED);
            let hosted = host.and_then(|host| table.hosts.get(&host));
            table.executors.iter().chain(hosted).cloned().collect::<Vec<_>>()
        };
        offerers.sort_by_key(|known| (known.kind, known.number));
        let offer = |offerer: Offerer| {
            let specs = specs(&*offerer.executor, session);
            (offerer, specs)
        };
        SessionKit { offers: offerers.into_iter().map(offer).collect() }
    }
}

impl Table {
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }
}

/// What an executor offers. One that panics offers nothing.
fn specs(executor: &dyn Executor, session: &SessionId) -> Arc<[ToolSpec]> {
    // Unwind safe: the executor is behind a port, so its panic leaves nothing of the kit half changed.
    catch_unwind(AssertUnwindSafe(|| executor.specs(session))).unwrap_or_default()
}

impl SessionKit {
    /// Each tool with who carries it out, in order of precedence.
    pub fn tools(&self) -> impl Iterator<Item = (ExecutorKind, &ToolSpec)> {
        self.offered().map(|(offerer, spec)| (offerer.kind, spec))
    }

    fn offered(&self) -> impl Iterator<Item = (&Offerer, &ToolSpec)> {
        let all =
            self.offers.iter().flat_map(|(offerer, specs)| specs.iter().map(move |spec| (offerer, spec)));
        // Of two tools of one name a session has the first, because the offers are in order of precedence. Looked up, and not
        // compared with each earlier one: all executors together may offer thousands.
        let mut names = BTreeSet::new();
        all.filter(move |(_, spec)| names.insert(&spec.name))
    }

    /// Each tool, in order of precedence.
    pub(crate) fn known(&self) -> impl Iterator<Item = KnownTool> {
        self.offered().map(|(offerer, spec)| KnownTool {
            spec: spec.clone(),
            kind: offerer.kind,
            offerer: offerer.clone(),
        })
    }

    /// Only the tools of the session's host.
    pub(super) fn of_host(mut self) -> SessionKit {
        self.offers.retain(|(offerer, _)| offerer.kind == ExecutorKind::Host);
        self
    }

    /// Finds the tool of a name. The name may also be spelled as programs do that allow no dot in it.
    pub fn resolve(&self, name: &str) -> Resolved {
        let of = |is_it: &dyn Fn(&ToolName) -> bool| {
            let mut offers = self.offers.iter();
            offers.find_map(|(offerer, specs)| {
                let spec = specs.iter().find(|spec| is_it(&spec.name))?;
                let (spec, kind, offerer) = (spec.clone(), offerer.kind, offerer.clone());
                Some(KnownTool { spec, kind, offerer })
            })
        };
        // An exact name comes before every other spelling.
        if let Some(known) = of(&|known| known.as_str() == name) {
            return Resolved::Known(Box::new(known));
        }
        // Then the spellings without a dot. Two tools can have one such spelling in common.
        let spelled = self.names(|known| is_spelling(known.as_str(), name));
        match spelled.as_slice() {
            [] => {}
            [one] => {
                if let Some(known) = of(&|known| known == one) {
                    return Resolved::Known(Box::new(known));
                }
            }
            [_, _, ..] => return Resolved::Ambiguous(spelled),
        }
        // The action alone only suggests tools, also if there is one: the caller may mean another module.
        let acting =
            self.names(|known| known.as_str().split_once('.').is_some_and(|(_, action)| action == name));
        if acting.len() > 1 {
            return Resolved::Ambiguous(acting);
        }
        Resolved::Unknown(if acting.is_empty() { self.near(name) } else { acting })
    }

    /// The names that are like an unknown one: the nearest, or else some of its module.
    fn near(&self, name: &str) -> Vec<ToolName> {
        let all = self.tools().map(|(_, spec)| (&spec.name, spec.name.as_str()));
        if let Some(nearest) = nearest(all, name) {
            return vec![nearest.clone()];
        }
        let module = name.split_once('.').map_or(name, |(module, _)| module);
        let mut of_module = self.names(|known| known.module() == module);
        of_module.truncate(NAMED_OF_MODULE);
        of_module
    }

    fn names(&self, is_it: impl Fn(&ToolName) -> bool) -> Vec<ToolName> {
        self.tools().map(|(_, spec)| &spec.name).filter(|name| is_it(name)).cloned().collect()
    }
}

/// Whether this is how the name is written where no dot is allowed: `module__action`, or `module_action`.
fn is_spelling(known: &str, written: &str) -> bool {
    known.replacen('.', "__", 1) == written || known.replace('.', "_") == written
}

/// How many tools of a module are named to who asks for another one of it.
const NAMED_OF_MODULE: usize = 5;
