//! Brings the regions of a town together again after a fault, a drain or a busy time.
//!
//! Always: it makes no run busier than [`EVEN_PERMILLE`] of the mean. A town is cut only where its
//! owner has more than [`KEPT_PERMILLE`](super::town::KEPT_PERMILLE), so no region goes to and fro.

use super::RegionView;
use super::requests::{EVEN_PERMILLE, Requests};
use crate::store::model::Region;

/// Asks for the regions of each town that lies across runs. They go to the run that owns most of
/// the town, or to the next that has room for all of them.
pub(super) fn gather(requests: &mut Requests<'_>) {
    let towns = requests.prospect.towns.all();
    let towns: Vec<Vec<Region>> = towns.map(|town| town.iter().copied().collect()).collect();
    for town in towns {
        if let Some(home) = home(requests, &town) {
            ask(requests, &town, home);
        }
    }
}

/// Returns the run that should own the town; `None`: one owns it already, or nobody has room.
fn home(requests: &Requests<'_>, town: &[Region]) -> Option<i64> {
    let prospect = &requests.prospect;
    let owners = prospect.owners_around(*town.first()?);
    if owners.len() < 2 {
        return None;
    }
    let loads = prospect.sharers();
    let mean = loads.values().sum::<i64>() / i64::try_from(loads.len()).ok()?;
    let even = mean.saturating_mul(EVEN_PERMILLE) / 1_000;
    owners.into_iter().find(|run| {
        let others = town.iter().filter(|region| !prospect.owns(*run, **region));
        let others: i64 = others.map(|region| prospect.weight(*region)).sum();
        loads.get(run).is_some_and(|load| load + others <= even)
    })
}

/// Asks for the regions of the town that others own, as far as they may move now.
fn ask(requests: &mut Requests<'_>, town: &[Region], to: i64) {
    let others = requests.at_rest().filter(|one| {
        let prospect = &requests.prospect;
        let may_go = prospect.can_give(one.run, to) && prospect.may_request(one.region, to);
        let far = one.run != to && town.contains(&one.region);
        far && may_go && requests.has_rested(one, to)
    });
    let others: Vec<&RegionView> = others.collect();
    for one in others {
        if requests.may_ask(one.run, 1) {
            requests.ask(one.region, one.run, to);
        }
    }
}
