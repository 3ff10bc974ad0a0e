//! Fifty calls of 20 ms that all have a place. One session has fewer places, and so has one executor: these are four sessions,
//! and each calls a tool of its own executor.

use std::sync::Arc;

use reveille::adapter::HostLocal;
use reveille::domain::{ExecutorKind, SessionId, ToolName, ToolSpec};
use reveille::edn::Map;
use reveille::engine::Invocation;
use reveille::port::{Executor, Returned};
use reveille::service::Service;

use crate::engine::{Engine, PER_SESSION, Sleeping};
use crate::system::boot_nanos;
use crate::{CALLS, Figures, SLOW, begin_calls, middle};

/// How long fifty calls at once take that all have a place.
pub(crate) fn figures(repeats: usize) -> Figures {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
    let runtime = runtime.expect("the system gives what it needs");
    let sleeping: Arc<dyn Executor> = Arc::new(Sleeping { runtime, time: SLOW, before: |_: &Invocation| {} });
    let engine = Engine::with(SESSIONS * PER_SESSION, Arc::new(HostLocal::new()), None);
    let tools: Vec<ToolName> =
        (0..SESSIONS).map(|number| ToolName::new(&format!("bench.wide-{number}")).expect("a name")).collect();
    for tool in &tools {
        let named = Named { tool: tool.clone(), inner: Arc::clone(&sleeping) };
        engine
            .handle()
            .tools()
            .add_executor(ExecutorKind::Operator, Arc::new(named))
            .expect("no other has this tool");
    }
    let service = Service::new(engine.handle().clone());
    let mut times = Vec::with_capacity(repeats);
    for _ in 0..repeats {
        let begun = boot_nanos();
        let begin = |(number, tool): (usize, &ToolName)| {
            let count = CALLS / SESSIONS + usize::from(number < CALLS % SESSIONS);
            begin_calls(&service, &engine.session(number), tool.as_str(), count)
        };
        let answers: Vec<_> = tools.iter().enumerate().map(begin).collect();
        for (answered, _) in &answers {
            let answer = answered.recv().expect("it is answered");
            assert!(!answer.is_error, "{}", answer.value);
        }
        times.push(boot_nanos() - begun);
    }
    engine.leave();
    vec![("parallel-wide", middle(times) / 1e3)]
}

/// The sessions and executors among which the calls are divided.
const SESSIONS: usize = 4;

/// An executor under the name of a tool of its own.
struct Named {
    tool: ToolName,
    inner: Arc<dyn Executor>,
}

impl Executor for Named {
    fn specs(&self, _: &SessionId) -> Arc<[ToolSpec]> {
        [ToolSpec::reading(self.tool.clone(), "Sleeps.", Map::new().into())].into()
    }

    fn call(&self, invocation: Invocation, returned: Returned) {
        self.inner.call(invocation, returned);
    }

    fn cancel(&self, id: &str) {
        self.inner.cancel(id);
    }
}
