//! The spans of the plans that this replica carried out. The load of a region links to the plan that
//! gave the region to its run.
//!
//! Always: bounded; a load that another replica answers than the one that planned has no link.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use opentelemetry::trace::{Link, Span, SpanContext, SpanKind, TraceContextExt, Tracer as _};
use opentelemetry::{Context, KeyValue};
use service_runtime::telemetry::Tracer;

use super::plan::{Applied, Move};
use crate::store::model::Region;

/// Regions whose plans it remembers; at one more it forgets all.
const REGIONS_MAX: usize = 4_096;

/// The spans of plans. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Plans {
    tracer: Tracer,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Plans that gave regions to runs, by region, with its epoch after the plan.
    gave: BTreeMap<(Region, i64), SpanContext>,
    /// Last plan that took regions from a run and left them for a later one to give.
    fenced: Option<SpanContext>,
}

impl Plans {
    pub(crate) fn new(tracer: Tracer) -> Plans {
        Plans {
            tracer,
            kept: Arc::default(),
        }
    }

    /// Records the span of a plan that took regions from dead runs (a takeover), or that gave regions
    /// to runs. One that gives what a takeover left links to it.
    pub(super) fn carried_out(&self, begun: SystemTime, applied: Applied, moves: &[Move]) {
        let fenced = applied.lapsed + applied.witnessed;
        if fenced == 0 && applied.moved == 0 {
            return;
        }
        let name = match fenced {
            0 => "placement.assign",
            _ => "placement.takeover",
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let left = kept.fenced.take_if(|_| applied.moved > 0);
        let number = |some: usize| i64::try_from(some).unwrap_or(i64::MAX);
        let mut span = self
            .tracer
            .span_builder(name)
            .with_kind(SpanKind::Internal)
            .with_start_time(begun)
            .with_attributes([
                KeyValue::new("tilestead.runs_lapsed", number(applied.lapsed)),
                KeyValue::new("tilestead.runs_witnessed", number(applied.witnessed)),
                KeyValue::new("tilestead.regions", number(applied.moved)),
            ])
            .with_links(left.map(Link::with_context).into_iter().collect())
            .start_with_context(&self.tracer, &Context::new());
        if fenced > 0 && applied.moved == 0 {
            kept.fenced = Some(span.span_context().clone());
        }
        if kept.gave.len() + moves.len() > REGIONS_MAX {
            kept.gave.clear();
        }
        let moves = moves.iter().take(REGIONS_MAX);
        let regions = moves.map(|step| (step.region, step.epoch + 1));
        let own = |region| (region, span.span_context().clone());
        kept.gave.extend(regions.map(own));
        span.end();
    }

    /// Links the active span, in which a run loads a region at this epoch, to the plan that gave it.
    pub(crate) fn link_load(&self, region: Region, epoch: i64) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = kept.gave.remove(&(region, epoch)) {
            Context::map_current(|load| load.span().add_link(plan, Vec::new()));
        }
    }
}

#[cfg(test)]
mod tests {
    use service_runtime::telemetry::{Telemetry, TelemetryConfig};

    use super::*;

    #[tokio::test]
    async fn plans_are_remembered_up_to_a_bound() {
        let telemetry = Telemetry::new("test", &TelemetryConfig::default()).unwrap();
        let plans = Plans::new(telemetry.tracer());
        let (applied, begun) = (
            Applied {
                moved: 3,
                ..Applied::default()
            },
            SystemTime::now(),
        );
        let kept = || plans.kept.lock().unwrap().gave.len();
        for round in 0..5_000 {
            let at = |z| Move {
                region: Region { x: round, z },
                epoch: 7,
                to: 1,
            };
            plans.carried_out(begun, applied, &[at(0), at(1), at(2)]);
            assert!(kept() <= REGIONS_MAX);
        }
        let before = kept();
        plans.link_load(Region { x: 4_999, z: 1 }, 7);
        assert_eq!(kept(), before, "it has the next epoch");
        plans.link_load(Region { x: 4_999, z: 1 }, 8);
        assert_eq!(kept(), before - 1);
        plans.carried_out(begun, Applied::default(), &[]);
        assert_eq!(kept(), before - 1);
    }
}
