//! A run that is suspended for a while.

use engine::{Command, ElementKey, Event, Rejected, State, Triggered, WaitKey, WaitKind};

use super::run::Run;

impl Run<'_> {
    /// Suspends, sees that nothing can be done, also by another server, and resumes.
    pub(crate) fn suspend_for_a_while(&mut self) {
        let before = self.instance.clone();
        self.ask(&Command::Suspend).expect("what runs can be suspended");
        self.restart();
        assert_eq!(self.instance.state, State::Suspended);
        for (job, element) in self.jobs() {
            let complete = Command::CompleteJob { job, element, variables: vec![] };
            assert_eq!(self.ask(&complete), Err(Rejected::Suspended));
        }
        for (element, wait, kind) in self.open_waits() {
            if kind != WaitKind::Signal {
                let came = Command::Trigger(Triggered { element, wait, variables: vec![], next: None });
                assert_eq!(self.ask(&came), Err(Rejected::Suspended));
            }
        }
        assert_eq!(self.ask(&Command::Suspend), Err(Rejected::Suspended));
        self.ask(&Command::Resume).expect("what is suspended can go on");
        assert_eq!(self.ask(&Command::Resume), Err(Rejected::NotSuspended));
        assert_eq!(self.instance, before, "it was not left alone");
    }

    /// The first wait for a signal gets one, maybe while the instance is suspended.
    pub(crate) fn signal(&mut self, suspended: bool) {
        let waits = self.open_waits().into_iter().find(|(_, _, kind)| *kind == WaitKind::Signal);
        let Some((element, wait, _)) = waits else { return };
        let came = Command::Trigger(Triggered { element, wait, variables: vec![("came".into(), "1".into())], next: None });
        if !suspended {
            self.ask(&came).expect("it waits");
            return;
        }
        self.ask(&Command::Suspend).expect("what runs can be suspended");
        let opened = self.history.len();
        self.ask(&came).expect("it waits");
        let is_kept = |event: &Event| matches!(event, Event::VariableCreated { .. } | Event::VariableUpdated { .. });
        assert!(self.history[opened..].iter().all(is_kept), "something came of it at once");
        self.restart();
        self.ask(&Command::Resume).expect("what is suspended can go on");
    }

    fn open_waits(&self) -> Vec<(ElementKey, WaitKey, WaitKind)> {
        let waits = self.instance.elements.iter().flat_map(|(key, element)| element.waits.iter().map(move |wait| (*key, wait)));
        waits.map(|(key, wait)| (key, wait.key, wait.kind.clone())).collect()
    }
}
