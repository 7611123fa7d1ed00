//! What people did, beside which little is old.

use store::conformance::rows::{self, TENANT};
use store::row::{Audit, AuditEntity, Batch, Operation};
use store::{Changes, row};

use super::{CROWD, key};

const OPERATION: u64 = 1;
const ITEM: u64 = 2;
const AUDIT: u64 = 3;

/// The first number of these.
const FIRST: u64 = 300_000;

/// One in a hundred operations is over for long, half of the others go on; each has an item. As many things in the audit trail.
pub(super) fn done_by_people(changes: &mut Changes) {
    for number in 0..CROWD {
        let at = if number.is_multiple_of(100) { 500 } else { 5_000 };
        let ended = (!number.is_multiple_of(2) || at == 500).then_some(at);
        let batch = Batch { ended, ..rows::batch(key(FIRST + number, OPERATION)) };
        changes.batch_items_new.push(item(number, &batch));
        changes.batches_put.push(batch);
        let (operation, entity) = (Operation::ALL[0], AuditEntity::ALL[0]);
        changes.audit_new.push(Audit::of(key(FIRST + number, AUDIT), at, operation, entity, "x".into(), TENANT.into()));
    }
}

fn item(number: u64, batch: &Batch) -> row::BatchItem {
    rows::batch_item(key(FIRST + number, ITEM), batch, &rows::instance(key(number, ITEM), key(number, OPERATION)))
}
