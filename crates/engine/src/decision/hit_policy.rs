//! Which of the matching rules count.

use std::sync::{Arc, LazyLock};

use feel::{Context, Dialect, Error, Expression, Value};
use model::decision::{Aggregation, HitPolicy, Table};

use super::Run;
use super::scope::Scope;

static SUM: LazyLock<Option<Expression>> = LazyLock::new(|| feel::parse_with("sum(values)", Dialect::Dmn).ok());
static MIN: LazyLock<Option<Expression>> = LazyLock::new(|| feel::parse_with("min(values)", Dialect::Dmn).ok());
static MAX: LazyLock<Option<Expression>> = LazyLock::new(|| feel::parse_with("max(values)", Dialect::Dmn).ok());

/// Bytes of values compared with others in one step of FEEL.
const COMPARED_BYTES_PER_STEP: u64 = 32;

/// The results of one matching rule, one per output.
#[derive(PartialEq)]
pub(super) struct Hit {
    pub(super) values: Vec<Value>,
}

impl Hit {
    /// One output is its value, several are a context.
    pub(super) fn value(mut self, table: &Table) -> Value {
        if self.values.len() == 1 {
            return self.values.swap_remove(0);
        }
        let names = table.outputs.iter().map(|output| Arc::clone(&output.name));
        Value::Context(Context::from(names.zip(self.values).collect::<Vec<_>>()))
    }
}

impl Run<'_> {
    /// The table's value, given the results of all matching rules; there is at least one.
    pub(super) fn chosen(&mut self, table: &Table, mut hits: Vec<Hit>, scope: &Scope<'_>) -> Result<Value, Error> {
        match table.hit_policy {
            HitPolicy::Unique if 1 < hits.len() => {
                Err(Error::Invalid(format!("hit policy UNIQUE allows one rule to match, but {} did", hits.len())))
            }
            HitPolicy::Any if self.differ(&hits)? => {
                let reason = "hit policy ANY allows several rules to match only if they say the same, but they differ";
                Err(Error::Invalid(reason.to_owned()))
            }
            HitPolicy::Unique | HitPolicy::Any | HitPolicy::First => Ok(hits.swap_remove(0).value(table)),
            HitPolicy::Priority => {
                self.sort(table, &mut hits, scope)?;
                Ok(hits.swap_remove(0).value(table))
            }
            HitPolicy::OutputOrder => {
                self.sort(table, &mut hits, scope)?;
                self.list(table, hits)
            }
            HitPolicy::RuleOrder | HitPolicy::Collect(None) => self.list(table, hits),
            HitPolicy::Collect(Some(aggregation)) => self.aggregate(table, hits, aggregation),
        }
    }

    fn differ(&mut self, hits: &[Hit]) -> Result<bool, Error> {
        let size: u64 = hits[0].values.iter().map(Value::size).sum();
        self.budget.charge(hits.len() as u64 * (size / COMPARED_BYTES_PER_STEP))?;
        Ok(hits.iter().any(|hit| *hit != hits[0]))
    }

    fn list(&mut self, table: &Table, hits: Vec<Hit>) -> Result<Value, Error> {
        Value::list(hits.into_iter().map(|hit| hit.value(table)).collect()).bounded(self.budget)
    }

    /// By the order of the allowed output values, the first output first; what is not listed comes last.
    fn sort(&mut self, table: &Table, hits: &mut [Hit], scope: &Scope<'_>) -> Result<(), Error> {
        let mut orders = Vec::with_capacity(table.outputs.len());
        for output in &table.outputs {
            let listed = match &output.priorities {
                Some(values) => self.feel(values, scope)?,
                None => Value::Null,
            };
            orders.push(listed.as_list().map_or(Vec::new(), <[Value]>::to_vec));
        }
        // Each result is compared with each listed value until it is found.
        let listed: u64 = orders.iter().flatten().map(|value| 1 + value.size() / COMPARED_BYTES_PER_STEP).sum();
        self.budget.charge(listed.saturating_mul(hits.len() as u64))?;
        let rank = |hit: &Hit| -> Vec<usize> {
            let place = |(order, value): (&Vec<Value>, &Value)| order.iter().position(|one| one == value).unwrap_or(usize::MAX);
            orders.iter().zip(&hit.values).map(place).collect()
        };
        hits.sort_by_cached_key(rank);
        Ok(())
    }

    fn aggregate(&mut self, table: &Table, hits: Vec<Hit>, aggregation: Aggregation) -> Result<Value, Error> {
        let expression = match aggregation {
            Aggregation::Count => return Ok(Value::integer(i64::try_from(hits.len()).unwrap_or(i64::MAX))),
            Aggregation::Sum => &*SUM,
            Aggregation::Min => &*MIN,
            Aggregation::Max => &*MAX,
        };
        let mut values = Vec::with_capacity(table.outputs.len());
        for output in 0..table.outputs.len() {
            let column: Vec<Value> = hits.iter().filter_map(|hit| hit.values.get(output).cloned()).collect();
            let value = match expression {
                Some(expression) => expression.evaluate_within(&[Some(Value::list(column))], self.now, self.budget, None)?,
                None => Value::Null,
            };
            values.push(value);
        }
        Ok(Hit { values }.value(table))
    }
}
