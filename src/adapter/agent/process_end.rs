//! Waits for the end of a process that we have not started, such as a window of an agent.

/// Waits until a process ends that runs now. It waits for ever if it has ended already, because its caller would otherwise ask
/// again without a pause, and where the system cannot say when a process ends.
#[cfg(target_os = "linux")]
pub(super) async fn of(process: u32) {
    use std::future::pending;

    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use tokio::io::unix::AsyncFd;

    use super::process::is_zombie;

    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    let Some(file) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
        return pending().await;
    };
    // Looked at after the file is open, which can be read once the process has ended.
    let has_ended = is_zombie(process);
    #[expect(
        deprecated,
        reason = "the other one is unsafe, for types that change their descriptor: this one keeps its own"
    )]
    let file = AsyncFd::new(file);
    match file {
        Ok(file) if !has_ended => drop(file.readable().await),
        _ => pending().await,
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) async fn of(_: u32) {
    std::future::pending().await
}
