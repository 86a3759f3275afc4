//! `tilestead status`, `top`, `zones` and so on: what an operator asks of a cluster that runs, by the
//! operators' routes of any of its gateways.
//!
//! Always: each request has a deadline. Nothing of a password is kept; a login is kept in a file that
//! only its owner may read.

mod cluster;
mod flame;
mod lists;
mod login;
mod made;
mod pausing;
mod profile;
mod record;
mod sight;
mod table;
mod top;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand, ValueEnum};
use service_runtime::run;

use self::{cluster::Cluster, profile::Process};
use crate::{NAME, banner};

/// Which cluster is asked, and how the answer is printed.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Where {
    /// Address of any gateway of the cluster
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "TILESTEAD_URL",
        default_value = "http://localhost:5555"
    )]
    url: String,

    /// Print the answer as the gateway gave it, in JSON
    #[arg(long, global = true)]
    json: bool,
}

/// Something that an operator asks of a cluster that runs.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Order {
    /// Log in as an operator, and stay so for 60 days
    ///
    /// Reads the password from the terminal, or from the standard input where that is none. The login
    /// is kept in tilestead/logins.json in the folder of settings ($XDG_CONFIG_HOME, or ~/.config).
    /// Instead of a login, TILESTEAD_TOKEN may hold an operator's token.
    Login {
        /// Login name of an account with a role
        name: String,
    },
    /// End the login, and forget it
    Logout,
    /// Print how the cluster is: players, accounts, zones, freeze
    Status,
    /// Show zones, regions and players, live; q ends it
    Top,
    /// List all zones, and what each plays
    Zones {
        /// List every region as well
        #[arg(long)]
        regions: bool,
    },
    /// List who is in the world
    Players {
        /// List all logins, also those that are over
        #[arg(long)]
        all: bool,
        /// Only those of one character, by its id
        #[arg(long, value_name = "ID")]
        player: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// List how items and coins came and went, newest first
    Ledger {
        /// Only those of one character, by its id
        #[arg(long, value_name = "ID")]
        player: Option<String>,
        /// Only those of one item, such as coins
        #[arg(long, value_name = "ITEM")]
        item: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Refuse everything that moves items or coins, or allow it again
    Freeze {
        /// Without it, print which holds now
        switch: Option<Switch>,
    },
    /// Record the next ticks of a zone, for `zone-server replay --step` on any machine
    Record {
        /// Number of the zone, as `tilestead zones` lists it
        zone: u64,
        /// Ticks of 600 ms
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
        ticks: u32,
        /// File for the record
        #[arg(long, value_name = "FILE", default_value = "zone.record")]
        out: PathBuf,
    },
    /// Sample the processor of a zone, of the gateway or of a store, and draw a flame graph
    Profile {
        /// Number of a zone, as `tilestead zones` lists it, or `store`; without it, the gateway
        of: Option<Process>,
        /// Address of the store, as the console lists it; without it, the first one that answers
        address: Option<String>,
        /// How long it is sampled
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=60))]
        seconds: u32,
        /// File for the flame graph; if its name does not end in .svg, for the stacks in the folded form
        #[arg(long, value_name = "FILE", default_value = "profile.svg")]
        out: PathBuf,
    },
    /// Have nobody play a region until it is resumed, and wait until no zone has it
    ///
    /// The zone that plays it saves all that is in it first. Its players stay connected and read why.
    Pause {
        /// Place of the region, as `tilestead zones --regions` lists it
        #[arg(value_name = "X,Z", allow_hyphen_values = true)]
        region: pausing::Place,
    },
    /// Let a paused region be played again
    Resume {
        /// Place of the region, as `tilestead zones --regions` lists it
        #[arg(value_name = "X,Z", allow_hyphen_values = true)]
        region: pausing::Place,
    },
    /// Have a zone give its regions to others, and wait until it has none
    Drain {
        /// Number of the zone, as `tilestead zones` lists it
        zone: u64,
    },
}

/// A page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub(crate) struct Page {
    /// Page of the list, from 1
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    page: u32,
    /// Rows of a page
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// Carries out an order, and prints the answer.
pub(crate) fn command(order: &Order, place: &Where) -> ExitCode {
    run::install_crypto();
    let done = run::runtime()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(obey(order, place)));
    match done {
        Ok(text) => banner::show(&text),
        Err(error) => run::exit(NAME, Err(error)),
    }
}

async fn obey(order: &Order, place: &Where) -> anyhow::Result<String> {
    if let Order::Login { name } = order {
        return login::begin(&place.url, name).await;
    }
    let cluster = Cluster::known(&place.url).await?;
    match order {
        Order::Login { .. } => Ok(String::new()),
        Order::Logout => login::end(&cluster).await,
        Order::Top => top::watch(cluster).await.map(|()| String::new()),
        Order::Record { zone, ticks, out } => record::make(&cluster, *zone, *ticks, out).await,
        Order::Profile {
            of,
            address,
            seconds,
            out,
        } => {
            let asked = profile::Asked {
                of: *of,
                address: address.as_deref(),
                seconds: *seconds,
            };
            profile::take(&cluster, asked, out).await
        }
        Order::Pause { region } => pausing::pause(&cluster, *region).await,
        Order::Resume { region } => pausing::resume(&cluster, *region).await,
        Order::Drain { zone } => lists::drain(&cluster, *zone).await,
        Order::Status => lists::status(&cluster, place.json).await,
        Order::Zones { regions } => lists::zones(&cluster, *regions, place.json).await,
        Order::Players { all, player, page } => {
            let asked = lists::Players {
                all: *all,
                player: player.as_deref(),
            };
            lists::players(&cluster, asked, *page, place.json).await
        }
        Order::Ledger { player, item, page } => {
            let asked = lists::Ledger {
                player: player.as_deref(),
                item: item.as_deref(),
            };
            lists::ledger(&cluster, asked, *page, place.json).await
        }
        Order::Freeze { switch } => lists::freeze(&cluster, *switch, place.json).await,
    }
}
