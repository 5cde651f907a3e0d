-- One index per question that the application asks. InnoDB appends the primary key.
ALTER TABLE user_sessions ADD INDEX IF NOT EXISTS session (session), ADD INDEX IF NOT EXISTS user (user_id, deleted_at);
ALTER TABLE user_one_time_tokens ADD INDEX IF NOT EXISTS token (token), ADD INDEX IF NOT EXISTS user (user_id, token_type, deleted_at);
ALTER TABLE user_bans ADD INDEX IF NOT EXISTS user (user_id);
ALTER TABLE user_devices ADD INDEX IF NOT EXISTS user (user_id);
ALTER TABLE user_presents ADD INDEX IF NOT EXISTS waiting (user_id, deleted_at, created_at DESC);
ALTER TABLE user_present_all_history ADD INDEX IF NOT EXISTS user (user_id, present_all_id);
ALTER TABLE user_login_bonuses ADD INDEX IF NOT EXISTS user (user_id, login_bonus_id);
ALTER TABLE user_items ADD INDEX IF NOT EXISTS user (user_id, item_id);
ALTER TABLE user_cards ADD INDEX IF NOT EXISTS user (user_id);
ALTER TABLE user_decks ADD INDEX IF NOT EXISTS user (user_id, deleted_at);
ALTER TABLE admin_sessions ADD INDEX IF NOT EXISTS session (session);
ALTER TABLE lottery_item_masters ADD INDEX IF NOT EXISTS lottery (lottery_id);
ALTER TABLE login_bonus_reward_masters ADD INDEX IF NOT EXISTS bonus (login_bonus_id, sequence);
ANALYZE TABLE user_sessions, user_one_time_tokens, user_bans, user_devices, user_presents, user_present_all_history,
    user_login_bonuses, user_items, user_cards, user_decks;
