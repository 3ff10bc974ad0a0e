//! Tools that call tools, at a real daemon: an operator's programs, a connected host's tools, and what is built in.

mod approvals;
mod built_in;
mod commands;
mod host_tools;
mod programs;
mod scene;
