//! The rows of the directory and of the view for placement, in the SQL of both databases.

use super::model::{DirectoryRun, RegionOwner, RunState};
use super::row::{FromRow, Read, Row};
use crate::placement::plan::{RegionView, RunView};

/// The runs that are not fenced, in order.
pub(crate) const RUNS: &str = "SELECT id, address, state, build, content_hash FROM runs
 WHERE state <> 'fenced' ORDER BY id";

/// Reads a row of [`RUNS`].
impl FromRow for DirectoryRun {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(DirectoryRun {
            id: row.column(0)?,
            address: row.column(1)?,
            state: RunState::parse(&row.column::<String>(2)?),
            build: row.column(3)?,
            content_hash: row.column(4)?,
        })
    }
}

/// The runs that are not fenced, with their witnesses since $1, in order.
pub(crate) const RUN_VIEWS: &str = "SELECT id, state, content_hash, registered, until,
   (SELECT count(*) FROM witnesses w WHERE w.run_id = runs.id AND w.at > $1)
 FROM runs WHERE state <> 'fenced' ORDER BY id";

/// Reads a row of [`RUN_VIEWS`].
impl FromRow for RunView {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(RunView {
            id: row.column(0)?,
            state: RunState::parse(&row.column::<String>(1)?),
            content_hash: row.column(2)?,
            registered_ms: row.column(3)?,
            until_ms: row.column(4)?,
            witnesses: row.column(5)?,
        })
    }
}

/// Owner and epoch of each region, in order.
pub(crate) const OWNERS: &str = "SELECT region_x, region_z, run_id, epoch, wanted_run_id, paused
 FROM regions ORDER BY region_x, region_z";

/// Reads a row of [`OWNERS`].
impl FromRow for RegionOwner {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(RegionOwner {
            region: row.region(0)?,
            run: row.column(2)?,
            epoch: row.column(3)?,
            wanted: row.column(4)?,
            paused: row.column(5)?,
        })
    }
}

/// Each region with the measures for placement and its faults since $1, in order.
pub(crate) const REGION_VIEWS: &str = "SELECT region_x, region_z, run_id, epoch,
   CAST(cost_us AS bigint), changed_at, wanted_run_id, paused,
   (SELECT count(*) FROM region_faults f
    WHERE f.region_x = r.region_x AND f.region_z = r.region_z AND f.at > $1), town
 FROM regions r ORDER BY region_x, region_z";

/// Reads a row of [`REGION_VIEWS`].
impl FromRow for RegionView {
    fn from_row<R: Row>(row: &R) -> Read<Self, R> {
        Ok(RegionView {
            region: row.region(0)?,
            run: row.column(2)?,
            epoch: row.column(3)?,
            cost_us: row.column(4)?,
            changed_ms: row.column(5)?,
            wanted: row.column(6)?,
            paused: row.column(7)?,
            faults: row.column(8)?,
            town: row.column(9)?,
        })
    }
}
