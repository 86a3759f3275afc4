//! Handles a panic: names the cause, disconnects the player of the input, and writes the record.
//!
//! Always: nothing of a run that panicked is saved or shown; the gateways attach all sessions again
//! that the run did not disconnect.

use std::{collections::BTreeSet, path::PathBuf};

use proto::rpc::zone::v1::{Left, from_zone};
use world::CharacterId;

use super::Run;
use crate::replay::file::{self, FORMAT, Header};

/// Inputs and players in the report of a panic.
const REPORTED_MAX: usize = 200;

impl Run {
    /// Handles the panic of the tick `tick` with these words; `None`: before the first.
    pub(crate) fn panicked(&mut self, tick: Option<u64>, words: &str) {
        let handled = self.scope.handled.take();
        let slot = handled.as_ref().and_then(|who| self.roster.get(who));
        // Outside anybody's input the cause lies in the region that the world played just then.
        let playing = self.scope.region.take();
        self.scope.panicked_in = slot.map(|slot| slot.region).or(playing);
        let region = self.scope.panicked_in.map(tracing::field::debug);
        let shown = handled.as_ref().map(tracing::field::display);
        let inputs = self.handling();
        tracing::error!(
            run = self.id,
            tick,
            handled = shown,
            region,
            inputs,
            panic = words,
            "a tick panicked; the run ends"
        );
        if let Some(who) = &handled {
            self.disconnect(who);
        }
        self.write(tick.unwrap_or(self.now), handled);
    }

    /// Returns the inputs that the tick was playing, as JSON text.
    fn handling(&self) -> String {
        let inputs = &self.scope.handling[..self.scope.handling.len().min(REPORTED_MAX)];
        proto::encode::json_text(inputs)
    }

    /// Ends a player's session, because its input may make the next run panic, too.
    fn disconnect(&mut self, who: &CharacterId) {
        let Some(slot) = self.roster.get(who) else {
            return;
        };
        let Some(session) = &slot.session else {
            return;
        };
        let left = Left {
            session_id: session.session_id.clone(),
            character_id: who.to_string(),
            session_epoch: slot.session_epoch,
            reason: "server_fault".to_owned(),
            re: Default::default(),
        };
        // A gateway whose link is gone finds the session ended or attaches it anew.
        self.links
            .tell(&session.gateway_id, from_zone::Message::Left(left));
    }

    /// Returns the header of a record that ends with the tick `tick`.
    fn header(&self, tick: u64, truncated: bool) -> Header {
        Header {
            format: FORMAT,
            build: env!("CARGO_PKG_VERSION").to_owned(),
            content_hash: self.world.content().hash().to_owned(),
            seed: self.config.seed,
            rules: self.config.rules,
            run_id: self.id,
            tick,
            handled: None,
            players: Vec::new(),
            truncated,
        }
    }

    /// Gives the record that somebody ordered, when all its ticks were played.
    pub(super) fn give_record(&mut self) {
        if let Some((order, kept)) = self.world.ordered() {
            let header = self.header(self.now, kept.truncated);
            order.answer(header, kept);
        }
    }

    /// Writes the record beside this thread.
    fn write(&mut self, tick: u64, handled: Option<CharacterId>) {
        let (Some(folder), Some(kept)) = (&self.config.replay_dir, self.world.take()) else {
            return;
        };
        let folder = PathBuf::from(folder);
        let players: BTreeSet<_> = self.scope.handling.iter().map(|input| &input.who).collect();
        let header = Header {
            handled,
            players: players.into_iter().take(REPORTED_MAX).cloned().collect(),
            ..self.header(tick, kept.truncated)
        };
        self.context.effects.beside(Box::new(move || {
            let (run, truncated) = (header.run_id, header.truncated);
            let players = proto::encode::json_text(&header.players);
            let handled = header.handled.as_ref().map(tracing::field::display);
            match file::save(&folder, &header, &kept) {
                Ok(path) => {
                    let file = path.display();
                    tracing::error!(
                        %file, run, tick, players, handled, truncated,
                        "the record of a run that panicked is written"
                    );
                }
                Err(error) => {
                    let folder = folder.display();
                    tracing::error!(
                        %error, %folder, run, tick, players, handled,
                        "the record of a run that panicked cannot be written"
                    );
                }
            }
        }));
    }
}
