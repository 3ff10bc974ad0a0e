//! Operators' decisions: approving and denying runs that are held and what agents ask for in their turns, and changing the
//! grants of sessions.

use super::{CallerMutator, refused};
use crate::domain::{Decided, Digest, GrantChange, Question, Refusal, RunId};
use crate::edn::{Map, Value};
use crate::engine::{Command, Input};
use crate::graph::mutation::{Approve, GrantParams, GrantRight};
use crate::graph::params::OneOrMany;
use crate::graph::registry::ResolverError;

impl CallerMutator<'_> {
    /// Approves a run, or what the agent asks for in its turn. The digest names what the operator was shown.
    pub(super) fn approve(&self, params: Approve) -> Result<Value, ResolverError> {
        let (run, digest) = (params.which.run, params.shown.digest);
        // The digest says which is meant: a question of the agent, or the content of the held run.
        match self.questions_of(&run, Some(digest)).pop() {
            Some(question) => self.answer(&run, question, (true, None)),
            None => self.decide(&run.clone(), Command::Approve { run, digest, by: self.actor() }),
        }
    }

    /// Denies a run, or what the agent asks for in its turn: this question, or all.
    pub(super) fn deny(
        &self,
        run: RunId,
        question: Option<Digest>,
        why: Option<Box<str>>,
    ) -> Result<Value, ResolverError> {
        let questions = self.questions_of(&run, question);
        if questions.is_empty() {
            // The digest names a question that does not wait. To deny the run instead would end more than was meant.
            if question.is_some() {
                return Err(refused(&Refusal::NotHeld { run }));
            }
            return self.decide(&run.clone(), Command::Deny { run, why, by: self.actor() });
        }
        // The turn of a run may ask several things at once. Without a digest all of them are denied.
        for question in questions {
            self.answer(&run, question, (false, why.clone()))?;
        }
        Ok(answer_of(&run))
    }

    /// The questions that wait in the turn of a run: the one with this digest, or all.
    fn questions_of(&self, run: &RunId, digest: Option<Digest>) -> Vec<Question> {
        let turn = self.handle().read().turn(run);
        let questions = turn.iter().flat_map(|turn| &turn.questions);
        let waiting = questions.filter(|question| question.answer.is_none());
        waiting.filter(|question| digest.is_none_or(|digest| digest == question.digest)).cloned().collect()
    }

    fn answer(
        &self,
        run: &RunId,
        question: Question,
        (is_allowed, why): (bool, Option<Box<str>>),
    ) -> Result<Value, ResolverError> {
        let (digest, what, by) = (question.digest, question.title, self.actor());
        let decided = Box::new(Decided { question: digest, what, is_allowed, by, why });
        self.decide(run, Command::AnswerQuestion { run: run.clone(), decided })
    }

    /// Changes a session's grant. Omitted parts stay as they are; a right of nil is no right at all.
    pub(super) fn set_grant(&self, params: GrantParams) -> Result<Value, ResolverError> {
        let session = params.session;
        let dialects = params.dialects.map(|dialects| {
            dialects.map(|OneOrMany(mut dialects)| {
                // Only the set counts, so two orders of it give equal grants.
                dialects.sort_unstable();
                dialects.dedup();
                dialects
            })
        });
        let right = params.right.map(|right| right.and_then(GrantRight::right));
        // Applied in the step: another operator may change another part meanwhile, and no revocation is undone.
        let change = GrantChange { right, dialects, depth: params.depth, cron_others: params.cron_others };
        let changed = self.handle().sessions().change_grant(&session, change, self.actor());
        changed.map_err(|refusal| refused(&refusal))?;
        Ok(Map::new().with("psi.agent-session/session-id", session.as_str()).into())
    }

    fn decide(&self, run: &RunId, command: Command) -> Result<Value, ResolverError> {
        self.handle().submit(Input::Command(command)).map_err(|refusal| refused(&refusal))?;
        Ok(answer_of(run))
    }
}

fn answer_of(run: &RunId) -> Value {
    Map::new().with("reveille.run/id", run.to_string()).into()
}
