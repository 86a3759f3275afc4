//! What a run does when the directory says who owns what. Pure.

use std::collections::BTreeMap;

use world::Region;

/// One thing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Stop playing a region: it is another's, or it was lost and came back at a later epoch.
    Drop(Region),
    /// Load a region that is this run's at this epoch.
    Load(Region, u64),
}

/// What is to be done, so that the run plays just what is its own. `named`: the regions for which
/// the directory names this run; `held`: what it plays; `loading`: what it has asked the store for.
pub(crate) fn decide(
    named: &BTreeMap<Region, u64>,
    held: &BTreeMap<Region, u64>,
    loading: &BTreeMap<Region, u64>,
) -> Vec<Act> {
    let lost = held
        .iter()
        .filter(|(region, epoch)| named.get(*region) != Some(epoch))
        .map(|(region, _)| Act::Drop(*region));
    let won = named
        .iter()
        .filter(|(region, epoch)| {
            held.get(*region) != Some(epoch) && loading.get(*region) != Some(epoch)
        })
        .map(|(region, epoch)| Act::Load(*region, *epoch));
    lost.chain(won).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32) -> Region {
        Region { x, z: 0 }
    }

    fn regions(of: &[(i32, u64)]) -> BTreeMap<Region, u64> {
        of.iter().map(|(x, epoch)| (at(*x), *epoch)).collect()
    }

    #[test]
    fn every_difference_has_its_act() {
        type Rows<'a> = &'a [(i32, u64)];
        let table: &[(Rows, Rows, Rows, &[Act])] = &[
            (&[], &[], &[], &[]),
            (&[(1, 1)], &[], &[], &[Act::Load(at(1), 1)]),
            (&[(1, 1)], &[(1, 1)], &[], &[]),
            (&[(1, 1)], &[], &[(1, 1)], &[]),
            (&[(1, 2)], &[], &[(1, 1)], &[Act::Load(at(1), 2)]),
            (&[], &[(1, 1)], &[], &[Act::Drop(at(1))]),
            (
                &[(1, 3)],
                &[(1, 1)],
                &[],
                &[Act::Drop(at(1)), Act::Load(at(1), 3)],
            ),
            (&[(1, 3)], &[(1, 1)], &[(1, 3)], &[Act::Drop(at(1))]),
        ];
        for (named, held, loading, acts) in table {
            let found = decide(&regions(named), &regions(held), &regions(loading));
            assert_eq!(&found, acts, "{named:?} {held:?} {loading:?}");
        }
    }
}
