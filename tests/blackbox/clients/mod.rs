//! What calls a daemon: commands, dialects, channels, guards, and clients that repeat themselves or hang.

mod channels;
mod cli;
mod dialects;
mod guard;
mod readme;
mod repeats;
mod slow_clients;
mod token;
mod transfer;
mod words;
