-- Back to the first state, by primary keys: whatever was made since has an id above
-- 100,000,000, and whoever did anything has such a session.
SET SESSION innodb_lock_wait_timeout = 60;
CREATE TEMPORARY TABLE back (user_id BIGINT PRIMARY KEY) ENGINE = MEMORY SELECT user_id FROM books.touched;
START TRANSACTION;
UPDATE back t JOIN books.users b ON b.id = t.user_id JOIN users u ON u.id = b.id
SET u.coins = b.coins, u.last_reward_at = b.last_reward_at, u.last_activated_at = b.last_activated_at, u.updated_at = b.updated_at;
UPDATE back t JOIN books.cards b ON b.user_id = t.user_id JOIN user_cards c ON c.id = b.id
SET c.amount_per_sec = b.amount_per_sec, c.level = b.level, c.total_exp = b.total_exp, c.updated_at = b.updated_at;
UPDATE back t JOIN books.items b ON b.user_id = t.user_id JOIN user_items i ON i.id = b.id
SET i.amount = b.amount, i.updated_at = b.updated_at;
UPDATE back t JOIN books.presents b ON b.user_id = t.user_id JOIN user_presents p ON p.id = b.id SET p.deleted_at = NULL;
UPDATE back t JOIN books.decks b ON b.user_id = t.user_id JOIN user_decks d ON d.id = b.id SET d.deleted_at = NULL;
UPDATE back t JOIN books.bonuses b ON b.user_id = t.user_id JOIN user_login_bonuses l ON l.id = b.id
SET l.last_sequence = b.last_sequence, l.loop_count = b.loop_count, l.updated_at = b.updated_at;
DELETE FROM users WHERE id > 100000000;
DELETE FROM user_devices WHERE id > 100000000;
DELETE FROM user_bans WHERE id > 100000000;
DELETE FROM user_one_time_tokens WHERE id > 100000000;
DELETE FROM user_cards WHERE id > 100000000;
DELETE FROM user_decks WHERE id > 100000000;
DELETE FROM user_items WHERE id > 100000000;
DELETE FROM user_presents WHERE id > 100000000;
DELETE FROM user_present_all_history WHERE id > 100000000;
DELETE FROM user_login_bonuses WHERE id > 100000000;
DELETE FROM user_coin_logs WHERE id > 100000000;
DELETE FROM admin_sessions;
DELETE FROM version_masters;
INSERT INTO version_masters SELECT * FROM books.version_masters;
DELETE FROM present_all_masters;
INSERT INTO present_all_masters SELECT * FROM books.present_all_masters;
DELETE FROM lottery_masters;
INSERT INTO lottery_masters SELECT * FROM books.lottery_masters;
DELETE FROM user_sessions WHERE id > 100000000;
COMMIT;
