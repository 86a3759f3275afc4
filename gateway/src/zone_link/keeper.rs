//! Keeps a pair of streams with every run of the directory, and with no other.

use std::{collections::BTreeMap, sync::Arc};

use service_runtime::rpc::Trust;
use tokio_util::sync::CancellationToken;

use super::{fan_out::FanOutTasks, pair::Pair, table::Table, witness::Witness};
use crate::directory::{Directory, DirectoryView};

/// See the module.
pub(super) struct Keeper {
    gateway_id: String,
    trust: Trust,
    table: Arc<Table>,
    directory: Arc<Directory>,
    frames: FanOutTasks,
    witness: Arc<Witness>,
    /// Address and end of the pair, by run.
    pairs: BTreeMap<u64, (String, CancellationToken)>,
}

impl Keeper {
    pub(super) fn new(
        (gateway_id, trust): (String, Trust),
        table: Arc<Table>,
        directory: Arc<Directory>,
        frames: FanOutTasks,
        witness: Witness,
    ) -> Self {
        Self {
            gateway_id,
            trust,
            table,
            directory,
            frames,
            witness: Arc::new(witness),
            pairs: BTreeMap::new(),
        }
    }

    /// Follows the directory until `stop`.
    pub(super) async fn keep(mut self, stop: CancellationToken) {
        let mut versions = self.directory.changes();
        loop {
            versions.mark_unchanged();
            self.reconcile(&self.directory.view(), &stop);
            tokio::select! {
                () = stop.cancelled() => return,
                changed = versions.changed() => if changed.is_err() { return },
            }
        }
    }

    fn reconcile(&mut self, view: &DirectoryView, stop: &CancellationToken) {
        self.pairs.retain(|run, (address, end)| {
            let stays = view
                .run(*run)
                .is_some_and(|entry| entry.address == *address);
            if !stays {
                end.cancel();
            }
            stays
        });
        for entry in view.runs() {
            if self.pairs.contains_key(&entry.run_id) {
                continue;
            }
            let end = stop.child_token();
            let pair = Pair {
                run: entry.run_id,
                address: entry.address.clone(),
                trust: self.trust.clone(),
                gateway_id: self.gateway_id.clone(),
                table: Arc::clone(&self.table),
                directory: Arc::clone(&self.directory),
                frames: self.frames.clone(),
                witness: Arc::clone(&self.witness),
                stop: end.clone(),
            };
            self.pairs
                .insert(entry.run_id, (entry.address.clone(), end));
            self.table.tasks.finish("link", pair.keep());
        }
    }
}
