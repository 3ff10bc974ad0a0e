//! The store under kills, power cuts, and disks that fail, fill up or are damaged.

mod altered;
mod backup;
mod contention;
mod damage;
mod disk_fails;
mod disk_full;
mod kills;
mod power;
