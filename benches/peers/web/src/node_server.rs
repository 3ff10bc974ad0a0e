//! Runs a server in Node: a program that prints its port and ends with its input.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::wrk::{self, Load};

pub(crate) struct Server {
    port: u16,
    child: Child,
}

impl Server {
    pub(crate) fn start(program: &str) -> Server {
        let mut command = Command::new("node");
        command.arg(program).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("node starts");
        let mut line = String::new();
        let output = child.stdout.as_mut().expect("it was asked for");
        BufReader::new(output).read_line(&mut line).expect("it prints a line");
        Server { port: line.trim().parse().expect("its port"), child }
    }

    pub(crate) fn ask(&self, seconds: u32) -> Load {
        wrk::run(&crate::target(([127, 0, 0, 1], self.port).into()), seconds)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The end of its input tells the server to end.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
