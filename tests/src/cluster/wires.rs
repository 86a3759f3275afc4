//! The proxies of a breakable cluster. One stands on every way to a store, so that each caller may
//! be cut off alone, and one at the door of each zone server.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::{Cluster, Kind, Member};
use crate::chaos::proxy::{Mode, Proxy};

/// All proxies of a cluster.
#[derive(Debug)]
pub struct Wires {
    /// From a caller to a persistence service.
    stores: BTreeMap<(Member, Member), Proxy>,
    /// From a persistence service to the database.
    databases: BTreeMap<Member, Proxy>,
    /// In front of a zone server, for gateways and peers.
    zones: BTreeMap<Member, Proxy>,
    /// The database's address with another authority.
    database_url: String,
    database_authority: String,
}

impl Wires {
    pub(super) async fn between(cluster: &Cluster) -> Result<Wires> {
        let url = cluster.database_url.clone();
        let authority = url
            .split_once('@')
            .and_then(|(_, rest)| rest.split_once('/'))
            .map(|(authority, _)| authority.to_owned())
            .context("the database's address names no host")?;
        let mut wires = Wires {
            stores: BTreeMap::new(),
            databases: BTreeMap::new(),
            zones: BTreeMap::new(),
            database_url: url,
            database_authority: authority.clone(),
        };
        for member in cluster.members() {
            match member.0 {
                Kind::Persistence => {
                    let proxy = Proxy::start(&authority).await?;
                    wires.databases.insert(member, proxy);
                }
                Kind::Zone => {
                    let proxy = Proxy::start(&cluster.zone(member.1)).await?;
                    wires.zones.insert(member, proxy);
                    wires.wire_stores(cluster, member).await?;
                }
                Kind::Gateway => wires.wire_stores(cluster, member).await?,
            }
        }
        Ok(wires)
    }

    async fn wire_stores(&mut self, cluster: &Cluster, caller: Member) -> Result<()> {
        for number in 0..cluster.plan.persistence {
            let proxy = Proxy::start(&cluster.persistence(number)).await?;
            let ends = (caller, (Kind::Persistence, number));
            self.stores.insert(ends, proxy);
        }
        Ok(())
    }

    pub(super) fn stores_of(&self, caller: Member) -> Vec<String> {
        let mine = self.stores.iter().filter(|((of, _), _)| *of == caller);
        mine.map(|(_, proxy)| proxy.address()).collect()
    }

    pub(super) fn database_of(&self, member: Member) -> String {
        let Some(proxy) = self.databases.get(&member) else {
            return self.database_url.clone();
        };
        self.database_url
            .replace(&self.database_authority, &proxy.address())
    }

    pub(super) fn advertised(&self, zone: Member) -> String {
        self.zones
            .get(&zone)
            .map(Proxy::address)
            .unwrap_or_default()
    }

    /// Returns the proxies from a process to the persistence services.
    pub fn from(&self, caller: Member) -> impl Iterator<Item = &Proxy> {
        let mine = self.stores.iter().filter(move |((of, _), _)| *of == caller);
        mine.map(|(_, proxy)| proxy)
    }

    /// Returns the way by which gateways and peers reach a zone server.
    pub fn to_zone(&self, number: usize) -> Option<&Proxy> {
        self.zones.get(&(Kind::Zone, number))
    }

    /// Returns the proxy from one persistence service to the database.
    pub fn database(&self, number: usize) -> Option<&Proxy> {
        self.databases.get(&(Kind::Persistence, number))
    }

    /// Returns the proxies from the persistence services to the database.
    pub fn to_database(&self) -> impl Iterator<Item = &Proxy> {
        self.databases.values()
    }

    /// Lets everything pass again.
    pub fn heal(&self) {
        let all = self.stores.values().chain(self.databases.values());
        for proxy in all.chain(self.zones.values()) {
            proxy.set(Mode::Pass);
        }
    }
}
