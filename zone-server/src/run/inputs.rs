//! The inputs of players: the run brings each to its player, and answers for one that reaches
//! nobody.
//!
//! Always: the run queues an input with an id, refuses it, or says that it is lost.

use proto::{
    client::ErrorCode,
    rpc::zone::v1::{Attach, Input, InputLost, Recall, from_zone},
};
use world::CharacterId;

use super::{Run, sessions::NOT_HERE, target::too_much};
use crate::{
    inbox::Taken,
    roster::{ELSEWHERE, PlayerSlot, Stage},
    translate::{self, Refused},
};

impl Run {
    /// Takes in an input of a player.
    pub(super) fn input(&mut self, gateway_id: &str, input: Input) {
        let who = CharacterId::from(input.character_id.as_str());
        let mut input = match translate::take_in(input) {
            Ok(input) => input,
            Err(unread) => {
                let (input, why) = *unread;
                return self.unread(&who, &input, why);
            }
        };
        let Some(slot) = self.roster.get_mut(&who) else {
            return self.input_elsewhere(gateway_id, &who, input);
        };
        let fenced = input.attach > 0 && input.attach < slot.attach;
        if fenced && input.session_epoch == slot.session_epoch {
            // Another gateway has attached the session since.
            self.context.metrics.input("stale");
            let attach = input.attach;
            return self.refuse_input(gateway_id, input, attach, ELSEWHERE);
        }
        if !slot.current(input.session_epoch, &input.session_id) {
            let replaced = input.session_epoch < slot.session_epoch;
            self.context.metrics.input("stale");
            // A replaced session has heard of it. Any other session that believes to play attaches
            // again.
            if !replaced {
                self.not_here(gateway_id, input);
            }
            return;
        }
        if matches!(slot.stage, Stage::Leaving { .. }) {
            let why = Refused {
                code: ErrorCode::NotInWorld,
                words: "the character is leaving the world".to_owned(),
            };
            slot.tell(translate::error(&input, why));
            return self.context.metrics.input("leaving");
        }
        input.shows_confirm = slot.shows_confirm();
        match slot.inputs.take(input) {
            Taken::Queued => {}
            Taken::Duplicate => self.context.metrics.input("duplicate"),
            Taken::Late(input) => self.inputs_lost(gateway_id, &[*input]),
            Taken::Full(input) => {
                slot.tell(too_much(&input));
                self.context.metrics.input("full");
            }
        }
    }

    /// Refuses an input that no gateway should have sent here.
    fn unread(&mut self, who: &CharacterId, input: &Input, why: Refused) {
        self.context.metrics.input("refused");
        if let Some(slot) = self.roster.get_mut(who) {
            slot.tell(translate::bad_request(input, why));
        }
    }

    /// Tells a gateway which of the answers that it has long awaited are lost. Nobody heard some of
    /// them: another run gave them and ended, or this one did while no session listened.
    pub(super) fn recall(&mut self, gateway_id: &str, recall: Recall) {
        let who = CharacterId::from(recall.character_id.as_str());
        let slot = self.roster.get(&who);
        let slot = slot.filter(|slot| slot.current(recall.session_epoch, &recall.session_id));
        let Some(slot) = slot else { return };
        let lost = recall.ids.into_iter().filter(|id| !slot.owes(id));
        let lost: Vec<Input> = lost
            .map(|id| Input {
                session_id: recall.session_id.clone(),
                character_id: recall.character_id.clone(),
                session_epoch: recall.session_epoch,
                id,
                ..Input::default()
            })
            .collect();
        self.inputs_lost(gateway_id, &lost);
    }

    /// Takes in an input of a player who is between two zones, or not here at all.
    fn input_elsewhere(&mut self, gateway_id: &str, who: &CharacterId, input: Input) {
        if let Some(announced) = self.handovers.announced.get_mut(who) {
            let queued = announced.queue(gateway_id, input);
            self.context
                .metrics
                .input(queued.as_ref().map_or("lost", |became| *became));
            if let Err(input) = queued {
                self.input_lost(gateway_id, &input);
            }
            return;
        }
        if self.handovers.departed.contains_key(who) {
            return self.input_departed(gateway_id, who, input);
        }
        let Some(input) = self.keep_early(gateway_id, who, input) else {
            return;
        };
        self.context.metrics.input("unknown");
        self.not_here(gateway_id, input);
    }

    /// Makes the gateway ask the directory again; the input that it sent has an unknown outcome.
    pub(super) fn not_here(&mut self, gateway_id: &str, input: Input) {
        self.input_lost(gateway_id, &input);
        self.refuse_input(gateway_id, input, 0, NOT_HERE);
    }

    /// Tells a gateway that nobody knows the outcome of an input; the gateway answers it.
    pub(super) fn input_lost(&mut self, gateway_id: &str, input: &Input) {
        if input.id.is_empty() {
            return;
        }
        let lost = InputLost {
            session_id: input.session_id.clone(),
            character_id: input.character_id.clone(),
            session_epoch: input.session_epoch,
            number: input.number,
            id: input.id.clone(),
        };
        self.links
            .tell(gateway_id, from_zone::Message::InputLost(lost));
    }

    /// Says that the inputs of a player who is not played here any more are lost.
    pub(super) fn inputs_lost(&mut self, gateway_id: &str, inputs: &[Input]) {
        for input in inputs {
            self.context.metrics.input("lost");
            self.input_lost(gateway_id, input);
        }
    }

    /// Reports as lost the requests of a character that this run no longer plays. They are its
    /// waiting inputs, and the requests whose answers the run has not sent.
    pub(super) fn unanswered(&mut self, who: &CharacterId, mut slot: PlayerSlot) {
        let Some(session) = slot.session.take() else {
            return;
        };
        self.inputs_lost(&session.gateway_id, &slot.inputs.drain());
        for id in slot.unsent() {
            let answered = Input {
                session_id: session.session_id.clone(),
                character_id: who.to_string(),
                session_epoch: slot.session_epoch,
                id,
                ..Input::default()
            };
            self.input_lost(&session.gateway_id, &answered);
        }
    }

    fn refuse_input(&mut self, gateway_id: &str, input: Input, attach: u64, code: &str) {
        let attach = Attach {
            session_id: input.session_id,
            character_id: input.character_id,
            session_epoch: input.session_epoch,
            attach,
            ..Attach::default()
        };
        self.refuse(gateway_id, &attach, code);
    }
}
