use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Failure, JobContext, Loss, Raw, telemetry};

type Running = Pin<Box<dyn Future<Output = Result<Raw, Failure>> + Send>>;
type Handler = Arc<dyn Fn(JobContext) -> Running + Send + Sync>;

/// Handlers by job type.
#[derive(Clone, Default)]
pub struct Registry {
    handlers: BTreeMap<String, Handler>,
}

impl Registry {
    /// Without any.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// With the handler of a job type. Variables that do not fit `In` are a failure that is not retried; those that it does not name are left alone. What it
    /// returns is merged into the variables of the instance; `()` is nothing. A second handler of a type takes the place of the first.
    #[must_use]
    pub fn handle<In, Out, Done>(
        mut self,
        job_type: impl Into<String>,
        handler: impl Fn(JobContext, In) -> Done + Send + Sync + 'static,
    ) -> Registry
    where
        In: DeserializeOwned,
        Out: Serialize,
        Done: Future<Output = Result<Out, Failure>> + Send + 'static,
    {
        let erased = move |context: JobContext| -> Running {
            let read = serde_json::from_str(context.job().variables.get());
            match read {
                Err(error) => Box::pin(async move { Err(Failure::NonRetryable(format!("variables: {error}"))) }),
                Ok(variables) => {
                    let running = handler(context, variables);
                    Box::pin(async move { object(&running.await?) })
                }
            }
        };
        self.handlers.insert(job_type.into(), Arc::new(erased));
        self
    }

    /// The types there are handlers for.
    pub fn job_types(&self) -> Vec<String> {
        self.handlers.keys().cloned().collect()
    }

    /// Calls the handler of the job's type, as a runner does.
    pub async fn run(&self, context: &JobContext) -> Outcome {
        let job_type = &context.job().job_type;
        let Some(handler) = self.handlers.get(job_type) else {
            return Outcome::Failed { message: format!("there is no handler for `{job_type}`"), retryable: true, after: None };
        };
        let (handler, given) = (handler.clone(), context.clone());
        // A task of its own, so that a panic ends this job alone, also one before the handler first waits.
        let ended = tokio::spawn(telemetry::within(async move { handler(given).await })).await;
        match (context.loss(), ended) {
            (Some(loss), _) => Outcome::Abandoned(loss),
            (None, Ok(ended)) => Outcome::of(ended),
            (None, Err(error)) => Outcome::Failed { message: error.to_string(), retryable: true, after: None },
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.handlers.keys()).finish()
    }
}

/// What a handler's end means for its job.
#[derive(Debug)]
pub enum Outcome {
    /// It is done.
    Completed(Raw),
    /// It could not be done.
    Failed {
        /// For people.
        message: String,
        /// Whether to try again while retries are left.
        retryable: bool,
        /// How long to wait first.
        after: Option<Duration>,
    },
    /// An error for the BPMN process.
    Thrown {
        /// Its code in the model.
        code: String,
        /// For people.
        message: String,
        /// Variables that come with it.
        variables: Raw,
    },
    /// Not now.
    Snoozed(Duration),
    /// Nobody waits for it any more.
    Abandoned(Loss),
}

impl Outcome {
    fn of(ended: Result<Raw, Failure>) -> Outcome {
        match ended {
            Ok(variables) => Outcome::Completed(variables),
            Err(Failure::Retryable { message, after }) => Outcome::Failed { message, retryable: true, after },
            Err(Failure::NonRetryable(message)) => Outcome::Failed { message, retryable: false, after: None },
            Err(Failure::Bpmn { code, message, variables }) => Outcome::Thrown { code, message, variables },
            Err(Failure::Snooze(delay)) => Outcome::Snoozed(delay),
        }
    }
}

/// A value as a JSON object; null is an empty one.
pub(crate) fn object(value: &impl Serialize) -> Result<Raw, Failure> {
    let text = serde_json::value::to_raw_value(value).map_err(Failure::non_retryable)?;
    match text.get().as_bytes().first() {
        Some(b'{') => Ok(text),
        Some(b'n') => Ok(nothing()),
        _ => Err(Failure::non_retryable("variables must be written as a JSON object")),
    }
}

pub(crate) fn nothing() -> Raw {
    serde_json::value::to_raw_value(&serde_json::Map::new()).expect("an empty object is JSON")
}
