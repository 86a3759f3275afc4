//! The laws of every store, written once and run over both, and over PostgreSQL behind PgBouncer.

#![allow(clippy::unwrap_used)]

use crate::laws;
use crate::stage;

use stage::Kind;

/// Each test gets a service over a fresh store.
macro_rules! both {
    ($($module:ident: $($name:ident),+;)+) => {
        mod sqlite {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::laws::$module::$name(super::Kind::Sqlite).await;
                }
            )+)+
        }
        mod postgres {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::laws::$module::$name(super::Kind::Postgres).await;
                }
            )+)+
        }
        mod pooled {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::laws::$module::$name(super::Kind::Pooled).await;
                }
            )+)+
        }
    };
}

/// Runs the laws of locks and partitions over PostgreSQL only; SQLite does one thing after another.
macro_rules! races {
    ($($module:ident: $($name:ident),+;)+) => {
        mod races {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::laws::$module::$name(super::Kind::Postgres).await;
                }
            )+)+
        }
        mod pooled_races {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::laws::$module::$name(super::Kind::Pooled).await;
                }
            )+)+
        }
    };
}

races! {
    races:
        a_batch_waits_for_a_fence_under_way,
        a_transfer_waits_for_a_takeover_under_way,
        a_row_waits_for_a_handover_under_way,
        a_position_waits_for_a_fence_and_a_handover_under_way,
        a_give_waits_for_the_end_of_its_target,
        a_give_waits_for_a_takeover_under_way,
        a_transfer_meets_a_give_of_its_target,
        two_runs_give_each_other_a_region,
        readers_who_wait_do_not_keep_play_waiting;
    months:
        a_month_closes_while_batches_go_on,
        a_closing_waits_for_who_still_writes,
        a_drop_waits_for_who_still_writes,
        rows_without_a_month_wait_for_it,
        the_tables_of_the_release_before_keep_every_row;
}

/// PostgreSQL drops a month in one transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drop_that_stopped_halfway_goes_on_in_sqlite() {
    laws::archive::a_drop_that_stopped_halfway_goes_on().await;
}

both! {
    accounts:
        a_device_key_is_one_account,
        names_are_unique_without_regard_to_case,
        names_that_look_alike_are_one_name,
        those_who_come_together_are_answered_each_for_itself,
        names_from_before_are_compared_too,
        an_account_has_at_most_five_characters,
        an_account_makes_at_most_twenty_characters_a_day,
        a_secret_is_made_once,
        a_character_in_the_world_cannot_be_deleted,
        a_new_character_has_the_defaults,
        opening_again_takes_over,
        what_is_malformed_is_refused;
    personal:
        who_is_deleted_leaves_nothing_that_leads_to_a_person,
        a_refused_deletion_changes_nothing,
        of_two_deletions_at_once_one_wins,
        of_two_operators_who_go_at_once_one_stays,
        an_export_has_all_and_its_ledger_comes_in_pages,
        guests_expire_and_nobody_else,
        without_a_time_no_guest_who_played_expires;
    items:
        items_are_what_the_content_of_a_run_says,
        only_a_run_that_lives_says_what_items_are;
    agents:
        an_agent_that_nobody_needs_rests_until_it_is_ordered,
        agents_of_an_account_and_of_the_world_are_bounded,
        only_owners_make_order_and_remove_agents,
        goals_are_set_stopped_and_resumed,
        an_active_agent_lives_in_the_world,
        a_run_hears_of_its_agents_and_says_how_they_do,
        tokens_of_agents_are_counted_and_end;
    identity:
        a_subject_is_one_account,
        an_anonymous_account_is_claimed_once,
        characters_move_to_an_account_that_is_there_when_they_fit,
        nobody_is_moved_out_of_the_world,
        a_claim_does_not_wash_off_a_ban_or_a_mute,
        what_operators_decide_holds_until_its_end_and_is_written_down,
        sanctions_are_pushed_to_everybody_at_once,
        a_watcher_of_another_life_hears_everything_anew,
        roles_are_given_and_taken_and_written_down,
        the_code_makes_one_operator_and_the_last_one_stays;
    passwords:
        a_guest_gets_a_password_and_stays_the_same_account,
        a_changed_password_ends_all_other_logins,
        a_login_that_ended_is_no_login_of_the_password,
        of_two_changes_at_once_one_wins,
        one_login_too_many_ends_the_oldest;
    commits:
        a_batch_is_applied_once,
        the_same_batch_at_once_is_applied_once,
        a_gap_in_the_sequence_is_refused,
        a_wrong_row_refuses_the_whole_batch,
        a_row_of_somebody_elses_region_is_refused,
        a_row_of_who_is_not_in_the_world_is_refused,
        everything_of_a_record_is_kept,
        a_transfer_gives_the_character_away,
        a_transfer_within_the_run_keeps_the_sequence,
        a_stale_transfer_changes_nothing,
        a_logout_closes_the_session,
        the_logout_of_a_replaced_session_saves_and_stays,
        a_batch_that_is_cut_off_changes_nothing,
        many_rows_are_one_batch,
        a_batch_of_too_many_rows_is_refused;
    positions:
        the_row_of_a_position_writes_what_walking_changes_and_nothing_else,
        a_position_is_written_once_and_never_over_a_later_one,
        a_position_that_does_not_fit_refuses_the_whole_batch,
        a_position_of_a_former_owner_is_refused,
        a_position_follows_into_another_region_of_its_run_only;
    hiscores:
        the_best_come_first_and_the_earlier_before_the_later,
        ranks_follow_what_is_played,
        who_is_renamed_or_deleted_leaves_no_old_entry,
        who_is_banned_stays_in_the_hiscores,
        every_page_of_a_long_list_goes_on_where_the_one_before_ended,
        the_hiscores_of_a_world_from_before_are_filled;
    archive:
        a_closing_keeps_the_sums,
        a_difference_is_found_on_both_sides_of_a_closing,
        only_the_oldest_closed_and_exported_month_is_dropped,
        a_dropped_month_of_the_ledger_leaves_its_sums,
        dropped_sessions_still_count,
        an_export_has_every_row;
    sessions:
        reconnecting_adds_no_session,
        old_sessions_are_added_up_and_removed;
    queries:
        all_that_is_known_of_a_character_is_told_at_once,
        logins_are_listed_newest_first,
        accounts_are_found_by_name_id_and_role,
        what_there_is_is_counted,
        the_ledger_is_read_newest_first_by_holder_and_item,
        regions_are_told_with_their_owners,
        a_character_is_changed_only_by_its_account_and_at_rest;
    newer:
        what_only_a_newer_process_says_is_not_misread;
    documents:
        a_document_is_kept_byte_for_byte,
        a_document_and_the_items_that_came_with_it_are_one_batch,
        a_document_that_is_too_long_is_refused,
        a_character_that_its_run_cannot_read_is_quarantined;
    social:
        friendship_is_asked_for_accepted_and_ended,
        two_who_ask_each_other_are_friends,
        requests_are_declined_taken_back_and_void_after_a_week,
        who_is_ignored_asks_in_vain_and_cannot_tell,
        lists_have_limits_and_forget_who_is_deleted,
        two_changes_at_once_make_no_one_sided_friendship;
    stored:
        what_is_worn_comes_from_the_pack_and_goes_back,
        nothing_is_worn_twice_or_made_by_wearing_it,
        a_bank_keeps_what_a_row_does_not_name,
        kills_are_added_up,
        nothing_comes_out_of_a_bank_that_is_not_in_it,
        a_note_is_as_many_things_as_it_stands_for,
        what_is_used_up_is_gone_and_never_made,
        what_is_gathered_and_made_comes_of_work,
        who_is_deleted_takes_stakes_and_bank_along;
    exchange:
        a_trade_is_both_packs_or_neither,
        what_is_staked_is_in_no_pack_and_goes_to_who_wins,
        a_shop_takes_coins_for_things_and_things_for_coins,
        what_is_in_a_grave_is_on_the_ground_and_locked;
    value:
        value_is_kept_and_loaded,
        what_one_drops_another_picks_up,
        what_lasts_of_chunks_is_kept_by_region,
        what_the_ledger_does_not_say_is_refused,
        value_is_moved_once,
        who_is_deleted_is_written_off,
        what_was_changed_behind_the_ledger_is_found,
        whose_rows_are_refused_is_quarantined,
        operators_switch_and_look;
    gives:
        a_region_is_given_with_all_that_belongs_to_it,
        a_regions_state_is_saved_by_its_owner_alone_and_loaded_by_the_next,
        a_region_is_given_only_by_its_owner_and_to_who_is_live,
        a_paused_region_goes_to_nobody_with_all_that_belongs_to_it,
        a_region_that_was_resumed_in_time_stays,
        no_region_is_paused_that_does_not_exist,
        a_transfer_to_a_region_that_was_given_away_is_stale,
        whoever_loses_a_region_its_players_get_the_next_sequence,
        a_draining_run_is_given_nothing,
        a_panic_is_counted_where_it_happened,
        the_load_of_regions_is_noted;
    runs:
        a_dead_run_is_fenced_and_its_regions_go_on,
        a_fenced_run_is_refused_for_ever,
        a_lapsed_lease_renews_when_nobody_took_over,
        a_commit_renews_the_lease,
        a_released_run_leaves_its_regions_to_others,
        an_unknown_run_is_fenced,
        a_region_is_loaded_only_at_its_epoch,
        online_characters_are_those_of_the_runs_regions,
        the_directory_is_pushed_and_shows_life,
        a_promoted_store_ends_every_run_and_repeats_no_number,
        whoever_remembers_a_later_number_takes_a_promoted_store_for_newer,
        the_store_goes_on_after_a_restart;
}
