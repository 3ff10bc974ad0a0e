//! What can happen to a world's disk: it fails in one of several ways, it is tried again, it is mended.

use super::laws::Broken;
use super::lives::Disk;
use super::world::World;
use crate::adapter::DiskFault;
use crate::domain::{Durability, Refusal};
use crate::engine::{Command, Input};
use crate::port::{Clock, Store};

type Outcome = Result<(), Broken>;

impl World {
    /// From the next append on the disk fails.
    pub(super) fn fail_disk(&mut self) -> Outcome {
        let Some(disk) = self.disk.as_mut().filter(|_| !self.is_ending) else { return Ok(()) };
        let entropy = &self.stage.entropy;
        let attempts = u32::try_from(1 + entropy.below(5)).unwrap_or(1);
        let room = DiskFault::Narrow(u32::try_from(entropy.below(4)).unwrap_or(0));
        let faults =
            [DiskFault::Broken, DiskFault::Full, DiskFault::Busy(attempts), DiskFault::Unflushed, room];
        let any = entropy.pick(&faults).copied().unwrap_or(DiskFault::Full);
        // What is slow has too much waiting for it soon.
        let fault = if disk.is_slow && entropy.one_in(2) { room } else { any };
        disk.store.fail_as(fault);
        disk.is_ill = true;
        self.tally.disk_faults += 1;
        self.say(format!("  from here on the disk is {fault:?}"));
        Ok(())
    }

    /// The disk is tried again, mostly after somebody has mended it.
    pub(super) fn mend_disk(&mut self) -> Outcome {
        let is_mended = self.is_ending || !self.stage.entropy.one_in(3);
        let Some(disk) = &mut self.disk else { return Ok(()) };
        if is_mended {
            disk.store.heal();
        }
        self.judge(false)?;
        self.try_disk_again()?;
        if is_mended && let Some(disk) = self.disk.as_mut().filter(|disk| !disk.is_slow) {
            disk.is_ill = false;
        }
        Ok(())
    }

    /// What the runtime does by itself about once a second while nothing can be kept.
    pub(super) fn try_disk_again(&mut self) -> Outcome {
        let has_failed = |disk: &&mut Disk| disk.is_refused || disk.store.health().term.is_none();
        let Some(disk) = self.disk.as_mut().filter(has_failed) else { return Ok(()) };
        let store = disk.store.clone();
        let broken = |detail: String| Broken { law: "a_mended_store_is_taken_up", detail };
        // Whether it can be opened is known before the engine tries: the books have to be turned to the page first.
        if let Err(fault) = store.renew() {
            self.say(format!("  the store is tried again: {fault}"));
            return Ok(());
        }
        self.say("  the store is well again".to_owned());
        self.laws.come_back(self.stage.clock.now(), &*store)?;
        let Some(disk) = &mut self.disk else { return Ok(()) };
        disk.is_refused = false;
        disk.answers.try_again().map_err(|fault| broken(fault.to_string()))?;
        self.turned = false;
        self.judge(false)
    }

    /// While the store is ill, what lives in memory goes on: nobody is told that it cannot be kept.
    pub(super) fn judge_refusal(&self, needs_no_disk: bool, refusal: &Refusal) -> Outcome {
        let Refusal::Unkept { .. } = refusal else { return Ok(()) };
        if self.disk.as_ref().is_some_and(|disk| disk.is_ill) && !needs_no_disk {
            return Ok(());
        }
        Err(Broken { law: "volatile_work_needs_no_disk", detail: refusal.to_string() })
    }
}

/// Whether an input creates something that lives in memory only.
pub(super) fn creates_in_memory(input: &Input) -> bool {
    matches!(input, Input::Command(Command::CreateSchedule(new)) if new.durability == Durability::Volatile)
}
