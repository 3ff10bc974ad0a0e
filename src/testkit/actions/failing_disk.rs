//! Disk failures of a world: the disk fails in one of several ways, is retried, and recovers.

use crate::domain::Refusal;
use crate::port::Store;
use crate::testkit::DiskFault;
use crate::testkit::disk::Disk;
use crate::testkit::laws::Broken;
use crate::testkit::world::World;

type Outcome = Result<(), Broken>;

impl World {
    /// Makes the disk fail from the next append on.
    pub(in crate::testkit) fn fail_disk(&mut self) -> Outcome {
        let Some(disk) = self.disk.as_mut().filter(|_| !self.is_ending) else { return Ok(()) };
        let entropy = &self.stage.entropy;
        let attempts = u32::try_from(1 + entropy.below(5)).unwrap_or(1);
        let room = DiskFault::Narrow(u32::try_from(entropy.below(4)).unwrap_or(0));
        let faults =
            [DiskFault::Broken, DiskFault::Full, DiskFault::Busy(attempts), DiskFault::Unflushed, room];
        let any = entropy.pick(&faults).copied().unwrap_or(DiskFault::Full);
        // A slow disk has a backlog, so a full queue is the likely failure.
        let fault = if disk.is_slow && entropy.one_in(2) { room } else { any };
        disk.store.fail_as(fault);
        disk.is_ill = true;
        self.tally.disk_faults += 1;
        self.say(format!("  from here on the disk is {fault:?}"));
        Ok(())
    }

    /// Retries the disk, mostly after repairing it.
    pub(in crate::testkit) fn mend_disk(&mut self) -> Outcome {
        let is_mended = self.is_ending || !self.stage.entropy.one_in(3);
        let Some(disk) = &mut self.disk else { return Ok(()) };
        if is_mended {
            disk.store.heal();
        }
        // Failures so far belong to the term that ends here; judge them before it is renewed.
        self.judge(false)?;
        self.try_disk_again()?;
        if is_mended && let Some(disk) = self.disk.as_mut().filter(|disk| !disk.is_slow) {
            disk.is_ill = false;
        }
        Ok(())
    }

    /// Reopens a failed store. The runtime does this about once a second while the store fails.
    pub(in crate::testkit) fn try_disk_again(&mut self) -> Outcome {
        let has_failed = |disk: &&mut Disk| disk.is_refused || disk.store.health().term.is_none();
        let Some(disk) = self.disk.as_mut().filter(has_failed) else { return Ok(()) };
        let store = disk.store.clone();
        let broken = |detail: String| Broken { law: "a_mended_store_is_taken_up", detail };
        // Open the store first: the model has to be reset before the engine loads from the store,
        // and only if it will.
        if let Err(fault) = store.renew() {
            self.say(format!("  the store is tried again: {fault}"));
            return Ok(());
        }
        self.say("  the store is well again".to_owned());
        self.laws.come_back(&*store)?;
        let Some(disk) = &mut self.disk else { return Ok(()) };
        disk.is_refused = false;
        disk.answers.retry().map_err(|fault| broken(fault.to_string()))?;
        // Reloaded schedules may be due at once, so the last turn no longer counts.
        self.turned = false;
        self.judge(false)
    }

    /// Checks that a storage refusal is justified: volatile work never needs the disk.
    pub(in crate::testkit) fn judge_refusal(&self, needs_no_disk: bool, refusal: &Refusal) -> Outcome {
        let Refusal::StoreUnavailable { .. } = refusal else { return Ok(()) };
        if self.disk.as_ref().is_some_and(|disk| disk.is_ill) && !needs_no_disk {
            return Ok(());
        }
        Err(Broken { law: "volatile_work_needs_no_disk", detail: refusal.to_string() })
    }
}
