//! How a conversation is opened: begun, loaded or resumed, believed only where it is seen, and in a mode that somebody chose.

use super::{Conversation, Stage};
use crate::adapter::agent::exchange::Told;
use crate::adapter::agent::wire::{self, Request};
use crate::domain::{Believes, Now, Reason, Span};

impl Conversation {
    pub(super) fn open(&mut self, now: Now) {
        let looks = self.looking.is_some();
        let needs_replay = looks || self.plan.kind.believes == Believes::Replay;
        let how = match self.address.conversation() {
            None => Request::New,
            Some(_) if self.abilities.loads && (needs_replay || !self.abilities.resumes) => Request::Load,
            Some(_) if self.abilities.resumes => Request::Resume,
            Some(_) => {
                return self.give_up(now, Reason::ResumeFailed, "the agent cannot go on with a conversation");
            }
        };
        if how == Request::Load && self.plan.kind.loads_once && self.address.is_begun_by_us() {
            // Before it is done: from here on nobody may load it as if it were the first time.
            self.address = self.address.clone().not_ours();
            self.tell(Told::Address(self.address.clone()));
        }
        self.send(&how);
        self.until = now.boot.after(self.plan.timing.open);
        self.stage = Stage::Opening(how);
    }

    pub(super) fn opened(&mut self, now: Now, how: &Request, answer: &serde_json::Value) {
        if *how == Request::New {
            let Ok(address) = self.address.clone().with_conversation(wire::conversation(answer)) else {
                return self.give_up(now, Reason::AgentBroken, "it began a conversation without an id");
            };
            self.address = address.begun_by_us();
            self.tell(Told::Address(self.address.clone()));
        }
        // An agent may answer an opening of what is not there with success.
        let is_proved = *how != Request::Load || self.replay.is_there();
        if !is_proved && self.plan.kind.believes == Believes::Replay {
            return self.give_up(now, Reason::ResumeFailed, "the agent shows nothing of the conversation");
        }
        self.tell(Told::Open);
        let configured = self.plan.mode.as_deref();
        let known = self.plan.kind.mode.filter(|mode| wire::has_mode(answer, mode) == Some(true));
        // A configured mode is set whether the agent names it or not. The known one is set only if the agent names it.
        match configured.or(known) {
            Some(mode) => {
                let mode = Request::SetMode(mode.into());
                self.send(&mode);
                self.until = now.boot.after(self.plan.timing.open);
                self.stage = Stage::Setting;
            }
            // Fails closed: in an unknown mode the agent may act without asking.
            None if wire::has_mode(answer, "").is_some() => {
                let text = "the agent has modes, and none is configured: set `mode`";
                self.give_up(now, Reason::HostRefused, text);
            }
            None => self.settle(now),
        }
    }

    pub(super) fn settle(&mut self, now: Now) {
        let wait = self.plan.timing.settle;
        if wait == Span::ZERO {
            self.stage = Stage::Ready;
            self.until = now.boot.after(self.plan.timing.idle);
            return self.go_on(now);
        }
        self.until = now.boot.after(wait);
        self.stage = Stage::Settling;
    }
}
